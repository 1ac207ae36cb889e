package org.selene;

/**
 * Works on a run, on a thread of the library, several at once where a window has lanes.
 *
 * <p>What it throws is a failure whose text is kept with the task. When the run is asked to stop, its thread is interrupted
 * ({@link #isInterrupted()}); {@link Run#isStopped()} says so, too, and {@link Run#onStopped} tells it. A handler that does
 * not return is left behind on its thread, and the window goes on without it.
 */
@FunctionalInterface
public interface Handler {
    /** Works on a run; what it made of it. */
    Result run(Run run) throws Exception;

    /** Whether a stop interrupts the thread; it does unless this says no ({@link #uninterrupted}). */
    default boolean isInterrupted() {
        return true;
    }

    /** A handler whose thread is not interrupted: for code that takes an interruption for something else. */
    static Handler uninterrupted(Handler handler) {
        return new Handler() {
            @Override
            public Result run(Run run) throws Exception {
                return handler.run(run);
            }

            @Override
            public boolean isInterrupted() {
                return false;
            }
        };
    }
}
