package org.selene;

import java.time.Instant;

/**
 * One change.
 *
 * @param number counts 1, 2, 3 … in the order of the changes; those of events that were lost are missing
 * @param type what it tells
 * @param state of the task after it; null: there is no task
 * @param time when
 * @param id of the task; empty: there is none
 * @param detail a number whose meaning depends on the type; the header says which
 * @param attempts of the task
 * @param message why a run failed, or what the trouble is
 * @param lost how many events found no room before this one
 */
public record Event(
        long number,
        EventType type,
        @Nullable State state,
        Instant time,
        String id,
        int detail,
        int attempts,
        String message,
        long lost) {
    static Event of(byte[] facts, long lost) {
        Struct raw = new Struct(facts, 0);
        int idLength = (int) raw.getLong(Layout.Event.ID + Layout.Text.LENGTH);
        int messageLength = (int) raw.getLong(Layout.Event.MESSAGE + Layout.Text.LENGTH);
        int state = raw.getInt(Layout.Event.STATE);
        return new Event(
                raw.getLong(Layout.Event.NUMBER),
                EventType.of(raw.getInt(Layout.Event.TYPE)),
                state < 0 ? null : State.of(state),
                raw.instant(Layout.Event.TIME),
                Struct.behind(facts, Layout.Event.SIZE, idLength),
                raw.getInt(Layout.Event.DETAIL),
                raw.getInt(Layout.Event.ATTEMPTS),
                Struct.behind(facts, Layout.Event.SIZE + idLength, messageLength),
                lost);
    }
}
