// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** How the delay grows from failure to failure. */
public enum Backoff {
    /** By schedule: none for standing, exponential for the others. */
    DEFAULT(0),
    /** 0. */
    NONE(1),
    /** d * n. */
    LINEAR(2),
    /** d * 2^(n-1). */
    EXPONENTIAL(3),
    ;

    private final int number;

    Backoff(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Backoff of(int number) {
        switch (number) {
            case 0:
                return DEFAULT;
            case 1:
                return NONE;
            case 2:
                return LINEAR;
            case 3:
                return EXPONENTIAL;
            default:
                throw SeleneException.noSuch("backoff", number);
        }
    }
}
