// Written by tools/java.py from include/api.json: make interface.
package org.selene;

import java.util.EnumSet;
import java.util.Set;

/** How long work takes. */
public enum Kind {
    /** Short work, seconds. */
    REFRESH(1),
    /** Long work, minutes. */
    PROCESSING(2),
    ;

    private final int number;

    Kind(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Kind of(int number) {
        switch (number) {
            case 1:
                return REFRESH;
            case 2:
                return PROCESSING;
            default:
                throw SeleneException.noSuch("kind", number);
        }
    }

    static int bits(Iterable<Kind> of) {
        int bits = 0;
        for (Kind one : of) {
            bits |= one.number;
        }
        return bits;
    }

    static Set<Kind> set(int bits) {
        EnumSet<Kind> set = EnumSet.noneOf(Kind.class);
        for (Kind one : values()) {
            if ((bits & one.number) != 0) {
                set.add(one);
            }
        }
        return set;
    }
}
