"""The C interface as it is, generated from selene.h by tools/generate.py; not for use by hosts."""

# ruff: noqa: N801
from __future__ import annotations

from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, NamedTuple

SELENE_VERSION_MAJOR = 0
SELENE_VERSION_MINOR = 2
SELENE_VERSION_PATCH = 0
SELENE_VERSION_NUMBER = 2000
SELENE_VERSION_STRING = "0.2.0"
SELENE_MICROSECOND = 1000
SELENE_MILLISECOND = 1000000
SELENE_SECOND = 1000000000
SELENE_MINUTE = 60000000000
SELENE_HOUR = 3600000000000
SELENE_DAY = 86400000000000
SELENE_NEVER = 9223372036854775807
SELENE_NONE = -1
SELENE_UNLIMITED = 4294967295
SELENE_RESPONSE_TIMES = 30
SELENE_REASONS = 16
SELENE_EVENTS = 65536
SELENE_ANYBODY = 4294967295
SELENE_REQUIRED_USUAL = -9223372036854775808

SELENE_OK = 0
SELENE_ERROR_UNAVAILABLE = 1
SELENE_ERROR_TOO_MANY_PENDING = 2
SELENE_ERROR_NOT_PERMITTED = 3
SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE = 4
SELENE_ERROR_OUT_OF_QUOTA = 5
SELENE_ERROR_INVALID_ARGUMENT = 16
SELENE_ERROR_INVALID_HANDLE = 17
SELENE_ERROR_UNSUPPORTED_STRUCT = 18
SELENE_ERROR_UNSUPPORTED = 19
SELENE_ERROR_TOO_LARGE = 20
SELENE_ERROR_NOT_FOUND = 21
SELENE_ERROR_ALREADY_EXISTS = 22
SELENE_ERROR_ALREADY_COMPLETED = 23
SELENE_ERROR_STALE_RUN = 24
SELENE_ERROR_BUSY = 25
SELENE_ERROR_TOO_SOON = 26
SELENE_ERROR_REENTRANT = 27
SELENE_ERROR_FORKED = 28
SELENE_ERROR_EXHAUSTED = 29
SELENE_ERROR_INTERNAL = 30
SELENE_ERROR_STORE_CANNOT_OPEN = 48
SELENE_ERROR_STORE_LOCKED = 49
SELENE_ERROR_STORE_CORRUPT = 50
SELENE_ERROR_STORE_FOREIGN = 51
SELENE_ERROR_STORE_NEWER = 52
SELENE_ERROR_STORE_FULL = 53
SELENE_ERROR_STORE_IO = 54
SELENE_ERROR_OUTCOME_UNKNOWN = 55
SELENE_ERROR_STORE_MOVED = 56
SELENE_ERROR_OWNER_AWAY = 57
SELENE_ERROR_REFUSED = 58
SELENE_NAMES_STATUS = 1
SELENE_NAMES_KIND = 2
SELENE_NAMES_SCHEDULE = 3
SELENE_NAMES_PRIORITY = 4
SELENE_NAMES_EXISTING = 5
SELENE_NAMES_RECURRENCE = 6
SELENE_NAMES_BACKOFF = 7
SELENE_NAMES_CONSTRAINT = 8
SELENE_NAMES_STATE = 9
SELENE_NAMES_DISPOSITION = 10
SELENE_NAMES_OUTCOME = 11
SELENE_NAMES_STOP = 12
SELENE_NAMES_REASON = 13
SELENE_NAMES_EVENT = 14
SELENE_NAMES_TROUBLE = 15
SELENE_NAMES_PROFILE = 16
SELENE_NAMES_SIGNAL = 17
SELENE_NAMES_SOURCE = 18
SELENE_NAMES_FACTOR = 19
SELENE_NAMES_VERDICT = 20
SELENE_NAMES_MEASURE = 21
SELENE_UNIT_NONE = 0
SELENE_UNIT_NUMBER = 1
SELENE_UNIT_DURATION = 2
SELENE_UNIT_INSTANT = 3
SELENE_UNIT_BYTES = 4
SELENE_UNIT_BITS = 5
SELENE_FAULT_IN_DOUBT = 1
SELENE_OPTIONS_HOLD = 1
SELENE_OPTIONS_OBSERVED_RANGE = 2
SELENE_OPTIONS_RELAXED = 4
SELENE_OPTIONS_FRESHNESS = 8
SELENE_OPTIONS_NO_THREADS = 16
SELENE_OPTIONS_SET_CLOCK = 32
SELENE_THREADS_AS_HOST = 0
SELENE_THREADS_BACKGROUND = 1
SELENE_KIND_REFRESH = 1
SELENE_KIND_PROCESSING = 2
SELENE_TROUBLE_STORE = 1
SELENE_TROUBLE_THREAD = 2
SELENE_TROUBLE_OVERRUN = 4
SELENE_TROUBLE_OBSERVER = 8
SELENE_TROUBLE_HANDLER = 16
SELENE_TROUBLE_CLOCK = 32
SELENE_TROUBLE_FLEET = 64
SELENE_TROUBLE_FLEET_CLOCK = 128
SELENE_ADVANCE_HANDLERS = 1
SELENE_ADVANCE_ONCE = 2
SELENE_ADVANCE_RUNS = 4
SELENE_SCHEDULE_DEFAULT = 0
SELENE_SCHEDULE_ONCE = 1
SELENE_SCHEDULE_PERIODIC = 2
SELENE_SCHEDULE_STANDING = 3
SELENE_PRIORITY_VERY_LOW = 1
SELENE_PRIORITY_LOW = 2
SELENE_PRIORITY_NORMAL = 3
SELENE_PRIORITY_HIGH = 4
SELENE_PRIORITY_VERY_HIGH = 5
SELENE_CONSTRAINT_NETWORK = 1
SELENE_CONSTRAINT_EXTERNAL_POWER = 2
SELENE_CONSTRAINT_UNMETERED = 4
SELENE_CONSTRAINT_BATTERY_NOT_LOW = 8
SELENE_CONSTRAINT_IDLE = 16
SELENE_CONSTRAINT_STORAGE_NOT_LOW = 32
SELENE_CONSTRAINT_DISPLAY_OFF = 64
SELENE_CONSTRAINT_NOT_ROAMING = 128
SELENE_EXISTING_DEFAULT = 0
SELENE_EXISTING_KEEP = 1
SELENE_EXISTING_REPLACE = 2
SELENE_EXISTING_UPDATE = 3
SELENE_EXISTING_APPEND = 4
SELENE_EXISTING_APPEND_OR_REPLACE = 5
SELENE_EXISTING_SKIP = 6
SELENE_RECURRENCE_AFTER_COMPLETION = 0
SELENE_RECURRENCE_ANCHORED = 1
SELENE_RECURRENCE_CALENDAR = 2
SELENE_BACKOFF_DEFAULT = 0
SELENE_BACKOFF_NONE = 1
SELENE_BACKOFF_LINEAR = 2
SELENE_BACKOFF_EXPONENTIAL = 3
SELENE_DISPOSITION_ADDED = 0
SELENE_DISPOSITION_REPLACED = 1
SELENE_DISPOSITION_UPDATED = 2
SELENE_DISPOSITION_KEPT = 3
SELENE_DISPOSITION_APPENDED = 4
SELENE_DISPOSITION_HELD = 5
SELENE_STATE_ENQUEUED = 0
SELENE_STATE_HELD = 1
SELENE_STATE_BLOCKED = 2
SELENE_STATE_RUNNING = 3
SELENE_STATE_SUCCEEDED = 4
SELENE_STATE_FAILED = 5
SELENE_STATE_CANCELLED = 6
SELENE_TASK_STEADY = 1
SELENE_TASK_AFTER_ANY_END = 2
SELENE_TASK_EXPEDITED = 4
SELENE_TASK_REFUSE_OUT_OF_QUOTA = 8
SELENE_SUSPICION_QUARANTINED = 1
SELENE_SUSPICION_BLAMED = 2
SELENE_RETRY_SUCCESSORS = 1
SELENE_REASON_NOT_DUE = 1
SELENE_REASON_CONSTRAINTS = 2
SELENE_REASON_NO_HANDLER = 3
SELENE_REASON_HELD = 4
SELENE_REASON_BLOCKED = 5
SELENE_REASON_RUNNING = 6
SELENE_REASON_KIND_OFF = 7
SELENE_REASON_DID_NOT_FIT = 8
SELENE_REASON_STILL_RUNNING = 9
SELENE_REASON_TERMINAL = 10
SELENE_REASON_NOT_PERMITTED = 11
SELENE_REASON_HAD_ITS_RUN = 12
SELENE_REASON_TOO_SOON = 13
SELENE_REASON_NEXT_CYCLE = 14
SELENE_REASON_INTERRUPTED = 15
SELENE_REASON_GOVERNOR = 16
SELENE_REASON_STORE_REFUSES = 17
SELENE_REASON_NO_THREAD = 18
SELENE_REASON_HANDLER_STUCK = 19
SELENE_REASON_DRAINED = 20
SELENE_REASON_CLOCK = 21
SELENE_REASON_PAUSED = 22
SELENE_REASON_GROUP_PAUSED = 23
SELENE_REASON_GROUP_FULL = 24
SELENE_REASON_OUT_OF_QUOTA = 25
SELENE_REASON_CONDITIONS = 26
SELENE_REASON_FLEET_AWAY = 27
SELENE_REASON_KIND_PAUSED = 28
SELENE_REASON_QUARANTINED = 29
SELENE_REASON_BACKING_OFF = 64
SELENE_REASON_NO_WINDOW = 65
SELENE_REASON_WINDOW_OPEN = 66
SELENE_REASON_PREFERRED_OTHERS = 67
SELENE_REASON_NO_PROCESS = 68
SELENE_REASON_NOT_KNOWN = 69
SELENE_REASON_EARLIER = 70
SELENE_WINDOW_STRICT_FIT = 1
SELENE_WINDOW_INLINE = 2
SELENE_WINDOW_FROZEN = 4
SELENE_WINDOW_LANES = 8
SELENE_OUTCOME_NONE = -1
SELENE_OUTCOME_NEW_DATA = 0
SELENE_OUTCOME_NO_DATA = 1
SELENE_OUTCOME_FAILED = 2
SELENE_OUTCOME_ABANDONED = 3
SELENE_OUTCOME_EXPIRED = 4
SELENE_OUTCOME_STOPPED = 5
SELENE_STOP_NONE = 0
SELENE_STOP_EXPIRING = 1
SELENE_STOP_PREEMPTED = 2
SELENE_STOP_CONSTRAINT_LOST = 3
SELENE_STOP_REPLACED = 4
SELENE_STOP_CANCELLED = 5
SELENE_STOP_SHUTDOWN = 6
SELENE_STOP_INTERRUPTED = 7
SELENE_STOP_TIMED_OUT = 8
SELENE_STOP_STALLED = 9
SELENE_STOP_TOO_LATE = 10
SELENE_STOP_LEASE_LOST = 11
SELENE_REPORT_NOT_STORED = 1
SELENE_STEP_RUN = 0
SELENE_STEP_WAIT = 1
SELENE_STEP_DONE = 2
SELENE_CONDITION_UNDEFINED = 0
SELENE_CONDITION_UNSATISFIED = 1
SELENE_CONDITION_SATISFIED = 2
SELENE_EVENT_REGISTERED = 1
SELENE_EVENT_STARTED = 2
SELENE_EVENT_STOPPED = 3
SELENE_EVENT_COMPLETED = 4
SELENE_EVENT_RETRY = 5
SELENE_EVENT_HELD = 6
SELENE_EVENT_PROMOTED = 7
SELENE_EVENT_CANCELLED = 8
SELENE_EVENT_CYCLE_BEGUN = 9
SELENE_EVENT_CYCLE_ENDED = 10
SELENE_EVENT_UNBLOCKED = 11
SELENE_EVENT_RELEASED = 12
SELENE_EVENT_INTERRUPTED = 13
SELENE_EVENT_CLOCK_MOVED = 14
SELENE_EVENT_REFUSED = 15
SELENE_EVENT_GRANTED = 16
SELENE_EVENT_TRACE_ENDED = 17
SELENE_EVENT_TROUBLE = 18
SELENE_EVENT_PAUSED = 19
SELENE_EVENT_RESUMED = 20
SELENE_EVENT_PROGRESS = 21
SELENE_EVENT_CONDITION_MET = 22
SELENE_EVENT_CONDITION_LOST = 23
SELENE_EVENT_QUOTA_USED_UP = 24
SELENE_EVENT_QUOTA_LEFT = 25
SELENE_EVENT_OUTPUT_LOST = 26
SELENE_LOG_ERROR = 1
SELENE_LOG_WARNING = 2
SELENE_LOG_INFO = 3
SELENE_RIGHT_LOOK = 1
SELENE_RIGHT_READ = 2
SELENE_RIGHT_ENQUEUE = 4
SELENE_RIGHT_WORK = 8
SELENE_RIGHT_MANAGE = 16
SELENE_RIGHT_ALL = 31
SELENE_SERVER_DESCRIPTOR = 1
SELENE_SERVER_USER_SAME = 0
SELENE_SERVER_USER_ANY = -1
SELENE_SIGNAL_BATTERY_LEVEL = 1
SELENE_SIGNAL_EXTERNAL_POWER = 2
SELENE_SIGNAL_LOW_POWER_MODE = 3
SELENE_SIGNAL_THERMAL = 4
SELENE_SIGNAL_USER_ACTIVE = 5
SELENE_SIGNAL_DISPLAY_ON = 6
SELENE_SIGNAL_UNLOCKED = 7
SELENE_SIGNAL_NETWORK = 8
SELENE_SIGNAL_METERED = 9
SELENE_SIGNAL_AIRPLANE = 10
SELENE_SIGNAL_BACKGROUND_SWITCH = 11
SELENE_SIGNAL_HOST_PRESENCE = 12
SELENE_SIGNAL_CPU_BUSY = 13
SELENE_SIGNAL_CPU_PRESSURE = 14
SELENE_SIGNAL_MEMORY_PRESSURE = 15
SELENE_SIGNAL_MEMORY_STALLED = 16
SELENE_SIGNAL_IO_PRESSURE = 17
SELENE_SIGNAL_IO_STALLED = 18
SELENE_SIGNAL_STORAGE_FREE = 19
SELENE_SIGNAL_DISCHARGING = 20
SELENE_SIGNAL_UTC_OFFSET = 21
SELENE_SIGNAL_ROAMING = 22
SELENE_PRESENCE_BACKGROUND = 0
SELENE_PRESENCE_FOREGROUND = 1
SELENE_PRESENCE_QUIT = 2
SELENE_SOURCE_UNKNOWN = 0
SELENE_SOURCE_PROBE = 1
SELENE_SOURCE_HOST = 2
SELENE_SOURCE_TRACE = 3
SELENE_SOURCE_BOOKS = 4
SELENE_FACTOR_BATTERY = 1
SELENE_FACTOR_EXTERNAL_POWER = 2
SELENE_FACTOR_LOW_POWER_MODE = 3
SELENE_FACTOR_THERMAL = 4
SELENE_FACTOR_USER_ACTIVE = 5
SELENE_FACTOR_DISPLAY_ON = 6
SELENE_FACTOR_UNLOCKED = 7
SELENE_FACTOR_NETWORK = 8
SELENE_FACTOR_METERED = 9
SELENE_FACTOR_AIRPLANE = 10
SELENE_FACTOR_BACKGROUND_SWITCH = 11
SELENE_FACTOR_HOST_PRESENCE = 12
SELENE_FACTOR_CPU_BUSY = 13
SELENE_FACTOR_CPU_PRESSURE = 14
SELENE_FACTOR_MEMORY_PRESSURE = 15
SELENE_FACTOR_MEMORY_STALLED = 16
SELENE_FACTOR_IO_PRESSURE = 17
SELENE_FACTOR_IO_STALLED = 18
SELENE_FACTOR_STORAGE_FREE = 19
SELENE_FACTOR_BUDGET = 20
SELENE_FACTOR_RATE = 21
SELENE_FACTOR_USE_PREDICTION = 22
SELENE_FACTOR_RECENT_USE = 23
SELENE_RULE_IGNORE = 0
SELENE_RULE_VETO = 1
SELENE_RULE_WEIGHT = 2
SELENE_RULE_PREEMPTS = 1
SELENE_MEASURE_WINDOW_TIME = 1
SELENE_MEASURE_CPU_TIME = 2
SELENE_MEASURE_WINDOWS = 3
SELENE_MEASURE_BYTES = 4
SELENE_PROFILE_OPEN = 0
SELENE_PROFILE_APPLE = 1
SELENE_PROFILE_SERVER = 2
SELENE_PROFILE_STRICT = 3
SELENE_VERDICT_PASSED = 1
SELENE_VERDICT_VETOED = 2
SELENE_VERDICT_WEIGHED = 3
SELENE_ASK_NEVER_RAN = 1
SELENE_DRIVER_LANES = 1
SELENE_DRIVER_STRICT_FIT = 2
SELENE_DRIVER_TOGETHER = 4
SELENE_DRIVER_FROZEN = 8
SELENE_DRIVER_UNGOVERNED = 16
SELENE_VALUE_NULL = 0
SELENE_VALUE_INTEGER = 1
SELENE_VALUE_BOOLEAN = 2
SELENE_VALUE_TEXT = 3
SELENE_VALUE_BYTES = 4
SELENE_VALUE_ARRAY = 5
SELENE_NODE_OPTION_RELAXED = 1
SELENE_NODE_JOINING = 0
SELENE_NODE_WORKING = 1
SELENE_NODE_LEAVING = 2
SELENE_NODE_CLOSED = 3


selene_destroy_fn = CFUNCTYPE(None, c_void_p)
selene_clock_fn = CFUNCTYPE(c_int64, c_void_p)
selene_thread_fn = CFUNCTYPE(None, c_void_p)
selene_run_fn = CFUNCTYPE(None, c_uint64, c_void_p, c_void_p)
selene_stop_fn = CFUNCTYPE(None, c_uint64, c_int32, c_void_p)
selene_report_fn = CFUNCTYPE(None, c_void_p, c_void_p)
selene_event_fn = CFUNCTYPE(None, c_void_p, c_void_p)
selene_log_fn = CFUNCTYPE(None, c_int32, c_void_p, c_void_p)


class selene_text(Structure):
    __slots__ = ()
    _fields_ = (
        ("data", c_char_p),
        ("length", c_int64),
    )


class selene_error(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("status", c_int32),
        ("unit", c_int32),
        ("message", selene_text),
        ("field", selene_text),
        ("subject", selene_text),
        ("found", selene_text),
        ("allowed", selene_text),
        ("problem", selene_text),
        ("value", c_int64),
        ("least", c_int64),
        ("greatest", c_int64),
    )


class selene_options(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("permitted", POINTER(selene_text)),
        ("permitted_count", c_uint64),
        ("max_pending_refresh", c_int64),
        ("max_pending_processing", c_int64),
        ("minimum_backoff", c_int64),
        ("maximum_backoff", c_int64),
        ("minimum_interval_refresh", c_int64),
        ("minimum_interval_processing", c_int64),
        ("release_after", c_int64),
        ("backoff_jitter", c_uint32),
        ("max_overrun_threads", c_int32),
        ("seed", c_uint64),
        ("max_input_size", c_int64),
        ("clock", selene_clock_fn),
        ("clock_context", c_void_p),
        ("clock_destroy", selene_destroy_fn),
        ("path", selene_text),
        ("blocked_signals", POINTER(c_int32)),
        ("blocked_signal_count", c_uint64),
        ("owner", selene_text),
        ("stop_grace", c_int64),
        ("max_overrun_per_handler", c_uint32),
        ("thread_quality", c_int32),
        ("thread_begin", selene_thread_fn),
        ("thread_end", selene_thread_fn),
        ("thread_context", c_void_p),
        ("thread_destroy", selene_destroy_fn),
        ("clock_start", c_int64),
        ("expedited_quota", c_int64),
        ("thread_stack_size", c_uint64),
        ("wait_log_entries", c_uint64),
        ("max_output_size", c_int64),
        ("crash_pause", c_int64),
    )


class selene_scheduler_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("kinds", c_uint32),
        ("overrun_threads", c_uint32),
        ("enqueued", c_uint64),
        ("held", c_uint64),
        ("blocked", c_uint64),
        ("running", c_uint64),
        ("succeeded", c_uint64),
        ("failed", c_uint64),
        ("cancelled", c_uint64),
        ("dispatched", c_uint64),
        ("life", c_uint64),
        ("troubles", c_uint32),
        ("stuck_handlers", c_uint32),
        ("expedited_left", c_int64),
        ("expedited_free_at", c_int64),
    )


class selene_pause(Structure):
    __slots__ = ()
    _fields_ = (
        ("pool", selene_text),
        ("kinds", c_uint32),
        ("reserved", c_uint32),
        ("until", c_int64),
    )


class selene_pauses(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("pauses", POINTER(selene_pause)),
        ("count", c_uint64),
    )


class selene_task(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("id", selene_text),
        ("handler", selene_text),
        ("kind", c_int32),
        ("schedule", c_int32),
        ("priority", c_int32),
        ("existing", c_int32),
        ("recurrence", c_int32),
        ("backoff", c_int32),
        ("response_window", c_int32),
        ("max_attempts", c_uint32),
        ("constraints", c_uint32),
        ("tag_count", c_uint32),
        ("tags", POINTER(selene_text)),
        ("expected_response", c_int64),
        ("initial_delay", c_int64),
        ("period", c_int64),
        ("flex", c_int64),
        ("backoff_delay", c_int64),
        ("input", c_void_p),
        ("input_length", c_int64),
        ("timeout", c_int64),
        ("stall_limit", c_int64),
        ("jitter", c_uint32),
        ("after_count", c_uint32),
        ("group", selene_text),
        ("after", POINTER(selene_text)),
        ("latest_begin", c_int64),
        ("conditions", POINTER(selene_text)),
        ("condition_count", c_uint32),
        ("reserved", c_uint32),
    )


class selene_task_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("id", selene_text),
        ("handler", selene_text),
        ("input", selene_text),
        ("tags", POINTER(selene_text)),
        ("tag_count", c_uint32),
        ("constraints", c_uint32),
        ("kind", c_int32),
        ("schedule", c_int32),
        ("priority", c_int32),
        ("existing", c_int32),
        ("recurrence", c_int32),
        ("backoff", c_int32),
        ("response_window", c_int32),
        ("max_attempts", c_uint32),
        ("has_handler", c_int32),
        ("state", c_int32),
        ("attempts", c_uint32),
        ("last_outcome", c_int32),
        ("stop_reason", c_int32),
        ("generation", c_uint32),
        ("sequence", c_uint64),
        ("appended", c_uint64),
        ("expected_response", c_int64),
        ("initial_delay", c_int64),
        ("period", c_int64),
        ("flex", c_int64),
        ("backoff_delay", c_int64),
        ("registered_at", c_int64),
        ("earliest_begin", c_int64),
        ("anchor", c_int64),
        ("last_run", c_int64),
        ("estimate", c_int64),
        ("run", c_uint64),
        ("response_time_count", c_uint64),
        ("response_times", c_int64 * 30),
        ("failed_at", c_int64),
        ("failed_attempt", c_uint64),
        ("failure", selene_text),
        ("timeout", c_int64),
        ("paused", c_uint32),
        ("jitter", c_uint32),
        ("stall_limit", c_int64),
        ("progress_at", c_int64),
        ("progress_done", c_int64),
        ("progress_total", c_int64),
        ("progress_text", selene_text),
        ("output_length", c_uint64),
        ("group", selene_text),
        ("after_count", c_uint32),
        ("waits_for", c_uint32),
        ("after", POINTER(selene_text)),
        ("latest_begin", c_int64),
        ("conditions", POINTER(selene_text)),
        ("condition_count", c_uint32),
        ("quarantined", c_uint32),
        ("output_lost", c_uint64),
    )


class selene_task_info_row(NamedTuple):
    struct_size: int
    flags: int
    id: int
    id_length: int
    handler: int
    handler_length: int
    input: int
    input_length: int
    tags: int
    tag_count: int
    constraints: int
    kind: int
    schedule: int
    priority: int
    existing: int
    recurrence: int
    backoff: int
    response_window: int
    max_attempts: int
    has_handler: int
    state: int
    attempts: int
    last_outcome: int
    stop_reason: int
    generation: int
    sequence: int
    appended: int
    expected_response: int
    initial_delay: int
    period: int
    flex: int
    backoff_delay: int
    registered_at: int
    earliest_begin: int
    anchor: int
    last_run: int
    estimate: int
    run: int
    response_time_count: int
    failed_at: int
    failed_attempt: int
    failure: int
    failure_length: int
    timeout: int
    paused: int
    jitter: int
    stall_limit: int
    progress_at: int
    progress_done: int
    progress_total: int
    progress_text: int
    progress_text_length: int
    output_length: int
    group: int
    group_length: int
    after_count: int
    waits_for: int
    after: int
    latest_begin: int
    conditions: int
    condition_count: int
    quarantined: int
    output_lost: int


class selene_task_output(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("output", selene_text),
    )


class selene_task_ids(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("count", c_uint64),
        ("ids", POINTER(selene_text)),
    )


class selene_reason(Structure):
    __slots__ = ()
    _fields_ = (
        ("reason", c_int32),
        ("constraints", c_uint32),
        ("may_change_at", c_int64),
    )


class selene_explanation(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("state", c_int32),
        ("reason_count", c_uint32),
        ("reasons", selene_reason * 16),
        ("rank", c_uint64),
        ("eligible", c_uint64),
        ("score", c_double),
        ("estimate", c_int64),
        ("last_room", c_int64),
        ("fresh_since", c_int64),
        ("cost", c_int64),
        ("known_runs", c_uint32),
        ("news_runs", c_uint32),
        ("pace", c_int32),
        ("pace_class", c_int32),
        ("attempts", c_uint32),
        ("urgent", c_uint32),
        ("latest_begin", c_int64),
        ("expedited", c_uint32),
        ("unknown_constraints", c_uint32),
        ("output_lost", c_uint64),
    )


class selene_wait(Structure):
    __slots__ = ()
    _fields_ = (
        ("name", selene_text),
        ("reason", c_int32),
        ("reserved", c_int32),
        ("detail", c_int64),
        ("duration", c_int64),
        ("times", c_uint64),
    )


class selene_wait_change(Structure):
    __slots__ = ()
    _fields_ = (
        ("name", selene_text),
        ("at", c_int64),
        ("detail", c_int64),
        ("reason", c_int32),
        ("reserved", c_int32),
    )


class selene_waits(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("since", c_int64),
        ("until", c_int64),
        ("state", c_int32),
        ("reserved", c_int32),
        ("part_count", c_uint64),
        ("parts", POINTER(selene_wait)),
        ("change_count", c_uint64),
        ("changes", POINTER(selene_wait_change)),
        ("preferred_count", c_uint64),
        ("preferred_id_count", c_uint64),
        ("preferred_ids", POINTER(selene_text)),
    )


class selene_group_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("limit", c_uint32),
        ("paused", c_uint32),
        ("running", c_uint64),
        ("waiting", c_uint64),
    )


class selene_window(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("kinds", c_uint32),
        ("lanes", c_uint32),
        ("budget", c_int64),
        ("reserve", c_int64),
        ("task", selene_text),
    )


class selene_report_run(Structure):
    __slots__ = ()
    _fields_ = (
        ("id", selene_text),
        ("run", c_uint64),
        ("outcome", c_int32),
        ("stop_reason", c_int32),
        ("attempt", c_uint32),
        ("priority", c_int32),
        ("score", c_double),
        ("estimate", c_int64),
        ("started_at", c_int64),
        ("response_time", c_int64),
    )


class selene_pace(Structure):
    __slots__ = ()
    _fields_ = (
        ("fresh_since", c_int64),
        ("cost", c_int64),
        ("known_runs", c_uint32),
        ("news_runs", c_uint32),
        ("pace", c_int32),
        ("pace_class", c_int32),
    )


class selene_report(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("cycle", c_uint64),
        ("result", c_int32),
        ("kinds", c_uint32),
        ("began_at", c_int64),
        ("ended_at", c_int64),
        ("deadline", c_int64),
        ("budget", c_int64),
        ("reserve", c_int64),
        ("eligible", c_uint64),
        ("did_not_fit", c_uint64),
        ("new_data", c_uint64),
        ("no_data", c_uint64),
        ("failed", c_uint64),
        ("abandoned", c_uint64),
        ("expired", c_uint64),
        ("stopped", c_uint64),
        ("run_count", c_uint64),
        ("runs", POINTER(selene_report_run)),
        ("paces", POINTER(selene_pace)),
    )


class selene_plan_run(Structure):
    __slots__ = ()
    _fields_ = (
        ("id", selene_text),
        ("score", c_double),
        ("estimate", c_int64),
        ("starts_at", c_int64),
    )


class selene_plan(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("eligible", c_uint64),
        ("run_count", c_uint64),
        ("runs", POINTER(selene_plan_run)),
    )


class selene_run_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("run", c_uint64),
        ("cycle", c_uint64),
        ("id", selene_text),
        ("handler", selene_text),
        ("input", selene_text),
        ("kind", c_int32),
        ("priority", c_int32),
        ("attempt", c_uint32),
        ("generation", c_uint32),
        ("score", c_double),
        ("estimate", c_int64),
        ("started_at", c_int64),
        ("expires_at", c_int64),
        ("deadline", c_int64),
        ("progress_at", c_int64),
        ("progress_done", c_int64),
        ("progress_total", c_int64),
        ("progress_text", selene_text),
    )


class selene_event(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("number", c_uint64),
        ("type", c_int32),
        ("state", c_int32),
        ("time", c_int64),
        ("id", selene_text),
        ("run", c_uint64),
        ("cycle", c_uint64),
        ("detail", c_int32),
        ("attempts", c_uint32),
        ("time_at", c_int64),
        ("kinds", c_uint32),
        ("status", c_int32),
        ("message", selene_text),
        ("fresh_since", c_int64),
        ("cost", c_int64),
        ("known_runs", c_uint32),
        ("news_runs", c_uint32),
        ("pace", c_int32),
        ("pace_class", c_int32),
        ("progress_done", c_int64),
        ("progress_total", c_int64),
    )


class selene_store_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("path", selene_text),
        ("sqlite_version", selene_text),
        ("relaxed", c_int32),
        ("schema_version", c_int32),
        ("page_size", c_uint64),
        ("pages", c_uint64),
        ("wal_size", c_uint64),
        ("commits", c_uint64),
        ("owner", selene_text),
    )


class selene_store_findings(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("schema_version", c_uint64),
        ("tasks", c_uint64),
        ("damaged", c_uint64),
    )


class selene_peer_rule(Structure):
    __slots__ = ()
    _fields_ = (
        ("uid", c_uint32),
        ("gid", c_uint32),
        ("rights", c_uint32),
        ("reserved", c_uint32),
    )


class selene_server_options(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("path", selene_text),
        ("rules", POINTER(selene_peer_rule)),
        ("rule_count", c_uint64),
        ("mode", c_uint32),
        ("max_clients", c_uint32),
        ("max_request_size", c_uint64),
        ("descriptor", c_int32),
        ("reserved", c_uint32),
        ("adopt", c_int64),
        ("patience", c_int64),
    )


class selene_server_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("clients", c_uint64),
        ("accepted", c_uint64),
        ("requests", c_uint64),
        ("refused", c_uint64),
        ("broken", c_uint64),
    )


class selene_connect_options(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("path", selene_text),
        ("wait", c_int64),
        ("timeout", c_int64),
        ("pool", selene_text),
        ("server_user", c_int64),
    )


class selene_client(Structure):
    __slots__ = ()
    _fields_ = (
        ("pool", selene_text),
        ("command", selene_text),
        ("process", c_uint32),
        ("user", c_uint32),
        ("rights", c_uint32),
        ("version", c_uint32),
        ("handlers", c_uint64),
        ("runs", c_uint64),
        ("requests", c_uint64),
    )


class selene_clients(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("clients", POINTER(selene_client)),
        ("count", c_uint64),
    )


class selene_signal(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("value", c_int64),
        ("source", c_int32),
        ("reserved", c_int32),
        ("set_at", c_int64),
        ("since", c_int64),
        ("until", c_int64),
    )


class selene_rule(Structure):
    __slots__ = ()
    _fields_ = (
        ("factor", c_int32),
        ("kinds", c_uint32),
        ("mode", c_int32),
        ("flags", c_uint32),
        ("weight", c_int64),
        ("required", c_int64),
    )


class selene_quota(Structure):
    __slots__ = ()
    _fields_ = (
        ("kinds", c_uint32),
        ("measure", c_int32),
        ("limit", c_int64),
        ("period", c_int64),
    )


class selene_profile(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("base", c_int32),
        ("threshold", c_int32),
        ("rules", POINTER(selene_rule)),
        ("rule_count", c_uint64),
        ("quotas", POINTER(selene_quota)),
        ("quota_count", c_uint64),
    )


class selene_finding(Structure):
    __slots__ = ()
    _fields_ = (
        ("factor", c_int32),
        ("verdict", c_int32),
        ("source", c_int32),
        ("flags", c_uint32),
        ("observed", c_int64),
        ("required", c_int64),
        ("score", c_int64),
        ("weight", c_int64),
        ("clears_at", c_int64),
    )


class selene_decision(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("kind", c_int32),
        ("granted", c_int32),
        ("at", c_int64),
        ("score", c_int64),
        ("threshold", c_int64),
        ("longest_window", c_int64),
        ("ask_again_at", c_int64),
        ("finding_count", c_uint64),
        ("findings", POINTER(selene_finding)),
    )


class selene_balance(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("is_spent", c_int32),
        ("used", c_int32),
        ("free", c_int64),
        ("free_at", c_int64),
        ("last_begin", c_int64),
    )


class selene_forecast(Structure):
    __slots__ = ()
    _fields_ = (
        ("begins_at", c_int64),
        ("ends_at", c_int64),
        ("probability", c_int64),
    )


class selene_driver(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("refresh_budget", c_int64),
        ("processing_budget", c_int64),
        ("refresh_lanes", c_uint32),
        ("processing_lanes", c_uint32),
        ("kinds", c_uint32),
        ("reserved", c_uint32),
        ("reserve", c_int64),
        ("every", c_int64),
    )


class selene_value(Structure):
    __slots__ = ()
    _fields_ = (
        ("type", c_int32),
        ("reserved", c_uint32),
        ("integer", c_int64),
        ("data", c_void_p),
        ("length", c_int64),
    )


class selene_node_request(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("number", c_uint64),
        ("sql", selene_text),
        ("values", POINTER(selene_value)),
        ("value_count", c_uint64),
        ("timeout", c_int64),
    )


class selene_node_options(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("schema", selene_text),
        ("name", selene_text),
        ("queues", POINTER(selene_text)),
        ("queue_count", c_uint64),
        ("labels", POINTER(selene_text)),
        ("label_count", c_uint64),
        ("lease", c_int64),
        ("horizon", c_int64),
        ("poll", c_int64),
    )


class selene_node_info(Structure):
    __slots__ = ()
    _fields_ = (
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("state", c_int32),
        ("reserved", c_uint32),
        ("worker", c_int64),
        ("believes_until", c_int64),
        ("working", c_uint64),
        ("ready", c_uint64),
        ("undecided", c_uint64),
    )


#: Result and parameters of every function.
SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "selene_version": (c_uint32, ()),
    "selene_free": (None, (c_void_p,)),
    "selene_status_message": (c_char_p, (c_int32,)),
    "selene_name": (c_char_p, (c_int32, c_int64)),
    "selene_error_last": (POINTER(selene_error), ()),
    "selene_scheduler_open": (c_int32, (POINTER(selene_options), POINTER(c_uint64))),
    "selene_scheduler_drain": (c_int32, (c_uint64, c_int64)),
    "selene_scheduler_resume": (c_int32, (c_uint64,)),
    "selene_scheduler_close": (c_int32, (c_uint64, c_int64)),
    "selene_scheduler_now": (c_int32, (c_uint64, POINTER(c_int64))),
    "selene_clock_set": (c_int32, (c_uint64, c_int64)),
    "selene_clock_advance": (c_int32, (c_uint64, c_int64, c_uint32, c_int64, POINTER(c_int64))),
    "selene_scheduler_get": (c_int32, (c_uint64, POINTER(selene_scheduler_info))),
    "selene_scheduler_enable": (c_int32, (c_uint64, c_uint32)),
    "selene_scheduler_pause": (c_int32, (c_uint64, c_uint32, c_char_p, c_int64, c_int64)),
    "selene_pause_list": (c_int32, (c_uint64, POINTER(POINTER(selene_pauses)))),
    "selene_scheduler_next_wakeup": (c_int32, (c_uint64, POINTER(c_int64), POINTER(c_int64))),
    "selene_scheduler_prune": (c_int32, (c_uint64, POINTER(c_uint64))),
    "selene_scheduler_reset": (c_int32, (c_uint64,)),
    "selene_handler_register": (
        c_int32,
        (
            c_uint64,
            c_char_p,
            c_int64,
            selene_run_fn,
            selene_stop_fn,
            c_void_p,
            selene_destroy_fn,
        ),
    ),
    "selene_handler_unregister": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_task_register": (c_int32, (c_uint64, POINTER(selene_task), POINTER(c_int32))),
    "selene_task_register_batch": (
        c_int32,
        (
            c_uint64,
            POINTER(POINTER(selene_task)),
            c_uint64,
            POINTER(c_int32),
            POINTER(c_int32),
        ),
    ),
    "selene_task_cancel": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_cancel_tag": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_cancel_all": (c_int32, (c_uint64, POINTER(c_uint64))),
    "selene_task_retry": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_task_retry_successors": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_retry_all": (c_int32, (c_uint64, c_char_p, c_int64, c_uint32, POINTER(c_uint64))),
    "selene_task_set_next": (c_int32, (c_uint64, c_char_p, c_int64, c_int64)),
    "selene_task_pause": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_pause_tag": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_resume": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_resume_tag": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_uint64))),
    "selene_task_get": (c_int32, (c_uint64, c_char_p, c_int64, c_uint64, POINTER(POINTER(selene_task_info)))),
    "selene_task_get_output": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(POINTER(selene_task_output)))),
    "selene_task_list": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(POINTER(selene_task_ids)))),
    "selene_task_list_state": (c_int32, (c_uint64, c_int32, POINTER(POINTER(selene_task_ids)))),
    "selene_task_explain": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(selene_explanation))),
    "selene_task_waits": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(POINTER(selene_waits)))),
    "selene_group_set_limit": (c_int32, (c_uint64, c_char_p, c_int64, c_uint32)),
    "selene_group_pause": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_group_resume": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_group_get": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(selene_group_info))),
    "selene_group_list": (c_int32, (c_uint64, POINTER(POINTER(selene_task_ids)))),
    "selene_cycle_begin": (c_int32, (c_uint64, POINTER(selene_window), POINTER(c_uint64))),
    "selene_cycle_next": (c_int32, (c_uint64, POINTER(c_int32), POINTER(selene_run_info), POINTER(c_int64))),
    "selene_cycle_end": (c_int32, (c_uint64, POINTER(POINTER(selene_report)))),
    "selene_cycle_drain": (c_int32, (c_uint64, c_int64)),
    "selene_cycle_run": (c_int32, (c_uint64, POINTER(selene_window), POINTER(POINTER(selene_report)))),
    "selene_cycle_run_async": (
        c_int32,
        (
            c_uint64,
            POINTER(selene_window),
            selene_report_fn,
            c_void_p,
            selene_destroy_fn,
            POINTER(c_uint64),
            POINTER(c_int64),
        ),
    ),
    "selene_cycle_plan": (c_int32, (c_uint64, POINTER(selene_window), POINTER(POINTER(selene_plan)))),
    "selene_lane_open": (c_int32, (c_uint64, POINTER(c_uint64))),
    "selene_lane_next": (
        c_int32,
        (
            c_uint64,
            c_int32,
            c_int64,
            POINTER(c_int32),
            POINTER(selene_run_info),
            POINTER(c_int64),
        ),
    ),
    "selene_lane_close": (c_int32, (c_uint64,)),
    "selene_cycle_wait": (c_int32, (c_uint64, c_int64, POINTER(POINTER(selene_report)), POINTER(c_int64))),
    "selene_cycle_descriptor": (c_int32, (c_uint64, POINTER(c_int32))),
    "selene_run_complete": (c_int32, (c_uint64, c_int32)),
    "selene_run_retry": (c_int32, (c_uint64, c_int64)),
    "selene_run_fail": (c_int32, (c_uint64, c_int32, c_int64, c_char_p, c_int64)),
    "selene_run_complete_until": (c_int32, (c_uint64, c_int32, c_int64)),
    "selene_run_stopping": (c_int32, (c_uint64, POINTER(c_int32))),
    "selene_run_sleep": (c_int32, (c_uint64, c_int64, POINTER(c_int32))),
    "selene_run_remaining": (c_int32, (c_uint64, POINTER(c_int64))),
    "selene_run_progress": (c_int32, (c_uint64, c_int64, c_int64, c_char_p, c_int64)),
    "selene_run_set_user": (c_int32, (c_uint64, c_void_p)),
    "selene_run_user": (c_int32, (c_uint64, POINTER(c_void_p))),
    "selene_run_set_output": (c_int32, (c_uint64, c_void_p, c_int64)),
    "selene_run_get": (c_int32, (c_uint64, POINTER(POINTER(selene_run_info)))),
    "selene_conditions_set": (c_int32, (c_uint64, c_uint32, c_uint32)),
    "selene_conditions_get": (c_int32, (c_uint64, POINTER(c_uint32), POINTER(c_uint32))),
    "selene_condition_define": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_condition_undefine": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_condition_set": (c_int32, (c_uint64, c_char_p, c_int64, c_int32)),
    "selene_condition_get": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(c_int32))),
    "selene_condition_list": (c_int32, (c_uint64, POINTER(POINTER(selene_task_ids)))),
    "selene_condition_missing": (c_int32, (c_uint64, c_char_p, c_int64, POINTER(POINTER(selene_task_ids)))),
    "selene_scheduler_observe": (c_int32, (c_uint64, selene_event_fn, c_void_p, selene_destroy_fn)),
    "selene_events_open": (c_int32, (c_uint64, c_uint64, POINTER(c_int32))),
    "selene_events_next": (c_int32, (c_uint64, c_int64, POINTER(selene_event), POINTER(c_int32), POINTER(c_uint64))),
    "selene_events_close": (c_int32, (c_uint64,)),
    "selene_log_set": (c_int32, (selene_log_fn, c_void_p, selene_destroy_fn)),
    "selene_store_get": (c_int32, (c_uint64, POINTER(POINTER(selene_store_info)))),
    "selene_store_backup": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_store_check": (c_int32, (c_char_p, c_int64, POINTER(selene_store_findings))),
    "selene_store_salvage": (c_int32, (c_char_p, c_int64, c_char_p, c_int64, POINTER(selene_store_findings))),
    "selene_server_start": (c_int32, (c_uint64, POINTER(selene_server_options), POINTER(c_uint64))),
    "selene_server_open": (c_int32, (c_uint64, POINTER(selene_server_options), POINTER(c_uint64), POINTER(c_int32))),
    "selene_server_step": (c_int32, (c_uint64, POINTER(c_int64))),
    "selene_server_get": (c_int32, (c_uint64, POINTER(selene_server_info))),
    "selene_client_list": (c_int32, (c_uint64, POINTER(POINTER(selene_clients)))),
    "selene_server_close": (c_int32, (c_uint64,)),
    "selene_scheduler_connect": (c_int32, (POINTER(selene_connect_options), POINTER(c_uint64))),
    "selene_signal_set": (c_int32, (c_uint64, c_int32, c_int64, c_int64)),
    "selene_signal_clear": (c_int32, (c_uint64, c_int32)),
    "selene_signal_get": (c_int32, (c_uint64, c_int32, POINTER(selene_signal))),
    "selene_governor_set_profile": (c_int32, (c_uint64, POINTER(selene_profile))),
    "selene_governor_ask": (c_int32, (c_uint64, c_int32, c_uint32, POINTER(POINTER(selene_decision)))),
    "selene_governor_last": (c_int32, (c_uint64, c_int32, POINTER(POINTER(selene_decision)))),
    "selene_ledger_get": (c_int32, (c_uint64, c_int32, POINTER(selene_balance))),
    "selene_ledger_report": (c_int32, (c_uint64, c_int32, c_int64, c_int64)),
    "selene_use_report": (c_int32, (c_uint64, c_int64, c_int64)),
    "selene_governor_forecast": (c_int32, (c_uint64, c_int32, POINTER(selene_forecast), c_uint64, POINTER(c_uint64))),
    "selene_trace_record": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_trace_replay": (c_int32, (c_char_p, c_int64, POINTER(c_uint64), POINTER(c_uint64))),
    "selene_driver_start": (c_int32, (c_uint64, POINTER(selene_driver))),
    "selene_driver_open": (c_int32, (c_uint64, POINTER(selene_driver), POINTER(c_int32))),
    "selene_driver_step": (c_int32, (c_uint64, POINTER(c_uint64), POINTER(c_int64))),
    "selene_driver_wait": (c_int32, (c_uint64, c_int64, POINTER(c_int32))),
    "selene_driver_stop": (c_int32, (c_uint64, c_int64)),
    "selene_task_launch": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_task_expire": (c_int32, (c_uint64, c_char_p, c_int64)),
    "selene_node_open": (c_int32, (c_uint64, POINTER(selene_node_options), POINTER(c_int32))),
    "selene_node_step": (c_int32, (c_uint64, POINTER(selene_node_request), POINTER(c_int64))),
    "selene_node_wait": (c_int32, (c_uint64, c_int64, POINTER(c_int32))),
    "selene_node_rows": (c_int32, (c_uint64, c_uint64, POINTER(selene_value), c_uint64, c_uint64)),
    "selene_node_failed": (c_int32, (c_uint64, c_uint64, c_int32, c_char_p, c_char_p)),
    "selene_node_hint": (c_int32, (c_uint64,)),
    "selene_node_get": (c_int32, (c_uint64, POINTER(selene_node_info))),
    "selene_node_leave": (c_int32, (c_uint64, c_int64)),
    "selene_node_close": (c_int32, (c_uint64,)),
    "selene_run_fence": (c_int32, (c_uint64, POINTER(c_int64), POINTER(c_int64))),
    "selene_run_decided_by_host": (c_int32, (c_uint64,)),
}


class Functions:
    """Every function of the library, with its types."""

    __slots__ = (
        "selene_version",
        "selene_free",
        "selene_status_message",
        "selene_name",
        "selene_error_last",
        "selene_scheduler_open",
        "selene_scheduler_drain",
        "selene_scheduler_resume",
        "selene_scheduler_close",
        "selene_scheduler_now",
        "selene_clock_set",
        "selene_clock_advance",
        "selene_scheduler_get",
        "selene_scheduler_enable",
        "selene_scheduler_pause",
        "selene_pause_list",
        "selene_scheduler_next_wakeup",
        "selene_scheduler_prune",
        "selene_scheduler_reset",
        "selene_handler_register",
        "selene_handler_unregister",
        "selene_task_register",
        "selene_task_register_batch",
        "selene_task_cancel",
        "selene_task_cancel_tag",
        "selene_task_cancel_all",
        "selene_task_retry",
        "selene_task_retry_successors",
        "selene_task_retry_all",
        "selene_task_set_next",
        "selene_task_pause",
        "selene_task_pause_tag",
        "selene_task_resume",
        "selene_task_resume_tag",
        "selene_task_get",
        "selene_task_get_output",
        "selene_task_list",
        "selene_task_list_state",
        "selene_task_explain",
        "selene_task_waits",
        "selene_group_set_limit",
        "selene_group_pause",
        "selene_group_resume",
        "selene_group_get",
        "selene_group_list",
        "selene_cycle_begin",
        "selene_cycle_next",
        "selene_cycle_end",
        "selene_cycle_drain",
        "selene_cycle_run",
        "selene_cycle_run_async",
        "selene_cycle_plan",
        "selene_lane_open",
        "selene_lane_next",
        "selene_lane_close",
        "selene_cycle_wait",
        "selene_cycle_descriptor",
        "selene_run_complete",
        "selene_run_retry",
        "selene_run_fail",
        "selene_run_complete_until",
        "selene_run_stopping",
        "selene_run_sleep",
        "selene_run_remaining",
        "selene_run_progress",
        "selene_run_set_user",
        "selene_run_user",
        "selene_run_set_output",
        "selene_run_get",
        "selene_conditions_set",
        "selene_conditions_get",
        "selene_condition_define",
        "selene_condition_undefine",
        "selene_condition_set",
        "selene_condition_get",
        "selene_condition_list",
        "selene_condition_missing",
        "selene_scheduler_observe",
        "selene_events_open",
        "selene_events_next",
        "selene_events_close",
        "selene_log_set",
        "selene_store_get",
        "selene_store_backup",
        "selene_store_check",
        "selene_store_salvage",
        "selene_server_start",
        "selene_server_open",
        "selene_server_step",
        "selene_server_get",
        "selene_client_list",
        "selene_server_close",
        "selene_scheduler_connect",
        "selene_signal_set",
        "selene_signal_clear",
        "selene_signal_get",
        "selene_governor_set_profile",
        "selene_governor_ask",
        "selene_governor_last",
        "selene_ledger_get",
        "selene_ledger_report",
        "selene_use_report",
        "selene_governor_forecast",
        "selene_trace_record",
        "selene_trace_replay",
        "selene_driver_start",
        "selene_driver_open",
        "selene_driver_step",
        "selene_driver_wait",
        "selene_driver_stop",
        "selene_task_launch",
        "selene_task_expire",
        "selene_node_open",
        "selene_node_step",
        "selene_node_wait",
        "selene_node_rows",
        "selene_node_failed",
        "selene_node_hint",
        "selene_node_get",
        "selene_node_leave",
        "selene_node_close",
        "selene_run_fence",
        "selene_run_decided_by_host",
    )

    selene_version: Any
    selene_free: Any
    selene_status_message: Any
    selene_name: Any
    selene_error_last: Any
    selene_scheduler_open: Any
    selene_scheduler_drain: Any
    selene_scheduler_resume: Any
    selene_scheduler_close: Any
    selene_scheduler_now: Any
    selene_clock_set: Any
    selene_clock_advance: Any
    selene_scheduler_get: Any
    selene_scheduler_enable: Any
    selene_scheduler_pause: Any
    selene_pause_list: Any
    selene_scheduler_next_wakeup: Any
    selene_scheduler_prune: Any
    selene_scheduler_reset: Any
    selene_handler_register: Any
    selene_handler_unregister: Any
    selene_task_register: Any
    selene_task_register_batch: Any
    selene_task_cancel: Any
    selene_task_cancel_tag: Any
    selene_task_cancel_all: Any
    selene_task_retry: Any
    selene_task_retry_successors: Any
    selene_task_retry_all: Any
    selene_task_set_next: Any
    selene_task_pause: Any
    selene_task_pause_tag: Any
    selene_task_resume: Any
    selene_task_resume_tag: Any
    selene_task_get: Any
    selene_task_get_output: Any
    selene_task_list: Any
    selene_task_list_state: Any
    selene_task_explain: Any
    selene_task_waits: Any
    selene_group_set_limit: Any
    selene_group_pause: Any
    selene_group_resume: Any
    selene_group_get: Any
    selene_group_list: Any
    selene_cycle_begin: Any
    selene_cycle_next: Any
    selene_cycle_end: Any
    selene_cycle_drain: Any
    selene_cycle_run: Any
    selene_cycle_run_async: Any
    selene_cycle_plan: Any
    selene_lane_open: Any
    selene_lane_next: Any
    selene_lane_close: Any
    selene_cycle_wait: Any
    selene_cycle_descriptor: Any
    selene_run_complete: Any
    selene_run_retry: Any
    selene_run_fail: Any
    selene_run_complete_until: Any
    selene_run_stopping: Any
    selene_run_sleep: Any
    selene_run_remaining: Any
    selene_run_progress: Any
    selene_run_set_user: Any
    selene_run_user: Any
    selene_run_set_output: Any
    selene_run_get: Any
    selene_conditions_set: Any
    selene_conditions_get: Any
    selene_condition_define: Any
    selene_condition_undefine: Any
    selene_condition_set: Any
    selene_condition_get: Any
    selene_condition_list: Any
    selene_condition_missing: Any
    selene_scheduler_observe: Any
    selene_events_open: Any
    selene_events_next: Any
    selene_events_close: Any
    selene_log_set: Any
    selene_store_get: Any
    selene_store_backup: Any
    selene_store_check: Any
    selene_store_salvage: Any
    selene_server_start: Any
    selene_server_open: Any
    selene_server_step: Any
    selene_server_get: Any
    selene_client_list: Any
    selene_server_close: Any
    selene_scheduler_connect: Any
    selene_signal_set: Any
    selene_signal_clear: Any
    selene_signal_get: Any
    selene_governor_set_profile: Any
    selene_governor_ask: Any
    selene_governor_last: Any
    selene_ledger_get: Any
    selene_ledger_report: Any
    selene_use_report: Any
    selene_governor_forecast: Any
    selene_trace_record: Any
    selene_trace_replay: Any
    selene_driver_start: Any
    selene_driver_open: Any
    selene_driver_step: Any
    selene_driver_wait: Any
    selene_driver_stop: Any
    selene_task_launch: Any
    selene_task_expire: Any
    selene_node_open: Any
    selene_node_step: Any
    selene_node_wait: Any
    selene_node_rows: Any
    selene_node_failed: Any
    selene_node_hint: Any
    selene_node_get: Any
    selene_node_leave: Any
    selene_node_close: Any
    selene_run_fence: Any
    selene_run_decided_by_host: Any

    def __init__(self, library: CDLL) -> None:
        for name, (result, parameters) in SIGNATURES.items():
            function = library[name]
            function.restype = result
            function.argtypes = parameters
            setattr(self, name, function)
