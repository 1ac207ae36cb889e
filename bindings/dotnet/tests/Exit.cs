using System;
using System.IO;
using System.Linq;
using System.Threading;
using Selene;

/// <summary>
/// A process that ends with runs in flight ends with its exit code, whatever they do, and the store tells it afterwards.
/// Arguments: the store; how to end (exit, return), or nothing to look at what is left.
/// </summary>
internal static class Exit
{
    private static readonly string[] Ids = { "sleeps", "computes", "stores", "fails" };
    internal static byte[] Garbage;

    private static int Main(string[] arguments)
    {
        var options = new Options { Path = arguments[0] };
        if (arguments.Length == 1)
        {
            using (var scheduler = new Scheduler(options))
            {
                foreach (TaskInfo info in Ids.Select(scheduler.Get))
                {
                    Console.WriteLine(info.Id + " " + info.State + " " + info.StopReason);
                }
            }
            return 0;
        }
        var left = new Scheduler(options);
        left.SetConstraints(Constraints.All, Constraints.All);
        var begun = new CountdownEvent(Ids.Length);
        left.AddHandler("sleeps", run =>
        {
            begun.Signal();
            Thread.Sleep(Timeout.Infinite);
            return Result.NewData;
        });
        left.AddHandler("computes", run =>
        {
            begun.Signal();
            while (true)
            {
                Garbage = new byte[1000];
            }
        });
        left.AddHandler("stores", run =>
        {
            begun.Signal();
            for (int i = 0; ; i++)
            {
                run.Progress(i);
                TaskRequest task = TaskRequest.Once("made " + i % 10);
                task.InitialDelay = TimeSpan.FromDays(1);
                left.Register(task);
            }
        });
        left.AddHandler("fails", run =>
        {
            begun.Signal();
            while (true)
            {
                try
                {
                    left.Get("nobody");
                }
                catch (SeleneException refused)
                {
                    Garbage = new byte[refused.Message.Length];
                }
            }
        });
        foreach (string id in Ids)
        {
            left.Register(TaskRequest.Once(id));
        }
        left.StartDriver(
            new Driver { Ungoverned = true, RefreshBudget = TimeSpan.FromHours(2), RefreshLanes = (uint)Ids.Length });
        begun.Wait();
        // Its commit has what began, too.
        left.Register(TaskRequest.Standing("last"));
        if (arguments[1] == "exit")
        {
            Environment.Exit(7);
        }
        return 9;
    }
}
