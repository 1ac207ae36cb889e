package org.selene;

import java.time.Duration;
import java.util.List;

/** How a driver opens windows ({@link Scheduler#startDriver}). What is not said has its default. */
public final class Driver {
    private final byte[] raw;

    private Driver(Builder of) {
        raw = of.raw.clone();
    }

    /** All defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** What is said of a driver. */
    public static final class Builder {
        private final byte[] raw = Struct.empty(Layout.Driver.SIZE);

        private Builder() {}

        private Builder flag(int flag) {
            Struct.put(raw, Layout.Driver.FLAGS, Struct.getInt(raw, Layout.Driver.FLAGS) | flag);
            return this;
        }

        /** Budget and lanes of windows for refresh work; no budget (zero: nobody has decided a deadline), 1. */
        public Builder refresh(Duration budget, int lanes) {
            Struct.put(raw, Layout.Driver.REFRESH_BUDGET, Time.nanoseconds(budget));
            Struct.put(raw, Layout.Driver.REFRESH_LANES, Options.said(lanes));
            return this;
        }

        /** Budget and lanes of windows for processing; no budget, 1. */
        public Builder processing(Duration budget, int lanes) {
            Struct.put(raw, Layout.Driver.PROCESSING_BUDGET, Time.nanoseconds(budget));
            Struct.put(raw, Layout.Driver.PROCESSING_LANES, Options.said(lanes));
            return this;
        }

        /** Of its windows; both. */
        public Builder kinds(Kind... kinds) {
            Struct.put(raw, Layout.Driver.KINDS, Kind.bits(List.of(kinds)));
            return this;
        }

        /** Kept free at the end of each window; a twentieth of the budget. */
        public Builder reserve(Duration reserve) {
            Struct.put(raw, Layout.Driver.RESERVE, Options.said(reserve));
            return this;
        }

        /** The least time from window to window of a kind. */
        public Builder every(Duration every) {
            Struct.put(raw, Layout.Driver.EVERY, Time.nanoseconds(every));
            return this;
        }

        /** Nothing is picked whose estimate does not fit. */
        public Builder strictFit() {
            return flag(Layout.DRIVER_STRICT_FIT);
        }

        /** One window at a time, for all kinds that are due. */
        public Builder together() {
            return flag(Layout.DRIVER_TOGETHER);
        }

        /** Each window picks from what was eligible at its begin. */
        public Builder frozen() {
            return flag(Layout.DRIVER_FROZEN);
        }

        /** It asks no governor: what is due has its window. */
        public Builder ungoverned() {
            return flag(Layout.DRIVER_UNGOVERNED);
        }

        /** The driver. */
        public Driver build() {
            return new Driver(this);
        }
    }

    Lent.Block lend(Lent lent) {
        return lent.bytes(raw);
    }
}
