// What is known of a task, a group, and why something waits.
using System.Collections.Generic;

namespace Selene
{
    /// <summary>A task's record.</summary>
    public sealed class TaskInfo
    {
        internal unsafe TaskInfo(Raw.TaskInfo* raw)
        {
            Id = Lent.String(raw->id);
            Handler = Lent.String(raw->handler);
            Input = Lent.Array(raw->input);
            Tags = Lent.Strings(raw->tags, raw->tag_count);
            Conditions = Lent.Strings(raw->conditions, raw->condition_count);
            After = Lent.Strings(raw->after, raw->after_count);
            Constraints = (Constraints)raw->constraints;
            Kind = (Kind)raw->kind;
            Schedule = (Schedule)raw->schedule;
            Priority = (Priority)raw->priority;
            Group = Lent.String(raw->group);
            State = (State)raw->state;
            HasHandler = raw->has_handler != 0;
            IsPaused = raw->paused != 0;
            Attempts = raw->attempts;
            LastOutcome = (Outcome)raw->last_outcome;
            StopReason = (StopReason)raw->stop_reason;
            Generation = raw->generation;
            WaitsFor = raw->waits_for;
            Sequence = raw->sequence;
            Appended = raw->appended;
            RegisteredAt = new Instant(raw->registered_at);
            LastRun = new Instant(raw->last_run);
            EarliestBegin = Instant.Maybe(raw->earliest_begin);
            Estimate = Duration.FromNanoseconds(raw->estimate);
            var times = new Duration[raw->response_time_count];
            for (int i = 0; i < times.Length; i++)
            {
                times[i] = Duration.FromNanoseconds((&raw->response_times)[i]);
            }
            ResponseTimes = times;
            Failure = Lent.String(raw->failure);
            FailedAt = raw->failed_at == 0 ? (Instant?)null : new Instant(raw->failed_at);
            Progress = raw->progress_at == 0
                ? null
                : new Progress(
                    raw->progress_done, raw->progress_total, Lent.String(raw->progress_text), new Instant(raw->progress_at));
        }

        /// <summary>Its id.</summary>
        public string Id { get; }

        /// <summary>The name of its handler.</summary>
        public string Handler { get; }

        /// <summary>What its runs get.</summary>
        public byte[] Input { get; }

        /// <summary>Names that it shares with others.</summary>
        public IReadOnlyList<string> Tags { get; }

        /// <summary>The conditions of the host that it asks for.</summary>
        public IReadOnlyList<string> Conditions { get; }

        /// <summary>The tasks that it comes after.</summary>
        public IReadOnlyList<string> After { get; }

        /// <summary>What it asks of the system.</summary>
        public Constraints Constraints { get; }

        /// <summary>How long it takes.</summary>
        public Kind Kind { get; }

        /// <summary>When it is due.</summary>
        public Schedule Schedule { get; }

        /// <summary>How important it is.</summary>
        public Priority Priority { get; }

        /// <summary>The group that it is in; empty: none.</summary>
        public string Group { get; }

        /// <summary>What it is at.</summary>
        public State State { get; }

        /// <summary>Whether a handler of its handler's name is registered.</summary>
        public bool HasHandler { get; }

        /// <summary>Whether it is paused.</summary>
        public bool IsPaused { get; }

        /// <summary>Failures in a row, and the run in flight.</summary>
        public uint Attempts { get; }

        /// <summary>None while it never ran.</summary>
        public Outcome LastOutcome { get; }

        /// <summary>Why its last run was stopped.</summary>
        public StopReason StopReason { get; }

        /// <summary>How often it was updated.</summary>
        public uint Generation { get; }

        /// <summary>How many of the tasks that it comes after are not over.</summary>
        public uint WaitsFor { get; }

        /// <summary>The number of the record.</summary>
        public ulong Sequence { get; }

        /// <summary>How many wait behind it.</summary>
        public ulong Appended { get; }

        /// <summary>When it was registered.</summary>
        public Instant RegisteredAt { get; }

        /// <summary>When it last ran, or was registered.</summary>
        public Instant LastRun { get; }

        /// <summary>When it is due; null: never.</summary>
        public Instant? EarliestBegin { get; }

        /// <summary>What its next run is expected to take.</summary>
        public Duration Estimate { get; }

        /// <summary>What its last runs took.</summary>
        public IReadOnlyList<Duration> ResponseTimes { get; }

        /// <summary>Why it last failed, if no run has succeeded since; else empty.</summary>
        public string Failure { get; }

        /// <summary>When.</summary>
        public Instant? FailedAt { get; }

        /// <summary>Of the run in flight; null: it has told none.</summary>
        public Progress Progress { get; }
    }

    /// <summary>How far a run has come, as it told.</summary>
    public sealed class Progress
    {
        internal Progress(long done, long total, string text, Instant at)
        {
            Done = done;
            Total = total;
            Text = text;
            At = at;
        }

        /// <summary>So much.</summary>
        public long Done { get; }

        /// <summary>Of so much; 0: it is not known.</summary>
        public long Total { get; }

        /// <summary>What it said.</summary>
        public string Text { get; }

        /// <summary>When.</summary>
        public Instant At { get; }
    }

    /// <summary>Why a task does not run now.</summary>
    public sealed class Explanation
    {
        internal unsafe Explanation(Raw.Explanation* raw)
        {
            State = (State)raw->state;
            var missing = new Missing[raw->reason_count];
            for (int i = 0; i < missing.Length; i++)
            {
                missing[i] = new Missing((&raw->reasons)[i]);
            }
            Missing = missing;
            Rank = raw->rank;
            Eligible = raw->eligible;
            Score = raw->score;
            Estimate = Duration.FromNanoseconds(raw->estimate);
            LatestBegin = raw->latest_begin == 0 ? (Instant?)null : new Instant(raw->latest_begin);
            IsUrgent = raw->urgent != 0;
            IsExpedited = raw->expedited != 0;
            UnknownConstraints = (Constraints)raw->unknown_constraints;
        }

        /// <summary>What it is at.</summary>
        public State State { get; }

        /// <summary>Empty where nothing but a window is missing.</summary>
        public IReadOnlyList<Missing> Missing { get; }

        /// <summary>Counts from 1; 0: it is not eligible.</summary>
        public ulong Rank { get; }

        /// <summary>How many tasks are.</summary>
        public ulong Eligible { get; }

        /// <summary>By which it would be picked.</summary>
        public double Score { get; }

        /// <summary>What its next run is expected to take.</summary>
        public Duration Estimate { get; }

        /// <summary>The last instant at which it may begin, while it waits and has one.</summary>
        public Instant? LatestBegin { get; }

        /// <summary>Whether it goes before others, because that is near.</summary>
        public bool IsUrgent { get; }

        /// <summary>Whether it goes before others, because it is expedited and something of the quota is left.</summary>
        public bool IsExpedited { get; }

        /// <summary>What it asks for and of which nothing is known, so that it counts as satisfied.</summary>
        public Constraints UnknownConstraints { get; }
    }

    /// <summary>One reason why a task does not run.</summary>
    public sealed class Missing
    {
        internal Missing(Raw.Reason raw)
        {
            Reason = (Reason)raw.reason;
            Constraints = (Constraints)raw.constraints;
            MayChangeAt = Instant.Maybe(raw.may_change_at);
        }

        /// <summary>Which.</summary>
        public Reason Reason { get; }

        /// <summary>Those that do not hold.</summary>
        public Constraints Constraints { get; }

        /// <summary>When it may be over; null: when something changes.</summary>
        public Instant? MayChangeAt { get; }
    }

    /// <summary>Where the time of a task went since it was last due, or registered; the parts add up to the whole.</summary>
    public sealed class Waits
    {
        internal unsafe Waits(Raw.Waits* raw)
        {
            Since = new Instant(raw->since);
            Until = new Instant(raw->until);
            var parts = new WaitsPart[raw->part_count];
            for (int i = 0; i < parts.Length; i++)
            {
                parts[i] = new WaitsPart(raw->parts[i]);
            }
            Parts = parts;
            Preferred = raw->preferred_count;
            PreferredIds = Lent.Strings(raw->preferred_ids, raw->preferred_id_count);
        }

        /// <summary>From then.</summary>
        public Instant Since { get; }

        /// <summary>To then.</summary>
        public Instant Until { get; }

        /// <summary>By reason.</summary>
        public IReadOnlyList<WaitsPart> Parts { get; }

        /// <summary>How many dispatches of others went before it in windows that it fitted.</summary>
        public ulong Preferred { get; }

        /// <summary>The last of these, the latest first.</summary>
        public IReadOnlyList<string> PreferredIds { get; }
    }

    /// <summary>How much of a task's waiting went to one reason.</summary>
    public sealed class WaitsPart
    {
        internal WaitsPart(Raw.Wait raw)
        {
            Reason = (Reason)raw.reason;
            Name = Lent.String(raw.name);
            Detail = raw.detail;
            Duration = Duration.FromNanoseconds(raw.duration);
            Times = raw.times;
        }

        /// <summary>Which.</summary>
        public Reason Reason { get; }

        /// <summary>Of the condition or group; else empty.</summary>
        public string Name { get; }

        /// <summary>The bit of a constraint, the number of a factor, or 0.</summary>
        public long Detail { get; }

        /// <summary>How long.</summary>
        public Duration Duration { get; }

        /// <summary>How often it began; for the reasons of windows in how many of them.</summary>
        public ulong Times { get; }
    }

    /// <summary>A group of tasks.</summary>
    public sealed class GroupInfo
    {
        internal GroupInfo(Raw.GroupInfo raw)
        {
            Limit = raw.limit;
            IsPaused = raw.paused != 0;
            Running = raw.running;
            Waiting = raw.waiting;
        }

        /// <summary>Of runs at a time; 0: none.</summary>
        public uint Limit { get; }

        /// <summary>Whether nothing of it begins.</summary>
        public bool IsPaused { get; }

        /// <summary>Runs that are not over, or have not come back.</summary>
        public ulong Running { get; }

        /// <summary>Tasks that wait.</summary>
        public ulong Waiting { get; }
    }

    /// <summary>Kinds that are paused until the same instant.</summary>
    public sealed class Pause
    {
        internal Pause(Raw.Pause raw)
        {
            Kinds = (Kind)raw.kinds;
            Pool = raw.pool.length == 0 ? null : Lent.String(raw.pool);
            Until = Instant.Maybe(raw.until);
        }

        /// <summary>Which.</summary>
        public Kind Kinds { get; }

        /// <summary>Whose tasks wait; null: those of all.</summary>
        public string Pool { get; }

        /// <summary>When it ends; null: when it is resumed.</summary>
        public Instant? Until { get; }
    }

    /// <summary>Counts of a scheduler.</summary>
    public sealed class SchedulerInfo
    {
        internal SchedulerInfo(Raw.SchedulerInfo raw)
        {
            Kinds = (Kind)raw.kinds;
            Enqueued = raw.enqueued;
            Held = raw.held;
            Blocked = raw.blocked;
            Running = raw.running;
            Succeeded = raw.succeeded;
            Failed = raw.failed;
            Cancelled = raw.cancelled;
            Dispatched = raw.dispatched;
            OverrunThreads = raw.overrun_threads;
            StuckHandlers = raw.stuck_handlers;
        }

        /// <summary>Those that are on.</summary>
        public Kind Kinds { get; }

        /// <summary>Tasks that wait.</summary>
        public ulong Enqueued { get; }

        /// <summary>Tasks that are held back.</summary>
        public ulong Held { get; }

        /// <summary>Tasks that wait for others.</summary>
        public ulong Blocked { get; }

        /// <summary>Tasks that run.</summary>
        public ulong Running { get; }

        /// <summary>Tasks that are kept and have succeeded.</summary>
        public ulong Succeeded { get; }

        /// <summary>Tasks that are kept and have failed.</summary>
        public ulong Failed { get; }

        /// <summary>Tasks that are kept and were cancelled.</summary>
        public ulong Cancelled { get; }

        /// <summary>Runs since it was opened.</summary>
        public ulong Dispatched { get; }

        /// <summary>Threads left with handlers that overran.</summary>
        public uint OverrunThreads { get; }

        /// <summary>Handlers that get no thread because of that.</summary>
        public uint StuckHandlers { get; }
    }
}
