// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** What the governor looks at. */
public enum Signal {
    /** Charge of all batteries, 0 … 1000. */
    BATTERY_LEVEL(1),
    /** 1 on external power. */
    EXTERNAL_POWER(2),
    /** 1 while the system should save power. */
    LOW_POWER_MODE(3),
    /** 0 nominal, 1 fair (set by hosts only), 2 serious, 3 critical. */
    THERMAL(4),
    /** 1 while a person works at the machine. */
    USER_ACTIVE(5),
    /** 1 while a display is on. */
    DISPLAY_ON(6),
    /** 1 once a person has unlocked the machine since it started. */
    UNLOCKED(7),
    /** 1 while a network is reachable. */
    NETWORK(8),
    /** 1 while the network costs by volume. */
    METERED(9),
    /** 1 while all wireless radios are switched off. */
    AIRPLANE(10),
    /** 0 when the user does not permit this host to work in the background. */
    BACKGROUND_SWITCH(11),
    /** A SELENE_PRESENCE_ number. */
    HOST_PRESENCE(12),
    /** Share of CPU time that is not idle: in the last seconds, or at this moment where none were observed. */
    CPU_BUSY(13),
    /** Share of the last 10 s in which some task waited for a CPU (pressure stall information). */
    CPU_PRESSURE(14),
    /** Likewise for memory. */
    MEMORY_PRESSURE(15),
    /** Share of the last 10 s in which all tasks waited for memory. */
    MEMORY_STALLED(16),
    /** Some task waited for input or output. */
    IO_PRESSURE(17),
    /** All tasks waited for input or output. */
    IO_STALLED(18),
    /** Free share of the file system that holds the store; without a store set by the host. */
    STORAGE_FREE(19),
    /** 1 while a battery of the machine is being emptied. */
    DISCHARGING(20),
    /** Local time minus UTC in seconds, −64 800 … 64 800. */
    UTC_OFFSET(21),
    /** 1 while roaming, which may cost more; for constraints only, no factor uses it. */
    ROAMING(22),
    ;

    private final int number;

    Signal(int number) {
        this.number = number;
    }

    /** Its number in the header. */
    public int number() {
        return number;
    }

    /** The one with this number; {@link Status#INVALID_ARGUMENT}: there is none. */
    public static Signal of(int number) {
        switch (number) {
            case 1:
                return BATTERY_LEVEL;
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
                return DISCHARGING;
            case 21:
                return UTC_OFFSET;
            case 22:
                return ROAMING;
            default:
                throw SeleneException.noSuch("signal", number);
        }
    }
}
