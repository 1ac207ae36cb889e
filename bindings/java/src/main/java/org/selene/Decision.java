package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Whether a kind of work deserves a window now, and why.
 *
 * @param isGranted whether it does
 * @param at when that was decided
 * @param longestWindow what budgets leave room for; null: any
 * @param askAgainAt when asking again is worth it, unless a signal changes before; null: only then
 * @param findings what became of every factor that the profile asks for
 */
public record Decision(
        boolean isGranted,
        Instant at,
        @Nullable Duration longestWindow,
        @Nullable Instant askAgainAt,
        List<Finding> findings) {
    /**
     * What became of a factor, in its unit.
     *
     * @param factor which
     * @param refuses whether it alone refuses
     * @param observed what was found
     * @param required what is asked for
     * @param clearsAt when it can be better; null: when a signal changes
     */
    public record Finding(Factor factor, boolean refuses, long observed, long required, @Nullable Instant clearsAt) {
        private static Finding of(Struct raw) {
            return new Finding(
                    Factor.of(raw.getInt(Layout.Finding.FACTOR)),
                    raw.getInt(Layout.Finding.VERDICT) == Layout.VERDICT_VETOED,
                    raw.getLong(Layout.Finding.OBSERVED),
                    raw.getLong(Layout.Finding.REQUIRED),
                    raw.instant(Layout.Finding.CLEARS_AT));
        }
    }

    static Decision of(Struct raw) {
        boolean isAny = raw.getLong(Layout.Decision.LONGEST_WINDOW) == Layout.NEVER;
        return new Decision(
                raw.getInt(Layout.Decision.GRANTED) != 0,
                raw.instant(Layout.Decision.AT),
                isAny ? null : raw.span(Layout.Decision.LONGEST_WINDOW),
                raw.instant(Layout.Decision.ASK_AGAIN_AT),
                raw.list(Layout.Decision.FINDINGS, raw.getLong(Layout.Decision.FINDING_COUNT), Layout.Finding.SIZE, Finding::of));
    }
}
