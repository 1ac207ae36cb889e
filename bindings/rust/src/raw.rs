// Written by tools/rust.py from include/api.json.
use core::ffi::c_void;
use std::os::raw::c_char;

pub const SELENE_VERSION_MAJOR: i32 = 0;
pub const SELENE_VERSION_MINOR: i32 = 2;
pub const SELENE_VERSION_PATCH: i32 = 0;
pub const SELENE_VERSION_NUMBER: i32 = 2000;
pub const SELENE_VERSION_STRING: &str = "0.2.0";
pub const SELENE_MICROSECOND: i64 = 1000;
pub const SELENE_MILLISECOND: i64 = 1000000;
pub const SELENE_SECOND: i64 = 1000000000;
pub const SELENE_MINUTE: i64 = 60000000000;
pub const SELENE_HOUR: i64 = 3600000000000;
pub const SELENE_DAY: i64 = 86400000000000;
pub const SELENE_NEVER: i64 = 9223372036854775807;
pub const SELENE_NONE: i32 = -1;
pub const SELENE_UNLIMITED: u32 = 4294967295;
pub const SELENE_RESPONSE_TIMES: i32 = 30;
pub const SELENE_REASONS: i32 = 16;
pub const SELENE_EVENTS: i32 = 65536;
pub const SELENE_ANYBODY: u32 = 4294967295;
pub const SELENE_REQUIRED_USUAL: i64 = i64::MIN;
pub const SELENE_OK: i32 = 0;
pub const SELENE_ERROR_UNAVAILABLE: i32 = 1;
pub const SELENE_ERROR_TOO_MANY_PENDING: i32 = 2;
pub const SELENE_ERROR_NOT_PERMITTED: i32 = 3;
pub const SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE: i32 = 4;
pub const SELENE_ERROR_OUT_OF_QUOTA: i32 = 5;
pub const SELENE_ERROR_INVALID_ARGUMENT: i32 = 16;
pub const SELENE_ERROR_INVALID_HANDLE: i32 = 17;
pub const SELENE_ERROR_UNSUPPORTED_STRUCT: i32 = 18;
pub const SELENE_ERROR_UNSUPPORTED: i32 = 19;
pub const SELENE_ERROR_TOO_LARGE: i32 = 20;
pub const SELENE_ERROR_NOT_FOUND: i32 = 21;
pub const SELENE_ERROR_ALREADY_EXISTS: i32 = 22;
pub const SELENE_ERROR_ALREADY_COMPLETED: i32 = 23;
pub const SELENE_ERROR_STALE_RUN: i32 = 24;
pub const SELENE_ERROR_BUSY: i32 = 25;
pub const SELENE_ERROR_TOO_SOON: i32 = 26;
pub const SELENE_ERROR_REENTRANT: i32 = 27;
pub const SELENE_ERROR_FORKED: i32 = 28;
pub const SELENE_ERROR_EXHAUSTED: i32 = 29;
pub const SELENE_ERROR_INTERNAL: i32 = 30;
pub const SELENE_ERROR_STORE_CANNOT_OPEN: i32 = 48;
pub const SELENE_ERROR_STORE_LOCKED: i32 = 49;
pub const SELENE_ERROR_STORE_CORRUPT: i32 = 50;
pub const SELENE_ERROR_STORE_FOREIGN: i32 = 51;
pub const SELENE_ERROR_STORE_NEWER: i32 = 52;
pub const SELENE_ERROR_STORE_FULL: i32 = 53;
pub const SELENE_ERROR_STORE_IO: i32 = 54;
pub const SELENE_ERROR_OUTCOME_UNKNOWN: i32 = 55;
pub const SELENE_ERROR_STORE_MOVED: i32 = 56;
pub const SELENE_ERROR_OWNER_AWAY: i32 = 57;
pub const SELENE_ERROR_REFUSED: i32 = 58;
pub const SELENE_NAMES_STATUS: i32 = 1;
pub const SELENE_NAMES_KIND: i32 = 2;
pub const SELENE_NAMES_SCHEDULE: i32 = 3;
pub const SELENE_NAMES_PRIORITY: i32 = 4;
pub const SELENE_NAMES_EXISTING: i32 = 5;
pub const SELENE_NAMES_RECURRENCE: i32 = 6;
pub const SELENE_NAMES_BACKOFF: i32 = 7;
pub const SELENE_NAMES_CONSTRAINT: i32 = 8;
pub const SELENE_NAMES_STATE: i32 = 9;
pub const SELENE_NAMES_DISPOSITION: i32 = 10;
pub const SELENE_NAMES_OUTCOME: i32 = 11;
pub const SELENE_NAMES_STOP: i32 = 12;
pub const SELENE_NAMES_REASON: i32 = 13;
pub const SELENE_NAMES_EVENT: i32 = 14;
pub const SELENE_NAMES_TROUBLE: i32 = 15;
pub const SELENE_NAMES_PROFILE: i32 = 16;
pub const SELENE_NAMES_SIGNAL: i32 = 17;
pub const SELENE_NAMES_SOURCE: i32 = 18;
pub const SELENE_NAMES_FACTOR: i32 = 19;
pub const SELENE_NAMES_VERDICT: i32 = 20;
pub const SELENE_NAMES_MEASURE: i32 = 21;
pub const SELENE_UNIT_NONE: i32 = 0;
pub const SELENE_UNIT_NUMBER: i32 = 1;
pub const SELENE_UNIT_DURATION: i32 = 2;
pub const SELENE_UNIT_INSTANT: i32 = 3;
pub const SELENE_UNIT_BYTES: i32 = 4;
pub const SELENE_UNIT_BITS: i32 = 5;
pub const SELENE_FAULT_IN_DOUBT: i32 = 1;
pub const SELENE_OPTIONS_HOLD: i32 = 1;
pub const SELENE_OPTIONS_OBSERVED_RANGE: i32 = 2;
pub const SELENE_OPTIONS_RELAXED: i32 = 4;
pub const SELENE_OPTIONS_FRESHNESS: i32 = 8;
pub const SELENE_OPTIONS_NO_THREADS: i32 = 16;
pub const SELENE_OPTIONS_SET_CLOCK: i32 = 32;
pub const SELENE_THREADS_AS_HOST: i32 = 0;
pub const SELENE_THREADS_BACKGROUND: i32 = 1;
pub const SELENE_KIND_REFRESH: i32 = 1;
pub const SELENE_KIND_PROCESSING: i32 = 2;
pub const SELENE_TROUBLE_STORE: i32 = 1;
pub const SELENE_TROUBLE_THREAD: i32 = 2;
pub const SELENE_TROUBLE_OVERRUN: i32 = 4;
pub const SELENE_TROUBLE_OBSERVER: i32 = 8;
pub const SELENE_TROUBLE_HANDLER: i32 = 16;
pub const SELENE_TROUBLE_CLOCK: i32 = 32;
pub const SELENE_TROUBLE_FLEET: i32 = 64;
pub const SELENE_TROUBLE_FLEET_CLOCK: i32 = 128;
pub const SELENE_ADVANCE_HANDLERS: i32 = 1;
pub const SELENE_ADVANCE_ONCE: i32 = 2;
pub const SELENE_ADVANCE_RUNS: i32 = 4;
pub const SELENE_SCHEDULE_DEFAULT: i32 = 0;
pub const SELENE_SCHEDULE_ONCE: i32 = 1;
pub const SELENE_SCHEDULE_PERIODIC: i32 = 2;
pub const SELENE_SCHEDULE_STANDING: i32 = 3;
pub const SELENE_PRIORITY_VERY_LOW: i32 = 1;
pub const SELENE_PRIORITY_LOW: i32 = 2;
pub const SELENE_PRIORITY_NORMAL: i32 = 3;
pub const SELENE_PRIORITY_HIGH: i32 = 4;
pub const SELENE_PRIORITY_VERY_HIGH: i32 = 5;
pub const SELENE_CONSTRAINT_NETWORK: i32 = 1;
pub const SELENE_CONSTRAINT_EXTERNAL_POWER: i32 = 2;
pub const SELENE_CONSTRAINT_UNMETERED: i32 = 4;
pub const SELENE_CONSTRAINT_BATTERY_NOT_LOW: i32 = 8;
pub const SELENE_CONSTRAINT_IDLE: i32 = 16;
pub const SELENE_CONSTRAINT_STORAGE_NOT_LOW: i32 = 32;
pub const SELENE_CONSTRAINT_DISPLAY_OFF: i32 = 64;
pub const SELENE_CONSTRAINT_NOT_ROAMING: i32 = 128;
pub const SELENE_EXISTING_DEFAULT: i32 = 0;
pub const SELENE_EXISTING_KEEP: i32 = 1;
pub const SELENE_EXISTING_REPLACE: i32 = 2;
pub const SELENE_EXISTING_UPDATE: i32 = 3;
pub const SELENE_EXISTING_APPEND: i32 = 4;
pub const SELENE_EXISTING_APPEND_OR_REPLACE: i32 = 5;
pub const SELENE_EXISTING_SKIP: i32 = 6;
pub const SELENE_RECURRENCE_AFTER_COMPLETION: i32 = 0;
pub const SELENE_RECURRENCE_ANCHORED: i32 = 1;
pub const SELENE_RECURRENCE_CALENDAR: i32 = 2;
pub const SELENE_BACKOFF_DEFAULT: i32 = 0;
pub const SELENE_BACKOFF_NONE: i32 = 1;
pub const SELENE_BACKOFF_LINEAR: i32 = 2;
pub const SELENE_BACKOFF_EXPONENTIAL: i32 = 3;
pub const SELENE_DISPOSITION_ADDED: i32 = 0;
pub const SELENE_DISPOSITION_REPLACED: i32 = 1;
pub const SELENE_DISPOSITION_UPDATED: i32 = 2;
pub const SELENE_DISPOSITION_KEPT: i32 = 3;
pub const SELENE_DISPOSITION_APPENDED: i32 = 4;
pub const SELENE_DISPOSITION_HELD: i32 = 5;
pub const SELENE_STATE_ENQUEUED: i32 = 0;
pub const SELENE_STATE_HELD: i32 = 1;
pub const SELENE_STATE_BLOCKED: i32 = 2;
pub const SELENE_STATE_RUNNING: i32 = 3;
pub const SELENE_STATE_SUCCEEDED: i32 = 4;
pub const SELENE_STATE_FAILED: i32 = 5;
pub const SELENE_STATE_CANCELLED: i32 = 6;
pub const SELENE_TASK_STEADY: i32 = 1;
pub const SELENE_TASK_AFTER_ANY_END: i32 = 2;
pub const SELENE_TASK_EXPEDITED: i32 = 4;
pub const SELENE_TASK_REFUSE_OUT_OF_QUOTA: i32 = 8;
pub const SELENE_SUSPICION_QUARANTINED: i32 = 1;
pub const SELENE_SUSPICION_BLAMED: i32 = 2;
pub const SELENE_RETRY_SUCCESSORS: i32 = 1;
pub const SELENE_REASON_NOT_DUE: i32 = 1;
pub const SELENE_REASON_CONSTRAINTS: i32 = 2;
pub const SELENE_REASON_NO_HANDLER: i32 = 3;
pub const SELENE_REASON_HELD: i32 = 4;
pub const SELENE_REASON_BLOCKED: i32 = 5;
pub const SELENE_REASON_RUNNING: i32 = 6;
pub const SELENE_REASON_KIND_OFF: i32 = 7;
pub const SELENE_REASON_DID_NOT_FIT: i32 = 8;
pub const SELENE_REASON_STILL_RUNNING: i32 = 9;
pub const SELENE_REASON_TERMINAL: i32 = 10;
pub const SELENE_REASON_NOT_PERMITTED: i32 = 11;
pub const SELENE_REASON_HAD_ITS_RUN: i32 = 12;
pub const SELENE_REASON_TOO_SOON: i32 = 13;
pub const SELENE_REASON_NEXT_CYCLE: i32 = 14;
pub const SELENE_REASON_INTERRUPTED: i32 = 15;
pub const SELENE_REASON_GOVERNOR: i32 = 16;
pub const SELENE_REASON_STORE_REFUSES: i32 = 17;
pub const SELENE_REASON_NO_THREAD: i32 = 18;
pub const SELENE_REASON_HANDLER_STUCK: i32 = 19;
pub const SELENE_REASON_DRAINED: i32 = 20;
pub const SELENE_REASON_CLOCK: i32 = 21;
pub const SELENE_REASON_PAUSED: i32 = 22;
pub const SELENE_REASON_GROUP_PAUSED: i32 = 23;
pub const SELENE_REASON_GROUP_FULL: i32 = 24;
pub const SELENE_REASON_OUT_OF_QUOTA: i32 = 25;
pub const SELENE_REASON_CONDITIONS: i32 = 26;
pub const SELENE_REASON_FLEET_AWAY: i32 = 27;
pub const SELENE_REASON_KIND_PAUSED: i32 = 28;
pub const SELENE_REASON_QUARANTINED: i32 = 29;
pub const SELENE_REASON_BACKING_OFF: i32 = 64;
pub const SELENE_REASON_NO_WINDOW: i32 = 65;
pub const SELENE_REASON_WINDOW_OPEN: i32 = 66;
pub const SELENE_REASON_PREFERRED_OTHERS: i32 = 67;
pub const SELENE_REASON_NO_PROCESS: i32 = 68;
pub const SELENE_REASON_NOT_KNOWN: i32 = 69;
pub const SELENE_REASON_EARLIER: i32 = 70;
pub const SELENE_WINDOW_STRICT_FIT: i32 = 1;
pub const SELENE_WINDOW_INLINE: i32 = 2;
pub const SELENE_WINDOW_FROZEN: i32 = 4;
pub const SELENE_WINDOW_LANES: i32 = 8;
pub const SELENE_OUTCOME_NONE: i32 = -1;
pub const SELENE_OUTCOME_NEW_DATA: i32 = 0;
pub const SELENE_OUTCOME_NO_DATA: i32 = 1;
pub const SELENE_OUTCOME_FAILED: i32 = 2;
pub const SELENE_OUTCOME_ABANDONED: i32 = 3;
pub const SELENE_OUTCOME_EXPIRED: i32 = 4;
pub const SELENE_OUTCOME_STOPPED: i32 = 5;
pub const SELENE_STOP_NONE: i32 = 0;
pub const SELENE_STOP_EXPIRING: i32 = 1;
pub const SELENE_STOP_PREEMPTED: i32 = 2;
pub const SELENE_STOP_CONSTRAINT_LOST: i32 = 3;
pub const SELENE_STOP_REPLACED: i32 = 4;
pub const SELENE_STOP_CANCELLED: i32 = 5;
pub const SELENE_STOP_SHUTDOWN: i32 = 6;
pub const SELENE_STOP_INTERRUPTED: i32 = 7;
pub const SELENE_STOP_TIMED_OUT: i32 = 8;
pub const SELENE_STOP_STALLED: i32 = 9;
pub const SELENE_STOP_TOO_LATE: i32 = 10;
pub const SELENE_STOP_LEASE_LOST: i32 = 11;
pub const SELENE_REPORT_NOT_STORED: i32 = 1;
pub const SELENE_STEP_RUN: i32 = 0;
pub const SELENE_STEP_WAIT: i32 = 1;
pub const SELENE_STEP_DONE: i32 = 2;
pub const SELENE_CONDITION_UNDEFINED: i32 = 0;
pub const SELENE_CONDITION_UNSATISFIED: i32 = 1;
pub const SELENE_CONDITION_SATISFIED: i32 = 2;
pub const SELENE_EVENT_REGISTERED: i32 = 1;
pub const SELENE_EVENT_STARTED: i32 = 2;
pub const SELENE_EVENT_STOPPED: i32 = 3;
pub const SELENE_EVENT_COMPLETED: i32 = 4;
pub const SELENE_EVENT_RETRY: i32 = 5;
pub const SELENE_EVENT_HELD: i32 = 6;
pub const SELENE_EVENT_PROMOTED: i32 = 7;
pub const SELENE_EVENT_CANCELLED: i32 = 8;
pub const SELENE_EVENT_CYCLE_BEGUN: i32 = 9;
pub const SELENE_EVENT_CYCLE_ENDED: i32 = 10;
pub const SELENE_EVENT_UNBLOCKED: i32 = 11;
pub const SELENE_EVENT_RELEASED: i32 = 12;
pub const SELENE_EVENT_INTERRUPTED: i32 = 13;
pub const SELENE_EVENT_CLOCK_MOVED: i32 = 14;
pub const SELENE_EVENT_REFUSED: i32 = 15;
pub const SELENE_EVENT_GRANTED: i32 = 16;
pub const SELENE_EVENT_TRACE_ENDED: i32 = 17;
pub const SELENE_EVENT_TROUBLE: i32 = 18;
pub const SELENE_EVENT_PAUSED: i32 = 19;
pub const SELENE_EVENT_RESUMED: i32 = 20;
pub const SELENE_EVENT_PROGRESS: i32 = 21;
pub const SELENE_EVENT_CONDITION_MET: i32 = 22;
pub const SELENE_EVENT_CONDITION_LOST: i32 = 23;
pub const SELENE_EVENT_QUOTA_USED_UP: i32 = 24;
pub const SELENE_EVENT_QUOTA_LEFT: i32 = 25;
pub const SELENE_EVENT_OUTPUT_LOST: i32 = 26;
pub const SELENE_LOG_ERROR: i32 = 1;
pub const SELENE_LOG_WARNING: i32 = 2;
pub const SELENE_LOG_INFO: i32 = 3;
pub const SELENE_RIGHT_LOOK: i32 = 1;
pub const SELENE_RIGHT_READ: i32 = 2;
pub const SELENE_RIGHT_ENQUEUE: i32 = 4;
pub const SELENE_RIGHT_WORK: i32 = 8;
pub const SELENE_RIGHT_MANAGE: i32 = 16;
pub const SELENE_RIGHT_ALL: i32 = 31;
pub const SELENE_SERVER_DESCRIPTOR: i32 = 1;
pub const SELENE_SERVER_USER_SAME: i32 = 0;
pub const SELENE_SERVER_USER_ANY: i32 = -1;
pub const SELENE_SIGNAL_BATTERY_LEVEL: i32 = 1;
pub const SELENE_SIGNAL_EXTERNAL_POWER: i32 = 2;
pub const SELENE_SIGNAL_LOW_POWER_MODE: i32 = 3;
pub const SELENE_SIGNAL_THERMAL: i32 = 4;
pub const SELENE_SIGNAL_USER_ACTIVE: i32 = 5;
pub const SELENE_SIGNAL_DISPLAY_ON: i32 = 6;
pub const SELENE_SIGNAL_UNLOCKED: i32 = 7;
pub const SELENE_SIGNAL_NETWORK: i32 = 8;
pub const SELENE_SIGNAL_METERED: i32 = 9;
pub const SELENE_SIGNAL_AIRPLANE: i32 = 10;
pub const SELENE_SIGNAL_BACKGROUND_SWITCH: i32 = 11;
pub const SELENE_SIGNAL_HOST_PRESENCE: i32 = 12;
pub const SELENE_SIGNAL_CPU_BUSY: i32 = 13;
pub const SELENE_SIGNAL_CPU_PRESSURE: i32 = 14;
pub const SELENE_SIGNAL_MEMORY_PRESSURE: i32 = 15;
pub const SELENE_SIGNAL_MEMORY_STALLED: i32 = 16;
pub const SELENE_SIGNAL_IO_PRESSURE: i32 = 17;
pub const SELENE_SIGNAL_IO_STALLED: i32 = 18;
pub const SELENE_SIGNAL_STORAGE_FREE: i32 = 19;
pub const SELENE_SIGNAL_DISCHARGING: i32 = 20;
pub const SELENE_SIGNAL_UTC_OFFSET: i32 = 21;
pub const SELENE_SIGNAL_ROAMING: i32 = 22;
pub const SELENE_PRESENCE_BACKGROUND: i32 = 0;
pub const SELENE_PRESENCE_FOREGROUND: i32 = 1;
pub const SELENE_PRESENCE_QUIT: i32 = 2;
pub const SELENE_SOURCE_UNKNOWN: i32 = 0;
pub const SELENE_SOURCE_PROBE: i32 = 1;
pub const SELENE_SOURCE_HOST: i32 = 2;
pub const SELENE_SOURCE_TRACE: i32 = 3;
pub const SELENE_SOURCE_BOOKS: i32 = 4;
pub const SELENE_FACTOR_BATTERY: i32 = 1;
pub const SELENE_FACTOR_EXTERNAL_POWER: i32 = 2;
pub const SELENE_FACTOR_LOW_POWER_MODE: i32 = 3;
pub const SELENE_FACTOR_THERMAL: i32 = 4;
pub const SELENE_FACTOR_USER_ACTIVE: i32 = 5;
pub const SELENE_FACTOR_DISPLAY_ON: i32 = 6;
pub const SELENE_FACTOR_UNLOCKED: i32 = 7;
pub const SELENE_FACTOR_NETWORK: i32 = 8;
pub const SELENE_FACTOR_METERED: i32 = 9;
pub const SELENE_FACTOR_AIRPLANE: i32 = 10;
pub const SELENE_FACTOR_BACKGROUND_SWITCH: i32 = 11;
pub const SELENE_FACTOR_HOST_PRESENCE: i32 = 12;
pub const SELENE_FACTOR_CPU_BUSY: i32 = 13;
pub const SELENE_FACTOR_CPU_PRESSURE: i32 = 14;
pub const SELENE_FACTOR_MEMORY_PRESSURE: i32 = 15;
pub const SELENE_FACTOR_MEMORY_STALLED: i32 = 16;
pub const SELENE_FACTOR_IO_PRESSURE: i32 = 17;
pub const SELENE_FACTOR_IO_STALLED: i32 = 18;
pub const SELENE_FACTOR_STORAGE_FREE: i32 = 19;
pub const SELENE_FACTOR_BUDGET: i32 = 20;
pub const SELENE_FACTOR_RATE: i32 = 21;
pub const SELENE_FACTOR_USE_PREDICTION: i32 = 22;
pub const SELENE_FACTOR_RECENT_USE: i32 = 23;
pub const SELENE_RULE_IGNORE: i32 = 0;
pub const SELENE_RULE_VETO: i32 = 1;
pub const SELENE_RULE_WEIGHT: i32 = 2;
pub const SELENE_RULE_PREEMPTS: i32 = 1;
pub const SELENE_MEASURE_WINDOW_TIME: i32 = 1;
pub const SELENE_MEASURE_CPU_TIME: i32 = 2;
pub const SELENE_MEASURE_WINDOWS: i32 = 3;
pub const SELENE_MEASURE_BYTES: i32 = 4;
pub const SELENE_PROFILE_OPEN: i32 = 0;
pub const SELENE_PROFILE_APPLE: i32 = 1;
pub const SELENE_PROFILE_SERVER: i32 = 2;
pub const SELENE_PROFILE_STRICT: i32 = 3;
pub const SELENE_VERDICT_PASSED: i32 = 1;
pub const SELENE_VERDICT_VETOED: i32 = 2;
pub const SELENE_VERDICT_WEIGHED: i32 = 3;
pub const SELENE_ASK_NEVER_RAN: i32 = 1;
pub const SELENE_DRIVER_LANES: i32 = 1;
pub const SELENE_DRIVER_STRICT_FIT: i32 = 2;
pub const SELENE_DRIVER_TOGETHER: i32 = 4;
pub const SELENE_DRIVER_FROZEN: i32 = 8;
pub const SELENE_DRIVER_UNGOVERNED: i32 = 16;
pub const SELENE_VALUE_NULL: i32 = 0;
pub const SELENE_VALUE_INTEGER: i32 = 1;
pub const SELENE_VALUE_BOOLEAN: i32 = 2;
pub const SELENE_VALUE_TEXT: i32 = 3;
pub const SELENE_VALUE_BYTES: i32 = 4;
pub const SELENE_VALUE_ARRAY: i32 = 5;
pub const SELENE_NODE_OPTION_RELAXED: i32 = 1;
pub const SELENE_NODE_JOINING: i32 = 0;
pub const SELENE_NODE_WORKING: i32 = 1;
pub const SELENE_NODE_LEAVING: i32 = 2;
pub const SELENE_NODE_CLOSED: i32 = 3;

pub type selene_status = i32;
pub type selene_scheduler = u64;
pub type selene_run = u64;
pub type selene_cycle = u64;
pub type selene_lane = u64;
pub type selene_server = u64;
pub type selene_destroy_fn = unsafe extern "C" fn(*mut c_void);
pub type selene_clock_fn = unsafe extern "C" fn(*mut c_void) -> i64;
pub type selene_thread_fn = unsafe extern "C" fn(*mut c_void);
pub type selene_run_fn = unsafe extern "C" fn(selene_run, *const selene_run_info, *mut c_void);
pub type selene_stop_fn = unsafe extern "C" fn(selene_run, i32, *mut c_void);
pub type selene_report_fn = unsafe extern "C" fn(*const selene_report, *mut c_void);
pub type selene_event_fn = unsafe extern "C" fn(*const selene_event, *mut c_void);
pub type selene_log_fn = unsafe extern "C" fn(i32, *const c_char, *mut c_void);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_text {
    pub data: *const c_char,
    pub length: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_error {
    pub struct_size: u32,
    pub flags: u32,
    pub status: selene_status,
    pub unit: i32,
    pub message: selene_text,
    pub field: selene_text,
    pub subject: selene_text,
    pub found: selene_text,
    pub allowed: selene_text,
    pub problem: selene_text,
    pub value: i64,
    pub least: i64,
    pub greatest: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_options {
    pub struct_size: u32,
    pub flags: u32,
    pub permitted: *const selene_text,
    pub permitted_count: u64,
    pub max_pending_refresh: i64,
    pub max_pending_processing: i64,
    pub minimum_backoff: i64,
    pub maximum_backoff: i64,
    pub minimum_interval_refresh: i64,
    pub minimum_interval_processing: i64,
    pub release_after: i64,
    pub backoff_jitter: u32,
    pub max_overrun_threads: i32,
    pub seed: u64,
    pub max_input_size: i64,
    pub clock: Option<selene_clock_fn>,
    pub clock_context: *mut c_void,
    pub clock_destroy: Option<selene_destroy_fn>,
    pub path: selene_text,
    pub blocked_signals: *const i32,
    pub blocked_signal_count: u64,
    pub owner: selene_text,
    pub stop_grace: i64,
    pub max_overrun_per_handler: u32,
    pub thread_quality: i32,
    pub thread_begin: Option<selene_thread_fn>,
    pub thread_end: Option<selene_thread_fn>,
    pub thread_context: *mut c_void,
    pub thread_destroy: Option<selene_destroy_fn>,
    pub clock_start: i64,
    pub expedited_quota: i64,
    pub thread_stack_size: u64,
    pub wait_log_entries: u64,
    pub max_output_size: i64,
    pub crash_pause: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_scheduler_info {
    pub struct_size: u32,
    pub flags: u32,
    pub kinds: u32,
    pub overrun_threads: u32,
    pub enqueued: u64,
    pub held: u64,
    pub blocked: u64,
    pub running: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub dispatched: u64,
    pub life: u64,
    pub troubles: u32,
    pub stuck_handlers: u32,
    pub expedited_left: i64,
    pub expedited_free_at: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_pause {
    pub pool: selene_text,
    pub kinds: u32,
    pub reserved: u32,
    pub until: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_pauses {
    pub struct_size: u32,
    pub flags: u32,
    pub pauses: *const selene_pause,
    pub count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_task {
    pub struct_size: u32,
    pub flags: u32,
    pub id: selene_text,
    pub handler: selene_text,
    pub kind: i32,
    pub schedule: i32,
    pub priority: i32,
    pub existing: i32,
    pub recurrence: i32,
    pub backoff: i32,
    pub response_window: i32,
    pub max_attempts: u32,
    pub constraints: u32,
    pub tag_count: u32,
    pub tags: *const selene_text,
    pub expected_response: i64,
    pub initial_delay: i64,
    pub period: i64,
    pub flex: i64,
    pub backoff_delay: i64,
    pub input: *const c_void,
    pub input_length: i64,
    pub timeout: i64,
    pub stall_limit: i64,
    pub jitter: u32,
    pub after_count: u32,
    pub group: selene_text,
    pub after: *const selene_text,
    pub latest_begin: i64,
    pub conditions: *const selene_text,
    pub condition_count: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_task_info {
    pub struct_size: u32,
    pub flags: u32,
    pub id: selene_text,
    pub handler: selene_text,
    pub input: selene_text,
    pub tags: *const selene_text,
    pub tag_count: u32,
    pub constraints: u32,
    pub kind: i32,
    pub schedule: i32,
    pub priority: i32,
    pub existing: i32,
    pub recurrence: i32,
    pub backoff: i32,
    pub response_window: i32,
    pub max_attempts: u32,
    pub has_handler: i32,
    pub state: i32,
    pub attempts: u32,
    pub last_outcome: i32,
    pub stop_reason: i32,
    pub generation: u32,
    pub sequence: u64,
    pub appended: u64,
    pub expected_response: i64,
    pub initial_delay: i64,
    pub period: i64,
    pub flex: i64,
    pub backoff_delay: i64,
    pub registered_at: i64,
    pub earliest_begin: i64,
    pub anchor: i64,
    pub last_run: i64,
    pub estimate: i64,
    pub run: selene_run,
    pub response_time_count: u64,
    pub response_times: [i64; 30],
    pub failed_at: i64,
    pub failed_attempt: u64,
    pub failure: selene_text,
    pub timeout: i64,
    pub paused: u32,
    pub jitter: u32,
    pub stall_limit: i64,
    pub progress_at: i64,
    pub progress_done: i64,
    pub progress_total: i64,
    pub progress_text: selene_text,
    pub output_length: u64,
    pub group: selene_text,
    pub after_count: u32,
    pub waits_for: u32,
    pub after: *const selene_text,
    pub latest_begin: i64,
    pub conditions: *const selene_text,
    pub condition_count: u32,
    pub quarantined: u32,
    pub output_lost: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_task_output {
    pub struct_size: u32,
    pub flags: u32,
    pub output: selene_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_task_ids {
    pub struct_size: u32,
    pub flags: u32,
    pub count: u64,
    pub ids: *const selene_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_reason {
    pub reason: i32,
    pub constraints: u32,
    pub may_change_at: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_explanation {
    pub struct_size: u32,
    pub flags: u32,
    pub state: i32,
    pub reason_count: u32,
    pub reasons: [selene_reason; 16],
    pub rank: u64,
    pub eligible: u64,
    pub score: f64,
    pub estimate: i64,
    pub last_room: i64,
    pub fresh_since: i64,
    pub cost: i64,
    pub known_runs: u32,
    pub news_runs: u32,
    pub pace: i32,
    pub pace_class: i32,
    pub attempts: u32,
    pub urgent: u32,
    pub latest_begin: i64,
    pub expedited: u32,
    pub unknown_constraints: u32,
    pub output_lost: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_wait {
    pub name: selene_text,
    pub reason: i32,
    pub reserved: i32,
    pub detail: i64,
    pub duration: i64,
    pub times: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_wait_change {
    pub name: selene_text,
    pub at: i64,
    pub detail: i64,
    pub reason: i32,
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_waits {
    pub struct_size: u32,
    pub flags: u32,
    pub since: i64,
    pub until: i64,
    pub state: i32,
    pub reserved: i32,
    pub part_count: u64,
    pub parts: *const selene_wait,
    pub change_count: u64,
    pub changes: *const selene_wait_change,
    pub preferred_count: u64,
    pub preferred_id_count: u64,
    pub preferred_ids: *const selene_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_group_info {
    pub struct_size: u32,
    pub flags: u32,
    pub limit: u32,
    pub paused: u32,
    pub running: u64,
    pub waiting: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_window {
    pub struct_size: u32,
    pub flags: u32,
    pub kinds: u32,
    pub lanes: u32,
    pub budget: i64,
    pub reserve: i64,
    pub task: selene_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_report_run {
    pub id: selene_text,
    pub run: selene_run,
    pub outcome: i32,
    pub stop_reason: i32,
    pub attempt: u32,
    pub priority: i32,
    pub score: f64,
    pub estimate: i64,
    pub started_at: i64,
    pub response_time: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_pace {
    pub fresh_since: i64,
    pub cost: i64,
    pub known_runs: u32,
    pub news_runs: u32,
    pub pace: i32,
    pub pace_class: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_report {
    pub struct_size: u32,
    pub flags: u32,
    pub cycle: selene_cycle,
    pub result: i32,
    pub kinds: u32,
    pub began_at: i64,
    pub ended_at: i64,
    pub deadline: i64,
    pub budget: i64,
    pub reserve: i64,
    pub eligible: u64,
    pub did_not_fit: u64,
    pub new_data: u64,
    pub no_data: u64,
    pub failed: u64,
    pub abandoned: u64,
    pub expired: u64,
    pub stopped: u64,
    pub run_count: u64,
    pub runs: *const selene_report_run,
    pub paces: *const selene_pace,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_plan_run {
    pub id: selene_text,
    pub score: f64,
    pub estimate: i64,
    pub starts_at: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_plan {
    pub struct_size: u32,
    pub flags: u32,
    pub eligible: u64,
    pub run_count: u64,
    pub runs: *const selene_plan_run,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_run_info {
    pub struct_size: u32,
    pub flags: u32,
    pub run: selene_run,
    pub cycle: selene_cycle,
    pub id: selene_text,
    pub handler: selene_text,
    pub input: selene_text,
    pub kind: i32,
    pub priority: i32,
    pub attempt: u32,
    pub generation: u32,
    pub score: f64,
    pub estimate: i64,
    pub started_at: i64,
    pub expires_at: i64,
    pub deadline: i64,
    pub progress_at: i64,
    pub progress_done: i64,
    pub progress_total: i64,
    pub progress_text: selene_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_event {
    pub struct_size: u32,
    pub flags: u32,
    pub number: u64,
    pub type_: i32,
    pub state: i32,
    pub time: i64,
    pub id: selene_text,
    pub run: selene_run,
    pub cycle: selene_cycle,
    pub detail: i32,
    pub attempts: u32,
    pub time_at: i64,
    pub kinds: u32,
    pub status: selene_status,
    pub message: selene_text,
    pub fresh_since: i64,
    pub cost: i64,
    pub known_runs: u32,
    pub news_runs: u32,
    pub pace: i32,
    pub pace_class: i32,
    pub progress_done: i64,
    pub progress_total: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_store_info {
    pub struct_size: u32,
    pub flags: u32,
    pub path: selene_text,
    pub sqlite_version: selene_text,
    pub relaxed: i32,
    pub schema_version: i32,
    pub page_size: u64,
    pub pages: u64,
    pub wal_size: u64,
    pub commits: u64,
    pub owner: selene_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_store_findings {
    pub struct_size: u32,
    pub flags: u32,
    pub schema_version: u64,
    pub tasks: u64,
    pub damaged: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_peer_rule {
    pub uid: u32,
    pub gid: u32,
    pub rights: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_server_options {
    pub struct_size: u32,
    pub flags: u32,
    pub path: selene_text,
    pub rules: *const selene_peer_rule,
    pub rule_count: u64,
    pub mode: u32,
    pub max_clients: u32,
    pub max_request_size: u64,
    pub descriptor: i32,
    pub reserved: u32,
    pub adopt: i64,
    pub patience: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_server_info {
    pub struct_size: u32,
    pub flags: u32,
    pub clients: u64,
    pub accepted: u64,
    pub requests: u64,
    pub refused: u64,
    pub broken: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_connect_options {
    pub struct_size: u32,
    pub flags: u32,
    pub path: selene_text,
    pub wait: i64,
    pub timeout: i64,
    pub pool: selene_text,
    pub server_user: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_client {
    pub pool: selene_text,
    pub command: selene_text,
    pub process: u32,
    pub user: u32,
    pub rights: u32,
    pub version: u32,
    pub handlers: u64,
    pub runs: u64,
    pub requests: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_clients {
    pub struct_size: u32,
    pub flags: u32,
    pub clients: *const selene_client,
    pub count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_signal {
    pub struct_size: u32,
    pub flags: u32,
    pub value: i64,
    pub source: i32,
    pub reserved: i32,
    pub set_at: i64,
    pub since: i64,
    pub until: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_rule {
    pub factor: i32,
    pub kinds: u32,
    pub mode: i32,
    pub flags: u32,
    pub weight: i64,
    pub required: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_quota {
    pub kinds: u32,
    pub measure: i32,
    pub limit: i64,
    pub period: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_profile {
    pub struct_size: u32,
    pub flags: u32,
    pub base: i32,
    pub threshold: i32,
    pub rules: *const selene_rule,
    pub rule_count: u64,
    pub quotas: *const selene_quota,
    pub quota_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_finding {
    pub factor: i32,
    pub verdict: i32,
    pub source: i32,
    pub flags: u32,
    pub observed: i64,
    pub required: i64,
    pub score: i64,
    pub weight: i64,
    pub clears_at: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_decision {
    pub struct_size: u32,
    pub flags: u32,
    pub kind: i32,
    pub granted: i32,
    pub at: i64,
    pub score: i64,
    pub threshold: i64,
    pub longest_window: i64,
    pub ask_again_at: i64,
    pub finding_count: u64,
    pub findings: *const selene_finding,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_balance {
    pub struct_size: u32,
    pub flags: u32,
    pub is_spent: i32,
    pub used: i32,
    pub free: i64,
    pub free_at: i64,
    pub last_begin: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_forecast {
    pub begins_at: i64,
    pub ends_at: i64,
    pub probability: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_driver {
    pub struct_size: u32,
    pub flags: u32,
    pub refresh_budget: i64,
    pub processing_budget: i64,
    pub refresh_lanes: u32,
    pub processing_lanes: u32,
    pub kinds: u32,
    pub reserved: u32,
    pub reserve: i64,
    pub every: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_value {
    pub type_: i32,
    pub reserved: u32,
    pub integer: i64,
    pub data: *const c_void,
    pub length: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_node_request {
    pub struct_size: u32,
    pub flags: u32,
    pub number: u64,
    pub sql: selene_text,
    pub values: *const selene_value,
    pub value_count: u64,
    pub timeout: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_node_options {
    pub struct_size: u32,
    pub flags: u32,
    pub schema: selene_text,
    pub name: selene_text,
    pub queues: *const selene_text,
    pub queue_count: u64,
    pub labels: *const selene_text,
    pub label_count: u64,
    pub lease: i64,
    pub horizon: i64,
    pub poll: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct selene_node_info {
    pub struct_size: u32,
    pub flags: u32,
    pub state: i32,
    pub reserved: u32,
    pub worker: i64,
    pub believes_until: i64,
    pub working: u64,
    pub ready: u64,
    pub undecided: u64,
}

extern "C" {
    pub fn selene_version() -> u32;
    pub fn selene_free(made: *mut c_void);
    pub fn selene_status_message(status: selene_status) -> *const c_char;
    pub fn selene_name(names: i32, number: i64) -> *const c_char;
    pub fn selene_error_last() -> *const selene_error;
    pub fn selene_scheduler_open(options: *const selene_options, out_scheduler: *mut selene_scheduler) -> selene_status;
    pub fn selene_scheduler_drain(scheduler: selene_scheduler, grace: i64) -> selene_status;
    pub fn selene_scheduler_resume(scheduler: selene_scheduler) -> selene_status;
    pub fn selene_scheduler_close(scheduler: selene_scheduler, grace: i64) -> selene_status;
    pub fn selene_scheduler_now(scheduler: selene_scheduler, out_now: *mut i64) -> selene_status;
    pub fn selene_clock_set(scheduler: selene_scheduler, now: i64) -> selene_status;
    pub fn selene_clock_advance(scheduler: selene_scheduler, to: i64, flags: u32, patience: i64, out_next: *mut i64) -> selene_status;
    pub fn selene_scheduler_get(scheduler: selene_scheduler, out_info: *mut selene_scheduler_info) -> selene_status;
    pub fn selene_scheduler_enable(scheduler: selene_scheduler, kinds: u32) -> selene_status;
    pub fn selene_scheduler_pause(scheduler: selene_scheduler, kinds: u32, pool: *const c_char, pool_length: i64, until: i64) -> selene_status;
    pub fn selene_pause_list(scheduler: selene_scheduler, out_pauses: *mut *mut selene_pauses) -> selene_status;
    pub fn selene_scheduler_next_wakeup(scheduler: selene_scheduler, out_at: *mut i64, out_delay: *mut i64) -> selene_status;
    pub fn selene_scheduler_prune(scheduler: selene_scheduler, out_count: *mut u64) -> selene_status;
    pub fn selene_scheduler_reset(scheduler: selene_scheduler) -> selene_status;
    pub fn selene_handler_register(scheduler: selene_scheduler, name: *const c_char, name_length: i64, run: Option<selene_run_fn>, stop: Option<selene_stop_fn>, context: *mut c_void, destroy: Option<selene_destroy_fn>) -> selene_status;
    pub fn selene_handler_unregister(scheduler: selene_scheduler, name: *const c_char, name_length: i64) -> selene_status;
    pub fn selene_task_register(scheduler: selene_scheduler, task: *const selene_task, out_disposition: *mut i32) -> selene_status;
    pub fn selene_task_register_batch(scheduler: selene_scheduler, tasks: *const *const selene_task, count: u64, out_statuses: *mut selene_status, out_dispositions: *mut i32) -> selene_status;
    pub fn selene_task_cancel(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_cancel_tag(scheduler: selene_scheduler, tag: *const c_char, tag_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_cancel_all(scheduler: selene_scheduler, out_count: *mut u64) -> selene_status;
    pub fn selene_task_retry(scheduler: selene_scheduler, id: *const c_char, id_length: i64) -> selene_status;
    pub fn selene_task_retry_successors(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_retry_all(scheduler: selene_scheduler, tag: *const c_char, tag_length: i64, flags: u32, out_count: *mut u64) -> selene_status;
    pub fn selene_task_set_next(scheduler: selene_scheduler, id: *const c_char, id_length: i64, next: i64) -> selene_status;
    pub fn selene_task_pause(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_pause_tag(scheduler: selene_scheduler, tag: *const c_char, tag_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_resume(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_resume_tag(scheduler: selene_scheduler, tag: *const c_char, tag_length: i64, out_count: *mut u64) -> selene_status;
    pub fn selene_task_get(scheduler: selene_scheduler, id: *const c_char, id_length: i64, position: u64, out_info: *mut *mut selene_task_info) -> selene_status;
    pub fn selene_task_get_output(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_output: *mut *mut selene_task_output) -> selene_status;
    pub fn selene_task_list(scheduler: selene_scheduler, tag: *const c_char, tag_length: i64, out_ids: *mut *mut selene_task_ids) -> selene_status;
    pub fn selene_task_list_state(scheduler: selene_scheduler, state: i32, out_ids: *mut *mut selene_task_ids) -> selene_status;
    pub fn selene_task_explain(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_explanation: *mut selene_explanation) -> selene_status;
    pub fn selene_task_waits(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_waits: *mut *mut selene_waits) -> selene_status;
    pub fn selene_group_set_limit(scheduler: selene_scheduler, name: *const c_char, name_length: i64, limit: u32) -> selene_status;
    pub fn selene_group_pause(scheduler: selene_scheduler, name: *const c_char, name_length: i64) -> selene_status;
    pub fn selene_group_resume(scheduler: selene_scheduler, name: *const c_char, name_length: i64) -> selene_status;
    pub fn selene_group_get(scheduler: selene_scheduler, name: *const c_char, name_length: i64, out_info: *mut selene_group_info) -> selene_status;
    pub fn selene_group_list(scheduler: selene_scheduler, out_names: *mut *mut selene_task_ids) -> selene_status;
    pub fn selene_cycle_begin(scheduler: selene_scheduler, window: *const selene_window, out_cycle: *mut selene_cycle) -> selene_status;
    pub fn selene_cycle_next(cycle: selene_cycle, out_step: *mut i32, out_run: *mut selene_run_info, out_wake_at: *mut i64) -> selene_status;
    pub fn selene_cycle_end(cycle: selene_cycle, out_report: *mut *mut selene_report) -> selene_status;
    pub fn selene_cycle_drain(cycle: selene_cycle, grace: i64) -> selene_status;
    pub fn selene_cycle_run(scheduler: selene_scheduler, window: *const selene_window, out_report: *mut *mut selene_report) -> selene_status;
    pub fn selene_cycle_run_async(scheduler: selene_scheduler, window: *const selene_window, report: Option<selene_report_fn>, context: *mut c_void, destroy: Option<selene_destroy_fn>, out_cycle: *mut selene_cycle, out_deadline: *mut i64) -> selene_status;
    pub fn selene_cycle_plan(scheduler: selene_scheduler, window: *const selene_window, out_plan: *mut *mut selene_plan) -> selene_status;
    pub fn selene_lane_open(cycle: selene_cycle, out_lane: *mut selene_lane) -> selene_status;
    pub fn selene_lane_next(lane: selene_lane, outcome: i32, timeout: i64, out_step: *mut i32, out_run: *mut selene_run_info, out_wake_at: *mut i64) -> selene_status;
    pub fn selene_lane_close(lane: selene_lane) -> selene_status;
    pub fn selene_cycle_wait(cycle: selene_cycle, timeout: i64, out_report: *mut *mut selene_report, out_wake_at: *mut i64) -> selene_status;
    pub fn selene_cycle_descriptor(cycle: selene_cycle, out_fd: *mut i32) -> selene_status;
    pub fn selene_run_complete(run: selene_run, outcome: i32) -> selene_status;
    pub fn selene_run_retry(run: selene_run, delay: i64) -> selene_status;
    pub fn selene_run_fail(run: selene_run, outcome: i32, delay: i64, message: *const c_char, message_length: i64) -> selene_status;
    pub fn selene_run_complete_until(run: selene_run, outcome: i32, next: i64) -> selene_status;
    pub fn selene_run_stopping(run: selene_run, out_reason: *mut i32) -> selene_status;
    pub fn selene_run_sleep(run: selene_run, nanoseconds: i64, out_reason: *mut i32) -> selene_status;
    pub fn selene_run_remaining(run: selene_run, out_remaining: *mut i64) -> selene_status;
    pub fn selene_run_progress(run: selene_run, done: i64, total: i64, text: *const c_char, text_length: i64) -> selene_status;
    pub fn selene_run_set_user(run: selene_run, user: *mut c_void) -> selene_status;
    pub fn selene_run_user(run: selene_run, out_user: *mut *mut c_void) -> selene_status;
    pub fn selene_run_set_output(run: selene_run, output: *const c_void, length: i64) -> selene_status;
    pub fn selene_run_get(run: selene_run, out_info: *mut *mut selene_run_info) -> selene_status;
    pub fn selene_conditions_set(scheduler: selene_scheduler, constraints: u32, satisfied: u32) -> selene_status;
    pub fn selene_conditions_get(scheduler: selene_scheduler, out_satisfied: *mut u32, out_host: *mut u32) -> selene_status;
    pub fn selene_condition_define(scheduler: selene_scheduler, name: *const c_char, name_length: i64) -> selene_status;
    pub fn selene_condition_undefine(scheduler: selene_scheduler, name: *const c_char, name_length: i64) -> selene_status;
    pub fn selene_condition_set(scheduler: selene_scheduler, name: *const c_char, name_length: i64, satisfied: i32) -> selene_status;
    pub fn selene_condition_get(scheduler: selene_scheduler, name: *const c_char, name_length: i64, out_state: *mut i32) -> selene_status;
    pub fn selene_condition_list(scheduler: selene_scheduler, out_names: *mut *mut selene_task_ids) -> selene_status;
    pub fn selene_condition_missing(scheduler: selene_scheduler, id: *const c_char, id_length: i64, out_names: *mut *mut selene_task_ids) -> selene_status;
    pub fn selene_scheduler_observe(scheduler: selene_scheduler, observer: Option<selene_event_fn>, context: *mut c_void, destroy: Option<selene_destroy_fn>) -> selene_status;
    pub fn selene_events_open(scheduler: selene_scheduler, capacity: u64, out_fd: *mut i32) -> selene_status;
    pub fn selene_events_next(scheduler: selene_scheduler, timeout: i64, out_event: *mut selene_event, out_found: *mut i32, out_lost: *mut u64) -> selene_status;
    pub fn selene_events_close(scheduler: selene_scheduler) -> selene_status;
    pub fn selene_log_set(log: Option<selene_log_fn>, context: *mut c_void, destroy: Option<selene_destroy_fn>) -> selene_status;
    pub fn selene_store_get(scheduler: selene_scheduler, out_info: *mut *mut selene_store_info) -> selene_status;
    pub fn selene_store_backup(scheduler: selene_scheduler, path: *const c_char, path_length: i64) -> selene_status;
    pub fn selene_store_check(path: *const c_char, path_length: i64, out_findings: *mut selene_store_findings) -> selene_status;
    pub fn selene_store_salvage(damaged: *const c_char, damaged_length: i64, fresh: *const c_char, fresh_length: i64, out_findings: *mut selene_store_findings) -> selene_status;
    pub fn selene_server_start(scheduler: selene_scheduler, options: *const selene_server_options, out_server: *mut selene_server) -> selene_status;
    pub fn selene_server_open(scheduler: selene_scheduler, options: *const selene_server_options, out_server: *mut selene_server, out_fd: *mut i32) -> selene_status;
    pub fn selene_server_step(server: selene_server, out_wake_at: *mut i64) -> selene_status;
    pub fn selene_server_get(server: selene_server, out_info: *mut selene_server_info) -> selene_status;
    pub fn selene_client_list(scheduler: selene_scheduler, out_clients: *mut *mut selene_clients) -> selene_status;
    pub fn selene_server_close(server: selene_server) -> selene_status;
    pub fn selene_scheduler_connect(options: *const selene_connect_options, out_scheduler: *mut selene_scheduler) -> selene_status;
    pub fn selene_signal_set(scheduler: selene_scheduler, signal: i32, value: i64, valid_for: i64) -> selene_status;
    pub fn selene_signal_clear(scheduler: selene_scheduler, signal: i32) -> selene_status;
    pub fn selene_signal_get(scheduler: selene_scheduler, signal: i32, out_signal: *mut selene_signal) -> selene_status;
    pub fn selene_governor_set_profile(scheduler: selene_scheduler, profile: *const selene_profile) -> selene_status;
    pub fn selene_governor_ask(scheduler: selene_scheduler, kind: i32, flags: u32, out_decision: *mut *mut selene_decision) -> selene_status;
    pub fn selene_governor_last(scheduler: selene_scheduler, kind: i32, out_decision: *mut *mut selene_decision) -> selene_status;
    pub fn selene_ledger_get(scheduler: selene_scheduler, kind: i32, out_balance: *mut selene_balance) -> selene_status;
    pub fn selene_ledger_report(scheduler: selene_scheduler, kind: i32, cpu_time: i64, bytes: i64) -> selene_status;
    pub fn selene_use_report(scheduler: selene_scheduler, began_at: i64, ended_at: i64) -> selene_status;
    pub fn selene_governor_forecast(scheduler: selene_scheduler, kind: i32, windows: *mut selene_forecast, capacity: u64, out_count: *mut u64) -> selene_status;
    pub fn selene_trace_record(scheduler: selene_scheduler, path: *const c_char, path_length: i64) -> selene_status;
    pub fn selene_trace_replay(path: *const c_char, path_length: i64, out_decisions: *mut u64, out_first_difference: *mut u64) -> selene_status;
    pub fn selene_driver_start(scheduler: selene_scheduler, driver: *const selene_driver) -> selene_status;
    pub fn selene_driver_open(scheduler: selene_scheduler, driver: *const selene_driver, out_fd: *mut i32) -> selene_status;
    pub fn selene_driver_step(scheduler: selene_scheduler, out_cycle: *mut selene_cycle, out_wake_at: *mut i64) -> selene_status;
    pub fn selene_driver_wait(scheduler: selene_scheduler, timeout: i64, out_ready: *mut i32) -> selene_status;
    pub fn selene_driver_stop(scheduler: selene_scheduler, grace: i64) -> selene_status;
    pub fn selene_task_launch(scheduler: selene_scheduler, id: *const c_char, id_length: i64) -> selene_status;
    pub fn selene_task_expire(scheduler: selene_scheduler, id: *const c_char, id_length: i64) -> selene_status;
    pub fn selene_node_open(scheduler: selene_scheduler, options: *const selene_node_options, out_fd: *mut i32) -> selene_status;
    pub fn selene_node_step(scheduler: selene_scheduler, out_request: *mut selene_node_request, out_wake_at: *mut i64) -> selene_status;
    pub fn selene_node_wait(scheduler: selene_scheduler, timeout: i64, out_ready: *mut i32) -> selene_status;
    pub fn selene_node_rows(scheduler: selene_scheduler, number: u64, cells: *const selene_value, rows: u64, columns: u64) -> selene_status;
    pub fn selene_node_failed(scheduler: selene_scheduler, number: u64, sent: i32, sqlstate: *const c_char, message: *const c_char) -> selene_status;
    pub fn selene_node_hint(scheduler: selene_scheduler) -> selene_status;
    pub fn selene_node_get(scheduler: selene_scheduler, out_info: *mut selene_node_info) -> selene_status;
    pub fn selene_node_leave(scheduler: selene_scheduler, grace: i64) -> selene_status;
    pub fn selene_node_close(scheduler: selene_scheduler) -> selene_status;
    pub fn selene_run_fence(run: selene_run, out_fence: *mut i64, out_task: *mut i64) -> selene_status;
    pub fn selene_run_decided_by_host(run: selene_run) -> selene_status;
}

#[cfg(test)]
mod layout {
    use super::*;
    use std::mem::{align_of, size_of, MaybeUninit};

    macro_rules! offset {
        ($type:ty, $field:ident) => {{
            let one = MaybeUninit::<$type>::uninit();
            let base = one.as_ptr();
            // Only the address of the field is taken.
            unsafe { std::ptr::addr_of!((*base).$field) as usize - base as usize }
        }};
    }

    #[test]
    fn structs_are_laid_out_as_in_c() {
        if size_of::<usize>() != 8 {
            return; // api.json has the offsets of 64 bits
        }
        assert_eq!((size_of::<selene_text>(), align_of::<selene_text>()), (16, 8));
        assert_eq!(offset!(selene_text, data), 0);
        assert_eq!(offset!(selene_text, length), 8);
        assert_eq!((size_of::<selene_error>(), align_of::<selene_error>()), (136, 8));
        assert_eq!(offset!(selene_error, struct_size), 0);
        assert_eq!(offset!(selene_error, flags), 4);
        assert_eq!(offset!(selene_error, status), 8);
        assert_eq!(offset!(selene_error, unit), 12);
        assert_eq!(offset!(selene_error, message), 16);
        assert_eq!(offset!(selene_error, field), 32);
        assert_eq!(offset!(selene_error, subject), 48);
        assert_eq!(offset!(selene_error, found), 64);
        assert_eq!(offset!(selene_error, allowed), 80);
        assert_eq!(offset!(selene_error, problem), 96);
        assert_eq!(offset!(selene_error, value), 112);
        assert_eq!(offset!(selene_error, least), 120);
        assert_eq!(offset!(selene_error, greatest), 128);
        assert_eq!((size_of::<selene_options>(), align_of::<selene_options>()), (272, 8));
        assert_eq!(offset!(selene_options, struct_size), 0);
        assert_eq!(offset!(selene_options, flags), 4);
        assert_eq!(offset!(selene_options, permitted), 8);
        assert_eq!(offset!(selene_options, permitted_count), 16);
        assert_eq!(offset!(selene_options, max_pending_refresh), 24);
        assert_eq!(offset!(selene_options, max_pending_processing), 32);
        assert_eq!(offset!(selene_options, minimum_backoff), 40);
        assert_eq!(offset!(selene_options, maximum_backoff), 48);
        assert_eq!(offset!(selene_options, minimum_interval_refresh), 56);
        assert_eq!(offset!(selene_options, minimum_interval_processing), 64);
        assert_eq!(offset!(selene_options, release_after), 72);
        assert_eq!(offset!(selene_options, backoff_jitter), 80);
        assert_eq!(offset!(selene_options, max_overrun_threads), 84);
        assert_eq!(offset!(selene_options, seed), 88);
        assert_eq!(offset!(selene_options, max_input_size), 96);
        assert_eq!(offset!(selene_options, clock), 104);
        assert_eq!(offset!(selene_options, clock_context), 112);
        assert_eq!(offset!(selene_options, clock_destroy), 120);
        assert_eq!(offset!(selene_options, path), 128);
        assert_eq!(offset!(selene_options, blocked_signals), 144);
        assert_eq!(offset!(selene_options, blocked_signal_count), 152);
        assert_eq!(offset!(selene_options, owner), 160);
        assert_eq!(offset!(selene_options, stop_grace), 176);
        assert_eq!(offset!(selene_options, max_overrun_per_handler), 184);
        assert_eq!(offset!(selene_options, thread_quality), 188);
        assert_eq!(offset!(selene_options, thread_begin), 192);
        assert_eq!(offset!(selene_options, thread_end), 200);
        assert_eq!(offset!(selene_options, thread_context), 208);
        assert_eq!(offset!(selene_options, thread_destroy), 216);
        assert_eq!(offset!(selene_options, clock_start), 224);
        assert_eq!(offset!(selene_options, expedited_quota), 232);
        assert_eq!(offset!(selene_options, thread_stack_size), 240);
        assert_eq!(offset!(selene_options, wait_log_entries), 248);
        assert_eq!(offset!(selene_options, max_output_size), 256);
        assert_eq!(offset!(selene_options, crash_pause), 264);
        assert_eq!((size_of::<selene_scheduler_info>(), align_of::<selene_scheduler_info>()), (112, 8));
        assert_eq!(offset!(selene_scheduler_info, struct_size), 0);
        assert_eq!(offset!(selene_scheduler_info, flags), 4);
        assert_eq!(offset!(selene_scheduler_info, kinds), 8);
        assert_eq!(offset!(selene_scheduler_info, overrun_threads), 12);
        assert_eq!(offset!(selene_scheduler_info, enqueued), 16);
        assert_eq!(offset!(selene_scheduler_info, held), 24);
        assert_eq!(offset!(selene_scheduler_info, blocked), 32);
        assert_eq!(offset!(selene_scheduler_info, running), 40);
        assert_eq!(offset!(selene_scheduler_info, succeeded), 48);
        assert_eq!(offset!(selene_scheduler_info, failed), 56);
        assert_eq!(offset!(selene_scheduler_info, cancelled), 64);
        assert_eq!(offset!(selene_scheduler_info, dispatched), 72);
        assert_eq!(offset!(selene_scheduler_info, life), 80);
        assert_eq!(offset!(selene_scheduler_info, troubles), 88);
        assert_eq!(offset!(selene_scheduler_info, stuck_handlers), 92);
        assert_eq!(offset!(selene_scheduler_info, expedited_left), 96);
        assert_eq!(offset!(selene_scheduler_info, expedited_free_at), 104);
        assert_eq!((size_of::<selene_pause>(), align_of::<selene_pause>()), (32, 8));
        assert_eq!(offset!(selene_pause, pool), 0);
        assert_eq!(offset!(selene_pause, kinds), 16);
        assert_eq!(offset!(selene_pause, reserved), 20);
        assert_eq!(offset!(selene_pause, until), 24);
        assert_eq!((size_of::<selene_pauses>(), align_of::<selene_pauses>()), (24, 8));
        assert_eq!(offset!(selene_pauses, struct_size), 0);
        assert_eq!(offset!(selene_pauses, flags), 4);
        assert_eq!(offset!(selene_pauses, pauses), 8);
        assert_eq!(offset!(selene_pauses, count), 16);
        assert_eq!((size_of::<selene_task>(), align_of::<selene_task>()), (216, 8));
        assert_eq!(offset!(selene_task, struct_size), 0);
        assert_eq!(offset!(selene_task, flags), 4);
        assert_eq!(offset!(selene_task, id), 8);
        assert_eq!(offset!(selene_task, handler), 24);
        assert_eq!(offset!(selene_task, kind), 40);
        assert_eq!(offset!(selene_task, schedule), 44);
        assert_eq!(offset!(selene_task, priority), 48);
        assert_eq!(offset!(selene_task, existing), 52);
        assert_eq!(offset!(selene_task, recurrence), 56);
        assert_eq!(offset!(selene_task, backoff), 60);
        assert_eq!(offset!(selene_task, response_window), 64);
        assert_eq!(offset!(selene_task, max_attempts), 68);
        assert_eq!(offset!(selene_task, constraints), 72);
        assert_eq!(offset!(selene_task, tag_count), 76);
        assert_eq!(offset!(selene_task, tags), 80);
        assert_eq!(offset!(selene_task, expected_response), 88);
        assert_eq!(offset!(selene_task, initial_delay), 96);
        assert_eq!(offset!(selene_task, period), 104);
        assert_eq!(offset!(selene_task, flex), 112);
        assert_eq!(offset!(selene_task, backoff_delay), 120);
        assert_eq!(offset!(selene_task, input), 128);
        assert_eq!(offset!(selene_task, input_length), 136);
        assert_eq!(offset!(selene_task, timeout), 144);
        assert_eq!(offset!(selene_task, stall_limit), 152);
        assert_eq!(offset!(selene_task, jitter), 160);
        assert_eq!(offset!(selene_task, after_count), 164);
        assert_eq!(offset!(selene_task, group), 168);
        assert_eq!(offset!(selene_task, after), 184);
        assert_eq!(offset!(selene_task, latest_begin), 192);
        assert_eq!(offset!(selene_task, conditions), 200);
        assert_eq!(offset!(selene_task, condition_count), 208);
        assert_eq!(offset!(selene_task, reserved), 212);
        assert_eq!((size_of::<selene_task_info>(), align_of::<selene_task_info>()), (648, 8));
        assert_eq!(offset!(selene_task_info, struct_size), 0);
        assert_eq!(offset!(selene_task_info, flags), 4);
        assert_eq!(offset!(selene_task_info, id), 8);
        assert_eq!(offset!(selene_task_info, handler), 24);
        assert_eq!(offset!(selene_task_info, input), 40);
        assert_eq!(offset!(selene_task_info, tags), 56);
        assert_eq!(offset!(selene_task_info, tag_count), 64);
        assert_eq!(offset!(selene_task_info, constraints), 68);
        assert_eq!(offset!(selene_task_info, kind), 72);
        assert_eq!(offset!(selene_task_info, schedule), 76);
        assert_eq!(offset!(selene_task_info, priority), 80);
        assert_eq!(offset!(selene_task_info, existing), 84);
        assert_eq!(offset!(selene_task_info, recurrence), 88);
        assert_eq!(offset!(selene_task_info, backoff), 92);
        assert_eq!(offset!(selene_task_info, response_window), 96);
        assert_eq!(offset!(selene_task_info, max_attempts), 100);
        assert_eq!(offset!(selene_task_info, has_handler), 104);
        assert_eq!(offset!(selene_task_info, state), 108);
        assert_eq!(offset!(selene_task_info, attempts), 112);
        assert_eq!(offset!(selene_task_info, last_outcome), 116);
        assert_eq!(offset!(selene_task_info, stop_reason), 120);
        assert_eq!(offset!(selene_task_info, generation), 124);
        assert_eq!(offset!(selene_task_info, sequence), 128);
        assert_eq!(offset!(selene_task_info, appended), 136);
        assert_eq!(offset!(selene_task_info, expected_response), 144);
        assert_eq!(offset!(selene_task_info, initial_delay), 152);
        assert_eq!(offset!(selene_task_info, period), 160);
        assert_eq!(offset!(selene_task_info, flex), 168);
        assert_eq!(offset!(selene_task_info, backoff_delay), 176);
        assert_eq!(offset!(selene_task_info, registered_at), 184);
        assert_eq!(offset!(selene_task_info, earliest_begin), 192);
        assert_eq!(offset!(selene_task_info, anchor), 200);
        assert_eq!(offset!(selene_task_info, last_run), 208);
        assert_eq!(offset!(selene_task_info, estimate), 216);
        assert_eq!(offset!(selene_task_info, run), 224);
        assert_eq!(offset!(selene_task_info, response_time_count), 232);
        assert_eq!(offset!(selene_task_info, response_times), 240);
        assert_eq!(offset!(selene_task_info, failed_at), 480);
        assert_eq!(offset!(selene_task_info, failed_attempt), 488);
        assert_eq!(offset!(selene_task_info, failure), 496);
        assert_eq!(offset!(selene_task_info, timeout), 512);
        assert_eq!(offset!(selene_task_info, paused), 520);
        assert_eq!(offset!(selene_task_info, jitter), 524);
        assert_eq!(offset!(selene_task_info, stall_limit), 528);
        assert_eq!(offset!(selene_task_info, progress_at), 536);
        assert_eq!(offset!(selene_task_info, progress_done), 544);
        assert_eq!(offset!(selene_task_info, progress_total), 552);
        assert_eq!(offset!(selene_task_info, progress_text), 560);
        assert_eq!(offset!(selene_task_info, output_length), 576);
        assert_eq!(offset!(selene_task_info, group), 584);
        assert_eq!(offset!(selene_task_info, after_count), 600);
        assert_eq!(offset!(selene_task_info, waits_for), 604);
        assert_eq!(offset!(selene_task_info, after), 608);
        assert_eq!(offset!(selene_task_info, latest_begin), 616);
        assert_eq!(offset!(selene_task_info, conditions), 624);
        assert_eq!(offset!(selene_task_info, condition_count), 632);
        assert_eq!(offset!(selene_task_info, quarantined), 636);
        assert_eq!(offset!(selene_task_info, output_lost), 640);
        assert_eq!((size_of::<selene_task_output>(), align_of::<selene_task_output>()), (24, 8));
        assert_eq!(offset!(selene_task_output, struct_size), 0);
        assert_eq!(offset!(selene_task_output, flags), 4);
        assert_eq!(offset!(selene_task_output, output), 8);
        assert_eq!((size_of::<selene_task_ids>(), align_of::<selene_task_ids>()), (24, 8));
        assert_eq!(offset!(selene_task_ids, struct_size), 0);
        assert_eq!(offset!(selene_task_ids, flags), 4);
        assert_eq!(offset!(selene_task_ids, count), 8);
        assert_eq!(offset!(selene_task_ids, ids), 16);
        assert_eq!((size_of::<selene_reason>(), align_of::<selene_reason>()), (16, 8));
        assert_eq!(offset!(selene_reason, reason), 0);
        assert_eq!(offset!(selene_reason, constraints), 4);
        assert_eq!(offset!(selene_reason, may_change_at), 8);
        assert_eq!((size_of::<selene_explanation>(), align_of::<selene_explanation>()), (376, 8));
        assert_eq!(offset!(selene_explanation, struct_size), 0);
        assert_eq!(offset!(selene_explanation, flags), 4);
        assert_eq!(offset!(selene_explanation, state), 8);
        assert_eq!(offset!(selene_explanation, reason_count), 12);
        assert_eq!(offset!(selene_explanation, reasons), 16);
        assert_eq!(offset!(selene_explanation, rank), 272);
        assert_eq!(offset!(selene_explanation, eligible), 280);
        assert_eq!(offset!(selene_explanation, score), 288);
        assert_eq!(offset!(selene_explanation, estimate), 296);
        assert_eq!(offset!(selene_explanation, last_room), 304);
        assert_eq!(offset!(selene_explanation, fresh_since), 312);
        assert_eq!(offset!(selene_explanation, cost), 320);
        assert_eq!(offset!(selene_explanation, known_runs), 328);
        assert_eq!(offset!(selene_explanation, news_runs), 332);
        assert_eq!(offset!(selene_explanation, pace), 336);
        assert_eq!(offset!(selene_explanation, pace_class), 340);
        assert_eq!(offset!(selene_explanation, attempts), 344);
        assert_eq!(offset!(selene_explanation, urgent), 348);
        assert_eq!(offset!(selene_explanation, latest_begin), 352);
        assert_eq!(offset!(selene_explanation, expedited), 360);
        assert_eq!(offset!(selene_explanation, unknown_constraints), 364);
        assert_eq!(offset!(selene_explanation, output_lost), 368);
        assert_eq!((size_of::<selene_wait>(), align_of::<selene_wait>()), (48, 8));
        assert_eq!(offset!(selene_wait, name), 0);
        assert_eq!(offset!(selene_wait, reason), 16);
        assert_eq!(offset!(selene_wait, reserved), 20);
        assert_eq!(offset!(selene_wait, detail), 24);
        assert_eq!(offset!(selene_wait, duration), 32);
        assert_eq!(offset!(selene_wait, times), 40);
        assert_eq!((size_of::<selene_wait_change>(), align_of::<selene_wait_change>()), (40, 8));
        assert_eq!(offset!(selene_wait_change, name), 0);
        assert_eq!(offset!(selene_wait_change, at), 16);
        assert_eq!(offset!(selene_wait_change, detail), 24);
        assert_eq!(offset!(selene_wait_change, reason), 32);
        assert_eq!(offset!(selene_wait_change, reserved), 36);
        assert_eq!((size_of::<selene_waits>(), align_of::<selene_waits>()), (88, 8));
        assert_eq!(offset!(selene_waits, struct_size), 0);
        assert_eq!(offset!(selene_waits, flags), 4);
        assert_eq!(offset!(selene_waits, since), 8);
        assert_eq!(offset!(selene_waits, until), 16);
        assert_eq!(offset!(selene_waits, state), 24);
        assert_eq!(offset!(selene_waits, reserved), 28);
        assert_eq!(offset!(selene_waits, part_count), 32);
        assert_eq!(offset!(selene_waits, parts), 40);
        assert_eq!(offset!(selene_waits, change_count), 48);
        assert_eq!(offset!(selene_waits, changes), 56);
        assert_eq!(offset!(selene_waits, preferred_count), 64);
        assert_eq!(offset!(selene_waits, preferred_id_count), 72);
        assert_eq!(offset!(selene_waits, preferred_ids), 80);
        assert_eq!((size_of::<selene_group_info>(), align_of::<selene_group_info>()), (32, 8));
        assert_eq!(offset!(selene_group_info, struct_size), 0);
        assert_eq!(offset!(selene_group_info, flags), 4);
        assert_eq!(offset!(selene_group_info, limit), 8);
        assert_eq!(offset!(selene_group_info, paused), 12);
        assert_eq!(offset!(selene_group_info, running), 16);
        assert_eq!(offset!(selene_group_info, waiting), 24);
        assert_eq!((size_of::<selene_window>(), align_of::<selene_window>()), (48, 8));
        assert_eq!(offset!(selene_window, struct_size), 0);
        assert_eq!(offset!(selene_window, flags), 4);
        assert_eq!(offset!(selene_window, kinds), 8);
        assert_eq!(offset!(selene_window, lanes), 12);
        assert_eq!(offset!(selene_window, budget), 16);
        assert_eq!(offset!(selene_window, reserve), 24);
        assert_eq!(offset!(selene_window, task), 32);
        assert_eq!((size_of::<selene_report_run>(), align_of::<selene_report_run>()), (72, 8));
        assert_eq!(offset!(selene_report_run, id), 0);
        assert_eq!(offset!(selene_report_run, run), 16);
        assert_eq!(offset!(selene_report_run, outcome), 24);
        assert_eq!(offset!(selene_report_run, stop_reason), 28);
        assert_eq!(offset!(selene_report_run, attempt), 32);
        assert_eq!(offset!(selene_report_run, priority), 36);
        assert_eq!(offset!(selene_report_run, score), 40);
        assert_eq!(offset!(selene_report_run, estimate), 48);
        assert_eq!(offset!(selene_report_run, started_at), 56);
        assert_eq!(offset!(selene_report_run, response_time), 64);
        assert_eq!((size_of::<selene_pace>(), align_of::<selene_pace>()), (32, 8));
        assert_eq!(offset!(selene_pace, fresh_since), 0);
        assert_eq!(offset!(selene_pace, cost), 8);
        assert_eq!(offset!(selene_pace, known_runs), 16);
        assert_eq!(offset!(selene_pace, news_runs), 20);
        assert_eq!(offset!(selene_pace, pace), 24);
        assert_eq!(offset!(selene_pace, pace_class), 28);
        assert_eq!((size_of::<selene_report>(), align_of::<selene_report>()), (152, 8));
        assert_eq!(offset!(selene_report, struct_size), 0);
        assert_eq!(offset!(selene_report, flags), 4);
        assert_eq!(offset!(selene_report, cycle), 8);
        assert_eq!(offset!(selene_report, result), 16);
        assert_eq!(offset!(selene_report, kinds), 20);
        assert_eq!(offset!(selene_report, began_at), 24);
        assert_eq!(offset!(selene_report, ended_at), 32);
        assert_eq!(offset!(selene_report, deadline), 40);
        assert_eq!(offset!(selene_report, budget), 48);
        assert_eq!(offset!(selene_report, reserve), 56);
        assert_eq!(offset!(selene_report, eligible), 64);
        assert_eq!(offset!(selene_report, did_not_fit), 72);
        assert_eq!(offset!(selene_report, new_data), 80);
        assert_eq!(offset!(selene_report, no_data), 88);
        assert_eq!(offset!(selene_report, failed), 96);
        assert_eq!(offset!(selene_report, abandoned), 104);
        assert_eq!(offset!(selene_report, expired), 112);
        assert_eq!(offset!(selene_report, stopped), 120);
        assert_eq!(offset!(selene_report, run_count), 128);
        assert_eq!(offset!(selene_report, runs), 136);
        assert_eq!(offset!(selene_report, paces), 144);
        assert_eq!((size_of::<selene_plan_run>(), align_of::<selene_plan_run>()), (40, 8));
        assert_eq!(offset!(selene_plan_run, id), 0);
        assert_eq!(offset!(selene_plan_run, score), 16);
        assert_eq!(offset!(selene_plan_run, estimate), 24);
        assert_eq!(offset!(selene_plan_run, starts_at), 32);
        assert_eq!((size_of::<selene_plan>(), align_of::<selene_plan>()), (32, 8));
        assert_eq!(offset!(selene_plan, struct_size), 0);
        assert_eq!(offset!(selene_plan, flags), 4);
        assert_eq!(offset!(selene_plan, eligible), 8);
        assert_eq!(offset!(selene_plan, run_count), 16);
        assert_eq!(offset!(selene_plan, runs), 24);
        assert_eq!((size_of::<selene_run_info>(), align_of::<selene_run_info>()), (168, 8));
        assert_eq!(offset!(selene_run_info, struct_size), 0);
        assert_eq!(offset!(selene_run_info, flags), 4);
        assert_eq!(offset!(selene_run_info, run), 8);
        assert_eq!(offset!(selene_run_info, cycle), 16);
        assert_eq!(offset!(selene_run_info, id), 24);
        assert_eq!(offset!(selene_run_info, handler), 40);
        assert_eq!(offset!(selene_run_info, input), 56);
        assert_eq!(offset!(selene_run_info, kind), 72);
        assert_eq!(offset!(selene_run_info, priority), 76);
        assert_eq!(offset!(selene_run_info, attempt), 80);
        assert_eq!(offset!(selene_run_info, generation), 84);
        assert_eq!(offset!(selene_run_info, score), 88);
        assert_eq!(offset!(selene_run_info, estimate), 96);
        assert_eq!(offset!(selene_run_info, started_at), 104);
        assert_eq!(offset!(selene_run_info, expires_at), 112);
        assert_eq!(offset!(selene_run_info, deadline), 120);
        assert_eq!(offset!(selene_run_info, progress_at), 128);
        assert_eq!(offset!(selene_run_info, progress_done), 136);
        assert_eq!(offset!(selene_run_info, progress_total), 144);
        assert_eq!(offset!(selene_run_info, progress_text), 152);
        assert_eq!((size_of::<selene_event>(), align_of::<selene_event>()), (152, 8));
        assert_eq!(offset!(selene_event, struct_size), 0);
        assert_eq!(offset!(selene_event, flags), 4);
        assert_eq!(offset!(selene_event, number), 8);
        assert_eq!(offset!(selene_event, type_), 16);
        assert_eq!(offset!(selene_event, state), 20);
        assert_eq!(offset!(selene_event, time), 24);
        assert_eq!(offset!(selene_event, id), 32);
        assert_eq!(offset!(selene_event, run), 48);
        assert_eq!(offset!(selene_event, cycle), 56);
        assert_eq!(offset!(selene_event, detail), 64);
        assert_eq!(offset!(selene_event, attempts), 68);
        assert_eq!(offset!(selene_event, time_at), 72);
        assert_eq!(offset!(selene_event, kinds), 80);
        assert_eq!(offset!(selene_event, status), 84);
        assert_eq!(offset!(selene_event, message), 88);
        assert_eq!(offset!(selene_event, fresh_since), 104);
        assert_eq!(offset!(selene_event, cost), 112);
        assert_eq!(offset!(selene_event, known_runs), 120);
        assert_eq!(offset!(selene_event, news_runs), 124);
        assert_eq!(offset!(selene_event, pace), 128);
        assert_eq!(offset!(selene_event, pace_class), 132);
        assert_eq!(offset!(selene_event, progress_done), 136);
        assert_eq!(offset!(selene_event, progress_total), 144);
        assert_eq!((size_of::<selene_store_info>(), align_of::<selene_store_info>()), (96, 8));
        assert_eq!(offset!(selene_store_info, struct_size), 0);
        assert_eq!(offset!(selene_store_info, flags), 4);
        assert_eq!(offset!(selene_store_info, path), 8);
        assert_eq!(offset!(selene_store_info, sqlite_version), 24);
        assert_eq!(offset!(selene_store_info, relaxed), 40);
        assert_eq!(offset!(selene_store_info, schema_version), 44);
        assert_eq!(offset!(selene_store_info, page_size), 48);
        assert_eq!(offset!(selene_store_info, pages), 56);
        assert_eq!(offset!(selene_store_info, wal_size), 64);
        assert_eq!(offset!(selene_store_info, commits), 72);
        assert_eq!(offset!(selene_store_info, owner), 80);
        assert_eq!((size_of::<selene_store_findings>(), align_of::<selene_store_findings>()), (32, 8));
        assert_eq!(offset!(selene_store_findings, struct_size), 0);
        assert_eq!(offset!(selene_store_findings, flags), 4);
        assert_eq!(offset!(selene_store_findings, schema_version), 8);
        assert_eq!(offset!(selene_store_findings, tasks), 16);
        assert_eq!(offset!(selene_store_findings, damaged), 24);
        assert_eq!((size_of::<selene_peer_rule>(), align_of::<selene_peer_rule>()), (16, 4));
        assert_eq!(offset!(selene_peer_rule, uid), 0);
        assert_eq!(offset!(selene_peer_rule, gid), 4);
        assert_eq!(offset!(selene_peer_rule, rights), 8);
        assert_eq!(offset!(selene_peer_rule, reserved), 12);
        assert_eq!((size_of::<selene_server_options>(), align_of::<selene_server_options>()), (80, 8));
        assert_eq!(offset!(selene_server_options, struct_size), 0);
        assert_eq!(offset!(selene_server_options, flags), 4);
        assert_eq!(offset!(selene_server_options, path), 8);
        assert_eq!(offset!(selene_server_options, rules), 24);
        assert_eq!(offset!(selene_server_options, rule_count), 32);
        assert_eq!(offset!(selene_server_options, mode), 40);
        assert_eq!(offset!(selene_server_options, max_clients), 44);
        assert_eq!(offset!(selene_server_options, max_request_size), 48);
        assert_eq!(offset!(selene_server_options, descriptor), 56);
        assert_eq!(offset!(selene_server_options, reserved), 60);
        assert_eq!(offset!(selene_server_options, adopt), 64);
        assert_eq!(offset!(selene_server_options, patience), 72);
        assert_eq!((size_of::<selene_server_info>(), align_of::<selene_server_info>()), (48, 8));
        assert_eq!(offset!(selene_server_info, struct_size), 0);
        assert_eq!(offset!(selene_server_info, flags), 4);
        assert_eq!(offset!(selene_server_info, clients), 8);
        assert_eq!(offset!(selene_server_info, accepted), 16);
        assert_eq!(offset!(selene_server_info, requests), 24);
        assert_eq!(offset!(selene_server_info, refused), 32);
        assert_eq!(offset!(selene_server_info, broken), 40);
        assert_eq!((size_of::<selene_connect_options>(), align_of::<selene_connect_options>()), (64, 8));
        assert_eq!(offset!(selene_connect_options, struct_size), 0);
        assert_eq!(offset!(selene_connect_options, flags), 4);
        assert_eq!(offset!(selene_connect_options, path), 8);
        assert_eq!(offset!(selene_connect_options, wait), 24);
        assert_eq!(offset!(selene_connect_options, timeout), 32);
        assert_eq!(offset!(selene_connect_options, pool), 40);
        assert_eq!(offset!(selene_connect_options, server_user), 56);
        assert_eq!((size_of::<selene_client>(), align_of::<selene_client>()), (72, 8));
        assert_eq!(offset!(selene_client, pool), 0);
        assert_eq!(offset!(selene_client, command), 16);
        assert_eq!(offset!(selene_client, process), 32);
        assert_eq!(offset!(selene_client, user), 36);
        assert_eq!(offset!(selene_client, rights), 40);
        assert_eq!(offset!(selene_client, version), 44);
        assert_eq!(offset!(selene_client, handlers), 48);
        assert_eq!(offset!(selene_client, runs), 56);
        assert_eq!(offset!(selene_client, requests), 64);
        assert_eq!((size_of::<selene_clients>(), align_of::<selene_clients>()), (24, 8));
        assert_eq!(offset!(selene_clients, struct_size), 0);
        assert_eq!(offset!(selene_clients, flags), 4);
        assert_eq!(offset!(selene_clients, clients), 8);
        assert_eq!(offset!(selene_clients, count), 16);
        assert_eq!((size_of::<selene_signal>(), align_of::<selene_signal>()), (48, 8));
        assert_eq!(offset!(selene_signal, struct_size), 0);
        assert_eq!(offset!(selene_signal, flags), 4);
        assert_eq!(offset!(selene_signal, value), 8);
        assert_eq!(offset!(selene_signal, source), 16);
        assert_eq!(offset!(selene_signal, reserved), 20);
        assert_eq!(offset!(selene_signal, set_at), 24);
        assert_eq!(offset!(selene_signal, since), 32);
        assert_eq!(offset!(selene_signal, until), 40);
        assert_eq!((size_of::<selene_rule>(), align_of::<selene_rule>()), (32, 8));
        assert_eq!(offset!(selene_rule, factor), 0);
        assert_eq!(offset!(selene_rule, kinds), 4);
        assert_eq!(offset!(selene_rule, mode), 8);
        assert_eq!(offset!(selene_rule, flags), 12);
        assert_eq!(offset!(selene_rule, weight), 16);
        assert_eq!(offset!(selene_rule, required), 24);
        assert_eq!((size_of::<selene_quota>(), align_of::<selene_quota>()), (24, 8));
        assert_eq!(offset!(selene_quota, kinds), 0);
        assert_eq!(offset!(selene_quota, measure), 4);
        assert_eq!(offset!(selene_quota, limit), 8);
        assert_eq!(offset!(selene_quota, period), 16);
        assert_eq!((size_of::<selene_profile>(), align_of::<selene_profile>()), (48, 8));
        assert_eq!(offset!(selene_profile, struct_size), 0);
        assert_eq!(offset!(selene_profile, flags), 4);
        assert_eq!(offset!(selene_profile, base), 8);
        assert_eq!(offset!(selene_profile, threshold), 12);
        assert_eq!(offset!(selene_profile, rules), 16);
        assert_eq!(offset!(selene_profile, rule_count), 24);
        assert_eq!(offset!(selene_profile, quotas), 32);
        assert_eq!(offset!(selene_profile, quota_count), 40);
        assert_eq!((size_of::<selene_finding>(), align_of::<selene_finding>()), (56, 8));
        assert_eq!(offset!(selene_finding, factor), 0);
        assert_eq!(offset!(selene_finding, verdict), 4);
        assert_eq!(offset!(selene_finding, source), 8);
        assert_eq!(offset!(selene_finding, flags), 12);
        assert_eq!(offset!(selene_finding, observed), 16);
        assert_eq!(offset!(selene_finding, required), 24);
        assert_eq!(offset!(selene_finding, score), 32);
        assert_eq!(offset!(selene_finding, weight), 40);
        assert_eq!(offset!(selene_finding, clears_at), 48);
        assert_eq!((size_of::<selene_decision>(), align_of::<selene_decision>()), (72, 8));
        assert_eq!(offset!(selene_decision, struct_size), 0);
        assert_eq!(offset!(selene_decision, flags), 4);
        assert_eq!(offset!(selene_decision, kind), 8);
        assert_eq!(offset!(selene_decision, granted), 12);
        assert_eq!(offset!(selene_decision, at), 16);
        assert_eq!(offset!(selene_decision, score), 24);
        assert_eq!(offset!(selene_decision, threshold), 32);
        assert_eq!(offset!(selene_decision, longest_window), 40);
        assert_eq!(offset!(selene_decision, ask_again_at), 48);
        assert_eq!(offset!(selene_decision, finding_count), 56);
        assert_eq!(offset!(selene_decision, findings), 64);
        assert_eq!((size_of::<selene_balance>(), align_of::<selene_balance>()), (40, 8));
        assert_eq!(offset!(selene_balance, struct_size), 0);
        assert_eq!(offset!(selene_balance, flags), 4);
        assert_eq!(offset!(selene_balance, is_spent), 8);
        assert_eq!(offset!(selene_balance, used), 12);
        assert_eq!(offset!(selene_balance, free), 16);
        assert_eq!(offset!(selene_balance, free_at), 24);
        assert_eq!(offset!(selene_balance, last_begin), 32);
        assert_eq!((size_of::<selene_forecast>(), align_of::<selene_forecast>()), (24, 8));
        assert_eq!(offset!(selene_forecast, begins_at), 0);
        assert_eq!(offset!(selene_forecast, ends_at), 8);
        assert_eq!(offset!(selene_forecast, probability), 16);
        assert_eq!((size_of::<selene_driver>(), align_of::<selene_driver>()), (56, 8));
        assert_eq!(offset!(selene_driver, struct_size), 0);
        assert_eq!(offset!(selene_driver, flags), 4);
        assert_eq!(offset!(selene_driver, refresh_budget), 8);
        assert_eq!(offset!(selene_driver, processing_budget), 16);
        assert_eq!(offset!(selene_driver, refresh_lanes), 24);
        assert_eq!(offset!(selene_driver, processing_lanes), 28);
        assert_eq!(offset!(selene_driver, kinds), 32);
        assert_eq!(offset!(selene_driver, reserved), 36);
        assert_eq!(offset!(selene_driver, reserve), 40);
        assert_eq!(offset!(selene_driver, every), 48);
        assert_eq!((size_of::<selene_value>(), align_of::<selene_value>()), (32, 8));
        assert_eq!(offset!(selene_value, type_), 0);
        assert_eq!(offset!(selene_value, reserved), 4);
        assert_eq!(offset!(selene_value, integer), 8);
        assert_eq!(offset!(selene_value, data), 16);
        assert_eq!(offset!(selene_value, length), 24);
        assert_eq!((size_of::<selene_node_request>(), align_of::<selene_node_request>()), (56, 8));
        assert_eq!(offset!(selene_node_request, struct_size), 0);
        assert_eq!(offset!(selene_node_request, flags), 4);
        assert_eq!(offset!(selene_node_request, number), 8);
        assert_eq!(offset!(selene_node_request, sql), 16);
        assert_eq!(offset!(selene_node_request, values), 32);
        assert_eq!(offset!(selene_node_request, value_count), 40);
        assert_eq!(offset!(selene_node_request, timeout), 48);
        assert_eq!((size_of::<selene_node_options>(), align_of::<selene_node_options>()), (96, 8));
        assert_eq!(offset!(selene_node_options, struct_size), 0);
        assert_eq!(offset!(selene_node_options, flags), 4);
        assert_eq!(offset!(selene_node_options, schema), 8);
        assert_eq!(offset!(selene_node_options, name), 24);
        assert_eq!(offset!(selene_node_options, queues), 40);
        assert_eq!(offset!(selene_node_options, queue_count), 48);
        assert_eq!(offset!(selene_node_options, labels), 56);
        assert_eq!(offset!(selene_node_options, label_count), 64);
        assert_eq!(offset!(selene_node_options, lease), 72);
        assert_eq!(offset!(selene_node_options, horizon), 80);
        assert_eq!(offset!(selene_node_options, poll), 88);
        assert_eq!((size_of::<selene_node_info>(), align_of::<selene_node_info>()), (56, 8));
        assert_eq!(offset!(selene_node_info, struct_size), 0);
        assert_eq!(offset!(selene_node_info, flags), 4);
        assert_eq!(offset!(selene_node_info, state), 8);
        assert_eq!(offset!(selene_node_info, reserved), 12);
        assert_eq!(offset!(selene_node_info, worker), 16);
        assert_eq!(offset!(selene_node_info, believes_until), 24);
        assert_eq!(offset!(selene_node_info, working), 32);
        assert_eq!(offset!(selene_node_info, ready), 40);
        assert_eq!(offset!(selene_node_info, undecided), 48);
    }
}
