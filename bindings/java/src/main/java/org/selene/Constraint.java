// Written by tools/java.py from include/api.json: make interface.
package org.selene;

import java.util.EnumSet;
import java.util.Set;

/** What a task may ask of the system. */
public enum Constraint {
    /** A network is reachable (NETWORK). */
    NETWORK(1),
    /** The machine is on external power (EXTERNAL_POWER). */
    EXTERNAL_POWER(2),
    /** A network is reachable and does not cost by volume (NETWORK, METERED, which only a host knows). */
    UNMETERED(4),
    /** No battery is being emptied, or 20 % or more of it is left (DISCHARGING, BATTERY_LEVEL). */
    BATTERY_NOT_LOW(8),
    /** No user is active (USER_ACTIVE). */
    IDLE(16),
    /** 5 % or more of the file system that holds the store is free (STORAGE_FREE). */
    STORAGE_NOT_LOW(32),
    /** No display is on (DISPLAY_ON). */
    DISPLAY_OFF(64),
    /** A network is reachable and is not roaming (NETWORK, ROAMING, which only a host knows). */
    NOT_ROAMING(128),
    ;

    private final int number;

    Constraint(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Constraint of(int number) {
        switch (number) {
            case 1:
                return NETWORK;
            case 2:
                return EXTERNAL_POWER;
            case 4:
                return UNMETERED;
            case 8:
                return BATTERY_NOT_LOW;
            case 16:
                return IDLE;
            case 32:
                return STORAGE_NOT_LOW;
            case 64:
                return DISPLAY_OFF;
            case 128:
                return NOT_ROAMING;
            default:
                throw SeleneException.noSuch("constraint", number);
        }
    }

    static int bits(Iterable<Constraint> of) {
        int bits = 0;
        for (Constraint one : of) {
            bits |= one.number;
        }
        return bits;
    }

    static Set<Constraint> set(int bits) {
        EnumSet<Constraint> set = EnumSet.noneOf(Constraint.class);
        for (Constraint one : values()) {
            if ((bits & one.number) != 0) {
                set.add(one);
            }
        }
        return set;
    }
}
