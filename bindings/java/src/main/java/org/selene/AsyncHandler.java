package org.selene;

import java.util.concurrent.CompletionStage;

/**
 * Starts the work of a run, on a thread of the library, and returns what will be made of it.
 *
 * <p>The run's lane stays taken until the stage completes; an exceptional completion is a failure. When the run is asked to
 * stop, a stage that is a {@link java.util.concurrent.Future} is cancelled; {@link Run#onStopped} tells it, too.
 */
@FunctionalInterface
public interface AsyncHandler {
    /** Starts the work. */
    CompletionStage<Result> start(Run run) throws Exception;
}
