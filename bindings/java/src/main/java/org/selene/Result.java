package org.selene;

import java.time.Duration;
import java.util.Objects;

/** What a handler made of a run. */
public sealed interface Result {
    /**
     * It succeeded.
     *
     * @param foundNews whether there was something new
     */
    record Success(boolean foundNews) implements Result {}

    /**
     * It failed.
     *
     * @param why what is kept with the task
     * @param retryAfter until it is tried again; null: the backoff of its task
     */
    record Failure(String why, @Nullable Duration retryAfter) implements Result {
        /** Refuses null. */
        public Failure {
            Objects.requireNonNull(why, "why");
        }
    }

    /**
     * It failed, and is not tried again.
     *
     * @param why what is kept with the task
     */
    record Abandoned(String why) implements Result {
        /** Refuses null. */
        public Abandoned {
            Objects.requireNonNull(why, "why");
        }
    }

    /** It succeeded, and there was something new. */
    static Result newData() {
        return Successes.NEWS;
    }

    /** It succeeded, and there was nothing new. */
    static Result noData() {
        return Successes.NO_NEWS;
    }

    /** It failed; its task is tried again after its backoff. */
    static Result failed(String why) {
        return new Failure(why, null);
    }

    /** It failed; its task is tried again after this time. */
    static Result retryAfter(Duration delay, String why) {
        return new Failure(why, Objects.requireNonNull(delay, "delay"));
    }

    /** It failed; its task is not tried again. */
    static Result abandoned(String why) {
        return new Abandoned(why);
    }
}

/** Made once. */
final class Successes {
    static final Result NEWS = new Result.Success(true);
    static final Result NO_NEWS = new Result.Success(false);

    private Successes() {}
}
