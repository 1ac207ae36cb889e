// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** From when a period counts. */
public enum Recurrence {
    /** From the completion of the run. */
    AFTER_COMPLETION(0),
    /** On the grid of the first earliest begin; missed periods are skipped. */
    ANCHORED(1),
    /** Set by the host, for example by a calendar, with selene_task_set_next after registering and at each dispatch. */
    CALENDAR(2),
    ;

    private final int number;

    Recurrence(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Recurrence of(int number) {
        switch (number) {
            case 0:
                return AFTER_COMPLETION;
            case 1:
                return ANCHORED;
            case 2:
                return CALENDAR;
            default:
                throw SeleneException.noSuch("recurrence", number);
        }
    }
}
