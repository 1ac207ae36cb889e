// The package's own tests: a line for each. Their names are sentences.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Selene;

internal static class Tests
{
    /// <summary>Until something that must happen counts as failed.</summary>
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(10);

    private static void Check(bool holds, string what)
    {
        if (!holds)
        {
            throw new Exception("not so: " + what);
        }
    }

    private static void Same<T>(T found, T wanted)
    {
        Check(Equals(found, wanted), found + " is " + wanted);
    }

    private static SeleneException Refused(Status status, Action call)
    {
        try
        {
            call();
        }
        catch (SeleneException refused)
        {
            Same(refused.Status, status);
            return refused;
        }
        throw new Exception("it was not refused");
    }

    private static void Throws<T>(Action call) where T : Exception
    {
        try
        {
            call();
        }
        catch (T)
        {
            return;
        }
        throw new Exception("it did not throw " + typeof(T));
    }

    private static Scheduler Opened(Options options = null)
    {
        var scheduler = new Scheduler(options ?? new Options());
        scheduler.SetConstraints(Constraints.All, Constraints.All);
        return scheduler;
    }

    private static Scheduler Pulled(Instant start = default(Instant))
    {
        Scheduler scheduler = Opened(new Options { Clock = start, NoThreads = true });
        scheduler.AddPulledHandler("a");
        return scheduler;
    }

    private static void Wait(WaitHandle handle)
    {
        Check(handle.WaitOne(TimeSpan.FromMinutes(2)), "it happened");
    }

    /// <summary>It cannot say what it is.</summary>
    private sealed class Mute : Exception
    {
        public override string Message
        {
            get { throw new InvalidOperationException("no words"); }
        }
    }

    private static void WhatIsThrownIsAFailureWithItsText()
    {
        using (Scheduler scheduler = Opened())
        {
            string none = null;
            var handlers = new Dictionary<string, Func<Run, Result>>
            {
                { "throws", run => { throw new IOException("no such wood"); } },
                // A fault of the machine, on a thread of the library.
                { "null", run => none.Length == 0 ? Result.NewData : Result.NoData },
                { "nul", run => Result.Failed("a\0b") },
                { "half", run => Result.Failed("a\ud800b") },
                { "nothing", run => null },
                { "late", run => Result.Retry(TimeSpan.FromHours(2), "later") },
                { "never", run => Result.Abandoned("of no use") },
                { "wrong", run => Result.Retry(TimeSpan.FromTicks(-1), "before") },
            };
            foreach (KeyValuePair<string, Func<Run, Result>> one in handlers)
            {
                scheduler.AddHandler(one.Key, one.Value);
                scheduler.Register(TaskRequest.Once(one.Key));
            }
            scheduler.AddHandler("later", async (run, stop) =>
            {
                await Task.Yield();
                throw new IOException("no such tree");
            });
            scheduler.AddHandler("at once", (run, stop) => { throw new IOException("no tree"); });
            scheduler.AddHandler("no task", (run, stop) => null);
            scheduler.AddHandler("mute", run => { throw new Mute(); });
            scheduler.AddHandler("mute later", async (run, stop) =>
            {
                await Task.Yield();
                throw new Mute();
            });
            foreach (string id in new[] { "later", "at once", "no task", "mute", "mute later" })
            {
                scheduler.Register(TaskRequest.Once(id));
            }
            Report report = scheduler.Run(new Window { Budget = Long, Lanes = 2 });
            Same(report.Failed, 12UL);
            Same(report.Abandoned, 1UL);
            var said = new Dictionary<string, string>
            {
                { "throws", "System.IO.IOException: no such wood" }, { "later", "System.IO.IOException: no such tree" },
                { "at once", "System.IO.IOException: no tree" }, { "nul", "a\uFFFDb" }, { "half", "a\uFFFDb" },
                { "nothing", "the handler returned null" }, { "no task", "the handler returned null" }, { "late", "later" },
                { "never", "of no use" }, { "mute", "Tests+Mute" }, { "mute later", "Tests+Mute" },
            };
            foreach (KeyValuePair<string, string> one in said)
            {
                Same(scheduler.Get(one.Key).Failure, one.Value);
            }
            Check(scheduler.Get("null").Failure.StartsWith("System.NullReferenceException: "), "a fault is an exception");
            Check(scheduler.Get("wrong").Failure.StartsWith("what the handler returned was refused: delay"), "it says so");
            TaskInfo late = scheduler.Get("late");
            Same(late.EarliestBegin, late.FailedAt.Value + TimeSpan.FromHours(2));
            Same(scheduler.Ids(State.Failed).Single(), "never");
        }
    }

    private static void WhatAHandlerReturnsIsTheOutcomeAndWhatItLeavesIsKept()
    {
        using (Scheduler scheduler = Opened())
        {
            scheduler.AddHandler("news", async (run, stop) =>
            {
                await Task.Delay(1);
                run.SetOutput(new byte[] { 1, 0, 2 });
                return Result.NewData;
            });
            scheduler.AddHandler("none", run =>
            {
                run.SetOutput(new byte[0]);
                return Result.NoData;
            });
            scheduler.Register(TaskRequest.Standing("news"));
            scheduler.Register(TaskRequest.Standing("none"));
            Same(scheduler.Run(new Window { Budget = Long }).Result, Outcome.NewData);
            Same(scheduler.Get("none").LastOutcome, Outcome.NoData);
            Check(scheduler.Output("news").SequenceEqual(new byte[] { 1, 0, 2 }), "the output");
            Same(scheduler.Output("none").Length, 0);
        }
    }

    private static void AStopCancelsTheTokenOfARun()
    {
        using (Scheduler scheduler = Opened())
        using (var begun = new CountdownEvent(2))
        using (var ended = new CountdownEvent(2))
        {
            scheduler.AddHandler("awaits", async (run, stop) =>
            {
                begun.Signal();
                try
                {
                    await Task.Delay(Timeout.Infinite, stop);
                }
                finally
                {
                    ended.Signal();
                }
                return Result.NewData;
            });
            StopReason seen = StopReason.None;
            scheduler.AddHandler("waits", run =>
            {
                begun.Signal();
                run.Stopping.WaitHandle.WaitOne();
                seen = run.StopReason;
                ended.Signal();
                return Result.NewData;
            });
            scheduler.Register(TaskRequest.Once("awaits"));
            scheduler.Register(TaskRequest.Once("waits"));
            Task<Report> report = scheduler.RunAsync(new Window { Budget = Long, Lanes = 2 });
            Wait(begun.WaitHandle);
            Same(scheduler.Cancel("awaits"), 1UL);
            Same(scheduler.Cancel("waits"), 1UL);
            Check(report.Result.Runs.All(one => one.StopReason == StopReason.Cancelled), "both were stopped");
            Same(scheduler.Get("awaits").State, State.Cancelled);
            // A cancelled run is over, and reported, whether its handler has seen it yet or not.
            Wait(ended.WaitHandle);
            Check(seen == StopReason.Cancelled || seen == StopReason.Shutdown, seen + " was seen");
        }
        using (Scheduler scheduler = Opened())
        {
            scheduler.AddHandler("a", async (run, stop) =>
            {
                await Task.Delay(Timeout.Infinite, stop);
                return Result.NewData;
            });
            scheduler.AddHandler("b", run =>
            {
                // What is registered may throw: no thread of the library sees it.
                run.Stopping.Register(() => { throw new IOException(); });
                run.Stopping.WaitHandle.WaitOne();
                run.Stopping.ThrowIfCancellationRequested();
                return Result.NewData;
            });
            foreach (string id in new[] { "a", "b" })
            {
                scheduler.Register(TaskRequest.Once(id).With(task => task.ExpectedResponse = Duration.Zero));
            }
            // A slow machine begins nothing, or one of them, in a short time.
            ulong failed = 0;
            for (TimeSpan time = TimeSpan.FromMilliseconds(50); failed < 2; time += time)
            {
                failed += scheduler.Run(new Window { Budget = Long + time, Reserve = Long, Lanes = 2 }).Failed;
            }
            Same(scheduler.Get("a").Failure, "stopped: Expiring");
            Same(scheduler.Get("b").Failure, "stopped: Expiring");
        }
    }

    private static void AWindowEndsByItsDeadlineAndACloseAtOnceWhateverAHandlerDoes()
    {
        using (var over = new ManualResetEvent(false))
        using (var called = new CountdownEvent(2))
        using (var returned = new CountdownEvent(2))
        {
            using (Scheduler scheduler = Opened(new Options { StopGrace = Duration.Zero }))
            {
                Func<Run, Result> hangs = run =>
                {
                    called.Signal();
                    over.WaitOne();
                    returned.Signal();
                    return Result.NewData;
                };
                scheduler.AddHandler("times out", hangs);
                scheduler.AddHandler("hangs", hangs);
                scheduler.AddHandler("quick", run => Result.NewData);
                scheduler.Register(new[]
                {
                    TaskRequest.Once("times out").With(task => task.Priority = Priority.VeryHigh)
                        .With(task => task.Timeout = TimeSpan.FromMilliseconds(20)).With(task => task.MaxAttempts = 1),
                }.Concat(Enumerable.Range(0, 5).Select(i => TaskRequest.Once("quick " + i).With(task => task.Handler = "quick"))));
                Report report = scheduler.Run(new Window { Budget = Long });
                Same(report.Expired, 1UL);
                Same(report.NewData, 5UL);
                Same(scheduler.Get("times out").Failure, "timed out");
                // A report that takes more than a second to be told counts, too, until it is.
                Same(SpinWait.SpinUntil(() => scheduler.Info.OverrunThreads == 1, Long), true);
                // Where nothing ends the run before, the window's deadline does. A slow machine begins nothing in a short one.
                scheduler.Register(TaskRequest.Once("hangs"));
                TimeSpan budget = TimeSpan.FromMilliseconds(50);
                do
                {
                    budget += budget;
                    report = scheduler.Run(new Window { Budget = budget });
                }
                while (report.Runs.Count == 0);
                Same(report.Expired, 1UL);
                Same(report.Runs[0].Outcome, Outcome.Expired);
                long late = report.EndedAt.NanosecondsSinceEpoch - report.Deadline.NanosecondsSinceEpoch;
                Check(late >= 0 && late < 60000000000, "it ended " + late + " ns after its deadline");
                Same(scheduler.Get("hangs").State, State.Enqueued);
                Wait(called.WaitHandle);
            }
            Same(returned.CurrentCount, 2);
            // What they give then comes too late, and disturbs nobody.
            over.Set();
            Wait(returned.WaitHandle);
        }
    }

    private static TaskRequest With(this TaskRequest task, Action<TaskRequest> set)
    {
        set(task);
        return task;
    }

    private static void AWindowEndsWithItsToken()
    {
        using (Scheduler scheduler = Opened())
        using (var begun = new AutoResetEvent(false))
        using (var source = new CancellationTokenSource())
        {
            scheduler.AddHandler("long", async (run, stop) =>
            {
                begun.Set();
                await Task.Delay(Timeout.Infinite, stop);
                return Result.NewData;
            });
            scheduler.Register(TaskRequest.Once("long"));
            Task<Report> window = scheduler.RunAsync(new Window { Budget = Long }, source.Token);
            Wait(begun);
            source.Cancel();
            Throws<OperationCanceledException>(() => window.GetAwaiter().GetResult());
            Check(window.IsCanceled, "the task is cancelled");
            Same(scheduler.Get("long").State, State.Enqueued);
            Throws<OperationCanceledException>(
                () => scheduler.RunAsync(new Window(), source.Token).GetAwaiter().GetResult());
        }
    }

    private static void WhatIsRefusedSaysWhatIsAllowed()
    {
        using (Scheduler scheduler = Opened())
        {
            SeleneException refused = Refused(
                Status.InvalidArgument,
                () => scheduler.Register(TaskRequest.Standing("a").With(task => task.ResponseWindow = 31)));
            Same(refused.Field + "|" + refused.Found + "|" + refused.Allowed, "response_window|31|0 … 30");
            Check(refused.Message.StartsWith("InvalidArgument: response_window"), refused.Message);
            Refused(Status.InvalidArgument, () => scheduler.Register(
                TaskRequest.Standing("a").With(task => task.ExpectedResponse = TimeSpan.FromTicks(-1))));
            Refused(Status.InvalidArgument, () => scheduler.Register(TaskRequest.Standing("a\ud800")));
            Refused(Status.InvalidArgument, () => scheduler.Register(
                TaskRequest.Standing("a").With(task => task.Kind = Kind.All)));
            Refused(Status.NotFound, () => scheduler.Cancel("nobody"));
            Check(scheduler.Find("nobody") == null, "there is none");
            scheduler.AddPulledHandler("a");
            Refused(Status.AlreadyExists, () => scheduler.AddHandler("a", run => Result.NewData));
            Refused(Status.InvalidArgument, () => scheduler.Register(
                TaskRequest.Standing("a").With(task => task.ResponseWindow = -1)));
            Refused(Status.InvalidArgument, () => scheduler.Run(new Window { Budget = Duration.Zero }));
            Refused(Status.InvalidArgument, () => scheduler.Run(new Window { Lanes = 0 }));
            Refused(Status.StoreCannotOpen, () => new Scheduler(new Options { Path = "/nowhere/store" }));
            Refused(Status.InvalidArgument, () => new Scheduler(new Options { Path = "" }));
            Throws<ArgumentNullException>(() => scheduler.Register(TaskRequest.Once(null)));
            Throws<ArgumentNullException>(() => scheduler.Cancel(null));
            Throws<ArgumentNullException>(() => scheduler.AddHandler("b", (Func<Run, Result>)null));
            Throws<ArgumentOutOfRangeException>(() => scheduler.Observe(0));
            var tasks = new[] { TaskRequest.Once("c"), TaskRequest.Once(""), TaskRequest.Once("d") };
            IReadOnlyList<Registered> became = scheduler.Register(tasks);
            Same(became[0].Disposition, Disposition.Added);
            Same(became[1].Refused, Status.InvalidArgument);
            Check(became[1].Disposition == null && became[2].Refused == null, "one that is refused stops no other");
            Same(scheduler.Register(new TaskRequest[0]).Count, 0);
        }
        using (Scheduler quiet = Pulled())
        {
            Refused(Status.Unsupported, () => quiet.StartDriver());
            Refused(Status.Unsupported, () => quiet.Run());
        }
    }

    private static void AUseAfterCloseIsRefusedWhateverTheOrder()
    {
        Scheduler scheduler = Pulled();
        scheduler.Register(TaskRequest.Standing("a").With(task => task.Input = new byte[] { 1, 0, 2 }));
        Events events = scheduler.Observe();
        Cycle cycle = scheduler.Begin();
        Run run = cycle.Next().Run;
        scheduler.Dispose();
        scheduler.Dispose();
        Refused(Status.InvalidHandle, () => { Instant now = scheduler.Now; });
        Refused(Status.InvalidHandle, () => cycle.Next());
        Refused(Status.InvalidHandle, () => cycle.End());
        cycle.Dispose();
        Same(events.Take().Type, EventType.CycleBegun);
        while (events.Take() != null)
        {
        }
        Check(events.Take() == null && events.Poll() == null && events.TakeAsync().Result == null, "it is over");
        events.Dispose();
        Throws<SeleneException>(() => run.Complete(Result.NewData));
        Same(run.StopReason, StopReason.Shutdown);
        Same(run.Remaining, Duration.Zero);
        Check(run.Id + run.Handler == "aa" && run.Input.SequenceEqual(new byte[] { 1, 0, 2 }), "its facts stay");
        Refused(Status.InvalidHandle, () => scheduler.Run());
        Refused(Status.InvalidHandle, () => scheduler.Observe());
        using (Scheduler inside = Opened())
        {
            Status? status = null;
            inside.AddHandler("closes", one =>
            {
                status = Refused(Status.Reentrant, () => inside.Dispose()).Status;
                return Result.NewData;
            });
            inside.Register(TaskRequest.Once("closes"));
            inside.Run(new Window { Budget = Long });
            Same(status, Status.Reentrant);
        }
    }

    private static void ANightlyJobsWeekPassesOnAClockOfATest()
    {
        Instant midnight = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        Duration day = TimeSpan.FromHours(24), four = TimeSpan.FromSeconds(4), early = TimeSpan.FromHours(3);
        var nights = new List<Instant>();
        var stops = new List<StopReason>();
        using (Scheduler scheduler = Opened(new Options { Clock = midnight }))
        {
            scheduler.AddHandler("backup", run =>
            {
                nights.Add(run.StartedAt);
                stops.Add(run.Sleep(four));
                return Result.NewData;
            });
            scheduler.Register(TaskRequest.Periodic("backup", day).With(task => task.InitialDelay = early));
            scheduler.StartDriver();
            Same(scheduler.Advance(midnight), midnight + early);
            scheduler.Advance(midnight + TimeSpan.FromDays(7));
            var expected = new List<Instant>();
            for (Instant at = midnight + early; expected.Count < 7; at = at + day + four)
            {
                // A period counts from the end of the run before.
                expected.Add(at);
            }
            Check(nights.SequenceEqual(expected), "the nights: " + string.Join(", ", nights));
            Check(stops.All(stop => stop == StopReason.None), "nothing stops it");
        }
    }

    private static void TimeWaitsForHandlersThatAreAsynchronous()
    {
        Instant start = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        TimeSpan four = TimeSpan.FromSeconds(4);
        var ends = new List<Instant>();
        using (Scheduler scheduler = Opened(new Options { Clock = start }))
        {
            scheduler.AddHandler("later", async (run, stop) =>
            {
                for (int part = 0; part < 2; part++)
                {
                    Same(await Task.Run(() => run.Sleep(four)), StopReason.None);
                    ends.Add(scheduler.Now);
                }
                return Result.NewData;
            });
            scheduler.Register(TaskRequest.Once("later"));
            scheduler.StartDriver();
            Same(scheduler.Advance(start + TimeSpan.FromSeconds(3)), start + four);
            Same(scheduler.Advance(start + four), start + four + four);
            Check(ends.SequenceEqual(new[] { start + four }), "the first part");
            scheduler.Advance(start + TimeSpan.FromSeconds(60));
            Check(ends.SequenceEqual(new[] { start + four, start + four + four }), "both parts");
            Same(scheduler.Get("later").State, State.Succeeded);
        }
    }

    private static void ATestsClockSaysWhatIsDueAndWhy()
    {
        DateTimeOffset noon = new DateTimeOffset(2024, 2, 29, 12, 0, 0, TimeSpan.Zero);
        Instant start = noon;
        Check((DateTimeOffset)start == noon && start.NanosecondsSinceEpoch == 1709208000000000000, "the instant");
        using (Scheduler scheduler = Pulled(start))
        {
            TimeSpan hour = TimeSpan.FromHours(1), minute = TimeSpan.FromMinutes(1);
            scheduler.Register(TaskRequest.Once("a")
                .With(task => task.InitialDelay = hour).With(task => task.StallLimit = minute));
            Same(scheduler.NextWakeup, start + hour);
            Missing missing = scheduler.Explain("a").Missing.Single();
            Check(missing.Reason == Reason.NotDue && missing.MayChangeAt == start + hour, "why");
            scheduler.SetClock(start + minute);
            Waits waits = scheduler.Waits("a");
            Check(waits.Since == start && waits.Parts[0].Reason == Reason.NotDue && waits.Parts[0].Duration == minute, "where");
            scheduler.SetClock(start + hour);
            Same(scheduler.Plan().Runs.Single().Id, "a");
            using (Cycle cycle = scheduler.Begin(new Window { Budget = Long }))
            {
                Run run = cycle.Next().Run;
                CancellationToken stop = run.Stopping;
                run.Progress(3, 10, "three");
                Progress told = scheduler.Get("a").Progress;
                Check(told.Done == 3 && told.Total == 10 && told.Text == "three" && told.At == start + hour, "progress");
                Check(run.StopReason == StopReason.None && !stop.IsCancellationRequested, "it goes on");
                Check(cycle.Next().WakeAt != null, "nothing more is to do now");
                scheduler.SetClock(start + hour + minute);
                Check(run.StopReason == StopReason.Stalled, "it is stalled");
                Check(stop.IsCancellationRequested, "its token says so");
                run.Complete(Result.NewData);
                Refused(Status.AlreadyCompleted, () => run.Complete(Result.NewData));
                Same(cycle.End().NewData, 1UL);
            }
        }
    }

    /// <summary>The id of the one run that a window gives; null: it gives none.</summary>
    private static string PulledId(Scheduler scheduler)
    {
        using (Cycle cycle = scheduler.Begin(new Window { Budget = TimeSpan.FromMinutes(1), Kinds = Kind.All }))
        {
            Run run = cycle.Next().Run;
            run?.Complete(Result.NewData);
            return run?.Id;
        }
    }

    private static void Paused(Scheduler scheduler, params object[] wanted)
    {
        var found = scheduler.Pauses().SelectMany(one => new object[] { one.Kinds, one.Pool, one.Until });
        Check(found.SequenceEqual(wanted), string.Join(" ", found) + " is " + string.Join(" ", wanted));
    }

    private static void KindsArePausedUntilAnInstantOrUntilTheyAreResumed()
    {
        DateTimeOffset noon = new DateTimeOffset(2024, 2, 29, 12, 0, 0, TimeSpan.Zero);
        Instant until = noon.AddHours(1), later = noon.AddHours(2);
        using (Scheduler scheduler = Pulled(noon))
        {
            scheduler.Register(TaskRequest.Once("short").With(task => task.Handler = "a"));
            scheduler.Register(TaskRequest.Once("long").With(task => task.Handler = "a").With(task => task.Kind = Kind.Processing));
            Paused(scheduler);
            scheduler.PauseKinds(Kind.Refresh, noon.AddHours(1));
            Missing missing = scheduler.Explain("short").Missing.Single();
            Check(missing.Reason == Reason.KindPaused && missing.MayChangeAt == until, "why");
            Paused(scheduler, Kind.Refresh, null, until);
            Same(PulledId(scheduler), "long");
            Same(PulledId(scheduler), null);
            Same(scheduler.NextWakeup, until);
            scheduler.SetClock(until);
            Paused(scheduler);
            Same(PulledId(scheduler), "short");

            scheduler.PauseKinds(Kind.All);
            scheduler.PauseKinds(Kind.Refresh | Kind.Processing, later, "mailer");
            Paused(scheduler, Kind.All, null, null, Kind.All, "mailer", later);
            scheduler.UnpauseKinds(Kind.Refresh);
            scheduler.UnpauseKinds(Kind.Processing, "mailer");
            Paused(scheduler, Kind.Processing, null, null, Kind.Refresh, "mailer", later);
            scheduler.UnpauseKinds(Kind.All);
            scheduler.UnpauseKinds(Kind.All, "mailer");
            Paused(scheduler);
        }
    }

    private static void APauseOfNoKindOfNoPoolOrUntilWhatIsPastIsRefused()
    {
        DateTimeOffset now = new DateTimeOffset(2024, 2, 29, 12, 0, 0, TimeSpan.Zero);
        using (Scheduler scheduler = Pulled(now))
        {
            scheduler.PauseKinds(Kind.Refresh);
            foreach (Instant until in new Instant[] { default(Instant), now, now.AddYears(11), DateTimeOffset.MaxValue })
            {
                Same(Refused(Status.InvalidArgument, () => scheduler.PauseKinds(Kind.Refresh, until)).Field, "until");
            }
            foreach (string pool in new[] { null, "mailer" })
            {
                Same(Refused(Status.InvalidArgument, () => scheduler.PauseKinds(Kind.None, null, pool)).Field, "kinds");
                Same(Refused(Status.InvalidArgument, () => scheduler.PauseKinds((Kind)8, null, pool)).Field, "kinds");
                Same(Refused(Status.InvalidArgument, () => scheduler.UnpauseKinds(Kind.None, pool)).Field, "kinds");
            }
            foreach (string pool in new[] { "", "a\0b", "half \ud83d" })
            {
                Same(Refused(Status.InvalidArgument, () => scheduler.PauseKinds(Kind.All, null, pool)).Field, "pool");
                Same(Refused(Status.InvalidArgument, () => scheduler.UnpauseKinds(Kind.All, pool)).Field, "pool");
            }
            Paused(scheduler, Kind.Refresh, null, null);
            scheduler.Dispose();
            Refused(Status.InvalidHandle, () => scheduler.Pauses());
        }
    }

    private static void MemoryIsFlatOver40000ListsOfPauses()
    {
        using (Scheduler scheduler = Pulled())
        {
            for (int i = 0; i < 20; i++)
            {
                scheduler.PauseKinds(Kind.All, null, "pool " + i);
            }
            // In pages; a list that is kept has a quarter of one.
            long before = 0, grown = long.MaxValue;
            for (int stretch = 0; stretch < 2 || (stretch < 6 && grown >= 1000); stretch++)
            {
                for (int i = 0; i < 20000; i++)
                {
                    Same(scheduler.Pauses().Count, 20);
                }
                GC.Collect();
                grown = Resident() - before;
                before += grown;
            }
            Check(grown < 1000, "it grew by " + grown + " pages");
        }
    }

    private static void ADriverRunsWhatIsRegisteredAndEventsTellIt()
    {
        using (Scheduler scheduler = Opened())
        using (var source = new CancellationTokenSource())
        using (var ran = new AutoResetEvent(false))
        {
            scheduler.AddHandler("a", run =>
            {
                ran.Set();
                return Result.NewData;
            });
            Task drive = scheduler.DriveAsync(new Driver { Ungoverned = true, RefreshLanes = 2 }, Long, source.Token);
            Refused(Status.Busy, () => scheduler.StartDriver());
            scheduler.Register(TaskRequest.Once("a"));
            Wait(ran);
            Check(scheduler.Drain(Long), "what runs ends by itself");
            source.Cancel();
            drive.Wait();
            Same(scheduler.Get("a").State, State.Succeeded);
        }
        // Without threads of the library each is told before the call returns.
        using (Scheduler quiet = Pulled())
        {
            Events events = quiet.Observe(2);
            foreach (string id in new[] { "b", "c", "d" })
            {
                quiet.Register(TaskRequest.Once(id));
            }
            Same(events.Take().Id, "b");
            Same(events.Poll().Id, "c");
            Check(events.Poll() == null, "one was lost");
            Task<Event> reader = events.TakeAsync();
            quiet.Register(TaskRequest.Once("e"));
            Check(reader.Result.Id == "e" && reader.Result.Lost == 1, "and counted");
            using (var source = new CancellationTokenSource())
            {
                Task<Event> cancelled = events.TakeAsync(source.Token);
                source.Cancel();
                Throws<OperationCanceledException>(() => cancelled.GetAwaiter().GetResult());
            }
            Events others = quiet.Observe();
            Check(events.Take() == null, "others end them");
            events.Dispose();
            quiet.Register(TaskRequest.Once("f"));
            Same(others.Take().Id, "f");
        }
    }

    private static void AnAwaitedDriverEndsWhenItsSchedulerIsClosed()
    {
        using (var source = new CancellationTokenSource())
        {
            Scheduler scheduler = Opened();
            Task driving = scheduler.DriveAsync(new Driver(), Long, source.Token);
            scheduler.Dispose();
            driving.Wait();
            Refused(
                Status.InvalidHandle, () => scheduler.DriveAsync(new Driver(), Long, source.Token).GetAwaiter().GetResult());
        }
        // Both at once.
        for (int round = 0; round < 100; round++)
        {
            using (Scheduler scheduler = Opened())
            using (var source = new CancellationTokenSource())
            {
                Task driving = scheduler.DriveAsync(new Driver(), Long, source.Token);
                Task closing = Task.Run(() => scheduler.Dispose());
                source.Cancel();
                Task.WaitAll(driving, closing);
            }
        }
    }

    private static void APeriodicTaskIsDueAgainAfterItsPeriodAndARunKnowsItsTimes()
    {
        Instant start = new DateTimeOffset(2001, 2, 3, 4, 5, 6, TimeSpan.Zero);
        Duration hour = TimeSpan.FromHours(1);
        using (Scheduler scheduler = Pulled(start))
        {
            scheduler.Register(TaskRequest.Periodic("a", hour));
            foreach (Instant now in new[] { start, start + hour })
            {
                scheduler.SetClock(now);
                Check(scheduler.Drain(Duration.Zero), "nothing runs");
                scheduler.Resume();
                using (Cycle cycle = scheduler.Begin())
                {
                    Run run = cycle.Next().Run;
                    Same(run.StartedAt, now);
                    Same(run.Deadline, now + TimeSpan.FromSeconds(30));
                    Same(run.ExpiresAt, now + TimeSpan.FromMilliseconds(28500));
                    run.Complete(Outcome.NewData);
                }
                Same(scheduler.Get("a").EarliestBegin, now + hour);
            }
        }
        using (Scheduler scheduler = Opened(new Options { BackgroundThreads = true }))
        using (var ran = new ManualResetEvent(false))
        {
            scheduler.AddHandler("b", run =>
            {
                ran.Set();
                return Result.NewData;
            });
            scheduler.Register(TaskRequest.Once("b").With(task => task.InitialDelay = hour));
            scheduler.Launch("b");
            Wait(ran);
        }
    }

    private static void ADriverHoldsBackWhatTheProfileRefusesAndSaysWhy()
    {
        using (Scheduler scheduler = Opened())
        using (var ran = new ManualResetEvent(false))
        {
            scheduler.AddHandler("a", run =>
            {
                ran.Set();
                return Result.NewData;
            });
            scheduler.SetProfile(Profile.Apple);
            scheduler.SetSignal(Signal.BackgroundSwitch, 0);
            Decision refusal = scheduler.Ask(Kind.Refresh);
            Check(!refusal.IsGranted, "it was refused");
            Finding because = refusal.Findings.Single(one => one.Factor == Factor.BackgroundSwitch);
            Check(because.Refuses && because.Observed == 0 && because.ClearsAt == null, "by the switch");
            scheduler.Register(TaskRequest.Once("a"));
            scheduler.StartDriver();
            Check(!ran.WaitOne(50), "it waits");
            Refused(Status.InvalidArgument, () => scheduler.SetSignal(Signal.BackgroundSwitch, 7));
            scheduler.ClearSignal(Signal.BackgroundSwitch);
            scheduler.SetProfile(Profile.Open);
            Wait(ran);
            Decision grant = scheduler.Ask(Kind.Refresh);
            Check(grant.IsGranted && grant.LongestWindow == null && grant.Findings.Count == 0, "it was granted");
        }
    }

    private static void AnotherProcessEnqueuesLooksAndWorksForTheOwnerOfAStore()
    {
        string folder = Path.Combine(Path.GetTempPath(), "selene-dotnet-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            var connection = new Connection { Path = Path.Combine(folder, "störe"), Pool = "tests" };
            Refused(Status.OwnerAway, () => Scheduler.Connect(connection));
            using (Scheduler owner = Opened(new Options { Path = connection.Path }))
            using (var begun = new ManualResetEvent(false))
            using (var stopped = new ManualResetEvent(false))
            {
                owner.Serve();
                Scheduler client = Scheduler.Connect(connection);
                client.AddHandler("work", run =>
                {
                    run.SetOutput(System.Text.Encoding.UTF8.GetBytes("by " + run.Id));
                    return Result.NewData;
                });
                client.AddHandler("waits", async (run, stop) =>
                {
                    begun.Set();
                    try
                    {
                        await Task.Delay(Timeout.Infinite, stop);
                    }
                    finally
                    {
                        stopped.Set();
                    }
                    return Result.NewData;
                });
                Refused(Status.AlreadyExists, () => owner.AddHandler("work", run => Result.NewData));
                client.Register(TaskRequest.Once("a").With(task => task.Handler = "work"));
                Same(owner.Get("a").State, State.Enqueued);
                Same(client.Run(new Window { Budget = Long }).NewData, 1UL);
                Same(System.Text.Encoding.UTF8.GetString(owner.Output("a")), "by a");
                // A stop of the owner's cancels the token here.
                client.StartDriver(new Driver { Ungoverned = true });
                owner.Register(TaskRequest.Once("waits"));
                Wait(begun);
                Same(owner.Cancel("waits"), 1UL);
                Wait(stopped);
                Same(client.Get("waits").State, State.Cancelled);
                client.StopDriver(Long);
                owner.Close(Duration.Zero);
                Refused(Status.OwnerAway, () => client.Get("a"));
                client.Close(Duration.Zero);
                Refused(Status.InvalidHandle, () => { Instant now = client.Now; });
            }
        }
        finally
        {
            Directory.Delete(folder, true);
        }
    }

    private static void AStoreCanBeClosedAndOpenedAgain()
    {
        string folder = Path.Combine(Path.GetTempPath(), "selene-dotnet-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            var options = new Options { Path = Path.Combine(folder, "störe"), Owner = "org.example.tests" };
            using (Scheduler scheduler = Opened(options))
            {
                scheduler.DefineCondition("vpn");
                scheduler.LimitGroup("uploads", 1);
                TaskRequest task = TaskRequest.Once("ä\U0001F319");
                task.Input = new byte[] { 1, 0, 2 };
                task.Tags = new[] { "tag" };
                task.Group = "uploads";
                task.Conditions = new[] { "vpn" };
                scheduler.Register(task);
                Refused(Status.StoreLocked, () => new Scheduler(options));
                scheduler.Backup(Path.Combine(folder, "copy"));
            }
            foreach (string name in new[] { "störe", "copy", "störe" })
            {
                using (Scheduler scheduler = Opened(new Options { Path = Path.Combine(folder, name) }))
                {
                    Same(scheduler.Ids("tag").Single(), "ä\U0001F319");
                    Check(scheduler.Get("ä\U0001F319").Input.SequenceEqual(new byte[] { 1, 0, 2 }), "the input");
                    Same(scheduler.MissingConditions("ä\U0001F319").Single(), "vpn");
                    Same(scheduler.Condition("vpn"), ConditionState.Unsatisfied);
                    Same(scheduler.ConditionNames().Single(), "vpn");
                    Check(scheduler.Group("uploads").Limit == 1 && scheduler.Groups().Single() == "uploads", "the group");
                }
            }
            options.Owner = "org.example.others";
            Refused(Status.StoreForeign, () => new Scheduler(options));
        }
        finally
        {
            Directory.Delete(folder, true);
        }
    }

    private static void ThreadsShareASchedulerWhileOneClosesIt()
    {
        for (int round = 0; round < 10; round++)
        {
            Scheduler scheduler = Opened();
            int ran = 0, wrong = 0;
            scheduler.AddHandler("h", run =>
            {
                Interlocked.Add(ref wrong, run.Input.Length == 99 ? 0 : 1);
                Interlocked.Increment(ref ran);
                return Result.NewData;
            });
            for (int i = 0; i < 20; i++)
            {
                scheduler.Register(TaskRequest.Standing("" + i)
                    .With(task => task.Handler = "h").With(task => task.Input = new byte[99]));
            }
            Task<Status>[] runners = Enumerable.Range(0, 3).Select(_ => Task.Run(async () =>
            {
                while (true)
                {
                    try
                    {
                        await scheduler.RunAsync(new Window { Lanes = 3 });
                    }
                    catch (SeleneException refused)
                    {
                        return refused.Status;
                    }
                }
            })).ToArray();
            while (Volatile.Read(ref ran) < 100)
            {
                Thread.Yield();
            }
            scheduler.Dispose();
            Check(runners.All(one => one.Result == Status.InvalidHandle), "they see it closed");
            Same(wrong, 0);
        }
    }

    private static void WhatIsReleasedIsCollected()
    {
        using (Scheduler scheduler = Opened())
        {
            WeakReference kept = Capture(scheduler);
            scheduler.Register(TaskRequest.Standing("a"));
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                Same(scheduler.Run(new Window { Budget = Long }).NewData, 1UL);
            }
            Check(kept.IsAlive, "it is kept while it is registered");
            scheduler.RemoveHandler("a");
            // A conservative collector, as Mono's, may see it on a stack for as long as it likes.
            bool isConservative = Type.GetType("Mono.Runtime") != null;
            for (int i = 0; kept.IsAlive && (i < 20 || !isConservative); i++)
            {
                // A thread of the library may still be on its way out of the last call.
                new Thread(() => GC.Collect()).Start();
                Thread.Sleep(5);
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Check(!kept.IsAlive || isConservative, "it is let go");
        }
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static WeakReference Capture(Scheduler scheduler)
    {
        var captured = new byte[1000];
        scheduler.AddHandler("a", run => captured.Length == 1000 ? Result.NewData : Result.NoData);
        return new WeakReference(captured);
    }

    private static long Resident()
    {
        return long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]);
    }

    /// <summary>On library threads, with a thread that collects all the time; some handlers wait where it must stop them.</summary>
    private static void MemoryIsFlatOver100000RunsAndAsManyFailuresWhileThreadsCollect()
    {
        bool isOver = false;
        var collector = new Thread(() =>
        {
            while (!Volatile.Read(ref isOver))
            {
                GC.Collect(0);
                Thread.Sleep(1);
            }
        });
        using (Scheduler scheduler = Opened())
        {
            string text = string.Concat(Enumerable.Repeat("no ", 50));
            scheduler.AddHandler("works", run =>
            {
                run.SetOutput(run.Input);
                return run.Stopping.IsCancellationRequested ? Result.NoData : Result.NewData;
            });
            scheduler.AddHandler("fails", run => { throw new IOException(text + run.Attempt); });
            foreach (string handler in new[] { "works", "fails" })
            {
                for (int i = 0; i < 100; i++)
                {
                    scheduler.Register(TaskRequest.Standing(handler + i).With(task =>
                    {
                        task.Handler = handler;
                        task.Input = new byte[1000];
                        task.ExpectedResponse = Duration.Zero;
                    }));
                }
            }
            collector.Start();
            // As many runs again and again: what is lost with each run is lost in each stretch, the collector takes some once.
            long before = 0, grown = long.MaxValue;
            uint windows = 0;
            for (int stretch = 0; stretch < 2 || (stretch < 6 && grown >= 1000); stretch++)
            {
                for (int window = 0; window < 500; window++)
                {
                    Report report = scheduler.Run(new Window { Budget = Long, Lanes = 2 });
                    Same(report.NewData, 100UL);
                    Same(report.Failed, 100UL);
                }
                windows += 500;
                GC.Collect();
                grown = Resident() - before;
                before += grown;
            }
            Volatile.Write(ref isOver, true);
            collector.Join();
            // That is 40 bytes a run; one that is kept has five times as much.
            Check(grown < 1000, "it grew by " + grown + " pages");
            Same(scheduler.Get("fails1").Attempts, windows);
        }
    }

    private static int Main(string[] only)
    {
        var tests = new Action[]
        {
            WhatIsThrownIsAFailureWithItsText, WhatAHandlerReturnsIsTheOutcomeAndWhatItLeavesIsKept,
            AStopCancelsTheTokenOfARun, AWindowEndsByItsDeadlineAndACloseAtOnceWhateverAHandlerDoes, AWindowEndsWithItsToken,
            WhatIsRefusedSaysWhatIsAllowed, AUseAfterCloseIsRefusedWhateverTheOrder, ANightlyJobsWeekPassesOnAClockOfATest,
            TimeWaitsForHandlersThatAreAsynchronous, ATestsClockSaysWhatIsDueAndWhy,
            ADriverRunsWhatIsRegisteredAndEventsTellIt, AnAwaitedDriverEndsWhenItsSchedulerIsClosed,
            APeriodicTaskIsDueAgainAfterItsPeriodAndARunKnowsItsTimes, ADriverHoldsBackWhatTheProfileRefusesAndSaysWhy,
            AnotherProcessEnqueuesLooksAndWorksForTheOwnerOfAStore, AStoreCanBeClosedAndOpenedAgain,
            ThreadsShareASchedulerWhileOneClosesIt, WhatIsReleasedIsCollected,
            KindsArePausedUntilAnInstantOrUntilTheyAreResumed, APauseOfNoKindOfNoPoolOrUntilWhatIsPastIsRefused,
            MemoryIsFlatOver40000ListsOfPauses,
            MemoryIsFlatOver100000RunsAndAsManyFailuresWhileThreadsCollect,
        };
        int failed = 0;
        foreach (Action test in tests.Where(one => only.Length == 0 || only.Any(one.Method.Name.Contains)))
        {
            string name = System.Text.RegularExpressions.Regex.Replace(test.Method.Name, "(?<=.)(?=[A-Z])|(?<=[a-z])(?=[0-9])", " ");
            name = name.Substring(0, 1) + name.Substring(1).ToLowerInvariant();
            try
            {
                test();
                Console.WriteLine("ok " + name);
            }
            catch (Exception thrown)
            {
                failed++;
                Console.WriteLine("FAILED " + name + "\n" + thrown);
            }
        }
        return failed == 0 ? 0 : 1;
    }
}
