using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Selene
{
    /// <summary>What the library calls. Its contexts are objects that it keeps by a handle until it releases them.</summary>
    internal static unsafe class Callbacks
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void RunFunction(ulong run, Raw.RunInfo* info, IntPtr context);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void StopFunction(ulong run, int reason, IntPtr context);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void ReportFunction(Raw.Report* report, IntPtr context);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void EventFunction(Raw.Event* raw, IntPtr context);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void ReleaseFunction(IntPtr context);

        // The collector may take what native code alone knows: these are kept for ever.
        private static readonly RunFunction KeptRun = OnRun;
        private static readonly StopFunction KeptStop = OnStop;
        private static readonly ReportFunction KeptReport = OnReport;
        private static readonly EventFunction KeptEvent = OnEvent;
        private static readonly ReleaseFunction KeptRelease = OnRelease;

        internal static readonly IntPtr Run = Marshal.GetFunctionPointerForDelegate(KeptRun);
        internal static readonly IntPtr Stop = Marshal.GetFunctionPointerForDelegate(KeptStop);
        internal static readonly IntPtr Report = Marshal.GetFunctionPointerForDelegate(KeptReport);
        internal static readonly IntPtr Event = Marshal.GetFunctionPointerForDelegate(KeptEvent);
        internal static readonly IntPtr Release = Marshal.GetFunctionPointerForDelegate(KeptRelease);

        /// <summary>A context: the object, until the library releases it.</summary>
        internal static void* Keep(object context)
        {
            return (void*)GCHandle.ToIntPtr(GCHandle.Alloc(context));
        }

        private static T Context<T>(IntPtr context)
        {
            return (T)GCHandle.FromIntPtr(context).Target;
        }

        private static void OnRun(ulong token, Raw.RunInfo* info, IntPtr context)
        {
            var registration = Context<Registration>(context);
            registration.Begin(new Run(registration.Scheduler, info));
            MonoExit.HandlerReturns();
        }

        private static void OnStop(ulong token, int reason, IntPtr context)
        {
            MonoExit.Returns();
            Context<Registration>(context).Scheduler.Stop(token);
        }

        private static void OnReport(Raw.Report* report, IntPtr context)
        {
            MonoExit.Returns();
            Context<Waiter>(context).Reported(new Report(report));
        }

        private static void OnEvent(Raw.Event* raw, IntPtr context)
        {
            MonoExit.Returns();
            Context<Events>(context).Tell(raw);
        }

        private static void OnRelease(IntPtr context)
        {
            MonoExit.Returns();
            GCHandle handle = GCHandle.FromIntPtr(context);
            object released = handle.Target;
            handle.Free();
            (released as Waiter)?.Released();
            (released as Events)?.End();
        }
    }

    /// <summary>A handler of a scheduler: the context of its callbacks. Of a pulled one only the stops come here.</summary>
    internal sealed class Registration
    {
        internal readonly Scheduler Scheduler;
        private readonly Func<Run, Result> work;
        private readonly Func<Run, CancellationToken, Task<Result>> start;

        internal Registration(
            Scheduler scheduler, Func<Run, Result> work, Func<Run, CancellationToken, Task<Result>> start)
        {
            Scheduler = scheduler;
            this.work = work;
            this.start = start;
        }

        /// <summary>Throws nothing: nothing of the runtime may reach the library.</summary>
        internal void Begin(Run run)
        {
            try
            {
                if (work != null)
                {
                    run.Finish(work(run));
                    return;
                }
                Task<Result> task = start(run, run.Stopping);
                if (task == null)
                {
                    run.Finish(null);
                    return;
                }
                task.ContinueWith(
                    (ended, state) => Ended(ended, (Run)state), run, CancellationToken.None,
                    TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            }
            catch (Exception thrown)
            {
                run.Finish(run.Failure(thrown));
            }
        }

        private static void Ended(Task<Result> task, Run run)
        {
            if (task.IsFaulted)
            {
                run.Finish(run.Failure(task.Exception.InnerException));
            }
            else
            {
                run.Finish(task.IsCanceled ? run.Failure(new TaskCanceledException(task)) : task.Result);
            }
        }
    }

    /// <summary>Who waits for the report of a window on threads of the library.</summary>
    internal sealed class Waiter
    {
        private readonly TaskCompletionSource<Report> source =
            new TaskCompletionSource<Report>(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly CancellationToken stop;
        private ulong cycle;
        private int state;
        private const int HasBegun = 1, IsReleased = 2;

        internal Waiter(CancellationToken stop)
        {
            this.stop = stop;
        }

        internal Task<Report> Task
        {
            get { return source.Task; }
        }

        /// <summary>The call that takes it has returned, and with success.</summary>
        internal void Begun(ulong handle)
        {
            cycle = handle;
            if (stop.CanBeCanceled)
            {
                CancellationTokenRegistration registration = stop.Register(End);
                // Not on a thread of the library: it waits for a call of End.
                Task.ContinueWith(
                    _ => registration.Dispose(), CancellationToken.None, TaskContinuationOptions.None,
                    TaskScheduler.Default);
            }
            if (Add(HasBegun) == (HasBegun | IsReleased))
            {
                Over();
            }
        }

        private unsafe void End()
        {
            Raw.selene_cycle_end(cycle, null);
        }

        internal void Reported(Report report)
        {
            if (stop.IsCancellationRequested)
            {
                source.TrySetCanceled(stop);
            }
            else
            {
                source.TrySetResult(report);
            }
        }

        /// <summary>After the report, if there was one, or after the call failed, before it returns.</summary>
        internal void Released()
        {
            if (Add(IsReleased) == (HasBegun | IsReleased))
            {
                Over();
            }
        }

        private int Add(int bit)
        {
            int known;
            do
            {
                known = Volatile.Read(ref state);
            }
            while (Interlocked.CompareExchange(ref state, known | bit, known) != known);
            return known | bit;
        }

        private void Over()
        {
            source.TrySetException(
                new SeleneException(Status.StoreIo, "the window ended without a report: the store refused it"));
        }
    }
}
