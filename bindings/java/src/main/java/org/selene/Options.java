package org.selene;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;

/**
 * How a scheduler is opened. What is not said has its default; there is no limit of pending tasks unless one is asked for.
 */
public final class Options {
    /** No limit of pending tasks. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    private final byte[] raw;
    private final @Nullable Path path;
    private final @Nullable String owner;
    private final @Nullable List<String> permitted;

    private Options(Builder of) {
        raw = of.raw.clone();
        path = of.path;
        owner = of.owner;
        permitted = of.permitted;
    }

    /** All defaults: tasks live in memory. */
    public static Builder builder() {
        return new Builder();
    }

    /** For a field whose 0 is a default: the header's word for 0, which is refused where 0 is not allowed. */
    static long said(Duration span) {
        return said(notNegative(span));
    }

    /** A negative duration is nobody's word for something else: what the library refuses. */
    static long notNegative(Duration span) {
        return span.isNegative() ? Long.MIN_VALUE : Time.nanoseconds(span);
    }

    static long said(long number) {
        return number == 0 ? Layout.NONE : number == Layout.NONE ? Long.MIN_VALUE : number;
    }

    static int said(int number) {
        return number == 0 ? Layout.NONE : number == Layout.NONE ? Integer.MIN_VALUE : number;
    }

    /** A number that has no sign in the header, where every positive one is allowed. */
    static int count(String field, int count) {
        if (count < 0) {
            throw new SeleneException(
                    Status.INVALID_ARGUMENT, field + ": " + count + " is negative", field, Integer.toString(count), "");
        }
        return count;
    }

    /** What is said of a scheduler. */
    public static final class Builder {
        private final byte[] raw = Struct.empty(Layout.Options.SIZE);
        private @Nullable Path path;
        private @Nullable String owner;
        private @Nullable List<String> permitted;

        private Builder() {}

        private Builder put(int offset, int value) {
            Struct.put(raw, offset, value);
            return this;
        }

        private Builder put(int offset, Duration span) {
            Struct.put(raw, offset, Time.nanoseconds(span));
            return this;
        }

        private Builder putSaid(int offset, Duration span) {
            Struct.put(raw, offset, said(span));
            return this;
        }

        private Builder flag(int flag) {
            return put(Layout.Options.FLAGS, Struct.getInt(raw, Layout.Options.FLAGS) | flag);
        }

        /** The file of the store; without one the tasks live in memory. */
        public Builder path(Path path) {
            this.path = path;
            return this;
        }

        /** The name of the application, as "org.example.mail"; its store opens under no other. */
        public Builder owner(String owner) {
            this.owner = owner;
            return this;
        }

        /** The ids that may be registered; one that ends in ".*" permits all that begin so. */
        public Builder permitted(Collection<String> ids) {
            permitted = List.copyOf(ids);
            return this;
        }

        /** Once and periodic refresh tasks that wait or run at a time; {@link #UNLIMITED}. */
        public Builder maxPendingRefresh(int limit) {
            Struct.put(raw, Layout.Options.MAX_PENDING_REFRESH, pending("max_pending_refresh", limit));
            return this;
        }

        private static long pending(String field, int limit) {
            return limit == UNLIMITED ? 0 : said((long) count(field, limit));
        }

        /** Once and periodic processing tasks that wait or run at a time; {@link #UNLIMITED}. */
        public Builder maxPendingProcessing(int limit) {
            Struct.put(raw, Layout.Options.MAX_PENDING_PROCESSING, pending("max_pending_processing", limit));
            return this;
        }

        /** What is over a limit is held back instead of refused. */
        public Builder hold() {
            return flag(Layout.OPTIONS_HOLD);
        }

        /** What backoff delays are brought into; 10 s and 5 h. */
        public Builder backoff(Duration minimum, Duration maximum) {
            return putSaid(Layout.Options.MINIMUM_BACKOFF, minimum)
                    .putSaid(Layout.Options.MAXIMUM_BACKOFF, maximum);
        }

        /** Shortens each backoff by at most so many per mille. */
        public Builder backoffJitter(int perMille) {
            return put(Layout.Options.BACKOFF_JITTER, perMille);
        }

        /** The least time from begin to begin of windows for refresh work. */
        public Builder minimumIntervalRefresh(Duration interval) {
            return put(Layout.Options.MINIMUM_INTERVAL_REFRESH, interval);
        }

        /** The least time from begin to begin of windows for processing. */
        public Builder minimumIntervalProcessing(Duration interval) {
            return put(Layout.Options.MINIMUM_INTERVAL_PROCESSING, interval);
        }

        /** How long a run that has reached its timeout may still complete; 5 s. */
        public Builder stopGrace(Duration grace) {
            return putSaid(Layout.Options.STOP_GRACE, grace);
        }

        /** How long expedited tasks may run in 24 h; 10 min. */
        public Builder expeditedQuota(Duration quota) {
            return putSaid(Layout.Options.EXPEDITED_QUOTA, quota);
        }

        /** How far back {@link Scheduler#waits} knows what happened to all tasks alike: so many windows; 4 096. */
        public Builder waitLogEntries(long entries) {
            Struct.put(raw, Layout.Options.WAIT_LOG_ENTRIES, said(entries));
            return this;
        }

        /** How many bytes of input a task may carry; 10 240. */
        public Builder maxInputSize(long bytes) {
            Struct.put(raw, Layout.Options.MAX_INPUT_SIZE, said(bytes));
            return this;
        }

        /**
         * How long a task waits at least after a second run of it ended its process, each further time twice as long; 30 s if
         * not set.
         */
        public Builder crashPause(Duration pause) {
            return putSaid(Layout.Options.CRASH_PAUSE, pause);
        }

        /** How many bytes of output a run may leave; 1 MiB. */
        public Builder maxOutputSize(long bytes) {
            Struct.put(raw, Layout.Options.MAX_OUTPUT_SIZE, said(bytes));
            return this;
        }

        /** Threads that may be left behind in handlers that overran; 64, and 16 of one handler. */
        public Builder maxOverrunThreads(int all, int perHandler) {
            return put(Layout.Options.MAX_OVERRUN_THREADS, said(all))
                    .put(Layout.Options.MAX_OVERRUN_PER_HANDLER, said(perHandler));
        }

        /** The stack of each of the library's threads, on which handlers run, in bytes; 8 MiB. */
        public Builder threadStackSize(long bytes) {
            Struct.put(raw, Layout.Options.THREAD_STACK_SIZE, bytes);
            return this;
        }

        /** The library's threads, and what handlers start on them, give way to others. */
        public Builder backgroundThreads() {
            return put(Layout.Options.THREAD_QUALITY, Layout.THREADS_BACKGROUND);
        }

        /** Of the jitter; else it is taken from the clock. */
        public Builder seed(long seed) {
            Struct.put(raw, Layout.Options.SEED, seed);
            return this;
        }

        /** Scores with the observed range. */
        public Builder observedRange() {
            return flag(Layout.OPTIONS_OBSERVED_RANGE);
        }

        /** Ranks by the freshness rule. */
        public Builder freshness() {
            return flag(Layout.OPTIONS_FRESHNESS);
        }

        /** A loss of power may undo the last calls. */
        public Builder relaxed() {
            return flag(Layout.OPTIONS_RELAXED);
        }

        /** The library starts no thread: runs are pulled. */
        public Builder noThreads() {
            return flag(Layout.OPTIONS_NO_THREADS);
        }

        /** The clock of a test: it stands here until {@link Scheduler#setClock} or {@link Scheduler#advance}. */
        public Builder clock(Instant start) {
            Struct.put(raw, Layout.Options.CLOCK_START, Time.nanoseconds(start));
            return flag(Layout.OPTIONS_SET_CLOCK);
        }

        /** The options. */
        public Options build() {
            return new Options(this);
        }
    }

    Lent.Block lend(Lent lent) {
        Lent.Block block = lent.bytes(raw);
        if (path != null) {
            String name = path.toFile().getPath();
            if (name.isEmpty()) {
                throw new SeleneException(Status.INVALID_ARGUMENT, "path: empty; a store has a name", "path", "", "");
            }
            block.put(Layout.Options.PATH, lent.text(name));
        }
        if (owner != null) {
            block.put(Layout.Options.OWNER, lent.text(owner));
        }
        if (permitted != null) {
            block.put(Layout.Options.PERMITTED, lent.texts(permitted).address);
            block.put(Layout.Options.PERMITTED_COUNT, (long) permitted.size());
        }
        block.put(Layout.Options.THREAD_BEGIN, Native.THREAD_BEGIN);
        block.put(Layout.Options.THREAD_END, Native.THREAD_END);
        return block;
    }
}
