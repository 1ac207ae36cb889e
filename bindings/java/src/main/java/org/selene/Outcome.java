// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** How a run ended. */
public enum Outcome {
    /** For selene_lane_next only: no outcome: it was given before, will be given later, or there was no run. */
    NONE(-1),
    /** It worked, and found something new. */
    NEW_DATA(0),
    /** It worked, and there was nothing new. */
    NO_DATA(1),
    /** It may be tried again, by backoff and max_attempts. */
    FAILED(2),
    /** Failed for good. */
    ABANDONED(3),
    /** In reports only: open after the deadline, or after the grace of its timeout or stall limit; counts as failed. */
    EXPIRED(4),
    /** Ended by a stop: no attempt counts, and the task is enqueued again as before the run. */
    STOPPED(5),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    Outcome(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static Outcome of(int number) {
        switch (number) {
            case -1:
                return NONE;
            case 0:
                return NEW_DATA;
            case 1:
                return NO_DATA;
            case 2:
                return FAILED;
            case 3:
                return ABANDONED;
            case 4:
                return EXPIRED;
            case 5:
                return STOPPED;
            default:
                return UNKNOWN;
        }
    }
}
