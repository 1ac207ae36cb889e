using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using Selene;
using Tasks = System.Threading.Tasks;

/// <summary>Plays commands of Tests/conformance through the package.</summary>
internal sealed class Player
{
    private Instant now = new Instant(0);
    private Scheduler scheduler;
    private Events events;
    private Cycle cycle;
    private Run run;

    private static string Decode(string text)
    {
        var made = new List<byte>();
        for (int i = 0; i < text.Length; i++)
        {
            if (text[i] == '%')
            {
                made.Add(Convert.ToByte(text.Substring(i + 1, 2), 16));
                i += 2;
            }
            else
            {
                made.Add((byte)text[i]);
            }
        }
        return Encoding.UTF8.GetString(made.ToArray());
    }

    private static string Encode(string text)
    {
        return string.Concat(Encoding.UTF8.GetBytes(text).Select(one => "%" + one.ToString("X2")));
    }

    /// <summary>The words of a command.</summary>
    private sealed class Words
    {
        internal string Word = "";
        internal readonly Dictionary<string, string> Fields = new Dictionary<string, string>();

        internal long? Number(string key)
        {
            string text;
            return Fields.TryGetValue(key, out text) ? long.Parse(text, CultureInfo.InvariantCulture) : (long?)null;
        }

        internal int? Small(string key)
        {
            return unchecked((int?)Number(key));
        }

        /// <summary>-1 is no limit.</summary>
        internal uint? Count(string key)
        {
            return unchecked((uint?)Number(key));
        }

        internal Duration? Span(string key)
        {
            long? number = Number(key);
            return number.HasValue ? Duration.FromNanoseconds(number.Value) : (Duration?)null;
        }

        internal string Text(string key)
        {
            string text;
            return Fields.TryGetValue(key, out text) ? Decode(text) : null;
        }

        internal string[] List(string key)
        {
            string text;
            return Fields.TryGetValue(key, out text)
                ? text.Split(',').Where(one => one.Length > 0).Select(Decode).ToArray()
                : null;
        }

        internal bool Is(string key)
        {
            return (Number(key) ?? 0) != 0;
        }
    }

    private static TaskRequest Task(Words given)
    {
        string id = given.Text("id") ?? "";
        TaskRequest task;
        switch ((Schedule)(given.Small("schedule") ?? (int)Schedule.Standing))
        {
            case Schedule.Standing:
                task = TaskRequest.Standing(id);
                task.Period = given.Span("period") ?? Duration.Zero;
                break;
            case Schedule.Once:
                task = TaskRequest.Once(id);
                task.Period = given.Span("period") ?? Duration.Zero;
                break;
            default:
                task = TaskRequest.Periodic(id, given.Span("period") ?? Duration.Zero);
                break;
        }
        task.Handler = given.Text("handler");
        task.Kind = (Kind?)given.Small("kind");
        task.Priority = (Priority?)given.Small("priority");
        task.Existing = (Existing?)given.Small("existing");
        task.Recurrence = (Recurrence?)given.Small("recurrence");
        task.Backoff = (Backoff?)given.Small("backoff");
        task.BackoffDelay = given.Span("backoff_delay");
        task.ResponseWindow = given.Small("response_window");
        task.MaxAttempts = given.Count("max_attempts") ?? 0;
        task.Constraints = (Constraints)(given.Small("constraints") ?? 0);
        task.Tags = given.List("tags");
        task.Conditions = given.List("conditions");
        task.After = given.List("after");
        if (given.Number("expected_response") != -1)
        {
            task.ExpectedResponse = given.Span("expected_response");
        }
        task.InitialDelay = given.Span("initial_delay") ?? Duration.Zero;
        task.Flex = given.Span("flex") ?? Duration.Zero;
        task.Jitter = given.Count("jitter") ?? 0;
        task.Timeout = given.Span("timeout") ?? Duration.Zero;
        task.StallLimit = given.Span("stall_limit") ?? Duration.Zero;
        task.LatestBegin = given.Span("latest_begin") ?? Duration.Zero;
        task.Group = given.Text("group");
        task.Input = new byte[given.Number("input_size") ?? 0];
        long flags = given.Number("flags") ?? 0;
        task.AfterAnyEnd = (flags & 2) != 0;
        task.Expedited = (flags & 4) != 0;
        task.RefuseOutOfQuota = (flags & 8) != 0;
        return task;
    }

    /// <summary>The handler of a case of ends.</summary>
    private sealed class Work
    {
        private readonly string answer;
        internal readonly ManualResetEventSlim Begun = new ManualResetEventSlim();
        private readonly Tasks.TaskCompletionSource<bool> released =
            new Tasks.TaskCompletionSource<bool>(Tasks.TaskCreationOptions.RunContinuationsAsynchronously);

        internal Work(string answer)
        {
            this.answer = answer;
        }

        private bool IsDeaf
        {
            get { return answer == "deaf" || answer == "completes"; }
        }

        internal void Release()
        {
            released.TrySetResult(true);
        }

        /// <summary>On a thread of the library.</summary>
        internal Result Run(Run run)
        {
            Begun.Set();
            if (IsDeaf)
            {
                released.Task.Wait();
                return Result.NewData;
            }
            run.Stopping.WaitHandle.WaitOne();
            return Answer(run.Stopping);
        }

        /// <summary>The same as a task.</summary>
        internal async Tasks.Task<Result> RunAsync(Run run, CancellationToken stop)
        {
            Begun.Set();
            if (!IsDeaf)
            {
                stop.Register(Release);
            }
            await released.Task.ConfigureAwait(false);
            return IsDeaf ? Result.NewData : Answer(stop);
        }

        private Result Answer(CancellationToken stop)
        {
            if (answer == "obeys")
            {
                stop.ThrowIfCancellationRequested();
            }
            return answer == "fails" ? Result.Failed("it was asked to stop") : Result.NewData;
        }
    }

    /// <summary>Plays an end: StopDriver, or the cancellation of DriveAsync, or a close.</summary>
    private static void PlayEnd(string way, Words given)
    {
        Duration grace = given.Span("grace") ?? Duration.Zero;
        var work = new Work(given.Text("answer"));
        var driver = new Driver { Ungoverned = true };
        using (var own = new Scheduler(new Options { Path = given.Text("path") }))
        using (var stop = new CancellationTokenSource())
        {
            Tasks.Task driving = Tasks.Task.CompletedTask;
            if (way == "wait")
            {
                own.AddHandler("work", work.RunAsync);
                driving = own.DriveAsync(driver, grace, stop.Token);
            }
            else
            {
                own.AddHandler("work", work.Run);
                own.StartDriver(driver);
            }
            if (given.Text("answer") != "idle")
            {
                work.Begun.Wait();
            }
            Tasks.Task releasing =
                given.Text("answer") == "completes" ? Tasks.Task.Run(() => work.Release()) : Tasks.Task.CompletedTask;
            switch (way)
            {
                case "exit": Environment.Exit(0); break;
                case "shutdown": own.StopDriver(grace); break;
                case "close": own.Close(grace); break;
                default: stop.Cancel(); break;
            }
            driving.Wait();
            releasing.Wait();
            work.Release();
        }
    }

    private static Window Window(Words given)
    {
        return new Window
        {
            Budget = given.Span("budget"),
            Reserve = given.Span("reserve"),
            Kinds = (Kind?)given.Small("kinds"),
            StrictFit = given.Is("strict"),
            Frozen = given.Is("frozen"),
        };
    }

    private void Open(Words given)
    {
        scheduler?.Dispose();
        uint? refresh = given.Fields.ContainsKey("max_pending_refresh") ? given.Count("max_pending_refresh") : 1;
        uint? processing = given.Fields.ContainsKey("max_pending_processing") ? given.Count("max_pending_processing") : 10;
        scheduler = new Scheduler(new Options
        {
            Clock = now,
            NoThreads = true,
            Path = given.Text("path"),
            Permitted = given.List("permitted"),
            Hold = given.Is("hold"),
            ObservedRange = given.Is("observed_range"),
            MaxPendingRefresh = refresh,
            MaxPendingProcessing = processing,
            MinimumIntervalRefresh = given.Span("minimum_interval_refresh"),
            ExpeditedQuota = given.Span("expedited_quota"),
            Seed = (ulong)(given.Number("seed") ?? 0),
        });
        scheduler.SetConstraints(Constraints.All, Constraints.All);
        events = scheduler.Observe(65536);
    }

    private IEnumerable<object> Perform(string verb, Words given)
    {
        string word = Decode(given.Word);
        switch (verb)
        {
            case "clock":
                now = new Instant(long.Parse(word, CultureInfo.InvariantCulture));
                scheduler?.SetClock(now);
                break;
            case "open": Open(given); break;
            case "close":
                Scheduler closed = scheduler;
                scheduler = null;
                closed.Dispose();
                break;
            case "ends": PlayEnd(word, given); break;
            case "unknown": throw new NotSupportedException("the compiler knows the words");
            case "exit": Environment.Exit(0); break;
            case "handler": scheduler.AddPulledHandler(word); break;
            case "conditions": scheduler.SetConstraints(Constraints.All, (Constraints)int.Parse(word)); break;
            case "enable": scheduler.Enable((Kind)int.Parse(word)); break;
            case "register": return new object[] { (int)scheduler.Register(Task(given)) };
            case "cancel": return new object[] { scheduler.Cancel(word) };
            case "cancel_tag": return new object[] { scheduler.CancelTagged(word) };
            case "cancel_all": return new object[] { scheduler.CancelAll() };
            case "pause": return new object[] { scheduler.Pause(word) };
            case "pause_tag": return new object[] { scheduler.PauseTagged(word) };
            case "resume": return new object[] { scheduler.Unpause(word) };
            case "resume_tag": return new object[] { scheduler.UnpauseTagged(word) };
            case "limit_group": scheduler.LimitGroup(word, given.Count("limit") ?? 0); break;
            case "pause_group": scheduler.PauseGroup(word); break;
            case "resume_group": scheduler.UnpauseGroup(word); break;
            case "define": scheduler.DefineCondition(word); break;
            case "undefine": scheduler.UndefineCondition(word); break;
            case "meet": scheduler.SetCondition(word, true); break;
            case "lose": scheduler.SetCondition(word, false); break;
            case "retry": scheduler.Retry(word); break;
            case "info":
                TaskInfo info = scheduler.Get(word);
                return new object[]
                {
                    (int)info.State, info.Attempts, info.EarliestBegin?.NanosecondsSinceEpoch ?? long.MaxValue,
                    info.LastRun.NanosecondsSinceEpoch, info.Estimate.Nanoseconds, info.Generation, info.Appended,
                    info.ResponseTimes.Count, Encode(info.Failure.Length == 0 ? "-" : info.Failure),
                };
            case "waits":
                Waits waits = scheduler.Waits(word);
                return waits.Parts.SelectMany(part => new object[]
                    {
                        Regex.Replace(part.Reason.ToString(), "(?<=.)[A-Z]", "_$0").ToLowerInvariant(), part.Detail,
                        part.Duration.Nanoseconds, part.Times,
                    })
                    .Append("preferred").Concat(waits.PreferredIds.Select(one => (object)Encode(one)));
            case "left":
                byte[] output = scheduler.Output(word) ?? new byte[0];
                return new object[] { (int)scheduler.Get(word).StopReason, "=" + Encode(Encoding.UTF8.GetString(output)) };
            case "set_next": scheduler.SetNext(word, new Instant(given.Number("at") ?? -1)); break;
            case "output": run.SetOutput(Encoding.UTF8.GetBytes(word)); break;
            case "progress": run.Progress(long.Parse(word), given.Number("total") ?? 0); break;
            case "wakeup":
                Instant? at = scheduler.NextWakeup;
                return new object[] { at.HasValue ? (object)at.Value.NanosecondsSinceEpoch : "never" };
            case "plan": return scheduler.Plan(Window(given)).Runs.Select(one => Encode(one.Id));
            case "begin": cycle = scheduler.Begin(Window(given)); break;
            case "next":
                Step step = cycle.Next();
                if (step.Run == null)
                {
                    return new object[] { step.IsDone ? "done" : "wait" };
                }
                run = step.Run;
                string score = run.Score.ToString("R", CultureInfo.InvariantCulture);
                return new object[] { "run", Encode(run.Id), score, run.Estimate.Nanoseconds, run.Attempt };
            case "complete": run.Complete((Outcome)int.Parse(word)); break;
            case "fail": run.Complete(Result.Failed(word)); break;
            case "stopping": return new object[] { (int)run.StopReason };
            case "end":
                Report report = cycle.End();
                return new object[] { (int)report.Result, report.EndedAt.NanosecondsSinceEpoch, report.Eligible }
                    .Concat(report.Runs.Select(one => (object)(int)one.Outcome));
            case "events":
                var said = new List<object>();
                for (Event one = events.Poll(); one != null; one = events.Poll())
                {
                    said.Add((int)one.Type + ":" + Encode(one.Id));
                }
                return said;
            default: throw new ArgumentException("there is no command " + verb);
        }
        return new object[0];
    }

    private static void Main()
    {
        var player = new Player();
        var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true };
        for (string line = Console.In.ReadLine(); line != null; line = Console.In.ReadLine())
        {
            string[] parts = line.Split(' ');
            var given = new Words();
            foreach (string part in parts.Skip(1))
            {
                int sign = part.IndexOf('=');
                if (sign < 0)
                {
                    given.Word = part;
                }
                else
                {
                    given.Fields[part.Substring(0, sign)] = part.Substring(sign + 1);
                }
            }
            try
            {
                output.WriteLine(string.Join(" ", new object[] { "ok" }.Concat(player.Perform(parts[0], given))));
            }
            catch (SeleneException refused)
            {
                // As the header has it: NOT_FOUND.
                string status = Regex.Replace(refused.Status.ToString(), "(?<=.)(?=[A-Z])", "_").ToUpperInvariant();
                output.WriteLine("error " + status + " " + refused.Detail);
            }
            catch (NotSupportedException without)
            {
                output.WriteLine("error UNSUPPORTED " + without.Message);
            }
        }
    }
}
