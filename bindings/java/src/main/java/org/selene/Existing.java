// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What becomes of a live task when another is registered under its id. */
public enum Existing {
    /** By schedule: keep for once tasks, update for the others. */
    DEFAULT(0),
    /** The old record stays exactly as it is. */
    KEEP(1),
    /** The old one and all waiting behind it are cancelled (a run in flight is stopped); a new one starts. */
    REPLACE(2),
    /** The definition is replaced, history is kept. */
    UPDATE(3),
    /** Waits until the one before it succeeds; if that fails or is cancelled, so is this. */
    APPEND(4),
    /** The same, but starts also after a failure. */
    APPEND_OR_REPLACE(5),
    /** As KEEP; also what has succeeded stays as it is while its record is there, and what has ended while a task that comes after it needs it: the disposition is then KEPT. */
    SKIP(6),
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
            case 0:
                return DEFAULT;
            case 1:
                return KEEP;
            case 2:
                return REPLACE;
            case 3:
                return UPDATE;
            case 4:
                return APPEND;
            case 5:
                return APPEND_OR_REPLACE;
            case 6:
                return SKIP;
            default:
                throw SeleneException.noSuch("existing", number);
        }
    }
}
