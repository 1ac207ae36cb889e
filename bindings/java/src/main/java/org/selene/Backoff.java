// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** How the delay grows from failure to failure. */
public enum Backoff {
    /** By schedule: none for standing, exponential for the others. */
    DEFAULT(-1),
    /** 0. */
    NONE(0),
    /** d * n. */
    LINEAR(1),
    /** d * 2^(n-1). */
    EXPONENTIAL(2),
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
            case -1:
                return DEFAULT;
            case 0:
                return NONE;
            case 1:
                return LINEAR;
            case 2:
                return EXPONENTIAL;
            default:
                throw SeleneException.noSuch("backoff", number);
        }
    }
}
