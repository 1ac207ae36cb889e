using System;

namespace Selene
{
    /// <summary>What <see cref="Cycle.Next"/> found: a run, a time to wait, or neither.</summary>
    public readonly struct Step
    {
        internal Step(Run run, bool isDone, Instant? wakeAt)
        {
            Run = run;
            IsDone = isDone;
            WakeAt = wakeAt;
        }

        /// <summary>Work on it, and complete it before or after the next; null: there is none now.</summary>
        public Run Run { get; }

        /// <summary>There is nothing more to do.</summary>
        public bool IsDone { get; }

        /// <summary>Without a run: ask again after a completion, or then; null: only after a completion.</summary>
        public Instant? WakeAt { get; }
    }

    /// <summary>A window whose runs are pulled: for loops of one's own, and for tests. Disposing of it ends it.</summary>
    public sealed unsafe class Cycle : IDisposable
    {
        private readonly Scheduler scheduler;
        private readonly ulong handle;
        private volatile bool hasEnded;

        internal Cycle(Scheduler scheduler, ulong handle)
        {
            this.scheduler = scheduler;
            this.handle = handle;
        }

        /// <summary>The next run, if there is one now. Never waits.</summary>
        public Step Next()
        {
            int step;
            long wakeAt = Raw.NEVER;
            Raw.RunInfo info;
            info.struct_size = (uint)sizeof(Raw.RunInfo);
            info.flags = 0;
            // Texts of a run are lent until the scheduler is closed, which waits for those that copy them.
            scheduler.Enter();
            try
            {
                int status = Raw.selene_cycle_next(handle, &step, &info, &wakeAt);
                if (status != Raw.OK)
                {
                    SeleneException.Check(status);
                }
                if (step == Raw.STEP_RUN)
                {
                    return new Step(new Run(scheduler, &info), false, null);
                }
            }
            finally
            {
                scheduler.Leave();
            }
            return new Step(null, step == Raw.STEP_DONE, Instant.Maybe(wakeAt));
        }

        /// <summary>Ends it; runs that are open are stopped. If the store refuses, it stays open and can be ended again.</summary>
        public Report End()
        {
            Raw.Report* raw;
            SeleneException.Check(Raw.selene_cycle_end(handle, &raw));
            hasEnded = true;
            try
            {
                return new Report(raw);
            }
            finally
            {
                Raw.selene_free(raw);
            }
        }

        /// <summary>Ends it, if that was not done.</summary>
        public void Dispose()
        {
            if (hasEnded)
            {
                return;
            }
            int status = Raw.selene_cycle_end(handle, null);
            // It may have ended by itself, or with its scheduler.
            if (status != (int)Status.InvalidHandle)
            {
                SeleneException.Check(status);
            }
            hasEnded = true;
        }
    }
}
