package org.selene;

import java.time.Duration;
import java.time.Instant;

/** Durations and instants of Java as the header's nanoseconds. */
final class Time {
    private static final long SECOND = 1_000_000_000L;

    private Time() {}

    /** What is longer than the header can say is the longest; the library says whether that is allowed. */
    static long nanoseconds(Duration span) {
        try {
            return span.toNanos();
        } catch (ArithmeticException tooLong) {
            return span.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    static long nanoseconds(Instant at) {
        return nanoseconds(Duration.between(Instant.EPOCH, at));
    }

    /** null: never. */
    static @Nullable Instant instant(long nanoseconds) {
        if (nanoseconds == Layout.NEVER) {
            return null;
        }
        return Instant.ofEpochSecond(Math.floorDiv(nanoseconds, SECOND), Math.floorMod(nanoseconds, SECOND));
    }
}
