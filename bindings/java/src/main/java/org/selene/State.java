// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What a task is at. */
public enum State {
    /** SELENE_STATE_ENQUEUED of the header. */
    ENQUEUED(0),
    /** Accepted beyond the limit; takes the next free place, higher priority first, then older first. */
    HELD(1),
    /** Waits for the task before it. */
    BLOCKED(2),
    /** SELENE_STATE_RUNNING of the header. */
    RUNNING(3),
    /** Terminal, as the next two. */
    SUCCEEDED(4),
    /** SELENE_STATE_FAILED of the header. */
    FAILED(5),
    /** SELENE_STATE_CANCELLED of the header. */
    CANCELLED(6),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    State(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static State of(int number) {
        switch (number) {
            case 0:
                return ENQUEUED;
            case 1:
                return HELD;
            case 2:
                return BLOCKED;
            case 3:
                return RUNNING;
            case 4:
                return SUCCEEDED;
            case 5:
                return FAILED;
            case 6:
                return CANCELLED;
            default:
                return UNKNOWN;
        }
    }
}
