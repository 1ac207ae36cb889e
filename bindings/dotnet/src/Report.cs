// What a window did, and would do.
using System.Collections.Generic;

namespace Selene
{
    /// <summary>What a window did.</summary>
    public sealed class Report
    {
        internal unsafe Report(Raw.Report* raw)
        {
            Result = (Outcome)raw->result;
            BeganAt = new Instant(raw->began_at);
            EndedAt = new Instant(raw->ended_at);
            Deadline = new Instant(raw->deadline);
            Eligible = raw->eligible;
            DidNotFit = raw->did_not_fit;
            NewData = raw->new_data;
            NoData = raw->no_data;
            Failed = raw->failed;
            Abandoned = raw->abandoned;
            Expired = raw->expired;
            Stopped = raw->stopped;
            var runs = new ReportRun[raw->run_count];
            for (int i = 0; i < runs.Length; i++)
            {
                runs[i] = new ReportRun(raw->runs[i]);
            }
            Runs = runs;
        }

        /// <summary>Of all its runs together.</summary>
        public Outcome Result { get; }

        /// <summary>When it began.</summary>
        public Instant BeganAt { get; }

        /// <summary>When it ended.</summary>
        public Instant EndedAt { get; }

        /// <summary>When it had to.</summary>
        public Instant Deadline { get; }

        /// <summary>How many tasks could have run.</summary>
        public ulong Eligible { get; }

        /// <summary>How many of them did not fit.</summary>
        public ulong DidNotFit { get; }

        /// <summary>Runs that found something new.</summary>
        public ulong NewData { get; }

        /// <summary>Runs that found nothing new.</summary>
        public ulong NoData { get; }

        /// <summary>Runs that failed.</summary>
        public ulong Failed { get; }

        /// <summary>Runs that failed and are not tried again.</summary>
        public ulong Abandoned { get; }

        /// <summary>Runs that were not over by their deadline.</summary>
        public ulong Expired { get; }

        /// <summary>Runs that were stopped.</summary>
        public ulong Stopped { get; }

        /// <summary>In the order in which they began.</summary>
        public IReadOnlyList<ReportRun> Runs { get; }
    }

    /// <summary>One run of a window.</summary>
    public sealed class ReportRun
    {
        internal ReportRun(Raw.ReportRun raw)
        {
            Id = Lent.String(raw.id);
            Outcome = (Outcome)raw.outcome;
            StopReason = (StopReason)raw.stop_reason;
            Attempt = raw.attempt;
            Score = raw.score;
            Estimate = Duration.FromNanoseconds(raw.estimate);
            ResponseTime = Duration.FromNanoseconds(raw.response_time);
            StartedAt = new Instant(raw.started_at);
        }

        /// <summary>Of its task.</summary>
        public string Id { get; }

        /// <summary>How it ended.</summary>
        public Outcome Outcome { get; }

        /// <summary>Why it was asked to stop.</summary>
        public StopReason StopReason { get; }

        /// <summary>1 for the first.</summary>
        public uint Attempt { get; }

        /// <summary>By which it was picked.</summary>
        public double Score { get; }

        /// <summary>How long it was expected to take.</summary>
        public Duration Estimate { get; }

        /// <summary>How long it took.</summary>
        public Duration ResponseTime { get; }

        /// <summary>When it was dispatched.</summary>
        public Instant StartedAt { get; }
    }

    /// <summary>What a window would pick now.</summary>
    public sealed class Plan
    {
        internal unsafe Plan(Raw.Plan* raw)
        {
            Eligible = raw->eligible;
            var runs = new PlanRun[raw->run_count];
            for (int i = 0; i < runs.Length; i++)
            {
                runs[i] = new PlanRun(raw->runs[i]);
            }
            Runs = runs;
        }

        /// <summary>How many tasks could run.</summary>
        public ulong Eligible { get; }

        /// <summary>The picks in order.</summary>
        public IReadOnlyList<PlanRun> Runs { get; }
    }

    /// <summary>One pick of a plan.</summary>
    public sealed class PlanRun
    {
        internal PlanRun(Raw.PlanRun raw)
        {
            Id = Lent.String(raw.id);
            Score = raw.score;
            Estimate = Duration.FromNanoseconds(raw.estimate);
            StartsAt = new Instant(raw.starts_at);
        }

        /// <summary>Of its task.</summary>
        public string Id { get; }

        /// <summary>By which it would be picked.</summary>
        public double Score { get; }

        /// <summary>How long it is expected to take.</summary>
        public Duration Estimate { get; }

        /// <summary>When it would begin if each run took its estimate.</summary>
        public Instant StartsAt { get; }
    }
}
