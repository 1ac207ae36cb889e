using System;
using System.Threading;
using System.Threading.Tasks;

namespace Selene
{
    /// <summary>One change.</summary>
    public sealed class Event
    {
        internal unsafe Event(Raw.Event* raw, ulong lost)
        {
            Number = raw->number;
            Type = (EventType)raw->type;
            State = raw->state < 0 ? (State?)null : (State)raw->state;
            Time = new Instant(raw->time);
            Id = Lent.String(raw->id);
            Detail = raw->detail;
            Attempts = raw->attempts;
            Message = Lent.String(raw->message);
            Lost = lost;
        }

        /// <summary>Counts in the order of the changes; those of events that found no room are missing.</summary>
        public ulong Number { get; }

        /// <summary>What it tells.</summary>
        public EventType Type { get; }

        /// <summary>Of the task after it; null: there is no task.</summary>
        public State? State { get; }

        /// <summary>When.</summary>
        public Instant Time { get; }

        /// <summary>Of the task; empty: there is none.</summary>
        public string Id { get; }

        /// <summary>A number whose meaning depends on the type; the header says which.</summary>
        public int Detail { get; }

        /// <summary>Of the task.</summary>
        public uint Attempts { get; }

        /// <summary>Why a run failed, or what the trouble is.</summary>
        public string Message { get; }

        /// <summary>How many events found no room before this one.</summary>
        public ulong Lost { get; }

        /// <summary>The one behind it in the queue.</summary>
        internal Event Next;
    }

    /// <summary>The events of a scheduler, from a moment on, in a queue. Any thread may read them.</summary>
    public sealed class Events : IDisposable
    {
        private readonly Scheduler scheduler;
        private readonly int capacity;
        /// <summary>Counts what is in the queue, and one more once it is over.</summary>
        private readonly SemaphoreSlim waiting = new SemaphoreSlim(0);

        // Guarded by the lock of the semaphore, under which nobody calls the library.
        private Event first, last;
        private int count;
        private ulong lost;

        internal Events(Scheduler scheduler, int capacity)
        {
            this.scheduler = scheduler;
            this.capacity = capacity;
        }

        /// <summary>Called by the library, for one event at a time.</summary>
        internal unsafe void Tell(Raw.Event* raw)
        {
            lock (waiting)
            {
                if (count >= capacity)
                {
                    lost++;
                    return;
                }
                var told = new Event(raw, lost);
                if (count++ == 0)
                {
                    first = told;
                }
                else
                {
                    last.Next = told;
                }
                last = told;
                lost = 0;
            }
            waiting.Release();
        }

        /// <summary>Called by the library, after the last one.</summary>
        internal void End()
        {
            waiting.Release();
        }

        private Event Taken()
        {
            lock (waiting)
            {
                if (count > 0)
                {
                    Event taken = first;
                    first = taken.Next;
                    taken.Next = null;
                    if (--count == 0)
                    {
                        last = null;
                    }
                    return taken;
                }
            }
            // It is over, for others that wait, too.
            waiting.Release();
            return null;
        }

        /// <summary>The next one, if one waits; else null.</summary>
        public Event Poll()
        {
            return waiting.Wait(0) ? Taken() : null;
        }

        /// <summary>The next one, for which it waits; null: the events or the scheduler were closed, and all are read.</summary>
        public Event Take(CancellationToken stop = default(CancellationToken))
        {
            waiting.Wait(stop);
            return Taken();
        }

        /// <summary>The same, awaited.</summary>
        public async Task<Event> TakeAsync(CancellationToken stop = default(CancellationToken))
        {
            await waiting.WaitAsync(stop).ConfigureAwait(false);
            return Taken();
        }

        /// <summary>No more are told; what waits can be read.</summary>
        public void Dispose()
        {
            scheduler.Unobserve(this);
        }
    }
}
