// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What a profile can ask for. */
public enum Factor {
    /** The level while discharging, 1000 otherwise; at least. */
    BATTERY(1),
    /** … the factors 2 to 19 have the numbers and units of SELENE_SIGNAL_EXTERNAL_POWER … _STORAGE_FREE. */
    EXTERNAL_POWER(2),
    /** SELENE_FACTOR_LOW_POWER_MODE of the header. */
    LOW_POWER_MODE(3),
    /** SELENE_FACTOR_THERMAL of the header. */
    THERMAL(4),
    /** SELENE_FACTOR_USER_ACTIVE of the header. */
    USER_ACTIVE(5),
    /** SELENE_FACTOR_DISPLAY_ON of the header. */
    DISPLAY_ON(6),
    /** SELENE_FACTOR_UNLOCKED of the header. */
    UNLOCKED(7),
    /** SELENE_FACTOR_NETWORK of the header. */
    NETWORK(8),
    /** SELENE_FACTOR_METERED of the header. */
    METERED(9),
    /** SELENE_FACTOR_AIRPLANE of the header. */
    AIRPLANE(10),
    /** SELENE_FACTOR_BACKGROUND_SWITCH of the header. */
    BACKGROUND_SWITCH(11),
    /** SELENE_FACTOR_HOST_PRESENCE of the header. */
    HOST_PRESENCE(12),
    /** SELENE_FACTOR_CPU_BUSY of the header. */
    CPU_BUSY(13),
    /** SELENE_FACTOR_CPU_PRESSURE of the header. */
    CPU_PRESSURE(14),
    /** SELENE_FACTOR_MEMORY_PRESSURE of the header. */
    MEMORY_PRESSURE(15),
    /** SELENE_FACTOR_MEMORY_STALLED of the header. */
    MEMORY_STALLED(16),
    /** SELENE_FACTOR_IO_PRESSURE of the header. */
    IO_PRESSURE(17),
    /** SELENE_FACTOR_IO_STALLED of the header. */
    IO_STALLED(18),
    /** SELENE_FACTOR_STORAGE_FREE of the header. */
    STORAGE_FREE(19),
    /** A quota of the kind is spent. */
    BUDGET(20),
    /** ns since the kind's last window began; at least. */
    RATE(21),
    /** How well the present hour suits the kind: refresh prefers hours of use, processing hours without. */
    USE_PREDICTION(22),
    /** ns since the host was last used; at most. */
    RECENT_USE(23),
    /** One that this package does not know: the library is newer. */
    UNKNOWN(-2147483648),
    ;

    private final int number;

    Factor(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; UNKNOWN: there is none. */
    public static Factor of(int number) {
        switch (number) {
            case 1:
                return BATTERY;
            case 2:
                return EXTERNAL_POWER;
            case 3:
                return LOW_POWER_MODE;
            case 4:
                return THERMAL;
            case 5:
                return USER_ACTIVE;
            case 6:
                return DISPLAY_ON;
            case 7:
                return UNLOCKED;
            case 8:
                return NETWORK;
            case 9:
                return METERED;
            case 10:
                return AIRPLANE;
            case 11:
                return BACKGROUND_SWITCH;
            case 12:
                return HOST_PRESENCE;
            case 13:
                return CPU_BUSY;
            case 14:
                return CPU_PRESSURE;
            case 15:
                return MEMORY_PRESSURE;
            case 16:
                return MEMORY_STALLED;
            case 17:
                return IO_PRESSURE;
            case 18:
                return IO_STALLED;
            case 19:
                return STORAGE_FREE;
            case 20:
                return BUDGET;
            case 21:
                return RATE;
            case 22:
                return USE_PREDICTION;
            case 23:
                return RECENT_USE;
            default:
                return UNKNOWN;
        }
    }
}
