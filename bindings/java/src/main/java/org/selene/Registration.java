package org.selene;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

/** A handler of a scheduler: the context of its callbacks. Of a pulled one only the stops come here. */
final class Registration {
    final Scheduler scheduler;
    private final @Nullable Handler handler;
    private final @Nullable AsyncHandler starter;
    /** Threads of the library have none of their own. */
    private final ClassLoader loader = Thread.currentThread().getContextClassLoader();

    Registration(Scheduler scheduler, @Nullable Handler handler, @Nullable AsyncHandler starter) {
        this.scheduler = scheduler;
        this.handler = handler;
        this.starter = starter;
    }

    /** The number of an outcome, or {@link Upcalls#OPEN} where it was given, or will be. */
    int call(Run run) {
        Thread thread = Thread.currentThread();
        if (thread.getContextClassLoader() != loader) {
            thread.setContextClassLoader(loader);
        }
        return handler == null ? start(run) : work(run, thread);
    }

    private int work(Run run, Thread thread) {
        Result result;
        try {
            run.begin(handler.isInterrupted() ? thread : null);
            result = handler.run(run);
        } catch (Throwable thrown) {
            result = run.failure(thrown);
        } finally {
            run.end();
            // What interrupted this run, or it itself, is not the next one's.
            Thread.interrupted();
        }
        return run.give(result);
    }

    private int start(Run run) {
        CompletionStage<Result> stage;
        try {
            run.begin(null);
            stage = starter.start(run);
        } catch (Throwable thrown) {
            Result result = run.failure(thrown);
            run.end();
            return run.give(result);
        }
        if (stage == null) {
            run.end();
            return run.give(null);
        }
        if (stage instanceof Future<?> future) {
            run.onStopped(reason -> future.cancel(true));
        }
        stage.whenComplete((result, thrown) -> {
            if (thrown != null) {
                result = run.failure(thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown);
            }
            run.end();
            int outcome = run.give(result);
            if (outcome != Upcalls.OPEN) {
                try {
                    Raw.selene_run_complete(run.token(), outcome);
                } catch (SeleneException tooLate) {
                    // It was stopped or expired: no error of who worked on it.
                }
            }
        });
        return Upcalls.OPEN;
    }
}
