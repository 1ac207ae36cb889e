// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What becomes of a live task when another is registered under its id. */
public enum Existing {
    /** By schedule: keep for once tasks, update for the others. */
    DEFAULT(-1),
    /** The old record stays exactly as it is. */
    KEEP(0),
    /** The old one and all waiting behind it are cancelled (a run in flight is stopped); a new one starts. */
    REPLACE(1),
    /** The definition is replaced, history is kept. */
    UPDATE(2),
    /** Waits until the one before it succeeds; if that fails or is cancelled, so is this. */
    APPEND(3),
    /** The same, but starts also after a failure. */
    APPEND_OR_REPLACE(4),
    /** As KEEP; also what has succeeded stays as it is while its record is there, and what has ended while a task that comes after it needs it: the disposition is then KEPT. */
    SKIP(5),
    ;

    private final int number;

    Existing(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Existing of(int number) {
        switch (number) {
            case -1:
                return DEFAULT;
            case 0:
                return KEEP;
            case 1:
                return REPLACE;
            case 2:
                return UPDATE;
            case 3:
                return APPEND;
            case 4:
                return APPEND_OR_REPLACE;
            case 5:
                return SKIP;
            default:
                throw SeleneException.noSuch("existing", number);
        }
    }
}
