package org.selene;

import java.time.Instant;
import java.util.Set;

/**
 * Kinds that are paused until the same instant.
 *
 * @param kinds which
 * @param pool whose tasks wait; null: those of all
 * @param until when it ends; null: when it is resumed
 */
public record Pause(Set<Kind> kinds, @Nullable String pool, @Nullable Instant until) {
    static Pause of(Struct raw) {
        String pool = raw.text(Layout.Pause.POOL);
        return new Pause(
                Kind.set(raw.getInt(Layout.Pause.KINDS)),
                pool.isEmpty() ? null : pool,
                raw.instant(Layout.Pause.UNTIL));
    }
}
