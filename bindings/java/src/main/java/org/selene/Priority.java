// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** How important a task is. */
public enum Priority {
    /** SELENE_PRIORITY_VERY_LOW of the header. */
    VERY_LOW(1),
    /** SELENE_PRIORITY_LOW of the header. */
    LOW(2),
    /** SELENE_PRIORITY_NORMAL of the header. */
    NORMAL(3),
    /** SELENE_PRIORITY_HIGH of the header. */
    HIGH(4),
    /** SELENE_PRIORITY_VERY_HIGH of the header. */
    VERY_HIGH(5),
    ;

    private final int number;

    Priority(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Priority of(int number) {
        switch (number) {
            case 1:
                return VERY_LOW;
            case 2:
                return LOW;
            case 3:
                return NORMAL;
            case 4:
                return HIGH;
            case 5:
                return VERY_HIGH;
            default:
                throw SeleneException.noSuch("priority", number);
        }
    }
}
