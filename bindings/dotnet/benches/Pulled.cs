using System;
using System.Diagnostics;
using System.Globalization;
using Selene;

/// <summary>
/// What a pulled run costs once the runtime has compiled it: for each line that it reads, a window of 500 runs, and ns a run.
/// Argument: number of tasks.
/// </summary>
internal static class Pulled
{
    private static int Window(Scheduler scheduler)
    {
        int runs = 0;
        using (Cycle cycle = scheduler.Begin())
        {
            for (; runs < 500; runs++)
            {
                Run run = cycle.Next().Run;
                if (run == null)
                {
                    break;
                }
                run.Complete(Outcome.NewData);
            }
        }
        return runs;
    }

    private static void Main(string[] arguments)
    {
        int tasks = arguments.Length > 0 ? int.Parse(arguments[0]) : 1000;
        using (var scheduler = new Scheduler(new Options { NoThreads = true }))
        {
            scheduler.SetConstraints(Constraints.All, Constraints.All);
            scheduler.AddPulledHandler("count");
            for (int i = 0; i < tasks; i++)
            {
                TaskRequest task = TaskRequest.Standing("task-" + i.ToString("D11"));
                task.Handler = "count";
                task.ExpectedResponse = Duration.Zero;
                scheduler.Register(task);
            }
            // The runtime compiles what was called often: a service that has run for a second.
            for (int i = 0; i < 400; i++)
            {
                Window(scheduler);
            }
            while (Console.ReadLine() != null)
            {
                long begin = Stopwatch.GetTimestamp();
                int runs = Window(scheduler);
                double spent = (Stopwatch.GetTimestamp() - begin) * 1e9 / Stopwatch.Frequency;
                Console.WriteLine((spent / runs).ToString("F1", CultureInfo.InvariantCulture));
            }
        }
    }
}
