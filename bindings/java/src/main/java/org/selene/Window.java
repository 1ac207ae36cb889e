package org.selene;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** An opportunity to work. What is not said has its default: refresh, 30 s, one lane. */
public final class Window {
    private final byte[] raw;
    private final @Nullable String task;

    private Window(Builder of) {
        raw = of.raw.clone();
        task = of.task;
    }

    /** All defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** One of this budget, for all kinds that may begin. */
    public static Window of(Duration budget) {
        return builder().budget(budget).build();
    }

    /** What is said of a window. */
    public static final class Builder {
        private final byte[] raw = Struct.empty(Layout.Window.SIZE);
        private @Nullable String task;

        private Builder() {}

        private Builder flag(int flag) {
            Struct.put(raw, Layout.Window.FLAGS, Struct.getInt(raw, Layout.Window.FLAGS) | flag);
            return this;
        }

        /** From its begin to its deadline; 30 s. */
        public Builder budget(Duration budget) {
            Struct.put(raw, Layout.Window.BUDGET, Options.said(budget));
            return this;
        }

        /** Kept free at the end, in which runs are asked to stop; a twentieth of the budget. */
        public Builder reserve(Duration reserve) {
            Struct.put(raw, Layout.Window.RESERVE, Options.said(reserve));
            return this;
        }

        /** Of the tasks that it takes; all that may begin. */
        public Builder kinds(Kind... kinds) {
            Struct.put(raw, Layout.Window.KINDS, Kind.bits(List.of(kinds)));
            return this;
        }

        /** Runs at a time; 1. */
        public Builder lanes(int lanes) {
            Struct.put(raw, Layout.Window.LANES, Options.said(lanes));
            return this;
        }

        /** Nothing is picked whose estimate does not fit, not even first. */
        public Builder strictFit() {
            return flag(Layout.WINDOW_STRICT_FIT);
        }

        /** Picks only tasks that were eligible at its begin; without it also those that become due meanwhile. */
        public Builder frozen() {
            return flag(Layout.WINDOW_FROZEN);
        }

        /** The one task that shall run now. */
        public Builder task(String id) {
            task = Objects.requireNonNull(id, "id");
            return this;
        }

        /** The window. */
        public Window build() {
            return new Window(this);
        }
    }

    Lent.Block lend(Lent lent) {
        Lent.Block block = lent.bytes(raw);
        return task == null ? block : block.put(Layout.Window.TASK, lent.text(task));
    }
}
