// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What a condition of the host is. */
public enum ConditionState {
    /** A task asks for it, but it is not defined. */
    UNDEFINED(0),
    /** Defined, and not satisfied or not set yet. */
    UNSATISFIED(1),
    /** Defined and satisfied. */
    SATISFIED(2),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    ConditionState(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static ConditionState of(int number) {
        switch (number) {
            case 0:
                return UNDEFINED;
            case 1:
                return UNSATISFIED;
            case 2:
                return SATISFIED;
            default:
                return UNKNOWN;
        }
    }
}
