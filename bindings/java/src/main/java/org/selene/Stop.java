// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** Why a run is asked to stop. */
public enum Stop {
    /** SELENE_STOP_NONE of the header. */
    NONE(0),
    /** The reserve of the window has begun; completing is still possible until the deadline. */
    EXPIRING(1),
    /** Something more important needs the machine; the task is enqueued again as before the run. */
    PREEMPTED(2),
    /** A constraint is no longer satisfied; enqueued again as before the run. */
    CONSTRAINT_LOST(3),
    /** A new record took the id. */
    REPLACED(4),
    /** SELENE_STOP_CANCELLED of the header. */
    CANCELLED(5),
    /** The host ends the work: it closes the scheduler, stops the driver, or drains or ends the window. */
    SHUTDOWN(6),
    /** In records only: its process ended while it ran; counts as failed. */
    INTERRUPTED(7),
    /** Its task's timeout has passed; completing is still possible for stop_grace. */
    TIMED_OUT(8),
    /** It reported no progress for its task's stall_limit; completing is still possible for stop_grace. */
    STALLED(9),
    /** In records only: its task waited when its latest_begin had passed, or could be tried again only then, and has failed. */
    TOO_LATE(10),
    /** A run of a fleet whose node could not renew its lease in the database in time: another node may take the task soon. */
    LEASE_LOST(11),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    Stop(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static Stop of(int number) {
        switch (number) {
            case 0:
                return NONE;
            case 1:
                return EXPIRING;
            case 2:
                return PREEMPTED;
            case 3:
                return CONSTRAINT_LOST;
            case 4:
                return REPLACED;
            case 5:
                return CANCELLED;
            case 6:
                return SHUTDOWN;
            case 7:
                return INTERRUPTED;
            case 8:
                return TIMED_OUT;
            case 9:
                return STALLED;
            case 10:
                return TOO_LATE;
            case 11:
                return LEASE_LOST;
            default:
                return UNKNOWN;
        }
    }
}
