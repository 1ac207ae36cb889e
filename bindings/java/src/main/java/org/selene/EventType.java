// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What an event tells. */
public enum EventType {
    /** A register call changed something; detail says what. */
    REGISTERED(1),
    /** A run was dispatched. */
    STARTED(2),
    /** A run was asked to stop. */
    STOPPED(3),
    /** A run is decided; or, without a run, a successor failed before it started. */
    COMPLETED(4),
    /** The task will be tried again at time_at. */
    RETRY(5),
    /** The task waits for a free place. */
    HELD(6),
    /** A held task took a free place. */
    PROMOTED(7),
    /** SELENE_EVENT_CANCELLED of the header. */
    CANCELLED(8),
    /** SELENE_EVENT_CYCLE_BEGUN of the header. */
    CYCLE_BEGUN(9),
    /** SELENE_EVENT_CYCLE_ENDED of the header. */
    CYCLE_ENDED(10),
    /** A successor took the place of the task before it. */
    UNBLOCKED(11),
    /** A run that did not return was released after release_after; its id is free. */
    RELEASED(12),
    /** The task was running when its process ended; detail: a SELENE_SUSPICION_ number, or 0. */
    INTERRUPTED(13),
    /** At open: the time last seen by the store was more than 24 h ahead of the wall clock and was treated as a mistake; all stored instants were moved by time_at ns. */
    CLOCK_MOVED(14),
    /** The governor refused a window of kinds; asking again may be worth it at time_at. */
    REFUSED(15),
    /** The governor granted a window of kinds. */
    GRANTED(16),
    /** The recording of a trace ended, because the file could not be written. */
    TRACE_ENDED(17),
    /** Something keeps the scheduler from working, or no longer does; detail says what, status whether. */
    TROUBLE(18),
    /** A task was paused; without a task: the kinds in kinds, until time_at, in the pool whose name is in message (empty: everywhere); without kinds: the group whose name is in message. */
    PAUSED(19),
    /** What was paused goes on: a task, kinds (also when their time has come), or a group. */
    RESUMED(20),
    /** A run reported its progress (selene_run_progress): the first report at once, later ones at most four times a second of scheduler time, and always the last one, before the end of the run. */
    PROGRESS(21),
    /** A condition of the host is satisfied now (selene_condition_set); message is its name. */
    CONDITION_MET(22),
    /** A condition of the host is no longer satisfied; message is its name. */
    CONDITION_LOST(23),
    /** The quota of expedited tasks is used up: they are ordinary ones until something is left again, at time_at if no more of it is used (expedited_quota). */
    QUOTA_USED_UP(24),
    /** Something of the quota of expedited tasks is left again. */
    QUOTA_LEFT(25),
    /** A run has succeeded, and what it left is not kept, because it is too long (max_output_size): progress_done has its bytes, progress_total how many are kept at most. */
    OUTPUT_LOST(26),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    EventType(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static EventType of(int number) {
        switch (number) {
            case 1:
                return REGISTERED;
            case 2:
                return STARTED;
            case 3:
                return STOPPED;
            case 4:
                return COMPLETED;
            case 5:
                return RETRY;
            case 6:
                return HELD;
            case 7:
                return PROMOTED;
            case 8:
                return CANCELLED;
            case 9:
                return CYCLE_BEGUN;
            case 10:
                return CYCLE_ENDED;
            case 11:
                return UNBLOCKED;
            case 12:
                return RELEASED;
            case 13:
                return INTERRUPTED;
            case 14:
                return CLOCK_MOVED;
            case 15:
                return REFUSED;
            case 16:
                return GRANTED;
            case 17:
                return TRACE_ENDED;
            case 18:
                return TROUBLE;
            case 19:
                return PAUSED;
            case 20:
                return RESUMED;
            case 21:
                return PROGRESS;
            case 22:
                return CONDITION_MET;
            case 23:
                return CONDITION_LOST;
            case 24:
                return QUOTA_USED_UP;
            case 25:
                return QUOTA_LEFT;
            case 26:
                return OUTPUT_LOST;
            default:
                return UNKNOWN;
        }
    }
}
