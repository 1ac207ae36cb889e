// Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Selene;

internal static class Archive
{
    private static string PathOf(Run run)
    {
        return Encoding.UTF8.GetString(run.Input);
    }

    /// <summary>Prints the sum of a file; it is tried again where there is none.</summary>
    private static Result Sum(Run run)
    {
        string path = PathOf(run);
        if (!File.Exists(path))
        {
            return Result.Retry(TimeSpan.Zero, Path.GetFileName(path) + " is not there");
        }
        ulong sum = File.ReadAllBytes(path).Aggregate(0xcbf29ce484222325, (all, one) => (all ^ one) * 0x100000001b3);
        Console.WriteLine("{0}: {1:x16}, attempt {2}", run.Id, sum, run.Attempt);
        return Result.NewData;
    }

    /// <summary>Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as
    /// need be.</summary>
    private static async Task<Result> Copy(Run run, CancellationToken stop)
    {
        using (FileStream from = File.OpenRead(PathOf(run)))
        using (FileStream to = File.Open(PathOf(run) + ".copy", FileMode.Append))
        {
            from.Position = to.Position;
            var piece = new byte[4096];
            for (int length; (length = from.Read(piece, 0, piece.Length)) > 0;)
            {
                to.Write(piece, 0, length);
                try
                {
                    // A slow disk; the wait ends early if the run is asked to stop.
                    await Task.Delay(150, stop);
                }
                catch (OperationCanceledException)
                {
                    return Result.Retry(TimeSpan.Zero, "not done yet");
                }
            }
            Console.WriteLine("{0}: {1} bytes", run.Id, to.Position);
        }
        return Result.NewData;
    }

    private static TaskRequest Request(string id, string handler, string file, Priority priority, TimeSpan expected)
    {
        TaskRequest task = TaskRequest.Once(id);
        task.Handler = handler;
        task.Input = Encoding.UTF8.GetBytes(file);
        task.Priority = priority;
        task.ExpectedResponse = expected;
        return task;
    }

    /// <summary>A program that is started, works for a window, and ends; what is left to do, and why.</summary>
    private static List<string> Live(string folder)
    {
        var options = new Options { Path = Path.Combine(folder, "store"), Owner = "org.example.archive" };
        using (var scheduler = new Scheduler(options))
        {
            scheduler.AddHandler("sum", Sum);
            scheduler.AddHandler("copy", Copy);
            TimeSpan quick = TimeSpan.FromMilliseconds(1), slow = TimeSpan.FromMilliseconds(100);
            var tasks = new[]
            {
                Request("sum of a", "sum", Path.Combine(folder, "a"), Priority.Normal, quick),
                Request("sum of b", "sum", Path.Combine(folder, "b"), Priority.Normal, quick),
                Request("copy of big", "copy", Path.Combine(folder, "big"), Priority.Low, slow),
            };
            // Those of an earlier life are known.
            foreach (TaskRequest task in tasks.Where(one => scheduler.Find(one.Id) == null))
            {
                scheduler.Register(task);
            }
            scheduler.Run(new Window { Budget = TimeSpan.FromSeconds(10), Reserve = TimeSpan.FromSeconds(5) });
            return scheduler.Ids(State.Enqueued).Select(id => id + ": " + scheduler.Get(id).Failure).ToList();
        }
    }

    private static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "selene-archive-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            File.WriteAllText(Path.Combine(folder, "a"), "first");
            File.WriteAllBytes(Path.Combine(folder, "big"), new byte[40 * 4096]);
            List<string> left = Live(folder);
            left.ForEach(Console.WriteLine);
            File.WriteAllText(Path.Combine(folder, "b"), "second");
            // What was copied is not copied again, so this comes to an end.
            while (left.Count > 0)
            {
                left = Live(folder);
            }
        }
        finally
        {
            Directory.Delete(folder, true);
        }
    }
}
