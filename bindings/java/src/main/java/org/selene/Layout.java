// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/** Where the fields of the header's structs lie, and its numbers. */
final class Layout {
    private Layout() {}

    static final int OK = 0;
    static final int NAMES_STATUS = 1;
    static final int NAMES_KIND = 2;
    static final int NAMES_SCHEDULE = 3;
    static final int NAMES_PRIORITY = 4;
    static final int NAMES_EXISTING = 5;
    static final int NAMES_RECURRENCE = 6;
    static final int NAMES_BACKOFF = 7;
    static final int NAMES_CONSTRAINT = 8;
    static final int NAMES_STATE = 9;
    static final int NAMES_DISPOSITION = 10;
    static final int NAMES_OUTCOME = 11;
    static final int NAMES_STOP = 12;
    static final int NAMES_REASON = 13;
    static final int NAMES_EVENT = 14;
    static final int NAMES_TROUBLE = 15;
    static final int NAMES_PROFILE = 16;
    static final int NAMES_SIGNAL = 17;
    static final int NAMES_SOURCE = 18;
    static final int NAMES_FACTOR = 19;
    static final int NAMES_VERDICT = 20;
    static final int NAMES_MEASURE = 21;
    static final int UNIT_NONE = 0;
    static final int UNIT_NUMBER = 1;
    static final int UNIT_DURATION = 2;
    static final int UNIT_INSTANT = 3;
    static final int UNIT_BYTES = 4;
    static final int UNIT_BITS = 5;
    static final int FAULT_IN_DOUBT = 1;
    static final int OPTIONS_HOLD = 1;
    static final int OPTIONS_OBSERVED_RANGE = 2;
    static final int OPTIONS_RELAXED = 4;
    static final int OPTIONS_FRESHNESS = 8;
    static final int OPTIONS_NO_THREADS = 16;
    static final int OPTIONS_SET_CLOCK = 32;
    static final int THREADS_AS_HOST = 0;
    static final int THREADS_BACKGROUND = 1;
    static final int TROUBLE_STORE = 1;
    static final int TROUBLE_THREAD = 2;
    static final int TROUBLE_OVERRUN = 4;
    static final int TROUBLE_OBSERVER = 8;
    static final int TROUBLE_HANDLER = 16;
    static final int TROUBLE_CLOCK = 32;
    static final int TROUBLE_FLEET = 64;
    static final int TROUBLE_FLEET_CLOCK = 128;
    static final int ADVANCE_HANDLERS = 1;
    static final int ADVANCE_ONCE = 2;
    static final int ADVANCE_RUNS = 4;
    static final int TASK_STEADY = 1;
    static final int TASK_AFTER_ANY_END = 2;
    static final int TASK_EXPEDITED = 4;
    static final int TASK_REFUSE_OUT_OF_QUOTA = 8;
    static final int SUSPICION_QUARANTINED = 1;
    static final int SUSPICION_BLAMED = 2;
    static final int RETRY_SUCCESSORS = 1;
    static final int WINDOW_STRICT_FIT = 1;
    static final int WINDOW_INLINE = 2;
    static final int WINDOW_FROZEN = 4;
    static final int WINDOW_LANES = 8;
    static final int REPORT_NOT_STORED = 1;
    static final int STEP_RUN = 0;
    static final int STEP_WAIT = 1;
    static final int STEP_DONE = 2;
    static final int LOG_ERROR = 1;
    static final int LOG_WARNING = 2;
    static final int LOG_INFO = 3;
    static final int RIGHT_LOOK = 1;
    static final int RIGHT_READ = 2;
    static final int RIGHT_ENQUEUE = 4;
    static final int RIGHT_WORK = 8;
    static final int RIGHT_MANAGE = 16;
    static final int RIGHT_ALL = 31;
    static final int SERVER_DESCRIPTOR = 1;
    static final int SERVER_USER_SAME = 0;
    static final int SERVER_USER_ANY = -1;
    static final int PRESENCE_BACKGROUND = 0;
    static final int PRESENCE_FOREGROUND = 1;
    static final int PRESENCE_QUIT = 2;
    static final int SOURCE_UNKNOWN = 0;
    static final int SOURCE_PROBE = 1;
    static final int SOURCE_HOST = 2;
    static final int SOURCE_TRACE = 3;
    static final int SOURCE_BOOKS = 4;
    static final int RULE_IGNORE = 0;
    static final int RULE_VETO = 1;
    static final int RULE_WEIGHT = 2;
    static final int RULE_PREEMPTS = 1;
    static final int MEASURE_WINDOW_TIME = 1;
    static final int MEASURE_CPU_TIME = 2;
    static final int MEASURE_WINDOWS = 3;
    static final int MEASURE_BYTES = 4;
    static final int VERDICT_PASSED = 1;
    static final int VERDICT_VETOED = 2;
    static final int VERDICT_WEIGHED = 3;
    static final int ASK_NEVER_RAN = 1;
    static final int DRIVER_LANES = 1;
    static final int DRIVER_STRICT_FIT = 2;
    static final int DRIVER_TOGETHER = 4;
    static final int DRIVER_FROZEN = 8;
    static final int DRIVER_UNGOVERNED = 16;
    static final int VALUE_NULL = 0;
    static final int VALUE_INTEGER = 1;
    static final int VALUE_BOOLEAN = 2;
    static final int VALUE_TEXT = 3;
    static final int VALUE_BYTES = 4;
    static final int VALUE_ARRAY = 5;
    static final int NODE_OPTION_RELAXED = 1;
    static final int NODE_JOINING = 0;
    static final int NODE_WORKING = 1;
    static final int NODE_LEAVING = 2;
    static final int NODE_CLOSED = 3;
    static final int VERSION_MAJOR = 0;
    static final int VERSION_MINOR = 2;
    static final int VERSION_PATCH = 0;
    static final int VERSION_NUMBER = 2000;
    static final long MICROSECOND = 1000L;
    static final long MILLISECOND = 1000000L;
    static final long SECOND = 1000000000L;
    static final long MINUTE = 0xdf8475800L;
    static final long HOUR = 0x34630b8a000L;
    static final long DAY = 0x4e94914f0000L;
    static final long NEVER = 0x7fffffffffffffffL;
    static final int NONE = -1;
    static final int UNLIMITED = 0xffffffff;
    static final int RESPONSE_TIMES = 30;
    static final int REASONS = 16;
    static final int EVENTS = 65536;
    static final int ANYBODY = 0xffffffff;
    static final long REQUIRED_USUAL = -9223372036854775808L;

    static final class Text {
        private Text() {}

        static final int SIZE = 16;
        static final int DATA = 0;
        static final int LENGTH = 8;
    }

    static final class Error {
        private Error() {}

        static final int SIZE = 136;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int STATUS = 8;
        static final int UNIT = 12;
        static final int MESSAGE = 16;
        static final int FIELD = 32;
        static final int SUBJECT = 48;
        static final int FOUND = 64;
        static final int ALLOWED = 80;
        static final int PROBLEM = 96;
        static final int VALUE = 112;
        static final int LEAST = 120;
        static final int GREATEST = 128;
    }

    static final class Options {
        private Options() {}

        static final int SIZE = 272;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int PERMITTED = 8;
        static final int PERMITTED_COUNT = 16;
        static final int MAX_PENDING_REFRESH = 24;
        static final int MAX_PENDING_PROCESSING = 32;
        static final int MINIMUM_BACKOFF = 40;
        static final int MAXIMUM_BACKOFF = 48;
        static final int MINIMUM_INTERVAL_REFRESH = 56;
        static final int MINIMUM_INTERVAL_PROCESSING = 64;
        static final int RELEASE_AFTER = 72;
        static final int BACKOFF_JITTER = 80;
        static final int MAX_OVERRUN_THREADS = 84;
        static final int SEED = 88;
        static final int MAX_INPUT_SIZE = 96;
        static final int CLOCK = 104;
        static final int CLOCK_CONTEXT = 112;
        static final int CLOCK_DESTROY = 120;
        static final int PATH = 128;
        static final int BLOCKED_SIGNALS = 144;
        static final int BLOCKED_SIGNAL_COUNT = 152;
        static final int OWNER = 160;
        static final int STOP_GRACE = 176;
        static final int MAX_OVERRUN_PER_HANDLER = 184;
        static final int THREAD_QUALITY = 188;
        static final int THREAD_BEGIN = 192;
        static final int THREAD_END = 200;
        static final int THREAD_CONTEXT = 208;
        static final int THREAD_DESTROY = 216;
        static final int CLOCK_START = 224;
        static final int EXPEDITED_QUOTA = 232;
        static final int THREAD_STACK_SIZE = 240;
        static final int WAIT_LOG_ENTRIES = 248;
        static final int MAX_OUTPUT_SIZE = 256;
        static final int CRASH_PAUSE = 264;
    }

    static final class SchedulerInfo {
        private SchedulerInfo() {}

        static final int SIZE = 112;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int KINDS = 8;
        static final int OVERRUN_THREADS = 12;
        static final int ENQUEUED = 16;
        static final int HELD = 24;
        static final int BLOCKED = 32;
        static final int RUNNING = 40;
        static final int SUCCEEDED = 48;
        static final int FAILED = 56;
        static final int CANCELLED = 64;
        static final int DISPATCHED = 72;
        static final int LIFE = 80;
        static final int TROUBLES = 88;
        static final int STUCK_HANDLERS = 92;
        static final int EXPEDITED_LEFT = 96;
        static final int EXPEDITED_FREE_AT = 104;
    }

    static final class Pause {
        private Pause() {}

        static final int SIZE = 32;
        static final int POOL = 0;
        static final int KINDS = 16;
        static final int RESERVED = 20;
        static final int UNTIL = 24;
    }

    static final class Pauses {
        private Pauses() {}

        static final int SIZE = 24;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int PAUSES = 8;
        static final int COUNT = 16;
    }

    static final class Task {
        private Task() {}

        static final int SIZE = 216;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int ID = 8;
        static final int HANDLER = 24;
        static final int KIND = 40;
        static final int SCHEDULE = 44;
        static final int PRIORITY = 48;
        static final int EXISTING = 52;
        static final int RECURRENCE = 56;
        static final int BACKOFF = 60;
        static final int RESPONSE_WINDOW = 64;
        static final int MAX_ATTEMPTS = 68;
        static final int CONSTRAINTS = 72;
        static final int TAG_COUNT = 76;
        static final int TAGS = 80;
        static final int EXPECTED_RESPONSE = 88;
        static final int INITIAL_DELAY = 96;
        static final int PERIOD = 104;
        static final int FLEX = 112;
        static final int BACKOFF_DELAY = 120;
        static final int INPUT = 128;
        static final int INPUT_LENGTH = 136;
        static final int TIMEOUT = 144;
        static final int STALL_LIMIT = 152;
        static final int JITTER = 160;
        static final int AFTER_COUNT = 164;
        static final int GROUP = 168;
        static final int AFTER = 184;
        static final int LATEST_BEGIN = 192;
        static final int CONDITIONS = 200;
        static final int CONDITION_COUNT = 208;
        static final int RESERVED = 212;
    }

    static final class TaskInfo {
        private TaskInfo() {}

        static final int SIZE = 648;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int ID = 8;
        static final int HANDLER = 24;
        static final int INPUT = 40;
        static final int TAGS = 56;
        static final int TAG_COUNT = 64;
        static final int CONSTRAINTS = 68;
        static final int KIND = 72;
        static final int SCHEDULE = 76;
        static final int PRIORITY = 80;
        static final int EXISTING = 84;
        static final int RECURRENCE = 88;
        static final int BACKOFF = 92;
        static final int RESPONSE_WINDOW = 96;
        static final int MAX_ATTEMPTS = 100;
        static final int HAS_HANDLER = 104;
        static final int STATE = 108;
        static final int ATTEMPTS = 112;
        static final int LAST_OUTCOME = 116;
        static final int STOP_REASON = 120;
        static final int GENERATION = 124;
        static final int SEQUENCE = 128;
        static final int APPENDED = 136;
        static final int EXPECTED_RESPONSE = 144;
        static final int INITIAL_DELAY = 152;
        static final int PERIOD = 160;
        static final int FLEX = 168;
        static final int BACKOFF_DELAY = 176;
        static final int REGISTERED_AT = 184;
        static final int EARLIEST_BEGIN = 192;
        static final int ANCHOR = 200;
        static final int LAST_RUN = 208;
        static final int ESTIMATE = 216;
        static final int RUN = 224;
        static final int RESPONSE_TIME_COUNT = 232;
        static final int RESPONSE_TIMES = 240;
        static final int FAILED_AT = 480;
        static final int FAILED_ATTEMPT = 488;
        static final int FAILURE = 496;
        static final int TIMEOUT = 512;
        static final int PAUSED = 520;
        static final int JITTER = 524;
        static final int STALL_LIMIT = 528;
        static final int PROGRESS_AT = 536;
        static final int PROGRESS_DONE = 544;
        static final int PROGRESS_TOTAL = 552;
        static final int PROGRESS_TEXT = 560;
        static final int OUTPUT_LENGTH = 576;
        static final int GROUP = 584;
        static final int AFTER_COUNT = 600;
        static final int WAITS_FOR = 604;
        static final int AFTER = 608;
        static final int LATEST_BEGIN = 616;
        static final int CONDITIONS = 624;
        static final int CONDITION_COUNT = 632;
        static final int QUARANTINED = 636;
        static final int OUTPUT_LOST = 640;
    }

    static final class TaskOutput {
        private TaskOutput() {}

        static final int SIZE = 24;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int OUTPUT = 8;
    }

    static final class TaskIds {
        private TaskIds() {}

        static final int SIZE = 24;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int COUNT = 8;
        static final int IDS = 16;
    }

    static final class Reason {
        private Reason() {}

        static final int SIZE = 16;
        static final int REASON = 0;
        static final int CONSTRAINTS = 4;
        static final int MAY_CHANGE_AT = 8;
    }

    static final class Explanation {
        private Explanation() {}

        static final int SIZE = 376;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int STATE = 8;
        static final int REASON_COUNT = 12;
        static final int REASONS = 16;
        static final int RANK = 272;
        static final int ELIGIBLE = 280;
        static final int SCORE = 288;
        static final int ESTIMATE = 296;
        static final int LAST_ROOM = 304;
        static final int FRESH_SINCE = 312;
        static final int COST = 320;
        static final int KNOWN_RUNS = 328;
        static final int NEWS_RUNS = 332;
        static final int PACE = 336;
        static final int PACE_CLASS = 340;
        static final int ATTEMPTS = 344;
        static final int URGENT = 348;
        static final int LATEST_BEGIN = 352;
        static final int EXPEDITED = 360;
        static final int UNKNOWN_CONSTRAINTS = 364;
        static final int OUTPUT_LOST = 368;
    }

    static final class Wait {
        private Wait() {}

        static final int SIZE = 48;
        static final int NAME = 0;
        static final int REASON = 16;
        static final int RESERVED = 20;
        static final int DETAIL = 24;
        static final int DURATION = 32;
        static final int TIMES = 40;
    }

    static final class WaitChange {
        private WaitChange() {}

        static final int SIZE = 40;
        static final int NAME = 0;
        static final int AT = 16;
        static final int DETAIL = 24;
        static final int REASON = 32;
        static final int RESERVED = 36;
    }

    static final class Waits {
        private Waits() {}

        static final int SIZE = 88;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int SINCE = 8;
        static final int UNTIL = 16;
        static final int STATE = 24;
        static final int RESERVED = 28;
        static final int PART_COUNT = 32;
        static final int PARTS = 40;
        static final int CHANGE_COUNT = 48;
        static final int CHANGES = 56;
        static final int PREFERRED_COUNT = 64;
        static final int PREFERRED_ID_COUNT = 72;
        static final int PREFERRED_IDS = 80;
    }

    static final class GroupInfo {
        private GroupInfo() {}

        static final int SIZE = 32;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int LIMIT = 8;
        static final int PAUSED = 12;
        static final int RUNNING = 16;
        static final int WAITING = 24;
    }

    static final class Window {
        private Window() {}

        static final int SIZE = 48;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int KINDS = 8;
        static final int LANES = 12;
        static final int BUDGET = 16;
        static final int RESERVE = 24;
        static final int TASK = 32;
    }

    static final class ReportRun {
        private ReportRun() {}

        static final int SIZE = 72;
        static final int ID = 0;
        static final int RUN = 16;
        static final int OUTCOME = 24;
        static final int STOP_REASON = 28;
        static final int ATTEMPT = 32;
        static final int PRIORITY = 36;
        static final int SCORE = 40;
        static final int ESTIMATE = 48;
        static final int STARTED_AT = 56;
        static final int RESPONSE_TIME = 64;
    }

    static final class Pace {
        private Pace() {}

        static final int SIZE = 32;
        static final int FRESH_SINCE = 0;
        static final int COST = 8;
        static final int KNOWN_RUNS = 16;
        static final int NEWS_RUNS = 20;
        static final int PACE = 24;
        static final int PACE_CLASS = 28;
    }

    static final class Report {
        private Report() {}

        static final int SIZE = 152;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int CYCLE = 8;
        static final int RESULT = 16;
        static final int KINDS = 20;
        static final int BEGAN_AT = 24;
        static final int ENDED_AT = 32;
        static final int DEADLINE = 40;
        static final int BUDGET = 48;
        static final int RESERVE = 56;
        static final int ELIGIBLE = 64;
        static final int DID_NOT_FIT = 72;
        static final int NEW_DATA = 80;
        static final int NO_DATA = 88;
        static final int FAILED = 96;
        static final int ABANDONED = 104;
        static final int EXPIRED = 112;
        static final int STOPPED = 120;
        static final int RUN_COUNT = 128;
        static final int RUNS = 136;
        static final int PACES = 144;
    }

    static final class PlanRun {
        private PlanRun() {}

        static final int SIZE = 40;
        static final int ID = 0;
        static final int SCORE = 16;
        static final int ESTIMATE = 24;
        static final int STARTS_AT = 32;
    }

    static final class Plan {
        private Plan() {}

        static final int SIZE = 32;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int ELIGIBLE = 8;
        static final int RUN_COUNT = 16;
        static final int RUNS = 24;
    }

    static final class RunInfo {
        private RunInfo() {}

        static final int SIZE = 168;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int RUN = 8;
        static final int CYCLE = 16;
        static final int ID = 24;
        static final int HANDLER = 40;
        static final int INPUT = 56;
        static final int KIND = 72;
        static final int PRIORITY = 76;
        static final int ATTEMPT = 80;
        static final int GENERATION = 84;
        static final int SCORE = 88;
        static final int ESTIMATE = 96;
        static final int STARTED_AT = 104;
        static final int EXPIRES_AT = 112;
        static final int DEADLINE = 120;
        static final int PROGRESS_AT = 128;
        static final int PROGRESS_DONE = 136;
        static final int PROGRESS_TOTAL = 144;
        static final int PROGRESS_TEXT = 152;
    }

    static final class Event {
        private Event() {}

        static final int SIZE = 152;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int NUMBER = 8;
        static final int TYPE = 16;
        static final int STATE = 20;
        static final int TIME = 24;
        static final int ID = 32;
        static final int RUN = 48;
        static final int CYCLE = 56;
        static final int DETAIL = 64;
        static final int ATTEMPTS = 68;
        static final int TIME_AT = 72;
        static final int KINDS = 80;
        static final int STATUS = 84;
        static final int MESSAGE = 88;
        static final int FRESH_SINCE = 104;
        static final int COST = 112;
        static final int KNOWN_RUNS = 120;
        static final int NEWS_RUNS = 124;
        static final int PACE = 128;
        static final int PACE_CLASS = 132;
        static final int PROGRESS_DONE = 136;
        static final int PROGRESS_TOTAL = 144;
    }

    static final class StoreInfo {
        private StoreInfo() {}

        static final int SIZE = 96;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int PATH = 8;
        static final int SQLITE_VERSION = 24;
        static final int RELAXED = 40;
        static final int SCHEMA_VERSION = 44;
        static final int PAGE_SIZE = 48;
        static final int PAGES = 56;
        static final int WAL_SIZE = 64;
        static final int COMMITS = 72;
        static final int OWNER = 80;
    }

    static final class StoreFindings {
        private StoreFindings() {}

        static final int SIZE = 32;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int SCHEMA_VERSION = 8;
        static final int TASKS = 16;
        static final int DAMAGED = 24;
    }

    static final class PeerRule {
        private PeerRule() {}

        static final int SIZE = 16;
        static final int UID = 0;
        static final int GID = 4;
        static final int RIGHTS = 8;
        static final int RESERVED = 12;
    }

    static final class ServerOptions {
        private ServerOptions() {}

        static final int SIZE = 80;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int PATH = 8;
        static final int RULES = 24;
        static final int RULE_COUNT = 32;
        static final int MODE = 40;
        static final int MAX_CLIENTS = 44;
        static final int MAX_REQUEST_SIZE = 48;
        static final int DESCRIPTOR = 56;
        static final int RESERVED = 60;
        static final int ADOPT = 64;
        static final int PATIENCE = 72;
    }

    static final class ServerInfo {
        private ServerInfo() {}

        static final int SIZE = 48;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int CLIENTS = 8;
        static final int ACCEPTED = 16;
        static final int REQUESTS = 24;
        static final int REFUSED = 32;
        static final int BROKEN = 40;
    }

    static final class ConnectOptions {
        private ConnectOptions() {}

        static final int SIZE = 64;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int PATH = 8;
        static final int WAIT = 24;
        static final int TIMEOUT = 32;
        static final int POOL = 40;
        static final int SERVER_USER = 56;
    }

    static final class Client {
        private Client() {}

        static final int SIZE = 72;
        static final int POOL = 0;
        static final int COMMAND = 16;
        static final int PROCESS = 32;
        static final int USER = 36;
        static final int RIGHTS = 40;
        static final int VERSION = 44;
        static final int HANDLERS = 48;
        static final int RUNS = 56;
        static final int REQUESTS = 64;
    }

    static final class Clients {
        private Clients() {}

        static final int SIZE = 24;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int CLIENTS = 8;
        static final int COUNT = 16;
    }

    static final class Signal {
        private Signal() {}

        static final int SIZE = 48;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int VALUE = 8;
        static final int SOURCE = 16;
        static final int RESERVED = 20;
        static final int SET_AT = 24;
        static final int SINCE = 32;
        static final int UNTIL = 40;
    }

    static final class Rule {
        private Rule() {}

        static final int SIZE = 32;
        static final int FACTOR = 0;
        static final int KINDS = 4;
        static final int MODE = 8;
        static final int FLAGS = 12;
        static final int WEIGHT = 16;
        static final int REQUIRED = 24;
    }

    static final class Quota {
        private Quota() {}

        static final int SIZE = 24;
        static final int KINDS = 0;
        static final int MEASURE = 4;
        static final int LIMIT = 8;
        static final int PERIOD = 16;
    }

    static final class Profile {
        private Profile() {}

        static final int SIZE = 48;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int BASE = 8;
        static final int THRESHOLD = 12;
        static final int RULES = 16;
        static final int RULE_COUNT = 24;
        static final int QUOTAS = 32;
        static final int QUOTA_COUNT = 40;
    }

    static final class Finding {
        private Finding() {}

        static final int SIZE = 56;
        static final int FACTOR = 0;
        static final int VERDICT = 4;
        static final int SOURCE = 8;
        static final int FLAGS = 12;
        static final int OBSERVED = 16;
        static final int REQUIRED = 24;
        static final int SCORE = 32;
        static final int WEIGHT = 40;
        static final int CLEARS_AT = 48;
    }

    static final class Decision {
        private Decision() {}

        static final int SIZE = 72;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int KIND = 8;
        static final int GRANTED = 12;
        static final int AT = 16;
        static final int SCORE = 24;
        static final int THRESHOLD = 32;
        static final int LONGEST_WINDOW = 40;
        static final int ASK_AGAIN_AT = 48;
        static final int FINDING_COUNT = 56;
        static final int FINDINGS = 64;
    }

    static final class Balance {
        private Balance() {}

        static final int SIZE = 40;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int IS_SPENT = 8;
        static final int USED = 12;
        static final int FREE = 16;
        static final int FREE_AT = 24;
        static final int LAST_BEGIN = 32;
    }

    static final class Forecast {
        private Forecast() {}

        static final int SIZE = 24;
        static final int BEGINS_AT = 0;
        static final int ENDS_AT = 8;
        static final int PROBABILITY = 16;
    }

    static final class Driver {
        private Driver() {}

        static final int SIZE = 56;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int REFRESH_BUDGET = 8;
        static final int PROCESSING_BUDGET = 16;
        static final int REFRESH_LANES = 24;
        static final int PROCESSING_LANES = 28;
        static final int KINDS = 32;
        static final int RESERVED = 36;
        static final int RESERVE = 40;
        static final int EVERY = 48;
    }

    static final class Value {
        private Value() {}

        static final int SIZE = 32;
        static final int TYPE = 0;
        static final int RESERVED = 4;
        static final int INTEGER = 8;
        static final int DATA = 16;
        static final int LENGTH = 24;
    }

    static final class NodeRequest {
        private NodeRequest() {}

        static final int SIZE = 56;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int NUMBER = 8;
        static final int SQL = 16;
        static final int VALUES = 32;
        static final int VALUE_COUNT = 40;
        static final int TIMEOUT = 48;
    }

    static final class NodeOptions {
        private NodeOptions() {}

        static final int SIZE = 96;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int SCHEMA = 8;
        static final int NAME = 24;
        static final int QUEUES = 40;
        static final int QUEUE_COUNT = 48;
        static final int LABELS = 56;
        static final int LABEL_COUNT = 64;
        static final int LEASE = 72;
        static final int HORIZON = 80;
        static final int POLL = 88;
    }

    static final class NodeInfo {
        private NodeInfo() {}

        static final int SIZE = 56;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int STATE = 8;
        static final int RESERVED = 12;
        static final int WORKER = 16;
        static final int BELIEVES_UNTIL = 24;
        static final int WORKING = 32;
        static final int READY = 40;
        static final int UNDECIDED = 48;
    }
}
