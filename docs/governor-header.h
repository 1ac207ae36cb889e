/* ============================================================================
 *  GOVERNOR
 *
 * A phone's system decides when background work gets a window. Where there is no
 * such system the governor is it: it looks at SIGNALS (battery, heat, people,
 * load, …), applies a PROFILE to them, and grants or refuses windows, with a
 * reason for each FACTOR. Its LEDGER counts what background work has used, its
 * habits of use tell when the host is likely to be used.
 *
 * It binds selene_governor_ask and the driver, never a host's own
 * selene_cycle_begin. With the profile that a scheduler opens with, OPEN, it
 * grants everything. A decision is a pure function of profile, signals, ledger,
 * habits and time: what was recorded (TRACE) decides the same when it is
 * replayed.
 *
 * Shares, scores and probabilities are in per mille everywhere.
 * ========================================================================= */

/* ---- Signals ------------------------------------------------------------- */

/**
 * What the governor looks at. Each is a value or unknown, and unknown stands for something, so that a machine
 * without sensors works.
 */
enum {
    /** Charge of all batteries, 0 … 1000. Unknown: 1000. */
    SELENE_SIGNAL_BATTERY_LEVEL = 1,
    /** 1 on external power. Unknown: 1. */
    SELENE_SIGNAL_EXTERNAL_POWER = 2,
    /** 1 while power is to be saved. Set by the host. Unknown: 0. */
    SELENE_SIGNAL_LOW_POWER_MODE = 3,
    /** 0 nominal, 1 fair (set by hosts only), 2 serious, 3 critical. Unknown: 0. */
    SELENE_SIGNAL_THERMAL = 4,
    /** 1 while somebody works at the machine. Unknown: 0. */
    SELENE_SIGNAL_USER_ACTIVE = 5,
    /** 1 while a display is on. Unknown: 0. */
    SELENE_SIGNAL_DISPLAY_ON = 6,
    /** 1 once somebody has unlocked the machine since it started. Set by the host. Unknown: 1. */
    SELENE_SIGNAL_UNLOCKED = 7,
    /** 1 while a network is reachable. Unknown: 1. */
    SELENE_SIGNAL_NETWORK = 8,
    /** 1 while the network costs by volume. Set by the host. Unknown: 0. */
    SELENE_SIGNAL_METERED = 9,
    /** 1 while all wireless radios are switched off. Unknown: 0. */
    SELENE_SIGNAL_AIRPLANE = 10,
    /** 0 when the user does not let this host work in the background. Set by the host, kept in the store. Unknown: 1. */
    SELENE_SIGNAL_BACKGROUND_SWITCH = 11,
    /** A SELENE_PRESENCE_ number. Set by the host, kept in the store. Unknown: background. */
    SELENE_SIGNAL_HOST_PRESENCE = 12,
    /** Share of CPU time that is not idle, since the reading before. Unknown: 0. */
    SELENE_SIGNAL_CPU_BUSY = 13,
    /** Share of the last 10 s in which some task waited for a CPU (pressure stall information). Unknown: 0. */
    SELENE_SIGNAL_CPU_PRESSURE = 14,
    /** Likewise for memory. Unknown: 0. */
    SELENE_SIGNAL_MEMORY_PRESSURE = 15,
    /** Share of the last 10 s in which all tasks waited for memory. Unknown: 0. */
    SELENE_SIGNAL_MEMORY_STALLED = 16,
    /** Some task waited for input or output. Unknown: 0. */
    SELENE_SIGNAL_IO_PRESSURE = 17,
    /** All tasks waited for input or output. Unknown: 0. */
    SELENE_SIGNAL_IO_STALLED = 18,
    /** Free share of the file system that holds the store; without a store set by the host. Unknown: 1000. */
    SELENE_SIGNAL_STORAGE_FREE = 19,
    /** 1 while a battery of the machine is being emptied. Unknown: 0. */
    SELENE_SIGNAL_DISCHARGING = 20,
    /** Local time minus UTC in seconds, −64 800 … 64 800. Unknown: 0. */
    SELENE_SIGNAL_UTC_OFFSET = 21
};

/** The host as its user sees it. */
enum {
    SELENE_PRESENCE_BACKGROUND = 0,
    SELENE_PRESENCE_FOREGROUND = 1,
    /** The user ended it and has not started it again. */
    SELENE_PRESENCE_QUIT = 2
};

/** Who said what a signal is; the later goes before the earlier. */
enum {
    SELENE_SOURCE_UNKNOWN = 0,
    /** Read from the system. */
    SELENE_SOURCE_PROBE = 1,
    /** selene_signal_set. */
    SELENE_SOURCE_HOST = 2,
    /** A trace that is being played. */
    SELENE_SOURCE_TRACE = 3,
    /** For factors: the governor's own books. */
    SELENE_SOURCE_BOOKS = 4
};

/** What is known of a signal. Initialise with SELENE_SIGNAL_INIT. */
typedef struct selene_signal {
    uint32_t struct_size;
    uint32_t flags;
    /** The value, or what its absence stands for. */
    int64_t value;
    /** SELENE_SOURCE_ number. */
    int32_t source;
    /** 0. */
    int32_t reserved;
    /** When it was said last; its age counts from here. SELENE_NEVER if it is unknown. */
    int64_t set_at;
    /** Since when it has this value. SELENE_NEVER if it is unknown. */
    int64_t since;
    /** From when on it is unknown unless it is said again; SELENE_NEVER: it stays. */
    int64_t until;
} selene_signal;

#define SELENE_SIGNAL_INIT                                                                         \
    { (uint32_t)sizeof(selene_signal), 0, 0, 0, 0, 0, 0, 0 }

/**
 * Says what a signal is. It goes before what the system says until it expires or is cleared.
 *
 * A value that a profile's veto refuses stops runs in flight where the profile says so (PREEMPTED). The driver looks at
 * the change at once.
 *
 * @param signal     a SELENE_SIGNAL_ number
 * @param value      within the signal's range
 * @param valid_for  ns, after which it is unknown again; 0 or less: it stays
 * @return INVALID_ARGUMENT (unknown signal, or a value outside its range)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_signal_set(selene_scheduler scheduler, int32_t signal,
                                           int64_t value, int64_t valid_for);

/**
 * Takes back what the host said of a signal: what the system says counts again.
 *
 * @param signal  a SELENE_SIGNAL_ number; one that the host never set does nothing
 * @return INVALID_ARGUMENT (unknown signal)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_signal_clear(selene_scheduler scheduler, int32_t signal);

/**
 * Reads a signal as a decision would now.
 *
 * Reads the files of the system that this signal comes from, unless the host set it. The share of busy CPU time
 * needs two readings.
 *
 * @param signal      a SELENE_SIGNAL_ number
 * @param out_signal  initialised with SELENE_SIGNAL_INIT; filled up to its struct_size
 * @return INVALID_ARGUMENT (unknown signal), UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_signal_get(selene_scheduler scheduler, int32_t signal,
                                           selene_signal *out_signal);

/* ---- Profile ------------------------------------------------------------- */

/** What a profile can ask for. Factors 1 to 19 look at the signal of the same number. */
enum {
    /** The level while discharging, 1000 otherwise; at least. Usually 200. */
    SELENE_FACTOR_BATTERY = 1,
    /** … the factors 2 to 19 have the numbers and units of SELENE_SIGNAL_EXTERNAL_POWER … _STORAGE_FREE. */
    SELENE_FACTOR_EXTERNAL_POWER = 2,
    SELENE_FACTOR_LOW_POWER_MODE = 3,
    SELENE_FACTOR_THERMAL = 4,
    SELENE_FACTOR_USER_ACTIVE = 5,
    SELENE_FACTOR_DISPLAY_ON = 6,
    SELENE_FACTOR_UNLOCKED = 7,
    SELENE_FACTOR_NETWORK = 8,
    SELENE_FACTOR_METERED = 9,
    SELENE_FACTOR_AIRPLANE = 10,
    SELENE_FACTOR_BACKGROUND_SWITCH = 11,
    SELENE_FACTOR_HOST_PRESENCE = 12,
    SELENE_FACTOR_CPU_BUSY = 13,
    SELENE_FACTOR_CPU_PRESSURE = 14,
    SELENE_FACTOR_MEMORY_PRESSURE = 15,
    SELENE_FACTOR_MEMORY_STALLED = 16,
    SELENE_FACTOR_IO_PRESSURE = 17,
    SELENE_FACTOR_IO_STALLED = 18,
    SELENE_FACTOR_STORAGE_FREE = 19,
    /** A quota of the kind is spent. Observed: what was used of the fullest, per mille of its limit. */
    SELENE_FACTOR_BUDGET = 20,
    /** ns since the kind's last window began; at least. Usually 15 min. */
    SELENE_FACTOR_RATE = 21,
    /** How well the present hour suits the kind: refresh wants use, processing wants none. Usually 500, at least. */
    SELENE_FACTOR_USE_PREDICTION = 22,
    /** ns since the host was last used; at most. Usually 7 days. */
    SELENE_FACTOR_RECENT_USE = 23
};

/** What a profile does with a factor. */
enum {
    SELENE_RULE_IGNORE = 0,
    /** What does not meet the requirement refuses. */
    SELENE_RULE_VETO = 1,
    /** The score of the observation counts with a weight. */
    SELENE_RULE_WEIGHT = 2
};

enum {
    /** For selene_rule.flags: a new veto stops runs in flight of the kind. Only for vetoes of factors 1 to 19. */
    SELENE_RULE_PREEMPTS = 1
};

/** For selene_rule.required: what the built-in profiles require. */
#define SELENE_REQUIRED_USUAL INT64_MIN

/** One row of a profile's table. */
typedef struct selene_rule {
    /** SELENE_FACTOR_ number. */
    int32_t factor;
    /** SELENE_KIND_ bits. */
    uint32_t kinds;
    /** SELENE_RULE_ number. */
    int32_t mode;
    /** SELENE_RULE_PREEMPTS or 0. */
    uint32_t flags;
    /** 1 … 1000, for SELENE_RULE_WEIGHT. */
    int64_t weight;
    /** The least or greatest value that meets it, in the factor's unit; or SELENE_REQUIRED_USUAL. */
    int64_t required;
} selene_rule;

/** What a quota counts. */
enum {
    /** ns of open windows. */
    SELENE_MEASURE_WINDOW_TIME = 1,
    /** ns of CPU time, by selene_ledger_report. */
    SELENE_MEASURE_CPU_TIME = 2,
    SELENE_MEASURE_WINDOWS = 3,
    /** Bytes, by selene_ledger_report. */
    SELENE_MEASURE_BYTES = 4
};

/** How much a kind may use in any period of a length. */
typedef struct selene_quota {
    /** SELENE_KIND_ bits; each kind gets its own. */
    uint32_t kinds;
    /** SELENE_MEASURE_ number. */
    int32_t measure;
    /** 1 or more, in the measure's unit. */
    int64_t limit;
    /** 1 s … 24 h. */
    int64_t period;
} selene_quota;

/** The profiles that come with the library; docs/governor.md has their tables. */
enum {
    /** Nothing but constraints. */
    SELENE_PROFILE_OPEN = 0,
    /** What a phone's system asks for. */
    SELENE_PROFILE_APPLE = 1,
    /** What a machine under load asks for. */
    SELENE_PROFILE_SERVER = 2,
    /** All of both, for both kinds. */
    SELENE_PROFILE_STRICT = 3
};

/** What a governor demands: a built-in profile and what differs. Initialise with SELENE_PROFILE_INIT. */
typedef struct selene_profile {
    uint32_t struct_size;
    uint32_t flags;
    /** SELENE_PROFILE_ number. Default OPEN. */
    int32_t base;
    /** The least weighted score that grants, 0 … 1000. Default −1: the base's (500). */
    int32_t threshold;
    /** Rows that replace the base's; the last row for a cell wins. */
    const selene_rule *rules;
    uint64_t rule_count;
    /** If any, in place of all of the base's; at most 4 for each kind. */
    const selene_quota *quotas;
    uint64_t quota_count;
} selene_profile;

#define SELENE_PROFILE_INIT                                                                        \
    { (uint32_t)sizeof(selene_profile), 0, SELENE_PROFILE_OPEN, -1, NULL, 0, NULL, 0 }

/**
 * Writes the defaults into profile, as SELENE_PROFILE_INIT does.
 *
 * @param profile      where to write
 * @param struct_size  sizeof(selene_profile) of the caller; no more bytes are written
 * @return INVALID_ARGUMENT (NULL), UNSUPPORTED_STRUCT (below 8, or larger than the library's)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_profile_init(selene_profile *profile, uint32_t struct_size);

/**
 * Sets what the governor demands from now on. The ledger is judged by the new quotas; a profile is not stored.
 *
 * @param profile  the profile, copied; NULL is OPEN
 * @return INVALID_ARGUMENT (names the field), UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_set_profile(selene_scheduler scheduler,
                                                     const selene_profile *profile);

/* ---- Decisions ----------------------------------------------------------- */

/** What became of a factor. */
enum {
    /** A veto that is not raised. */
    SELENE_VERDICT_PASSED = 1,
    /** A veto that refuses. */
    SELENE_VERDICT_VETOED = 2,
    /** A weight; its score counts. */
    SELENE_VERDICT_WEIGHED = 3
};

/** One factor of a decision. */
typedef struct selene_finding {
    /** SELENE_FACTOR_ number. */
    int32_t factor;
    /** SELENE_VERDICT_ number. */
    int32_t verdict;
    /** SELENE_SOURCE_ number. */
    int32_t source;
    /** SELENE_RULE_PREEMPTS or 0. */
    uint32_t flags;
    /** In the factor's unit; what its absence stands for if source is UNKNOWN. */
    int64_t observed;
    int64_t required;
    /** 0 … 1000 and 1 … 1000, for weights. */
    int64_t score;
    int64_t weight;
    /** The earliest instant at which it can be better; SELENE_NEVER: when a signal changes. */
    int64_t clears_at;
} selene_finding;

/** A grant or a refusal, with its reasons. Made by selene_governor_ask. */
typedef struct selene_decision {
    uint32_t struct_size;
    uint32_t flags;
    int32_t kind;
    /** 1 granted, 0 refused. */
    int32_t granted;
    int64_t at;
    /** Weighted, 0 … 1000, and what it must reach; 1000 without weights. */
    int64_t score;
    int64_t threshold;
    /** The longest window that the budgets leave room for, in ns; SELENE_NEVER: any. */
    int64_t longest_window;
    /** The earliest instant at which asking again is worth it, unless a signal changes before; at if granted. */
    int64_t ask_again_at;
    /** Every factor that the profile does not ignore, in order of their numbers. */
    uint64_t finding_count;
    const selene_finding *findings;
} selene_decision;

enum {
    /** For selene_governor_ask: for a task that never ran, which may use the reserve of the budgets (a tenth). */
    SELENE_ASK_NEVER_RAN = 1
};

/**
 * Asks whether a kind deserves a window now, and why. Reads the system's signals first; changes nothing.
 *
 * A refusal is no error: the status is OK and granted is 0. Each refusal is an event (REFUSED).
 *
 * @param kind          SELENE_KIND_REFRESH or SELENE_KIND_PROCESSING
 * @param flags         SELENE_ASK_ bits
 * @param out_decision  the decision
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller ends the decision by selene_decision_destroy. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_ask(selene_scheduler scheduler, int32_t kind,
                                             uint32_t flags, selene_decision **out_decision);

/** Ends what selene_governor_ask gave; NULL does nothing. Thread: any. Since: 0.1. */
SELENE_API void selene_decision_destroy(selene_decision *decision);

/* ---- Ledger -------------------------------------------------------------- */

/** What the ledger says of a kind. Initialise with SELENE_BALANCE_INIT. */
typedef struct selene_balance {
    uint32_t struct_size;
    uint32_t flags;
    /** 1 while a quota of the kind is spent: until 30 s (one window, a sixteenth of the bytes) are free again. */
    int32_t is_spent;
    /** Of the fullest quota, per mille of its limit. */
    int32_t used;
    /** Window time that is left in ns; SELENE_NEVER: no limit. */
    int64_t free;
    /** When no quota is spent any more if nothing else is used. */
    int64_t free_at;
    /** When the kind's last window began; SELENE_NEVER if there was none. */
    int64_t last_begin;
} selene_balance;

#define SELENE_BALANCE_INIT                                                                        \
    { (uint32_t)sizeof(selene_balance), 0, 0, 0, 0, 0, 0 }

/**
 * Charges a window that the host opened itself; the driver charges its own.
 *
 * The whole budget is charged, so that who is killed has paid; selene_ledger_end gives back what was not used. A window
 * of the kind that was not ended ends here. The ledger keeps the last 24 hours, in the store if there is one.
 *
 * @param kind    the kind of the window
 * @param budget  0 … 24 h in ns
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_ledger_begin(selene_scheduler scheduler, int32_t kind,
                                             int64_t budget);

/**
 * Ends what selene_ledger_begin charged and gives back what was not used; without an open window it does nothing.
 *
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_ledger_end(selene_scheduler scheduler, int32_t kind);

/**
 * Says what a kind used besides time. It counts for the kind's last window.
 *
 * @param cpu_time  ns, 0 or more
 * @param bytes     0 or more
 * @return INVALID_ARGUMENT
 *
 * Thread: any, also inside a handler. Since: 0.1.
 */
SELENE_API selene_status selene_ledger_report(selene_scheduler scheduler, int32_t kind,
                                              int64_t cpu_time, int64_t bytes);

/**
 * Reads what a kind has used and may still use by the present profile.
 *
 * @param out_balance  initialised with SELENE_BALANCE_INIT; filled up to its struct_size
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_ledger_get(selene_scheduler scheduler, int32_t kind,
                                           selene_balance *out_balance);

/* ---- Habits -------------------------------------------------------------- */

/**
 * Says that somebody used the host. Hours of the local day (SELENE_SIGNAL_UTC_OFFSET) that see use are remembered, older
 * days counting half as much every 28 days; kept in the store if there is one.
 *
 * @param began_at  when the use began
 * @param ended_at  when it ended, not before began_at; at most the 7 days before it count. Both may be now
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_use_report(selene_scheduler scheduler, int64_t began_at,
                                           int64_t ended_at);

/** One of the likely next windows. */
typedef struct selene_forecast {
    int64_t begins_at;
    int64_t ends_at;
    /** That it meets what its kind is for: the host is used in this hour (refresh), or is not (processing). 500 while
     *  nothing is known. */
    int64_t probability;
} selene_forecast;

/**
 * Lists the hours in which a window would be granted if nothing but the time changed, for the next 14 days.
 *
 * @param kind         the kind
 * @param windows      where to write them, in order
 * @param capacity     how many fit there; at most 64 are given
 * @param out_count    how many were written; 0 while a veto stands that only a signal can lift
 * @return INVALID_ARGUMENT
 *
 * Ownership: windows is the caller's. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_forecast(selene_scheduler scheduler, int32_t kind,
                                                  selene_forecast *windows, uint64_t capacity,
                                                  uint64_t *out_count);

/* ---- Trace --------------------------------------------------------------- */

/**
 * Records signals, decisions, windows and runs to a file from now on, until selene_trace_stop or close.
 *
 * The file is text, one line for each thing; docs/governor.md describes it. It is written as things happen and not
 * brought to the disk: a power loss may cost its end. Writing that fails ends the recording with an event.
 *
 * @param path         a file that does not exist yet
 * @param path_length  its length in bytes, −1 if it ends with a NUL
 * @return INVALID_ARGUMENT, ALREADY_EXISTS (the file, or a recording that is not stopped), STORE_CANNOT_OPEN
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_trace_record(selene_scheduler scheduler, const char *path,
                                             int64_t path_length);

/** Ends the recording; without one it does nothing. Thread: any. Since: 0.1. */
SELENE_API selene_status selene_trace_stop(selene_scheduler scheduler);

/**
 * Replays a trace: decides again what was decided then, from what was known then.
 *
 * @param path                  the trace
 * @param path_length           its length in bytes, −1 if it ends with a NUL
 * @param out_decisions         how many decisions it holds. May be NULL
 * @param out_first_difference  the first line that is decided otherwise now; 0: the replay is the trace, byte for byte.
 *                              May be NULL
 * @return INVALID_ARGUMENT (not a trace, or damaged: the detail names the line), STORE_CANNOT_OPEN, STORE_IO
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_trace_replay(const char *path, int64_t path_length,
                                             uint64_t *out_decisions,
                                             uint64_t *out_first_difference);

/* ---- Driver -------------------------------------------------------------- */

/** How a driver opens windows. Initialise with SELENE_DRIVER_INIT. */
typedef struct selene_driver {
    uint32_t struct_size;
    uint32_t flags;
    /** Budgets of the windows that it opens. Defaults 30 s and 10 min; cut to what the ledger leaves. */
    int64_t refresh_budget;
    int64_t processing_budget;
    /** Lanes of the windows, 1 … 64. Defaults 1. */
    uint32_t refresh_lanes;
    uint32_t processing_lanes;
} selene_driver;

#define SELENE_DRIVER_INIT                                                                         \
    { (uint32_t)sizeof(selene_driver), 0, 30 * SELENE_SECOND, 10 * SELENE_MINUTE, 1, 1 }

/**
 * Starts a library thread that plays the system: it sleeps until something can run, asks the governor, opens windows on
 * library threads and stops runs that a new veto preempts.
 *
 * @param driver  how; NULL for all defaults
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (host clock), BUSY (a driver is running), EXHAUSTED
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_driver_start(selene_scheduler scheduler,
                                             const selene_driver *driver);

/**
 * Opens a driver without a thread, for event loops: wait until a descriptor is readable, then call selene_driver_step.
 *
 * @param driver  how; NULL for all defaults
 * @param out_fd  readable when a step is due; poll only, never read
 * @return as selene_driver_start
 *
 * Ownership: the descriptor is the library's, until selene_driver_stop or close. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_driver_open_fd(selene_scheduler scheduler,
                                               const selene_driver *driver, int32_t *out_fd);

/**
 * Does what is due: reads changes, asks, opens a pulled cycle for the host to work on. Never blocks.
 *
 * @param out_cycle    a granted window, for selene_cycle_next and _end; 0: none now
 * @param out_wake_at  when to step again even if the descriptor stays silent; SELENE_NEVER: not before. May be NULL
 * @return UNSUPPORTED (no driver of selene_driver_open_fd)
 *
 * Ownership: the caller ends the cycle with selene_cycle_end. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_driver_step(selene_scheduler scheduler, selene_cycle *out_cycle,
                                            int64_t *out_wake_at);

/**
 * Stops the driver: its runs in flight are stopped (PREEMPTED) and get at most so much time to return. Without a driver
 * it does nothing.
 *
 * @param grace  ns; 0 or more
 * @return INVALID_ARGUMENT, REENTRANT (on the driver's thread)
 *
 * Thread: any, not inside a callback; blocks for at most the grace. Since: 0.1.
 */
SELENE_API selene_status selene_driver_stop(selene_scheduler scheduler, int64_t grace);

/* ---- Simulate ------------------------------------------------------------ */

/**
 * Runs a pending task now as if the system had launched it: outside governor, pace and rank, on a library thread, with
 * the budget of its kind's windows. Works in release builds too.
 *
 * @param id         the task; once or periodic, enqueued
 * @param id_length  its length in bytes, −1 if it ends with a NUL
 * @return NOT_FOUND (no pending request of this id), IMMEDIATE_RUN_INELIGIBLE, UNSUPPORTED (host clock), BUSY
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_simulate_launch(selene_scheduler scheduler, const char *id,
                                                int64_t id_length);

/**
 * Ends the time of a running task now as if its window had run out: EXPIRING, and over after the window's reserve.
 *
 * @param id         the task
 * @param id_length  its length in bytes, −1 if it ends with a NUL
 * @return NOT_FOUND (no run of this id is in flight)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_simulate_expire(selene_scheduler scheduler, const char *id,
                                                int64_t id_length);

/* ---- For TEXT OF NUMBERS ------------------------------------------------- */

/** "battery_level", "external_power", …; "unknown". Static text. Since: 0.1. */
SELENE_API const char *selene_signal_name(int32_t signal);
/** "probe", "host", "trace", "books"; "unknown". Static text. Since: 0.1. */
SELENE_API const char *selene_source_name(int32_t source);
/** "battery", "external_power", …; "unknown". Static text. Since: 0.1. */
SELENE_API const char *selene_factor_name(int32_t factor);
/** "passed", "vetoed", "weighed"; "unknown". Static text. Since: 0.1. */
SELENE_API const char *selene_verdict_name(int32_t verdict);
/** "window_time", "cpu_time", …; "unknown". Static text. Since: 0.1. */
SELENE_API const char *selene_measure_name(int32_t measure);
/** "open", "apple", "server", "strict"; "unknown". Static text. Since: 0.1. */
SELENE_API const char *selene_profile_name(int32_t profile);

/* ---- Elsewhere ------------------------------------------------------------
 * STATUS     nothing new.
 * EVENTS     SELENE_EVENT_REFUSED = 15 (kind, detail = first vetoing factor or 0, time_at = ask_again_at),
 *            SELENE_EVENT_GRANTED = 16, SELENE_EVENT_TRACE_ENDED = 17.
 * REASONS    SELENE_REASON_GOVERNOR = 16: the driver's last ask for the kind was refused; may_change_at = ask_again_at.
 * OPTIONS    nothing: a scheduler opens with OPEN.
 * ------------------------------------------------------------------------- */
