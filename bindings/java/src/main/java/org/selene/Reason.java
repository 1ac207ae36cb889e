// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** Why a task does not run now. */
public enum Reason {
    /** Its earliest begin has not come. */
    NOT_DUE(1),
    /** A constraint is not satisfied; constraints says which. */
    CONSTRAINTS(2),
    /** No handler has that name; or the last cycle of its kind called handlers, and this one has no function. */
    NO_HANDLER(3),
    /** It is held until a place is free. */
    HELD(4),
    /** It waits for the task before it. */
    BLOCKED(5),
    /** It is running. */
    RUNNING(6),
    /** Its kind is switched off. */
    KIND_OFF(7),
    /** It was eligible in the last cycle of its kind, and its estimate did not fit. */
    DID_NOT_FIT(8),
    /** An earlier run of this id is over but has not returned. */
    STILL_RUNNING(9),
    /** It has succeeded, failed or been cancelled. */
    TERMINAL(10),
    /** Its id is not among the permitted ones. */
    NOT_PERMITTED(11),
    /** It had its run in the cycle that is open. */
    HAD_ITS_RUN(12),
    /** The minimum interval of its kind has not passed. */
    TOO_SOON(13),
    /** A cycle of its kind is open and was begun before the task could run. */
    NEXT_CYCLE(14),
    /** Its last run was interrupted by the end of its process, and its backoff has not passed. */
    INTERRUPTED(15),
    /** The governor refused its kind the last time it was asked; selene_governor_last says why. */
    GOVERNOR(16),
    /** The store refused the last commit (SELENE_TROUBLE_STORE). */
    STORE_REFUSES(17),
    /** No library thread is available for a window (SELENE_TROUBLE_OVERRUN or _THREAD). */
    NO_THREAD(18),
    /** Its handler's runs have left too many threads behind, and none has come back (SELENE_TROUBLE_HANDLER). */
    HANDLER_STUCK(19),
    /** The scheduler was drained (selene_scheduler_drain). */
    DRAINED(20),
    /** It waits for a time while the clock has jumped (SELENE_TROUBLE_CLOCK). */
    CLOCK(21),
    /** The host has paused it (selene_task_pause). */
    PAUSED(22),
    /** The host has paused its group (selene_group_pause). */
    GROUP_PAUSED(23),
    /** As many runs of its group as may are under way (selene_group_set_limit). */
    GROUP_FULL(24),
    /** It is expedited, but the quota is used up: it waits as an ordinary one (expedited_quota). */
    OUT_OF_QUOTA(25),
    /** A condition of the host is not satisfied; selene_condition_missing says which. */
    CONDITIONS(26),
    /** It belongs to a fleet whose database does not answer, or refuses its node's requests (SELENE_TROUBLE_FLEET): the outcome of its run cannot be reported, and when the lease can no longer be relied on the run is asked to stop. */
    FLEET_AWAY(27),
    /** The host has paused its kind, everywhere or in the pool that runs it (selene_scheduler_pause). */
    KIND_PAUSED(28),
    /** It may have ended a process, or another task that runs or is next may: of such tasks one runs at a time in a process, and one that is to blame runs alone there (selene_task_info.quarantined). */
    QUARANTINED(29),
    /** It has failed and is not due again yet. */
    BACKING_OFF(64),
    /** It could run, and no window of its kind was open. */
    NO_WINDOW(65),
    /** A window was open that it fitted, and nothing was taken from it. */
    WINDOW_OPEN(66),
    /** A window was open that it fitted, and others were dispatched. */
    PREFERRED_OTHERS(67),
    /** No process had the store open. */
    NO_PROCESS(68),
    /** Not known: a process had the store open and was killed, or had not yet told the store. */
    NOT_KNOWN(69),
    /** Too long ago, or too much has happened since, to be kept. */
    EARLIER(70),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    Reason(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static Reason of(int number) {
        switch (number) {
            case 1:
                return NOT_DUE;
            case 2:
                return CONSTRAINTS;
            case 3:
                return NO_HANDLER;
            case 4:
                return HELD;
            case 5:
                return BLOCKED;
            case 6:
                return RUNNING;
            case 7:
                return KIND_OFF;
            case 8:
                return DID_NOT_FIT;
            case 9:
                return STILL_RUNNING;
            case 10:
                return TERMINAL;
            case 11:
                return NOT_PERMITTED;
            case 12:
                return HAD_ITS_RUN;
            case 13:
                return TOO_SOON;
            case 14:
                return NEXT_CYCLE;
            case 15:
                return INTERRUPTED;
            case 16:
                return GOVERNOR;
            case 17:
                return STORE_REFUSES;
            case 18:
                return NO_THREAD;
            case 19:
                return HANDLER_STUCK;
            case 20:
                return DRAINED;
            case 21:
                return CLOCK;
            case 22:
                return PAUSED;
            case 23:
                return GROUP_PAUSED;
            case 24:
                return GROUP_FULL;
            case 25:
                return OUT_OF_QUOTA;
            case 26:
                return CONDITIONS;
            case 27:
                return FLEET_AWAY;
            case 28:
                return KIND_PAUSED;
            case 29:
                return QUARANTINED;
            case 64:
                return BACKING_OFF;
            case 65:
                return NO_WINDOW;
            case 66:
                return WINDOW_OPEN;
            case 67:
                return PREFERRED_OTHERS;
            case 68:
                return NO_PROCESS;
            case 69:
                return NOT_KNOWN;
            case 70:
                return EARLIER;
            default:
                return UNKNOWN;
        }
    }
}
