using System;
using System.Collections.Generic;

namespace Selene
{
    /// <summary>What is registered. What is null is as the library has it.</summary>
    public sealed class TaskRequest
    {
        private static readonly string[] None = { };
        private readonly Schedule schedule;

        private TaskRequest(string id, Schedule schedule)
        {
            Id = id ?? throw new ArgumentNullException(nameof(id));
            this.schedule = schedule;
        }

        /// <summary>A candidate in every window.</summary>
        public static TaskRequest Standing(string id)
        {
            return new TaskRequest(id, Schedule.Standing);
        }

        /// <summary>Work that is done once.</summary>
        public static TaskRequest Once(string id)
        {
            return new TaskRequest(id, Schedule.Once);
        }

        /// <summary>Work that is due again and again, each time after the period.</summary>
        public static TaskRequest Periodic(string id, Duration period)
        {
            return new TaskRequest(id, Schedule.Periodic) { Period = period };
        }

        /// <summary>Its id.</summary>
        public string Id { get; }

        /// <summary>The name of its handler; null: the id.</summary>
        public string Handler { get; set; }

        /// <summary>How long it takes.</summary>
        public Kind? Kind { get; set; }

        /// <summary>How important it is.</summary>
        public Priority? Priority { get; set; }

        /// <summary>What becomes of a live task of this id.</summary>
        public Existing? Existing { get; set; }

        /// <summary>From when its period counts.</summary>
        public Recurrence? Recurrence { get; set; }

        /// <summary>How the delay before a retry grows.</summary>
        public Backoff? Backoff { get; set; }

        /// <summary>The first delay before a retry: 30 s.</summary>
        public Duration? BackoffDelay { get; set; }

        /// <summary>Of how many of the last response times the estimate is the mean: 3.</summary>
        public int? ResponseWindow { get; set; }

        /// <summary>How many failures until it is over; 0: no limit.</summary>
        public uint MaxAttempts { get; set; }

        /// <summary>What must hold of the system.</summary>
        public Constraints Constraints { get; set; }

        /// <summary>Names of conditions of the host, all of which must hold.</summary>
        public ICollection<string> Conditions { get; set; } = None;

        /// <summary>Names that it shares with others.</summary>
        public ICollection<string> Tags { get; set; } = None;

        /// <summary>What a run is expected to take while nothing is known; null: what those of its handler took.</summary>
        public Duration? ExpectedResponse { get; set; }

        /// <summary>Until it is due first.</summary>
        public Duration InitialDelay { get; set; }

        /// <summary>How long after its registration a once task may begin at the latest; zero: it may wait.</summary>
        public Duration LatestBegin { get; set; }

        /// <summary>From one end of a run, or begin, to the next.</summary>
        public Duration Period { get; set; }

        /// <summary>The part of a period, at its end, in which it runs.</summary>
        public Duration Flex { get; set; }

        /// <summary>Makes delay and periods longer by a random part of at most so many per mille.</summary>
        public uint Jitter { get; set; }

        /// <summary>After which a run is asked to stop; zero: never.</summary>
        public Duration Timeout { get; set; }

        /// <summary>After which a run that tells no progress is asked to stop; zero: never.</summary>
        public Duration StallLimit { get; set; }

        /// <summary>The group that it is in; null: none.</summary>
        public string Group { get; set; }

        /// <summary>Once tasks that must have succeeded before it starts; it fails or is cancelled with them.</summary>
        public ICollection<string> After { get; set; } = None;

        /// <summary>It starts when those have ended, however.</summary>
        public bool AfterAnyEnd { get; set; }

        /// <summary>Bytes that each run gets; null: none.</summary>
        public byte[] Input { get; set; }

        /// <summary>The freshness rule does not learn from its outcomes.</summary>
        public bool Steady { get; set; }

        /// <summary>Important now: it goes before others while something is left of the quota.</summary>
        public bool Expedited { get; set; }

        /// <summary>Registering it while that quota is used up is refused.</summary>
        public bool RefuseOutOfQuota { get; set; }

        internal unsafe Raw.Task Lend(Lent lent)
        {
            var raw = new Raw.Task { struct_size = (uint)sizeof(Raw.Task) };
            raw.id = lent.Text(Id, "id");
            raw.handler = lent.Text(Handler ?? "", "handler");
            raw.group = lent.Text(Group ?? "", "group");
            raw.schedule = (int)schedule;
            raw.kind = (int?)Kind ?? 0;
            raw.priority = (int?)Priority ?? 0;
            raw.existing = (int?)Existing ?? 0;
            raw.recurrence = (int?)Recurrence ?? 0;
            raw.backoff = (int?)Backoff ?? 0;
            raw.backoff_delay = BackoffDelay?.Said ?? 0;
            raw.response_window = Options.Said(ResponseWindow);
            raw.max_attempts = MaxAttempts;
            raw.constraints = (uint)Constraints;
            raw.tags = lent.Texts(Tags ?? None, "tags");
            raw.tag_count = (uint)(Tags ?? None).Count;
            raw.conditions = lent.Texts(Conditions ?? None, "conditions");
            raw.condition_count = (uint)(Conditions ?? None).Count;
            raw.after = lent.Texts(After ?? None, "after");
            raw.after_count = (uint)(After ?? None).Count;
            raw.expected_response = ExpectedResponse?.Said ?? 0;
            raw.initial_delay = InitialDelay.Nanoseconds;
            raw.latest_begin = LatestBegin.Nanoseconds;
            raw.period = Period.Nanoseconds;
            raw.flex = Flex.Nanoseconds;
            raw.jitter = Jitter;
            raw.timeout = Timeout.Nanoseconds;
            raw.stall_limit = StallLimit.Nanoseconds;
            if (Input != null)
            {
                raw.input = lent.Bytes(Input);
                raw.input_length = Input.Length;
            }
            raw.flags |= (AfterAnyEnd ? (uint)Raw.TASK_AFTER_ANY_END : 0)
                | (Steady ? (uint)Raw.TASK_STEADY : 0)
                | (Expedited ? (uint)Raw.TASK_EXPEDITED : 0)
                | (RefuseOutOfQuota ? (uint)Raw.TASK_REFUSE_OUT_OF_QUOTA : 0);
            return raw;
        }
    }
}
