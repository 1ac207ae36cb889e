// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** When a task is due. */
public enum Schedule {
    /** By period: periodic with one, else once. */
    DEFAULT(0),
    /** Until it succeeds, is abandoned, or its attempts are used up. */
    ONCE(1),
    /** Once a period. */
    PERIODIC(2),
    /** A candidate in every window, for ever. */
    STANDING(3),
    ;

    private final int number;

    Schedule(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Schedule of(int number) {
        switch (number) {
            case 0:
                return DEFAULT;
            case 1:
                return ONCE;
            case 2:
                return PERIODIC;
            case 3:
                return STANDING;
            default:
                throw SeleneException.noSuch("schedule", number);
        }
    }
}
