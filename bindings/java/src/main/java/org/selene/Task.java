package org.selene;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** What a task is. What is not said has the library's default. */
public final class Task {
    private final byte[] raw;
    private final String id;
    private final @Nullable String handler;
    private final @Nullable String group;
    private final List<String> tags;
    private final List<String> after;
    private final List<String> conditions;
    private final byte[] input;

    private Task(Builder of) {
        raw = of.raw.clone();
        id = of.id;
        handler = of.handler;
        group = of.group;
        tags = of.tags;
        after = of.after;
        conditions = of.conditions;
        input = of.input;
    }

    /** A candidate in every window. */
    public static Builder standing(String id) {
        return new Builder(id, Schedule.STANDING);
    }

    /** Work that is done once. */
    public static Builder once(String id) {
        return new Builder(id, Schedule.ONCE);
    }

    /** Work that is due again and again, each time after the period. */
    public static Builder periodic(String id, Duration period) {
        return new Builder(id, Schedule.PERIODIC).put(Layout.Task.PERIOD, period);
    }

    /** Its id. */
    public String id() {
        return id;
    }

    @Override
    public String toString() {
        return "Task[" + id + "]";
    }

    /** What is said of a task. */
    public static final class Builder {
        private final byte[] raw = Struct.empty(Layout.Task.SIZE);
        private final String id;
        private @Nullable String handler;
        private @Nullable String group;
        private List<String> tags = List.of();
        private List<String> after = List.of();
        private List<String> conditions = List.of();
        private byte[] input = {};

        private Builder(String id, Schedule schedule) {
            this.id = Objects.requireNonNull(id, "id");
            put(Layout.Task.SCHEDULE, schedule.number());
        }

        private Builder put(int offset, int value) {
            Struct.put(raw, offset, value);
            return this;
        }

        private Builder put(int offset, Duration span) {
            Struct.put(raw, offset, Time.nanoseconds(span));
            return this;
        }

        private Builder flag(int flag) {
            return put(Layout.Task.FLAGS, Struct.getInt(raw, Layout.Task.FLAGS) | flag);
        }

        /** The name of its handler; the id. */
        public Builder handler(String name) {
            handler = Objects.requireNonNull(name, "name");
            return this;
        }

        /** How long it takes; refresh. */
        public Builder kind(Kind kind) {
            return put(Layout.Task.KIND, kind.number());
        }

        /** How important it is; normal. */
        public Builder priority(Priority priority) {
            return put(Layout.Task.PRIORITY, priority.number());
        }

        /** What becomes of a live task of this id. */
        public Builder existing(Existing existing) {
            return put(Layout.Task.EXISTING, existing.number());
        }

        /** From when its period counts; from the end of a run. */
        public Builder recurrence(Recurrence recurrence) {
            return put(Layout.Task.RECURRENCE, recurrence.number());
        }

        /** How the delay before a retry grows. */
        public Builder backoff(Backoff backoff) {
            return put(Layout.Task.BACKOFF, backoff.number());
        }

        /** How the delay before a retry grows, and the first one; 30 s. */
        public Builder backoff(Backoff backoff, Duration delay) {
            Struct.put(raw, Layout.Task.BACKOFF_DELAY, Options.said(delay));
            return backoff(backoff);
        }

        /** How many failures until it is over; 0: no limit. */
        public Builder maxAttempts(int attempts) {
            return put(Layout.Task.MAX_ATTEMPTS, Options.count("max_attempts", attempts));
        }

        /** What must hold of the system. */
        public Builder constraints(Constraint... constraints) {
            return put(Layout.Task.CONSTRAINTS, Constraint.bits(List.of(constraints)));
        }

        /** Names of conditions of the host, all of which must hold ({@link Scheduler#defineCondition}). */
        public Builder conditions(Collection<String> names) {
            conditions = List.copyOf(names);
            return put(Layout.Task.CONDITION_COUNT, conditions.size());
        }

        /** Names that it shares with others. */
        public Builder tags(Collection<String> tags) {
            this.tags = List.copyOf(tags);
            return put(Layout.Task.TAG_COUNT, this.tags.size());
        }

        /** What a run is expected to take while nothing is known; else what the runs of its handler took. */
        public Builder expectedResponse(Duration expected) {
            Struct.put(raw, Layout.Task.EXPECTED_RESPONSE, Options.said(expected));
            return this;
        }

        /** Of how many of the last response times the estimate is the mean; 3. */
        public Builder responseWindow(int runs) {
            return put(Layout.Task.RESPONSE_WINDOW, Options.said(runs));
        }

        /** Until it is due first. */
        public Builder initialDelay(Duration delay) {
            return put(Layout.Task.INITIAL_DELAY, delay);
        }

        /**
         * How long after its registration a once task may begin at the latest: near it, it goes before others, and if it has
         * not begun by then it has failed.
         */
        public Builder latestBegin(Duration after) {
            return put(Layout.Task.LATEST_BEGIN, after);
        }

        /** From one end of a run, or begin, to the next. */
        public Builder period(Duration period) {
            return put(Layout.Task.PERIOD, period);
        }

        /** The part of a period, at its end, in which it runs. */
        public Builder flex(Duration flex) {
            return put(Layout.Task.FLEX, flex);
        }

        /** Makes delay and periods longer by a random part of at most so many per mille. */
        public Builder jitter(int perMille) {
            return put(Layout.Task.JITTER, perMille);
        }

        /** After which a run is asked to stop. */
        public Builder timeout(Duration timeout) {
            return put(Layout.Task.TIMEOUT, timeout);
        }

        /** After which a run that tells no progress is asked to stop. */
        public Builder stallLimit(Duration limit) {
            return put(Layout.Task.STALL_LIMIT, limit);
        }

        /** The group that it is in. */
        public Builder group(String name) {
            group = Objects.requireNonNull(name, "name");
            return this;
        }

        /** Once tasks that must have succeeded before it starts; it fails or is cancelled with them. */
        public Builder after(Collection<String> ids) {
            after = List.copyOf(ids);
            return put(Layout.Task.AFTER_COUNT, after.size());
        }

        /** Once tasks that must have ended before it starts, however. */
        public Builder afterAnyEnd(Collection<String> ids) {
            return after(ids).flag(Layout.TASK_AFTER_ANY_END);
        }

        /** Bytes that each run gets. */
        public Builder input(byte[] input) {
            this.input = input.clone();
            Struct.put(raw, Layout.Task.INPUT_LENGTH, (long) input.length);
            return this;
        }

        /** The freshness rule does not learn from its outcomes. */
        public Builder steady() {
            return flag(Layout.TASK_STEADY);
        }

        /** Important now: it goes before others while something is left of {@link Options.Builder#expeditedQuota}. */
        public Builder expedited() {
            return flag(Layout.TASK_EXPEDITED);
        }

        /** Registering it while that quota is used up is refused; else it is an ordinary task. */
        public Builder refuseOutOfQuota() {
            return flag(Layout.TASK_REFUSE_OUT_OF_QUOTA);
        }

        /** The task. */
        public Task build() {
            return new Task(this);
        }
    }

    Lent.Block lend(Lent lent) {
        Lent.Block block = lent.bytes(raw);
        block.put(Layout.Task.ID, lent.text(id));
        if (handler != null) {
            block.put(Layout.Task.HANDLER, lent.text(handler));
        }
        if (group != null) {
            block.put(Layout.Task.GROUP, lent.text(group));
        }
        block.put(Layout.Task.TAGS, lent.texts(tags).address);
        block.put(Layout.Task.AFTER, lent.texts(after).address);
        block.put(Layout.Task.CONDITIONS, lent.texts(conditions).address);
        block.put(Layout.Task.INPUT, lent.bytes(input).address);
        return block;
    }
}
