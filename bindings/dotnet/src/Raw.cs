// Written by tools/csharp.py from include/api.json: make interface.
#pragma warning disable 169, 649
using System;
using System.Runtime.InteropServices;
using System.Security;

namespace Selene
{
    [SuppressUnmanagedCodeSecurity]
    internal static unsafe class Raw
    {
        private const string Library = "libselene.so.1";

        internal const int OK = 0;
        internal const int NAMES_STATUS = 1;
        internal const int NAMES_KIND = 2;
        internal const int NAMES_SCHEDULE = 3;
        internal const int NAMES_PRIORITY = 4;
        internal const int NAMES_EXISTING = 5;
        internal const int NAMES_RECURRENCE = 6;
        internal const int NAMES_BACKOFF = 7;
        internal const int NAMES_CONSTRAINT = 8;
        internal const int NAMES_STATE = 9;
        internal const int NAMES_DISPOSITION = 10;
        internal const int NAMES_OUTCOME = 11;
        internal const int NAMES_STOP = 12;
        internal const int NAMES_REASON = 13;
        internal const int NAMES_EVENT = 14;
        internal const int NAMES_TROUBLE = 15;
        internal const int NAMES_PROFILE = 16;
        internal const int NAMES_SIGNAL = 17;
        internal const int NAMES_SOURCE = 18;
        internal const int NAMES_FACTOR = 19;
        internal const int NAMES_VERDICT = 20;
        internal const int NAMES_MEASURE = 21;
        internal const int UNIT_NONE = 0;
        internal const int UNIT_NUMBER = 1;
        internal const int UNIT_DURATION = 2;
        internal const int UNIT_INSTANT = 3;
        internal const int UNIT_BYTES = 4;
        internal const int UNIT_BITS = 5;
        internal const int FAULT_IN_DOUBT = 1;
        internal const int OPTIONS_HOLD = 1;
        internal const int OPTIONS_OBSERVED_RANGE = 2;
        internal const int OPTIONS_RELAXED = 4;
        internal const int OPTIONS_FRESHNESS = 8;
        internal const int OPTIONS_NO_THREADS = 16;
        internal const int OPTIONS_SET_CLOCK = 32;
        internal const int THREADS_AS_HOST = 0;
        internal const int THREADS_BACKGROUND = 1;
        internal const int TROUBLE_STORE = 1;
        internal const int TROUBLE_THREAD = 2;
        internal const int TROUBLE_OVERRUN = 4;
        internal const int TROUBLE_OBSERVER = 8;
        internal const int TROUBLE_HANDLER = 16;
        internal const int TROUBLE_CLOCK = 32;
        internal const int TROUBLE_FLEET = 64;
        internal const int TROUBLE_FLEET_CLOCK = 128;
        internal const int ADVANCE_HANDLERS = 1;
        internal const int ADVANCE_ONCE = 2;
        internal const int ADVANCE_RUNS = 4;
        internal const int TASK_STEADY = 1;
        internal const int TASK_AFTER_ANY_END = 2;
        internal const int TASK_EXPEDITED = 4;
        internal const int TASK_REFUSE_OUT_OF_QUOTA = 8;
        internal const int SUSPICION_QUARANTINED = 1;
        internal const int SUSPICION_BLAMED = 2;
        internal const int RETRY_SUCCESSORS = 1;
        internal const int WINDOW_STRICT_FIT = 1;
        internal const int WINDOW_INLINE = 2;
        internal const int WINDOW_FROZEN = 4;
        internal const int WINDOW_LANES = 8;
        internal const int REPORT_NOT_STORED = 1;
        internal const int STEP_RUN = 0;
        internal const int STEP_WAIT = 1;
        internal const int STEP_DONE = 2;
        internal const int LOG_ERROR = 1;
        internal const int LOG_WARNING = 2;
        internal const int LOG_INFO = 3;
        internal const int RIGHT_LOOK = 1;
        internal const int RIGHT_READ = 2;
        internal const int RIGHT_ENQUEUE = 4;
        internal const int RIGHT_WORK = 8;
        internal const int RIGHT_MANAGE = 16;
        internal const int RIGHT_ALL = 31;
        internal const int SERVER_DESCRIPTOR = 1;
        internal const int SERVER_USER_SAME = 0;
        internal const int SERVER_USER_ANY = -1;
        internal const int PRESENCE_BACKGROUND = 0;
        internal const int PRESENCE_FOREGROUND = 1;
        internal const int PRESENCE_QUIT = 2;
        internal const int SOURCE_UNKNOWN = 0;
        internal const int SOURCE_PROBE = 1;
        internal const int SOURCE_HOST = 2;
        internal const int SOURCE_TRACE = 3;
        internal const int SOURCE_BOOKS = 4;
        internal const int RULE_IGNORE = 0;
        internal const int RULE_VETO = 1;
        internal const int RULE_WEIGHT = 2;
        internal const int RULE_PREEMPTS = 1;
        internal const int MEASURE_WINDOW_TIME = 1;
        internal const int MEASURE_CPU_TIME = 2;
        internal const int MEASURE_WINDOWS = 3;
        internal const int MEASURE_BYTES = 4;
        internal const int VERDICT_PASSED = 1;
        internal const int VERDICT_VETOED = 2;
        internal const int VERDICT_WEIGHED = 3;
        internal const int ASK_NEVER_RAN = 1;
        internal const int DRIVER_LANES = 1;
        internal const int DRIVER_STRICT_FIT = 2;
        internal const int DRIVER_TOGETHER = 4;
        internal const int DRIVER_FROZEN = 8;
        internal const int DRIVER_UNGOVERNED = 16;
        internal const int VALUE_NULL = 0;
        internal const int VALUE_INTEGER = 1;
        internal const int VALUE_BOOLEAN = 2;
        internal const int VALUE_TEXT = 3;
        internal const int VALUE_BYTES = 4;
        internal const int VALUE_ARRAY = 5;
        internal const int NODE_OPTION_RELAXED = 1;
        internal const int NODE_JOINING = 0;
        internal const int NODE_WORKING = 1;
        internal const int NODE_LEAVING = 2;
        internal const int NODE_CLOSED = 3;
        internal const int VERSION_MAJOR = 0;
        internal const int VERSION_MINOR = 2;
        internal const int VERSION_PATCH = 0;
        internal const int VERSION_NUMBER = 2000;
        internal const long MICROSECOND = 1000;
        internal const long MILLISECOND = 1000000;
        internal const long SECOND = 1000000000;
        internal const long MINUTE = 60000000000;
        internal const long HOUR = 3600000000000;
        internal const long DAY = 86400000000000;
        internal const long NEVER = 9223372036854775807;
        internal const int NONE = -1;
        internal const uint UNLIMITED = 4294967295;
        internal const int RESPONSE_TIMES = 30;
        internal const int REASONS = 16;
        internal const int EVENTS = 65536;
        internal const uint ANYBODY = 4294967295;
        internal const long REQUIRED_USUAL = -9223372036854775808;

        [StructLayout(LayoutKind.Explicit, Size = 16)]
        internal struct Text
        {
            [FieldOffset(0)] internal byte* data;
            [FieldOffset(8)] internal long length;
        }

        [StructLayout(LayoutKind.Explicit, Size = 136)]
        internal struct Error
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal int status;
            [FieldOffset(12)] internal int unit;
            [FieldOffset(16)] internal Text message;
            [FieldOffset(32)] internal Text field;
            [FieldOffset(48)] internal Text subject;
            [FieldOffset(64)] internal Text found;
            [FieldOffset(80)] internal Text allowed;
            [FieldOffset(96)] internal Text problem;
            [FieldOffset(112)] internal long value;
            [FieldOffset(120)] internal long least;
            [FieldOffset(128)] internal long greatest;
        }

        [StructLayout(LayoutKind.Explicit, Size = 272)]
        internal struct Options
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text* permitted;
            [FieldOffset(16)] internal ulong permitted_count;
            [FieldOffset(24)] internal long max_pending_refresh;
            [FieldOffset(32)] internal long max_pending_processing;
            [FieldOffset(40)] internal long minimum_backoff;
            [FieldOffset(48)] internal long maximum_backoff;
            [FieldOffset(56)] internal long minimum_interval_refresh;
            [FieldOffset(64)] internal long minimum_interval_processing;
            [FieldOffset(72)] internal long release_after;
            [FieldOffset(80)] internal uint backoff_jitter;
            [FieldOffset(84)] internal int max_overrun_threads;
            [FieldOffset(88)] internal ulong seed;
            [FieldOffset(96)] internal long max_input_size;
            [FieldOffset(104)] internal IntPtr clock;
            [FieldOffset(112)] internal void* clock_context;
            [FieldOffset(120)] internal IntPtr clock_destroy;
            [FieldOffset(128)] internal Text path;
            [FieldOffset(144)] internal int* blocked_signals;
            [FieldOffset(152)] internal ulong blocked_signal_count;
            [FieldOffset(160)] internal Text owner;
            [FieldOffset(176)] internal long stop_grace;
            [FieldOffset(184)] internal uint max_overrun_per_handler;
            [FieldOffset(188)] internal int thread_quality;
            [FieldOffset(192)] internal IntPtr thread_begin;
            [FieldOffset(200)] internal IntPtr thread_end;
            [FieldOffset(208)] internal void* thread_context;
            [FieldOffset(216)] internal IntPtr thread_destroy;
            [FieldOffset(224)] internal long clock_start;
            [FieldOffset(232)] internal long expedited_quota;
            [FieldOffset(240)] internal ulong thread_stack_size;
            [FieldOffset(248)] internal ulong wait_log_entries;
            [FieldOffset(256)] internal long max_output_size;
            [FieldOffset(264)] internal long crash_pause;
        }

        [StructLayout(LayoutKind.Explicit, Size = 112)]
        internal struct SchedulerInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal uint kinds;
            [FieldOffset(12)] internal uint overrun_threads;
            [FieldOffset(16)] internal ulong enqueued;
            [FieldOffset(24)] internal ulong held;
            [FieldOffset(32)] internal ulong blocked;
            [FieldOffset(40)] internal ulong running;
            [FieldOffset(48)] internal ulong succeeded;
            [FieldOffset(56)] internal ulong failed;
            [FieldOffset(64)] internal ulong cancelled;
            [FieldOffset(72)] internal ulong dispatched;
            [FieldOffset(80)] internal ulong life;
            [FieldOffset(88)] internal uint troubles;
            [FieldOffset(92)] internal uint stuck_handlers;
            [FieldOffset(96)] internal long expedited_left;
            [FieldOffset(104)] internal long expedited_free_at;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct Pause
        {
            [FieldOffset(0)] internal Text pool;
            [FieldOffset(16)] internal uint kinds;
            [FieldOffset(20)] internal uint reserved;
            [FieldOffset(24)] internal long until;
        }

        [StructLayout(LayoutKind.Explicit, Size = 24)]
        internal struct Pauses
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Pause* pauses;
            [FieldOffset(16)] internal ulong count;
        }

        [StructLayout(LayoutKind.Explicit, Size = 216)]
        internal struct Task
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text id;
            [FieldOffset(24)] internal Text handler;
            [FieldOffset(40)] internal int kind;
            [FieldOffset(44)] internal int schedule;
            [FieldOffset(48)] internal int priority;
            [FieldOffset(52)] internal int existing;
            [FieldOffset(56)] internal int recurrence;
            [FieldOffset(60)] internal int backoff;
            [FieldOffset(64)] internal int response_window;
            [FieldOffset(68)] internal uint max_attempts;
            [FieldOffset(72)] internal uint constraints;
            [FieldOffset(76)] internal uint tag_count;
            [FieldOffset(80)] internal Text* tags;
            [FieldOffset(88)] internal long expected_response;
            [FieldOffset(96)] internal long initial_delay;
            [FieldOffset(104)] internal long period;
            [FieldOffset(112)] internal long flex;
            [FieldOffset(120)] internal long backoff_delay;
            [FieldOffset(128)] internal void* input;
            [FieldOffset(136)] internal long input_length;
            [FieldOffset(144)] internal long timeout;
            [FieldOffset(152)] internal long stall_limit;
            [FieldOffset(160)] internal uint jitter;
            [FieldOffset(164)] internal uint after_count;
            [FieldOffset(168)] internal Text group;
            [FieldOffset(184)] internal Text* after;
            [FieldOffset(192)] internal long latest_begin;
            [FieldOffset(200)] internal Text* conditions;
            [FieldOffset(208)] internal uint condition_count;
            [FieldOffset(212)] internal uint reserved;
        }

        [StructLayout(LayoutKind.Explicit, Size = 648)]
        internal struct TaskInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text id;
            [FieldOffset(24)] internal Text handler;
            [FieldOffset(40)] internal Text input;
            [FieldOffset(56)] internal Text* tags;
            [FieldOffset(64)] internal uint tag_count;
            [FieldOffset(68)] internal uint constraints;
            [FieldOffset(72)] internal int kind;
            [FieldOffset(76)] internal int schedule;
            [FieldOffset(80)] internal int priority;
            [FieldOffset(84)] internal int existing;
            [FieldOffset(88)] internal int recurrence;
            [FieldOffset(92)] internal int backoff;
            [FieldOffset(96)] internal int response_window;
            [FieldOffset(100)] internal uint max_attempts;
            [FieldOffset(104)] internal int has_handler;
            [FieldOffset(108)] internal int state;
            [FieldOffset(112)] internal uint attempts;
            [FieldOffset(116)] internal int last_outcome;
            [FieldOffset(120)] internal int stop_reason;
            [FieldOffset(124)] internal uint generation;
            [FieldOffset(128)] internal ulong sequence;
            [FieldOffset(136)] internal ulong appended;
            [FieldOffset(144)] internal long expected_response;
            [FieldOffset(152)] internal long initial_delay;
            [FieldOffset(160)] internal long period;
            [FieldOffset(168)] internal long flex;
            [FieldOffset(176)] internal long backoff_delay;
            [FieldOffset(184)] internal long registered_at;
            [FieldOffset(192)] internal long earliest_begin;
            [FieldOffset(200)] internal long anchor;
            [FieldOffset(208)] internal long last_run;
            [FieldOffset(216)] internal long estimate;
            [FieldOffset(224)] internal ulong run;
            [FieldOffset(232)] internal ulong response_time_count;
            [FieldOffset(240)] internal long response_times;
            [FieldOffset(480)] internal long failed_at;
            [FieldOffset(488)] internal ulong failed_attempt;
            [FieldOffset(496)] internal Text failure;
            [FieldOffset(512)] internal long timeout;
            [FieldOffset(520)] internal uint paused;
            [FieldOffset(524)] internal uint jitter;
            [FieldOffset(528)] internal long stall_limit;
            [FieldOffset(536)] internal long progress_at;
            [FieldOffset(544)] internal long progress_done;
            [FieldOffset(552)] internal long progress_total;
            [FieldOffset(560)] internal Text progress_text;
            [FieldOffset(576)] internal ulong output_length;
            [FieldOffset(584)] internal Text group;
            [FieldOffset(600)] internal uint after_count;
            [FieldOffset(604)] internal uint waits_for;
            [FieldOffset(608)] internal Text* after;
            [FieldOffset(616)] internal long latest_begin;
            [FieldOffset(624)] internal Text* conditions;
            [FieldOffset(632)] internal uint condition_count;
            [FieldOffset(636)] internal uint quarantined;
            [FieldOffset(640)] internal ulong output_lost;
        }

        [StructLayout(LayoutKind.Explicit, Size = 24)]
        internal struct TaskOutput
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text output;
        }

        [StructLayout(LayoutKind.Explicit, Size = 24)]
        internal struct TaskIds
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong count;
            [FieldOffset(16)] internal Text* ids;
        }

        [StructLayout(LayoutKind.Explicit, Size = 16)]
        internal struct Reason
        {
            [FieldOffset(0)] internal int reason;
            [FieldOffset(4)] internal uint constraints;
            [FieldOffset(8)] internal long may_change_at;
        }

        [StructLayout(LayoutKind.Explicit, Size = 376)]
        internal struct Explanation
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal int state;
            [FieldOffset(12)] internal uint reason_count;
            [FieldOffset(16)] internal Reason reasons;
            [FieldOffset(272)] internal ulong rank;
            [FieldOffset(280)] internal ulong eligible;
            [FieldOffset(288)] internal double score;
            [FieldOffset(296)] internal long estimate;
            [FieldOffset(304)] internal long last_room;
            [FieldOffset(312)] internal long fresh_since;
            [FieldOffset(320)] internal long cost;
            [FieldOffset(328)] internal uint known_runs;
            [FieldOffset(332)] internal uint news_runs;
            [FieldOffset(336)] internal int pace;
            [FieldOffset(340)] internal int pace_class;
            [FieldOffset(344)] internal uint attempts;
            [FieldOffset(348)] internal uint urgent;
            [FieldOffset(352)] internal long latest_begin;
            [FieldOffset(360)] internal uint expedited;
            [FieldOffset(364)] internal uint unknown_constraints;
            [FieldOffset(368)] internal ulong output_lost;
        }

        [StructLayout(LayoutKind.Explicit, Size = 48)]
        internal struct Wait
        {
            [FieldOffset(0)] internal Text name;
            [FieldOffset(16)] internal int reason;
            [FieldOffset(20)] internal int reserved;
            [FieldOffset(24)] internal long detail;
            [FieldOffset(32)] internal long duration;
            [FieldOffset(40)] internal ulong times;
        }

        [StructLayout(LayoutKind.Explicit, Size = 40)]
        internal struct WaitChange
        {
            [FieldOffset(0)] internal Text name;
            [FieldOffset(16)] internal long at;
            [FieldOffset(24)] internal long detail;
            [FieldOffset(32)] internal int reason;
            [FieldOffset(36)] internal int reserved;
        }

        [StructLayout(LayoutKind.Explicit, Size = 88)]
        internal struct Waits
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal long since;
            [FieldOffset(16)] internal long until;
            [FieldOffset(24)] internal int state;
            [FieldOffset(28)] internal int reserved;
            [FieldOffset(32)] internal ulong part_count;
            [FieldOffset(40)] internal Wait* parts;
            [FieldOffset(48)] internal ulong change_count;
            [FieldOffset(56)] internal WaitChange* changes;
            [FieldOffset(64)] internal ulong preferred_count;
            [FieldOffset(72)] internal ulong preferred_id_count;
            [FieldOffset(80)] internal Text* preferred_ids;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct GroupInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal uint limit;
            [FieldOffset(12)] internal uint paused;
            [FieldOffset(16)] internal ulong running;
            [FieldOffset(24)] internal ulong waiting;
        }

        [StructLayout(LayoutKind.Explicit, Size = 48)]
        internal struct Window
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal uint kinds;
            [FieldOffset(12)] internal uint lanes;
            [FieldOffset(16)] internal long budget;
            [FieldOffset(24)] internal long reserve;
            [FieldOffset(32)] internal Text task;
        }

        [StructLayout(LayoutKind.Explicit, Size = 72)]
        internal struct ReportRun
        {
            [FieldOffset(0)] internal Text id;
            [FieldOffset(16)] internal ulong run;
            [FieldOffset(24)] internal int outcome;
            [FieldOffset(28)] internal int stop_reason;
            [FieldOffset(32)] internal uint attempt;
            [FieldOffset(36)] internal int priority;
            [FieldOffset(40)] internal double score;
            [FieldOffset(48)] internal long estimate;
            [FieldOffset(56)] internal long started_at;
            [FieldOffset(64)] internal long response_time;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct Pace
        {
            [FieldOffset(0)] internal long fresh_since;
            [FieldOffset(8)] internal long cost;
            [FieldOffset(16)] internal uint known_runs;
            [FieldOffset(20)] internal uint news_runs;
            [FieldOffset(24)] internal int pace;
            [FieldOffset(28)] internal int pace_class;
        }

        [StructLayout(LayoutKind.Explicit, Size = 152)]
        internal struct Report
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong cycle;
            [FieldOffset(16)] internal int result;
            [FieldOffset(20)] internal uint kinds;
            [FieldOffset(24)] internal long began_at;
            [FieldOffset(32)] internal long ended_at;
            [FieldOffset(40)] internal long deadline;
            [FieldOffset(48)] internal long budget;
            [FieldOffset(56)] internal long reserve;
            [FieldOffset(64)] internal ulong eligible;
            [FieldOffset(72)] internal ulong did_not_fit;
            [FieldOffset(80)] internal ulong new_data;
            [FieldOffset(88)] internal ulong no_data;
            [FieldOffset(96)] internal ulong failed;
            [FieldOffset(104)] internal ulong abandoned;
            [FieldOffset(112)] internal ulong expired;
            [FieldOffset(120)] internal ulong stopped;
            [FieldOffset(128)] internal ulong run_count;
            [FieldOffset(136)] internal ReportRun* runs;
            [FieldOffset(144)] internal Pace* paces;
        }

        [StructLayout(LayoutKind.Explicit, Size = 40)]
        internal struct PlanRun
        {
            [FieldOffset(0)] internal Text id;
            [FieldOffset(16)] internal double score;
            [FieldOffset(24)] internal long estimate;
            [FieldOffset(32)] internal long starts_at;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct Plan
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong eligible;
            [FieldOffset(16)] internal ulong run_count;
            [FieldOffset(24)] internal PlanRun* runs;
        }

        [StructLayout(LayoutKind.Explicit, Size = 168)]
        internal struct RunInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong run;
            [FieldOffset(16)] internal ulong cycle;
            [FieldOffset(24)] internal Text id;
            [FieldOffset(40)] internal Text handler;
            [FieldOffset(56)] internal Text input;
            [FieldOffset(72)] internal int kind;
            [FieldOffset(76)] internal int priority;
            [FieldOffset(80)] internal uint attempt;
            [FieldOffset(84)] internal uint generation;
            [FieldOffset(88)] internal double score;
            [FieldOffset(96)] internal long estimate;
            [FieldOffset(104)] internal long started_at;
            [FieldOffset(112)] internal long expires_at;
            [FieldOffset(120)] internal long deadline;
            [FieldOffset(128)] internal long progress_at;
            [FieldOffset(136)] internal long progress_done;
            [FieldOffset(144)] internal long progress_total;
            [FieldOffset(152)] internal Text progress_text;
        }

        [StructLayout(LayoutKind.Explicit, Size = 152)]
        internal struct Event
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong number;
            [FieldOffset(16)] internal int type;
            [FieldOffset(20)] internal int state;
            [FieldOffset(24)] internal long time;
            [FieldOffset(32)] internal Text id;
            [FieldOffset(48)] internal ulong run;
            [FieldOffset(56)] internal ulong cycle;
            [FieldOffset(64)] internal int detail;
            [FieldOffset(68)] internal uint attempts;
            [FieldOffset(72)] internal long time_at;
            [FieldOffset(80)] internal uint kinds;
            [FieldOffset(84)] internal int status;
            [FieldOffset(88)] internal Text message;
            [FieldOffset(104)] internal long fresh_since;
            [FieldOffset(112)] internal long cost;
            [FieldOffset(120)] internal uint known_runs;
            [FieldOffset(124)] internal uint news_runs;
            [FieldOffset(128)] internal int pace;
            [FieldOffset(132)] internal int pace_class;
            [FieldOffset(136)] internal long progress_done;
            [FieldOffset(144)] internal long progress_total;
        }

        [StructLayout(LayoutKind.Explicit, Size = 96)]
        internal struct StoreInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text path;
            [FieldOffset(24)] internal Text sqlite_version;
            [FieldOffset(40)] internal int relaxed;
            [FieldOffset(44)] internal int schema_version;
            [FieldOffset(48)] internal ulong page_size;
            [FieldOffset(56)] internal ulong pages;
            [FieldOffset(64)] internal ulong wal_size;
            [FieldOffset(72)] internal ulong commits;
            [FieldOffset(80)] internal Text owner;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct StoreFindings
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong schema_version;
            [FieldOffset(16)] internal ulong tasks;
            [FieldOffset(24)] internal ulong damaged;
        }

        [StructLayout(LayoutKind.Explicit, Size = 16)]
        internal struct PeerRule
        {
            [FieldOffset(0)] internal uint uid;
            [FieldOffset(4)] internal uint gid;
            [FieldOffset(8)] internal uint rights;
            [FieldOffset(12)] internal uint reserved;
        }

        [StructLayout(LayoutKind.Explicit, Size = 80)]
        internal struct ServerOptions
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text path;
            [FieldOffset(24)] internal PeerRule* rules;
            [FieldOffset(32)] internal ulong rule_count;
            [FieldOffset(40)] internal uint mode;
            [FieldOffset(44)] internal uint max_clients;
            [FieldOffset(48)] internal ulong max_request_size;
            [FieldOffset(56)] internal int descriptor;
            [FieldOffset(60)] internal uint reserved;
            [FieldOffset(64)] internal long adopt;
            [FieldOffset(72)] internal long patience;
        }

        [StructLayout(LayoutKind.Explicit, Size = 48)]
        internal struct ServerInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong clients;
            [FieldOffset(16)] internal ulong accepted;
            [FieldOffset(24)] internal ulong requests;
            [FieldOffset(32)] internal ulong refused;
            [FieldOffset(40)] internal ulong broken;
        }

        [StructLayout(LayoutKind.Explicit, Size = 64)]
        internal struct ConnectOptions
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text path;
            [FieldOffset(24)] internal long wait;
            [FieldOffset(32)] internal long timeout;
            [FieldOffset(40)] internal Text pool;
            [FieldOffset(56)] internal long server_user;
        }

        [StructLayout(LayoutKind.Explicit, Size = 72)]
        internal struct Client
        {
            [FieldOffset(0)] internal Text pool;
            [FieldOffset(16)] internal Text command;
            [FieldOffset(32)] internal uint process;
            [FieldOffset(36)] internal uint user;
            [FieldOffset(40)] internal uint rights;
            [FieldOffset(44)] internal uint version;
            [FieldOffset(48)] internal ulong handlers;
            [FieldOffset(56)] internal ulong runs;
            [FieldOffset(64)] internal ulong requests;
        }

        [StructLayout(LayoutKind.Explicit, Size = 24)]
        internal struct Clients
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Client* clients;
            [FieldOffset(16)] internal ulong count;
        }

        [StructLayout(LayoutKind.Explicit, Size = 48)]
        internal struct Signal
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal long value;
            [FieldOffset(16)] internal int source;
            [FieldOffset(20)] internal int reserved;
            [FieldOffset(24)] internal long set_at;
            [FieldOffset(32)] internal long since;
            [FieldOffset(40)] internal long until;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct Rule
        {
            [FieldOffset(0)] internal int factor;
            [FieldOffset(4)] internal uint kinds;
            [FieldOffset(8)] internal int mode;
            [FieldOffset(12)] internal uint flags;
            [FieldOffset(16)] internal long weight;
            [FieldOffset(24)] internal long required;
        }

        [StructLayout(LayoutKind.Explicit, Size = 24)]
        internal struct Quota
        {
            [FieldOffset(0)] internal uint kinds;
            [FieldOffset(4)] internal int measure;
            [FieldOffset(8)] internal long limit;
            [FieldOffset(16)] internal long period;
        }

        [StructLayout(LayoutKind.Explicit, Size = 48)]
        internal struct Profile
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal int @base;
            [FieldOffset(12)] internal int threshold;
            [FieldOffset(16)] internal Rule* rules;
            [FieldOffset(24)] internal ulong rule_count;
            [FieldOffset(32)] internal Quota* quotas;
            [FieldOffset(40)] internal ulong quota_count;
        }

        [StructLayout(LayoutKind.Explicit, Size = 56)]
        internal struct Finding
        {
            [FieldOffset(0)] internal int factor;
            [FieldOffset(4)] internal int verdict;
            [FieldOffset(8)] internal int source;
            [FieldOffset(12)] internal uint flags;
            [FieldOffset(16)] internal long observed;
            [FieldOffset(24)] internal long required;
            [FieldOffset(32)] internal long score;
            [FieldOffset(40)] internal long weight;
            [FieldOffset(48)] internal long clears_at;
        }

        [StructLayout(LayoutKind.Explicit, Size = 72)]
        internal struct Decision
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal int kind;
            [FieldOffset(12)] internal int granted;
            [FieldOffset(16)] internal long at;
            [FieldOffset(24)] internal long score;
            [FieldOffset(32)] internal long threshold;
            [FieldOffset(40)] internal long longest_window;
            [FieldOffset(48)] internal long ask_again_at;
            [FieldOffset(56)] internal ulong finding_count;
            [FieldOffset(64)] internal Finding* findings;
        }

        [StructLayout(LayoutKind.Explicit, Size = 40)]
        internal struct Balance
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal int is_spent;
            [FieldOffset(12)] internal int used;
            [FieldOffset(16)] internal long free;
            [FieldOffset(24)] internal long free_at;
            [FieldOffset(32)] internal long last_begin;
        }

        [StructLayout(LayoutKind.Explicit, Size = 24)]
        internal struct Forecast
        {
            [FieldOffset(0)] internal long begins_at;
            [FieldOffset(8)] internal long ends_at;
            [FieldOffset(16)] internal long probability;
        }

        [StructLayout(LayoutKind.Explicit, Size = 56)]
        internal struct Driver
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal long refresh_budget;
            [FieldOffset(16)] internal long processing_budget;
            [FieldOffset(24)] internal uint refresh_lanes;
            [FieldOffset(28)] internal uint processing_lanes;
            [FieldOffset(32)] internal uint kinds;
            [FieldOffset(36)] internal uint reserved;
            [FieldOffset(40)] internal long reserve;
            [FieldOffset(48)] internal long every;
        }

        [StructLayout(LayoutKind.Explicit, Size = 32)]
        internal struct Value
        {
            [FieldOffset(0)] internal int type;
            [FieldOffset(4)] internal uint reserved;
            [FieldOffset(8)] internal long integer;
            [FieldOffset(16)] internal void* data;
            [FieldOffset(24)] internal long length;
        }

        [StructLayout(LayoutKind.Explicit, Size = 56)]
        internal struct NodeRequest
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal ulong number;
            [FieldOffset(16)] internal Text sql;
            [FieldOffset(32)] internal Value* values;
            [FieldOffset(40)] internal ulong value_count;
            [FieldOffset(48)] internal long timeout;
        }

        [StructLayout(LayoutKind.Explicit, Size = 96)]
        internal struct NodeOptions
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal Text schema;
            [FieldOffset(24)] internal Text name;
            [FieldOffset(40)] internal Text* queues;
            [FieldOffset(48)] internal ulong queue_count;
            [FieldOffset(56)] internal Text* labels;
            [FieldOffset(64)] internal ulong label_count;
            [FieldOffset(72)] internal long lease;
            [FieldOffset(80)] internal long horizon;
            [FieldOffset(88)] internal long poll;
        }

        [StructLayout(LayoutKind.Explicit, Size = 56)]
        internal struct NodeInfo
        {
            [FieldOffset(0)] internal uint struct_size;
            [FieldOffset(4)] internal uint flags;
            [FieldOffset(8)] internal int state;
            [FieldOffset(12)] internal uint reserved;
            [FieldOffset(16)] internal long worker;
            [FieldOffset(24)] internal long believes_until;
            [FieldOffset(32)] internal ulong working;
            [FieldOffset(40)] internal ulong ready;
            [FieldOffset(48)] internal ulong undecided;
        }

        [DllImport(Library, ExactSpelling = true)]
        internal static extern uint selene_version();

        [DllImport(Library, ExactSpelling = true)]
        internal static extern void selene_free(void* made);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern byte* selene_status_message(int status);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern byte* selene_name(int names, long number);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern Error* selene_error_last();

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_open(Options* options, ulong* out_scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_drain(ulong scheduler, long grace);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_resume(ulong scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_close(ulong scheduler, long grace);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_now(ulong scheduler, long* out_now);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_clock_set(ulong scheduler, long now);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_clock_advance(
            ulong scheduler, long to, uint flags, long patience, long* out_next);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_get(ulong scheduler, SchedulerInfo* out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_enable(ulong scheduler, uint kinds);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_pause(
            ulong scheduler, uint kinds, byte* pool, long pool_length, long until);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_pause_list(ulong scheduler, Pauses** out_pauses);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_next_wakeup(ulong scheduler, long* out_at, long* out_delay);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_prune(ulong scheduler, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_reset(ulong scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_handler_register(
            ulong scheduler, byte* name, long name_length, IntPtr run, IntPtr stop, void* context, IntPtr destroy);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_handler_unregister(ulong scheduler, byte* name, long name_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_register(ulong scheduler, Task* task, int* out_disposition);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_register_batch(
            ulong scheduler, Task** tasks, ulong count, int* out_statuses, int* out_dispositions);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_cancel(ulong scheduler, byte* id, long id_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_cancel_tag(
            ulong scheduler, byte* tag, long tag_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_cancel_all(ulong scheduler, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_retry(ulong scheduler, byte* id, long id_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_retry_successors(
            ulong scheduler, byte* id, long id_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_retry_all(
            ulong scheduler, byte* tag, long tag_length, uint flags, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_set_next(ulong scheduler, byte* id, long id_length, long next);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_pause(ulong scheduler, byte* id, long id_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_pause_tag(ulong scheduler, byte* tag, long tag_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_resume(ulong scheduler, byte* id, long id_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_resume_tag(
            ulong scheduler, byte* tag, long tag_length, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_get(
            ulong scheduler, byte* id, long id_length, ulong position, TaskInfo** out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_get_output(
            ulong scheduler, byte* id, long id_length, TaskOutput** out_output);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_list(ulong scheduler, byte* tag, long tag_length, TaskIds** out_ids);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_list_state(ulong scheduler, int state, TaskIds** out_ids);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_explain(
            ulong scheduler, byte* id, long id_length, Explanation* out_explanation);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_waits(ulong scheduler, byte* id, long id_length, Waits** out_waits);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_group_set_limit(ulong scheduler, byte* name, long name_length, uint limit);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_group_pause(ulong scheduler, byte* name, long name_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_group_resume(ulong scheduler, byte* name, long name_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_group_get(ulong scheduler, byte* name, long name_length, GroupInfo* out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_group_list(ulong scheduler, TaskIds** out_names);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_begin(ulong scheduler, Window* window, ulong* out_cycle);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_next(ulong cycle, int* out_step, RunInfo* out_run, long* out_wake_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_end(ulong cycle, Report** out_report);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_drain(ulong cycle, long grace);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_run(ulong scheduler, Window* window, Report** out_report);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_run_async(
            ulong scheduler, Window* window, IntPtr report, void* context, IntPtr destroy, ulong* out_cycle, long* out_deadline);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_plan(ulong scheduler, Window* window, Plan** out_plan);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_lane_open(ulong cycle, ulong* out_lane);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_lane_next(
            ulong lane, int outcome, long timeout, int* out_step, RunInfo* out_run, long* out_wake_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_lane_close(ulong lane);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_wait(ulong cycle, long timeout, Report** out_report, long* out_wake_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_cycle_descriptor(ulong cycle, int* out_fd);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_complete(ulong run, int outcome);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_retry(ulong run, long delay);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_fail(
            ulong run, int outcome, long delay, byte* message, long message_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_complete_until(ulong run, int outcome, long next);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_stopping(ulong run, int* out_reason);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_sleep(ulong run, long nanoseconds, int* out_reason);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_remaining(ulong run, long* out_remaining);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_progress(ulong run, long done, long total, byte* text, long text_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_set_user(ulong run, void* user);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_user(ulong run, void** out_user);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_set_output(ulong run, void* output, long length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_get(ulong run, RunInfo** out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_conditions_set(ulong scheduler, uint constraints, uint satisfied);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_conditions_get(ulong scheduler, uint* out_satisfied, uint* out_host);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_condition_define(ulong scheduler, byte* name, long name_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_condition_undefine(ulong scheduler, byte* name, long name_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_condition_set(ulong scheduler, byte* name, long name_length, int satisfied);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_condition_get(ulong scheduler, byte* name, long name_length, int* out_state);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_condition_list(ulong scheduler, TaskIds** out_names);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_condition_missing(
            ulong scheduler, byte* id, long id_length, TaskIds** out_names);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_observe(
            ulong scheduler, IntPtr observer, void* context, IntPtr destroy);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_events_open(ulong scheduler, ulong capacity, int* out_fd);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_events_next(
            ulong scheduler, long timeout, Event* out_event, int* out_found, ulong* out_lost);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_events_close(ulong scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_log_set(IntPtr log, void* context, IntPtr destroy);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_store_get(ulong scheduler, StoreInfo** out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_store_backup(ulong scheduler, byte* path, long path_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_store_check(byte* path, long path_length, StoreFindings* out_findings);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_store_salvage(
            byte* damaged, long damaged_length, byte* fresh, long fresh_length, StoreFindings* out_findings);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_server_start(ulong scheduler, ServerOptions* options, ulong* out_server);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_server_open(
            ulong scheduler, ServerOptions* options, ulong* out_server, int* out_fd);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_server_step(ulong server, long* out_wake_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_server_get(ulong server, ServerInfo* out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_client_list(ulong scheduler, Clients** out_clients);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_server_close(ulong server);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_scheduler_connect(ConnectOptions* options, ulong* out_scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_signal_set(ulong scheduler, int signal, long value, long valid_for);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_signal_clear(ulong scheduler, int signal);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_signal_get(ulong scheduler, int signal, Signal* out_signal);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_governor_set_profile(ulong scheduler, Profile* profile);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_governor_ask(ulong scheduler, int kind, uint flags, Decision** out_decision);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_governor_last(ulong scheduler, int kind, Decision** out_decision);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_ledger_get(ulong scheduler, int kind, Balance* out_balance);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_ledger_report(ulong scheduler, int kind, long cpu_time, long bytes);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_use_report(ulong scheduler, long began_at, long ended_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_governor_forecast(
            ulong scheduler, int kind, Forecast* windows, ulong capacity, ulong* out_count);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_trace_record(ulong scheduler, byte* path, long path_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_trace_replay(
            byte* path, long path_length, ulong* out_decisions, ulong* out_first_difference);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_driver_start(ulong scheduler, Driver* driver);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_driver_open(ulong scheduler, Driver* driver, int* out_fd);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_driver_step(ulong scheduler, ulong* out_cycle, long* out_wake_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_driver_wait(ulong scheduler, long timeout, int* out_ready);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_driver_stop(ulong scheduler, long grace);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_launch(ulong scheduler, byte* id, long id_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_task_expire(ulong scheduler, byte* id, long id_length);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_open(ulong scheduler, NodeOptions* options, int* out_fd);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_step(ulong scheduler, NodeRequest* out_request, long* out_wake_at);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_wait(ulong scheduler, long timeout, int* out_ready);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_rows(
            ulong scheduler, ulong number, Value* cells, ulong rows, ulong columns);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_failed(
            ulong scheduler, ulong number, int sent, byte* sqlstate, byte* message);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_hint(ulong scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_get(ulong scheduler, NodeInfo* out_info);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_leave(ulong scheduler, long grace);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_node_close(ulong scheduler);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_fence(ulong run, long* out_fence, long* out_task);

        [DllImport(Library, ExactSpelling = true)]
        internal static extern int selene_run_decided_by_host(ulong run);
    }
}
