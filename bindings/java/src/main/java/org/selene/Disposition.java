// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What a registration did. */
public enum Disposition {
    /** A new record. */
    ADDED(0),
    /** A new record in place of a live one. */
    REPLACED(1),
    /** A new definition for the live record. */
    UPDATED(2),
    /** Nothing. */
    KEPT(3),
    /** A successor that waits. */
    APPENDED(4),
    /** A new record that waits for a free place (SELENE_OPTIONS_HOLD). */
    HELD(5),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    Disposition(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static Disposition of(int number) {
        switch (number) {
            case 0:
                return ADDED;
            case 1:
                return REPLACED;
            case 2:
                return UPDATED;
            case 3:
                return KEPT;
            case 4:
                return APPENDED;
            case 5:
                return HELD;
            default:
                return UNKNOWN;
        }
    }
}
