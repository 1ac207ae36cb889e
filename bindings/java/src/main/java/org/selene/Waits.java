package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Where the time of a task went since it was last due, or registered; the durations add up to the whole.
 *
 * @param since from then
 * @param until to then
 * @param parts by reason
 * @param preferred how many dispatches of others went before it in windows that it fitted
 * @param preferredIds the last of these, the latest first
 */
public record Waits(Instant since, Instant until, List<Part> parts, long preferred, List<String> preferredIds) {
    /**
     * How much of it went to one reason.
     *
     * @param reason which
     * @param detail the bit of a constraint, the number of a factor, or 0
     * @param duration how long
     * @param times how often it began; for the reasons of windows in how many of them
     */
    public record Part(Reason reason, long detail, Duration duration, long times) {
        private static Part of(Struct raw) {
            return new Part(
                    Reason.of(raw.getInt(Layout.Wait.REASON)),
                    raw.getLong(Layout.Wait.DETAIL),
                    raw.span(Layout.Wait.DURATION),
                    raw.getLong(Layout.Wait.TIMES));
        }
    }

    static Waits of(Struct raw) {
        return new Waits(
                raw.instant(Layout.Waits.SINCE),
                raw.instant(Layout.Waits.UNTIL),
                raw.list(Layout.Waits.PARTS, raw.getLong(Layout.Waits.PART_COUNT), Layout.Wait.SIZE, Part::of),
                raw.getLong(Layout.Waits.PREFERRED_COUNT),
                raw.texts(Layout.Waits.PREFERRED_IDS, raw.getLong(Layout.Waits.PREFERRED_ID_COUNT)));
    }
}
