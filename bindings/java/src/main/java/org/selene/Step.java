package org.selene;

import java.time.Instant;

/** What {@link Cycle#next} found: a {@link Run} to work on, or one of these. */
public sealed interface Step permits Run, Step.Wait, Step.Done {
    /**
     * Ask again after a completion, or at this time.
     *
     * @param until null: only after a completion
     */
    record Wait(@Nullable Instant until) implements Step {}

    /** There is nothing more to do. */
    record Done() implements Step {
        static final Done DONE = new Done();
    }
}
