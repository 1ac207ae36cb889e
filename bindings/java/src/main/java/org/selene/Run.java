package org.selene;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;

/**
 * One dispatch of one task. Its facts are copies: it may outlive its window and its scheduler. Any thread may use it.
 *
 * <p>The outcome of a run that was pulled is given by {@link #complete}; that of others by what their handler returns.
 */
public final class Run implements Step {
    private final Scheduler scheduler;
    /** A selene_run_info, behind it the bytes of id, handler and input. */
    private final byte[] facts;
    private @Nullable String id;

    // Guarded by this.
    private @Nullable Thread thread;
    private List<Consumer<Stop>> listeners = List.of();
    private Stop stopped = Stop.NONE;
    private boolean isOver;

    Run(Scheduler scheduler, byte[] facts) {
        this.scheduler = scheduler;
        this.facts = facts;
    }

    private int idLength() {
        return (int) Struct.getLong(facts, Layout.RunInfo.ID + Layout.Text.LENGTH);
    }

    private int handlerLength() {
        return (int) Struct.getLong(facts, Layout.RunInfo.HANDLER + Layout.Text.LENGTH);
    }

    private Instant instant(int offset) {
        return Time.instant(Struct.getLong(facts, offset));
    }

    /** The number by which the header knows it. */
    public long token() {
        return Struct.getLong(facts, Layout.RunInfo.RUN);
    }

    /** Of its task. */
    public String id() {
        String made = id;
        if (made == null) {
            id = made = Struct.behind(facts, Layout.RunInfo.SIZE, idLength());
        }
        return made;
    }

    /** The name of its handler. */
    public String handler() {
        return Struct.behind(facts, Layout.RunInfo.SIZE + idLength(), handlerLength());
    }

    /** What the task carries for it. */
    public byte[] input() {
        int length = (int) Struct.getLong(facts, Layout.RunInfo.INPUT + Layout.Text.LENGTH);
        return Struct.slice(facts, Layout.RunInfo.SIZE + idLength() + handlerLength(), length);
    }

    /** Of its task. */
    public Kind kind() {
        return Kind.of(Struct.getInt(facts, Layout.RunInfo.KIND));
    }

    /** Of its task. */
    public Priority priority() {
        return Priority.of(Struct.getInt(facts, Layout.RunInfo.PRIORITY));
    }

    /** 1 for the first. */
    public int attempt() {
        return Struct.getInt(facts, Layout.RunInfo.ATTEMPT);
    }

    /** By which it was picked. */
    public double score() {
        return Struct.getDouble(facts, Layout.RunInfo.SCORE);
    }

    /** How long it is expected to take. */
    public Duration estimate() {
        return Duration.ofNanos(Struct.getLong(facts, Layout.RunInfo.ESTIMATE));
    }

    /** When it was dispatched. */
    public Instant startedAt() {
        return instant(Layout.RunInfo.STARTED_AT);
    }

    /** When it is asked to stop at the latest. */
    public Instant expiresAt() {
        return instant(Layout.RunInfo.EXPIRES_AT);
    }

    /** When it is over at the latest. */
    public Instant deadline() {
        return instant(Layout.RunInfo.DEADLINE);
    }

    /** Why it should stop; {@link Stop#NONE}: go on; {@link Stop#SHUTDOWN} for one that is over. Cheap enough for a loop. */
    public Stop stopReason() {
        try (Lent lent = new Lent()) {
            Lent.Block reason = lent.room(4);
            return Raw.selene_run_stopping(token(), reason.address) == Layout.OK ? Stop.of(reason.getInt(0)) : Stop.SHUTDOWN;
        }
    }

    /** Whether it should stop, or is over. */
    public boolean isStopped() {
        return stopReason() != Stop.NONE;
    }

    /**
     * Waits until so much scheduler time has passed, or until it should stop; what {@link #stopReason} says then. On the clock
     * of a test that is when the test has moved it so far.
     */
    public Stop sleep(Duration duration) {
        try (Lent lent = new Lent()) {
            Lent.Block reason = lent.room(4);
            int status = Raw.selene_run_sleep(token(), Time.nanoseconds(duration), reason.address);
            return status == Layout.OK ? Stop.of(reason.getInt(0)) : Stop.SHUTDOWN;
        }
    }

    /** How long until it is asked to stop; zero if it was, or is over. */
    public Duration remaining() {
        try (Lent lent = new Lent()) {
            Lent.Block left = lent.room(8);
            return Raw.selene_run_remaining(token(), left.address) == Layout.OK ? Duration.ofNanos(left.getLong(0)) : Duration.ZERO;
        }
    }

    /**
     * Lets a listener know when it is asked to stop: at once if it was. The listener is called on whatever thread noticed,
     * and waits for nothing.
     */
    public void onStopped(Consumer<Stop> listener) {
        Objects.requireNonNull(listener, "listener");
        Stop known;
        boolean isFirst;
        synchronized (this) {
            if (isOver) {
                return;
            }
            known = stopped;
            isFirst = listeners.isEmpty();
            if (known == Stop.NONE) {
                listeners = new ArrayList<>(listeners);
                listeners.add(listener);
            }
        }
        if (known != Stop.NONE) {
            listener.accept(known);
        } else if (isFirst) {
            watch();
        }
    }

    /** Lets {@link #stop} be called, also where the library asked before anybody knew the run. */
    private void watch() {
        scheduler.live.put(token(), this);
        Stop already = stopReason();
        if (already != Stop.NONE) {
            stop(already);
        }
        synchronized (this) {
            if (!isOver) {
                return;
            }
        }
        // Another thread gave the outcome meanwhile.
        scheduler.live.remove(token());
    }

    /** Tells how far it has come, and lets its task's stall limit begin anew. total: 0 if it is not known. */
    public void progress(long done, long total, String words) {
        try (Lent lent = new Lent()) {
            Lent.Block text = lent.text(words);
            Raw.selene_run_progress(token(), done, total, text.address, text.size);
        }
    }

    /**
     * Says what it leaves if it succeeds, for those who look at its task ({@link Scheduler#output}) and for the handlers of
     * those that come after it. The last call before the outcome counts.
     */
    public void setOutput(byte[] output) {
        try (Lent lent = new Lent()) {
            Raw.selene_run_set_output(token(), lent.bytes(output).address, output.length);
        }
    }

    /** Gives the outcome of a run that was pulled, once, from any thread. */
    public void complete(Outcome outcome) {
        Raw.selene_run_complete(token(), outcome.number());
        forget();
    }

    /** Gives the outcome of a run that was pulled, once, from any thread; a failure with its text. */
    public void complete(Result result) {
        if (result instanceof Result.Failure failure) {
            Duration delay = failure.retryAfter();
            fail(Outcome.FAILED, delay == null ? -1 : Options.notNegative(delay), failure.why());
        } else if (result instanceof Result.Abandoned abandoned) {
            fail(Outcome.ABANDONED, -1, abandoned.why());
        } else {
            Raw.selene_run_complete(token(), success((Result.Success) result));
        }
        forget();
    }

    private static int success(Result.Success success) {
        return (success.foundNews() ? Outcome.NEW_DATA : Outcome.NO_DATA).number();
    }

    /** The library takes no text with a NUL in it. */
    private void fail(Outcome outcome, long delay, String why) {
        byte[] words = why.replace('\0', '\uFFFD').getBytes(StandardCharsets.UTF_8);
        try (Lent lent = new Lent()) {
            Raw.selene_run_fail(token(), outcome.number(), delay, lent.bytes(words).address, words.length);
        }
    }

    /** One that was pulled has its outcome. */
    private void forget() {
        boolean isWatched;
        synchronized (this) {
            isOver = true;
            isWatched = !listeners.isEmpty();
        }
        if (isWatched) {
            scheduler.live.remove(token());
        }
    }

    // ---- runs of handlers ----

    /** It is worked on; the thread is interrupted when it is asked to stop. */
    void begin(@Nullable Thread worker) {
        synchronized (this) {
            thread = worker;
        }
        watch();
    }

    /** It is not worked on any more: no interruption comes after this. */
    void end() {
        scheduler.live.remove(token());
        synchronized (this) {
            isOver = true;
            thread = null;
        }
    }

    /** It is asked to stop. */
    void stop(Stop reason) {
        List<Consumer<Stop>> told;
        synchronized (this) {
            if (isOver || stopped != Stop.NONE) {
                return;
            }
            stopped = reason;
            told = listeners;
            if (thread != null) {
                thread.interrupt();
            }
        }
        for (Consumer<Stop> listener : told) {
            try {
                listener.accept(reason);
            } catch (Throwable thrown) {
                // The others are told all the same; nothing of Java may reach the library.
                scheduler.uncaught(thrown);
            }
        }
    }

    /** What is thrown, as a failure with its text. */
    Result failure(Throwable thrown) {
        Stop reason;
        synchronized (this) {
            reason = stopped;
        }
        boolean isStop = thrown instanceof InterruptedException || thrown instanceof CancellationException;
        return Result.failed(isStop && reason != Stop.NONE ? "stopped: " + reason.name().toLowerCase() : text(thrown));
    }

    private static String text(Throwable thrown) {
        try {
            String text = thrown.toString();
            if (text != null) {
                return text;
            }
        } catch (Throwable mute) {
            // Its text is code of its own, which may throw, too.
        }
        return thrown.getClass().getName();
    }

    /** Gives what a handler returned, or answers its outcome for who called it. What comes too late is no error here. */
    int give(@Nullable Result result) {
        if (result instanceof Result.Success success) {
            return success(success);
        }
        try {
            complete(result == null ? Result.failed("the handler returned null") : result);
        } catch (SeleneException refused) {
            if (refused.status() == Status.INVALID_ARGUMENT) {
                return give(Result.failed("what the handler returned was refused: " + refused.detail()));
            }
        }
        return Upcalls.OPEN;
    }

    @Override
    public String toString() {
        return "Run[" + id() + ", attempt " + attempt() + "]";
    }
}
