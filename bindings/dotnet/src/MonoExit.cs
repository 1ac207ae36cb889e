using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Selene
{
    /// <summary>
    /// Lets a process end with Mono, which aborts threads that run its code, but waits for those that have run it and
    /// returned to the library. These end when their scheduler is closed.
    /// </summary>
    internal static class MonoExit
    {
        /// <summary>That of the close.</summary>
        private static readonly Duration Grace = TimeSpan.FromSeconds(1);

        private static readonly bool IsMono = Type.GetType("Mono.Runtime") != null;
        private static readonly ConcurrentDictionary<ulong, Scheduler> Open =
            new ConcurrentDictionary<ulong, Scheduler>();
        private static volatile bool hasReturned, isHeld;

        static MonoExit()
        {
            if (IsMono)
            {
                AppDomain.CurrentDomain.ProcessExit += (sender, none) => End();
            }
        }

        internal static void Opened(Scheduler scheduler)
        {
            if (IsMono)
            {
                Open[scheduler.Handle] = scheduler;
            }
        }

        internal static void Closed(Scheduler scheduler)
        {
            Open.TryRemove(scheduler.Handle, out _);
        }

        /// <summary>A callback is about to return.</summary>
        internal static void Returns()
        {
            hasReturned = true;
        }

        /// <summary>So is one that ran a handler. It does not if the process ends without a close.</summary>
        internal static void HandlerReturns()
        {
            hasReturned = true;
            // In one order with End: one of both sees the other.
            Interlocked.MemoryBarrier();
            if (isHeld)
            {
                // Mono aborts it here.
                Thread.Sleep(Timeout.Infinite);
            }
        }

        private static void End()
        {
            isHeld = true;
            Interlocked.MemoryBarrier();
            if (!hasReturned)
            {
                return;
            }
            isHeld = false;
            // Not on this thread: a handler that ends the process cannot close its scheduler.
            Task.WaitAll(Open.Values.Select(CloseOnItsOwnThread).ToArray());
        }

        private static Task CloseOnItsOwnThread(Scheduler scheduler)
        {
            return Task.Factory.StartNew(
                () => Close(scheduler), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }

        private static void Close(Scheduler scheduler)
        {
            try
            {
                scheduler.Close(Grace);
            }
            catch (SeleneException)
            {
                // It is closed all the same, but its last changes could not be stored.
            }
        }
    }
}
