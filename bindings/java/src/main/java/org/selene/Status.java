// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** Why a call was refused, or failed. */
public enum Status {
    /** The kind is switched off. */
    UNAVAILABLE(1),
    /** The limit of pending once and periodic tasks of this kind (max_pending_refresh, max_pending_processing; by default there is none), or of waiting successors, is reached. */
    TOO_MANY_PENDING(2),
    /** The scheduler was opened with a list of permitted ids and this is not among them. */
    NOT_PERMITTED(3),
    /** The task of a window of one task cannot run now. */
    IMMEDIATE_RUN_INELIGIBLE(4),
    /** Expedited tasks have used their quota, and this one has SELENE_TASK_REFUSE_OUT_OF_QUOTA. */
    OUT_OF_QUOTA(5),
    /** A parameter or a field is outside what is allowed. */
    INVALID_ARGUMENT(16),
    /** The handle or token was never issued, is closed, or is of another type. */
    INVALID_HANDLE(17),
    /** struct_size is too small, or a later field that this library does not know is set. */
    UNSUPPORTED_STRUCT(18),
    /** The combination that was asked for is not supported, such as library threads with a host clock. */
    UNSUPPORTED(19),
    /** The input is larger than the scheduler's max_input_size. */
    TOO_LARGE(20),
    /** No task or handler has that name. */
    NOT_FOUND(21),
    /** A handler of that name is registered, or its last run has not returned. */
    ALREADY_EXISTS(22),
    /** The run was completed before; the first outcome stands. */
    ALREADY_COMPLETED(23),
    /** The run was stopped, expired, or belongs to an earlier life of the scheduler. */
    STALE_RUN(24),
    /** A cycle is open, or too many threads are still in handlers that overran. */
    BUSY(25),
    /** The minimum interval of the kind has not passed; selene_scheduler_next_wakeup says when. */
    TOO_SOON(26),
    /** This call is not legal inside a callback of the same scheduler. */
    REENTRANT(27),
    /** The scheduler was opened before fork() and belongs to the parent. */
    FORKED(28),
    /** A resource of the system or of the library ran out, such as threads. */
    EXHAUSTED(29),
    /** An internal consistency check failed: a bug in this library. */
    INTERNAL(30),
    /** The store cannot be opened or made: a directory, no such folder, no permission, read-only. */
    STORE_CANNOT_OPEN(48),
    /** Another scheduler, in this process or another, has the store open; the message names the process. */
    STORE_LOCKED(49),
    /** The file is damaged; selene_store_salvage saves what can be read. */
    STORE_CORRUPT(50),
    /** The file is not a Selene store, or that of another application (option owner); the message names both. */
    STORE_FOREIGN(51),
    /** The store was written by a newer version of this library. */
    STORE_NEWER(52),
    /** The disk or the quota is full; nothing changed. */
    STORE_FULL(53),
    /** Reading or writing failed; nothing changed. */
    STORE_IO(54),
    /** A commit failed midway (a sync, or no memory): the on-disk state is unknown; reopen the store before using it. */
    OUTCOME_UNKNOWN(55),
    /** The file of the store or its log (the same name with -wal) was removed, renamed or replaced while it was open; nothing changed. */
    STORE_MOVED(56),
    /** Of a connection: no process serves the store, or the one that did has ended or does not answer. */
    OWNER_AWAY(57),
    /** Of a connection: the process that has the store open does not permit this user to do so. */
    REFUSED(58),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    Status(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static Status of(int number) {
        switch (number) {
            case 1:
                return UNAVAILABLE;
            case 2:
                return TOO_MANY_PENDING;
            case 3:
                return NOT_PERMITTED;
            case 4:
                return IMMEDIATE_RUN_INELIGIBLE;
            case 5:
                return OUT_OF_QUOTA;
            case 16:
                return INVALID_ARGUMENT;
            case 17:
                return INVALID_HANDLE;
            case 18:
                return UNSUPPORTED_STRUCT;
            case 19:
                return UNSUPPORTED;
            case 20:
                return TOO_LARGE;
            case 21:
                return NOT_FOUND;
            case 22:
                return ALREADY_EXISTS;
            case 23:
                return ALREADY_COMPLETED;
            case 24:
                return STALE_RUN;
            case 25:
                return BUSY;
            case 26:
                return TOO_SOON;
            case 27:
                return REENTRANT;
            case 28:
                return FORKED;
            case 29:
                return EXHAUSTED;
            case 30:
                return INTERNAL;
            case 48:
                return STORE_CANNOT_OPEN;
            case 49:
                return STORE_LOCKED;
            case 50:
                return STORE_CORRUPT;
            case 51:
                return STORE_FOREIGN;
            case 52:
                return STORE_NEWER;
            case 53:
                return STORE_FULL;
            case 54:
                return STORE_IO;
            case 55:
                return OUTCOME_UNKNOWN;
            case 56:
                return STORE_MOVED;
            case 57:
                return OWNER_AWAY;
            case 58:
                return REFUSED;
            default:
                return UNKNOWN;
        }
    }
}
