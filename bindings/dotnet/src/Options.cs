// How a scheduler is opened, a window begun, and a driver started. What is null is as the library has it.
using System.Collections.Generic;

namespace Selene
{
    /// <summary>How a scheduler is opened.</summary>
    public sealed class Options
    {
        /// <summary>The file of the store; null: the tasks live in memory.</summary>
        public string Path { get; set; }

        /// <summary>The name of the application, as "org.example.mail"; its store opens under no other.</summary>
        public string Owner { get; set; }

        /// <summary>The ids that may be registered; one that ends in ".*" permits all that begin so. null: all.</summary>
        public ICollection<string> Permitted { get; set; }

        /// <summary>Once and periodic refresh tasks that wait or run at a time; null: no limit.</summary>
        public uint? MaxPendingRefresh { get; set; }

        /// <summary>Once and periodic processing tasks that wait or run at a time; null: no limit.</summary>
        public uint? MaxPendingProcessing { get; set; }

        /// <summary>What is over a limit is held back instead of refused.</summary>
        public bool Hold { get; set; }

        /// <summary>Backoff delays are not shorter: 10 s.</summary>
        public Duration? MinimumBackoff { get; set; }

        /// <summary>Backoff delays are not longer: 5 h.</summary>
        public Duration? MaximumBackoff { get; set; }

        /// <summary>Shortens each backoff by at most so many per mille.</summary>
        public uint BackoffJitter { get; set; }

        /// <summary>The least time from begin to begin of windows for refresh work: none.</summary>
        public Duration? MinimumIntervalRefresh { get; set; }

        /// <summary>The least time from begin to begin of windows for processing: none.</summary>
        public Duration? MinimumIntervalProcessing { get; set; }

        /// <summary>How long a run that has reached its timeout may still complete: 5 s.</summary>
        public Duration? StopGrace { get; set; }

        /// <summary>How long expedited tasks may run in 24 h: 10 min.</summary>
        public Duration? ExpeditedQuota { get; set; }

        /// <summary>How many bytes of input a task may carry: 10 240.</summary>
        public ulong? MaxInputSize { get; set; }

        /// <summary>How many bytes of output a run may leave: 1 MiB.</summary>
        public ulong? MaxOutputSize { get; set; }

        /// <summary>How long a task waits at least after a second run of it ended its process, each further time twice as long
        /// (30 s).</summary>
        public Duration? CrashPause { get; set; }

        /// <summary>How many threads may be left with handlers that overran.</summary>
        public uint? MaxOverrunThreads { get; set; }

        /// <summary>How many of one handler.</summary>
        public uint? MaxOverrunPerHandler { get; set; }

        /// <summary>Of the jitter; 0: taken from the clock.</summary>
        public ulong Seed { get; set; }

        /// <summary>Scores with the observed range.</summary>
        public bool ObservedRange { get; set; }

        /// <summary>Ranks by the freshness rule.</summary>
        public bool Freshness { get; set; }

        /// <summary>A loss of power may undo the last calls.</summary>
        public bool Relaxed { get; set; }

        /// <summary>The library's threads work when nothing else wants to.</summary>
        public bool BackgroundThreads { get; set; }

        /// <summary>The library starts no thread: runs are pulled.</summary>
        public bool NoThreads { get; set; }

        /// <summary>
        /// The clock of a test: it stands here until <see cref="Scheduler.SetClock"/> or <see cref="Scheduler.Advance"/>.
        /// </summary>
        public Instant? Clock { get; set; }

        /// <summary>For a field whose 0 is a default: the header's word for a 0 that is said.</summary>
        static long Said(ulong? number)
        {
            return number == 0 ? Raw.NONE : (long)System.Math.Min(number ?? 0, long.MaxValue);
        }

        /// <summary>The same; what is negative is nobody's word for something else.</summary>
        internal static int Said(int? number)
        {
            return number == 0 ? Raw.NONE : number == Raw.NONE ? int.MinValue : number ?? 0;
        }

        /// <summary>The same for one without a sign, where 0 is refused.</summary>
        internal static uint Said(uint? number)
        {
            return number == 0 ? uint.MaxValue : number ?? 0;
        }

        internal unsafe ulong Open()
        {
            using (var lent = new Lent())
            {
                var raw = new Raw.Options { struct_size = (uint)sizeof(Raw.Options) };
                if (Path != null)
                {
                    if (Path.Length == 0)
                    {
                        throw new SeleneException(Status.InvalidArgument, "path: empty; a store has a name", "path");
                    }
                    raw.path = lent.Text(Path, "path");
                }
                raw.owner = lent.Text(Owner ?? "", "owner");
                if (Permitted != null)
                {
                    raw.permitted = lent.Texts(Permitted, "permitted");
                    raw.permitted_count = (ulong)Permitted.Count;
                }
                raw.max_pending_refresh = Said((ulong?)MaxPendingRefresh);
                raw.max_pending_processing = Said((ulong?)MaxPendingProcessing);
                raw.minimum_backoff = MinimumBackoff?.Said ?? 0;
                raw.maximum_backoff = MaximumBackoff?.Said ?? 0;
                raw.backoff_jitter = BackoffJitter;
                raw.minimum_interval_refresh = MinimumIntervalRefresh?.Nanoseconds ?? 0;
                raw.minimum_interval_processing =
                    MinimumIntervalProcessing?.Nanoseconds ?? 0;
                raw.crash_pause = CrashPause?.Said ?? 0;
                raw.stop_grace = StopGrace?.Said ?? 0;
                raw.expedited_quota = ExpeditedQuota?.Said ?? 0;
                raw.max_input_size = Said(MaxInputSize);
                raw.max_output_size = Said(MaxOutputSize);
                raw.max_overrun_threads = (int)System.Math.Min(Said((ulong?)MaxOverrunThreads), int.MaxValue);
                raw.max_overrun_per_handler = Said(MaxOverrunPerHandler);
                raw.seed = Seed;
                raw.thread_quality = BackgroundThreads ? Raw.THREADS_BACKGROUND : Raw.THREADS_AS_HOST;
                raw.flags |= (Hold ? (uint)Raw.OPTIONS_HOLD : 0)
                    | (ObservedRange ? (uint)Raw.OPTIONS_OBSERVED_RANGE : 0)
                    | (Freshness ? (uint)Raw.OPTIONS_FRESHNESS : 0)
                    | (Relaxed ? (uint)Raw.OPTIONS_RELAXED : 0)
                    | (NoThreads ? (uint)Raw.OPTIONS_NO_THREADS : 0)
                    | (Clock.HasValue ? (uint)Raw.OPTIONS_SET_CLOCK : 0);
                raw.clock_start = Clock?.NanosecondsSinceEpoch ?? 0;
                ulong handle;
                SeleneException.Check(Raw.selene_scheduler_open(&raw, &handle));
                return handle;
            }
        }
    }

    /// <summary>An opportunity to work.</summary>
    public sealed class Window
    {
        /// <summary>From its begin to its deadline: 30 s.</summary>
        public Duration? Budget { get; set; }

        /// <summary>Kept free at the end, in which runs are asked to stop: a twentieth of the budget.</summary>
        public Duration? Reserve { get; set; }

        /// <summary>Of the tasks that it takes: all that may begin.</summary>
        public Kind? Kinds { get; set; }

        /// <summary>Runs at a time: 1.</summary>
        public uint? Lanes { get; set; }

        /// <summary>Nothing is picked whose estimate does not fit, not even first.</summary>
        public bool StrictFit { get; set; }

        /// <summary>Picks only tasks that were eligible at its begin; without it also those that become due
        /// meanwhile.</summary>
        public bool Frozen { get; set; }

        /// <summary>The one task that shall run now; null: all that may.</summary>
        public string Task { get; set; }

        internal unsafe Raw.Window Lend(Lent lent)
        {
            var raw = new Raw.Window { struct_size = (uint)sizeof(Raw.Window) };
            raw.budget = Budget?.Said ?? 0;
            raw.reserve = Reserve?.Said ?? 0;
            raw.kinds = (uint?)Kinds ?? 0;
            raw.lanes = Options.Said(Lanes);
            raw.flags |= (StrictFit ? (uint)Raw.WINDOW_STRICT_FIT : 0) | (Frozen ? (uint)Raw.WINDOW_FROZEN : 0);
            raw.task = lent.Text(Task ?? "", "task");
            return raw;
        }
    }

    /// <summary>How a driver opens windows.</summary>
    public sealed class Driver
    {
        /// <summary>Of windows for refresh work; without one nobody has decided a deadline.</summary>
        public Duration? RefreshBudget { get; set; }

        /// <summary>Of windows for processing; likewise.</summary>
        public Duration? ProcessingBudget { get; set; }

        /// <summary>Refresh runs at a time: 1.</summary>
        public uint? RefreshLanes { get; set; }

        /// <summary>Processing runs at a time: 1.</summary>
        public uint? ProcessingLanes { get; set; }

        /// <summary>Of its windows: all.</summary>
        public Kind? Kinds { get; set; }

        /// <summary>Kept free at the end of each: a twentieth of the budget.</summary>
        public Duration? Reserve { get; set; }

        /// <summary>The least time from window to window of a kind: none.</summary>
        public Duration? Every { get; set; }

        /// <summary>Nothing is picked whose estimate does not fit.</summary>
        public bool StrictFit { get; set; }

        /// <summary>One window at a time, for all kinds that are due.</summary>
        public bool Together { get; set; }

        /// <summary>Each window picks from what was eligible at its begin.</summary>
        public bool Frozen { get; set; }

        /// <summary>It asks no governor: what is due has its window.</summary>
        public bool Ungoverned { get; set; }

        internal unsafe Raw.Driver Lend()
        {
            var raw = new Raw.Driver { struct_size = (uint)sizeof(Raw.Driver) };
            raw.refresh_budget = RefreshBudget?.Nanoseconds ?? 0;
            raw.processing_budget = ProcessingBudget?.Nanoseconds ?? 0;
            raw.refresh_lanes = Options.Said(RefreshLanes);
            raw.processing_lanes = Options.Said(ProcessingLanes);
            raw.kinds = (uint?)Kinds ?? 0;
            raw.reserve = Reserve?.Said ?? 0;
            raw.every = Every?.Nanoseconds ?? 0;
            raw.flags |= (StrictFit ? (uint)Raw.DRIVER_STRICT_FIT : 0)
                | (Together ? (uint)Raw.DRIVER_TOGETHER : 0)
                | (Frozen ? (uint)Raw.DRIVER_FROZEN : 0)
                | (Ungoverned ? (uint)Raw.DRIVER_UNGOVERNED : 0);
            return raw;
        }
    }
}
