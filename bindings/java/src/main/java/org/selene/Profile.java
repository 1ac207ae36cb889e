// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What the governor asks for before it grants a window. */
public enum Profile {
    /** Nothing but constraints. */
    OPEN(0),
    /** What a phone's system requires. */
    APPLE(1),
    /** What a server requires: that the machine is not under load. */
    SERVER(2),
    /** All of both, for both kinds. */
    STRICT(3),
    ;

    private final int number;

    Profile(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Profile of(int number) {
        switch (number) {
            case 0:
                return OPEN;
            case 1:
                return APPLE;
            case 2:
                return SERVER;
            case 3:
                return STRICT;
            default:
                throw SeleneException.noSuch("profile", number);
        }
    }
}
