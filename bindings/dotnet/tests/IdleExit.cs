using System;
using System.Threading;
using System.Threading.Tasks;
using Selene;

/// <summary>
/// A process that disposes of nothing ends with its exit code, though threads of the library wait for work that have called
/// it. Arguments: what they called (window, awaited, report, driver, busy, handler); how to end (exit, return).
/// </summary>
internal static class IdleExit
{
    private static int Main(string[] arguments)
    {
        string what = arguments[0], how = arguments[1];
        var scheduler = new Scheduler();
        var begun = new ManualResetEvent(false);
        scheduler.AddHandler("window", run => Result.NewData);
        scheduler.AddHandler("awaited", async (run, stop) =>
        {
            await Task.Yield();
            return Result.NewData;
        });
        // It may be on its way back to the library when Main returns.
        scheduler.AddHandler("driver", run =>
        {
            begun.Set();
            return Result.NewData;
        });
        scheduler.AddHandler("busy", run =>
        {
            begun.Set();
            Thread.Sleep(Timeout.Infinite);
            return Result.NewData;
        });
        scheduler.AddHandler("handler", run =>
        {
            Environment.Exit(7);
            return Result.NewData;
        });
        if (what == "busy" || what == "handler")
        {
            scheduler.Register(TaskRequest.Once("window"));
            scheduler.Run();
        }
        // Without a task a window calls with its report alone.
        if (what != "report")
        {
            scheduler.Register(TaskRequest.Once(what));
        }
        if (what == "driver" || what == "busy" || what == "handler")
        {
            scheduler.StartDriver(new Driver { Ungoverned = true });
            begun.WaitOne();
        }
        else
        {
            scheduler.Run();
        }
        if (how == "exit")
        {
            Environment.Exit(7);
        }
        return 9;
    }
}
