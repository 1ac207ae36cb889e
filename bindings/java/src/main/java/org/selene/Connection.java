package org.selene;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** How to reach the process that has a store open ({@link Scheduler#connect}). What is not said has its default. */
public final class Connection {
    private final byte[] raw;
    private final Path path;
    private final @Nullable String pool;

    private Connection(Builder of) {
        raw = of.raw.clone();
        path = of.path;
        pool = of.pool;
    }

    /** To a store, or to the socket on which it is served. */
    public static Builder to(Path path) {
        return new Builder(path);
    }

    /** What is said of a connection. */
    public static final class Builder {
        private final byte[] raw = Struct.empty(Layout.ConnectOptions.SIZE);
        private final Path path;
        private @Nullable String pool;

        private Builder(Path path) {
            this.path = Objects.requireNonNull(path, "path");
        }

        /** How long a call waits for an owner while none serves the store; not at all. */
        public Builder patience(Duration wait) {
            Struct.put(raw, Layout.ConnectOptions.WAIT, Time.nanoseconds(wait));
            return this;
        }

        /** How long a call waits for an answer; 30 s. */
        public Builder timeout(Duration timeout) {
            Struct.put(raw, Layout.ConnectOptions.TIMEOUT, Options.said(timeout));
            return this;
        }

        /** Those whose handlers are the same, any of which runs its tasks; the name of the executable, which is the VM's. */
        public Builder pool(String pool) {
            this.pool = Objects.requireNonNull(pool, "pool");
            return this;
        }

        /** The connection. */
        public Connection build() {
            return new Connection(this);
        }
    }

    Lent.Block lend(Lent lent) {
        Lent.Block block = lent.bytes(raw).put(Layout.ConnectOptions.PATH, lent.text(path.toFile().getPath()));
        return pool == null ? block : block.put(Layout.ConnectOptions.POOL, lent.text(pool));
    }
}
