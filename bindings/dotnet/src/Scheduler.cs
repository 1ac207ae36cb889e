using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Selene
{
    /// <summary>
    /// Has tasks and handlers. Any thread may use it, handlers too; it lives until it is disposed of. With Mono, the end of the
    /// process closes it, with a grace of 1 s, if a callback has returned by then. What is refused is a
    /// <see cref="SeleneException"/>, and nothing has changed.
    /// </summary>
    public sealed unsafe partial class Scheduler : IDisposable
    {
        /// <summary>How long Advance waits for handlers at an instant, on the system's clock.</summary>
        private static readonly Duration Patience = TimeSpan.FromSeconds(10);

        /// <summary>Runs that a stop is told.</summary>
        internal readonly ConcurrentDictionary<ulong, Run> Live = new ConcurrentDictionary<ulong, Run>();

        private readonly object gate = new object();
        private Events events;
        private volatile bool isClosed;
        /// <summary>How many copy what the library lends until the scheduler is closed.</summary>
        private int inside;

        /// <summary>Opens a scheduler whose tasks live in memory.</summary>
        public Scheduler()
            : this(new Options())
        {
        }

        /// <summary>Opens a scheduler.</summary>
        public Scheduler(Options options)
        {
            Handle = (options ?? throw new ArgumentNullException(nameof(options))).Open();
            MonoExit.Opened(this);
        }

        private Scheduler(ulong handle)
        {
            Handle = handle;
            MonoExit.Opened(this);
        }

        /// <summary>
        /// Connects to the process that has a store open and serves it (<see cref="Serve"/>, or selened). The scheduler is used
        /// as any other: what is registered is kept there, and its windows and its driver run the tasks of its handlers.
        /// </summary>
        public static Scheduler Connect(Connection connection)
        {
            return new Scheduler((connection ?? throw new ArgumentNullException(nameof(connection))).Open());
        }

        /// <summary>
        /// Lets other processes of this user connect until it is closed: at a path, or, null, at the store's and "-sock".
        /// </summary>
        public void Serve(string path = null)
        {
            using (var lent = new Lent())
            {
                var raw = new Raw.ServerOptions { struct_size = (uint)sizeof(Raw.ServerOptions) };
                raw.path = lent.Text(path ?? "", nameof(path));
                ulong server;
                SeleneException.Check(Raw.selene_server_start(Handle, &raw, &server));
            }
        }

        /// <summary>The number by which the header knows it.</summary>
        public ulong Handle { get; }

        internal void Enter()
        {
            // In one order with the flag and the count of Close: one of both sees the other.
            Interlocked.Increment(ref inside);
            if (isClosed)
            {
                Leave();
                throw SeleneException.Closed();
            }
        }

        internal void Leave()
        {
            Interlocked.Decrement(ref inside);
        }

        internal void Stop(ulong token)
        {
            Run run;
            if (Live.TryGetValue(token, out run))
            {
                run.Stop();
            }
        }

        internal void Forget(ulong token)
        {
            Run run;
            Live.TryRemove(token, out run);
        }

        /// <summary>Closes it; runs in flight are stopped, and their tasks wait again as before the run.</summary>
        public void Dispose()
        {
            Close(Duration.Zero);
        }

        /// <summary>
        /// Closes it. Runs in flight have the grace to complete; what is left in its last tenth is asked to stop, and the tasks
        /// of what does not wait again as before the run. A second close does nothing; one inside a handler is refused.
        /// </summary>
        public void Close(Duration grace)
        {
            lock (gate)
            {
                if (isClosed)
                {
                    return;
                }
                isClosed = true;
            }
            // In one order with the flag and the count of Enter.
            Interlocked.MemoryBarrier();
            // A step, and perhaps a commit: soon over.
            while (Volatile.Read(ref inside) != 0)
            {
                Thread.Yield();
            }
            int status = Raw.selene_scheduler_close(Handle, grace.Nanoseconds);
            // With these it is still open; with all others it is closed, though its last changes could not be stored.
            if (status == (int)Status.InvalidArgument || status == (int)Status.Reentrant)
            {
                isClosed = false;
            }
            else
            {
                Live.Clear();
                MonoExit.Closed(this);
                closed.TrySetResult(true);
            }
            SeleneException.Check(status);
        }

        /// <summary>Lets nothing more be dispatched and waits until nothing runs; false: something still does.</summary>
        public bool Drain(Duration grace)
        {
            int status = Raw.selene_scheduler_drain(Handle, grace.Nanoseconds);
            if (status != (int)Status.Busy)
            {
                SeleneException.Check(status);
            }
            return status == Raw.OK;
        }

        /// <summary>Ends a drain.</summary>
        public void Resume()
        {
            SeleneException.Check(Raw.selene_scheduler_resume(Handle));
        }

        /// <summary>Scheduler time, which never goes back.</summary>
        public Instant Now
        {
            get
            {
                long now;
                SeleneException.Check(Raw.selene_scheduler_now(Handle, &now));
                return new Instant(now);
            }
        }

        /// <summary>Counts of its tasks and threads.</summary>
        public SchedulerInfo Info
        {
            get
            {
                var raw = new Raw.SchedulerInfo { struct_size = (uint)sizeof(Raw.SchedulerInfo) };
                SeleneException.Check(Raw.selene_scheduler_get(Handle, &raw));
                return new SchedulerInfo(raw);
            }
        }

        /// <summary>Says what time it is, to a scheduler that was opened with a clock.</summary>
        public void SetClock(Instant now)
        {
            SeleneException.Check(Raw.selene_clock_set(Handle, now.NanosecondsSinceEpoch));
        }

        /// <summary>
        /// Lets time pass up to an instant, for a scheduler that was opened with a clock: from one instant at which something is
        /// due to the next, and at each it waits until all that is due is done, also by handlers. When something is due next;
        /// null: nothing is. Handlers that take more than ten real seconds are <see cref="Status.Busy"/>, which names them.
        /// </summary>
        public Instant? Advance(Instant to)
        {
            long next;
            const int Flags = Raw.ADVANCE_HANDLERS | Raw.ADVANCE_RUNS;
            SeleneException.Check(Raw.selene_clock_advance(
                Handle, to.NanosecondsSinceEpoch, Flags, Patience.Nanoseconds, &next));
            return Instant.Maybe(next);
        }

        /// <summary>When the next window is worth opening; null: when something changes.</summary>
        public Instant? NextWakeup
        {
            get
            {
                long at;
                SeleneException.Check(Raw.selene_scheduler_next_wakeup(Handle, &at, null));
                return Instant.Maybe(at);
            }
        }

        /// <summary>
        /// Says which of these constraints are satisfied, until the next call. The others are the system's.
        /// </summary>
        public void SetConstraints(Constraints of, Constraints satisfied)
        {
            SeleneException.Check(Raw.selene_conditions_set(Handle, (uint)of, (uint)satisfied));
        }

        /// <summary>Switches these kinds on, and all others off.</summary>
        public void Enable(Kind kinds)
        {
            SeleneException.Check(Raw.selene_scheduler_enable(Handle, (uint)kinds));
        }

        // ---- handlers ----

        /// <summary>
        /// Registers a handler under a name. It is called on threads of the library, several at once where a window has lanes.
        /// </summary>
        public void AddHandler(string name, Func<Run, Result> handler)
        {
            if (handler == null)
            {
                throw new ArgumentNullException(nameof(handler));
            }
            Register(name, new Registration(this, handler, null), Callbacks.Run);
        }

        /// <summary>
        /// Registers an asynchronous handler, whose token is cancelled when its run is asked to stop. It begins on a thread of
        /// the library; a lane stays taken until its task has ended.
        /// </summary>
        public void AddHandler(string name, Func<Run, CancellationToken, Task<Result>> handler)
        {
            if (handler == null)
            {
                throw new ArgumentNullException(nameof(handler));
            }
            Register(name, new Registration(this, null, handler), Callbacks.Run);
        }

        /// <summary>Registers a name whose runs are pulled (<see cref="Begin"/>).</summary>
        public void AddPulledHandler(string name)
        {
            Register(name, new Registration(this, null, null), IntPtr.Zero);
        }

        private void Register(string name, Registration registration, IntPtr run)
        {
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(name, nameof(name));
                // It releases the context also when it fails.
                SeleneException.Check(Raw.selene_handler_register(
                    Handle, text.data, text.length, run, Callbacks.Stop, Callbacks.Keep(registration), Callbacks.Release));
            }
        }

        /// <summary>Takes a handler back.</summary>
        public void RemoveHandler(string name)
        {
            Named(name, (text, length) => Raw.selene_handler_unregister(Handle, text, length));
        }

        // ---- windows ----

        /// <summary>
        /// Opens a window and works through it on threads of the library. The report comes by its deadline, also where handlers
        /// do not return. If a window of exactly these kinds is open, it is joined. null: all defaults.
        /// </summary>
        public Report Run(Window window = null)
        {
            return RunAsync(window).GetAwaiter().GetResult();
        }

        /// <summary>The same, without waiting. A cancellation ends the window; the task is cancelled once it has ended.</summary>
        public Task<Report> RunAsync(
            Window window = null, CancellationToken stop = default(CancellationToken))
        {
            if (stop.IsCancellationRequested)
            {
                return Task.FromCanceled<Report>(stop);
            }
            var waiter = new Waiter(stop);
            using (var lent = new Lent())
            {
                Raw.Window raw = (window ?? new Window()).Lend(lent);
                ulong cycle;
                // It releases the context also when it fails.
                SeleneException.Check(Raw.selene_cycle_run_async(
                    Handle, &raw, Callbacks.Report, Callbacks.Keep(waiter), Callbacks.Release, &cycle, null));
                waiter.Begun(cycle);
            }
            return waiter.Task;
        }

        /// <summary>Opens a window whose runs are pulled. null: all defaults.</summary>
        public Cycle Begin(Window window = null)
        {
            using (var lent = new Lent())
            {
                Raw.Window raw = (window ?? new Window()).Lend(lent);
                ulong cycle;
                SeleneException.Check(Raw.selene_cycle_begin(Handle, &raw, &cycle));
                return new Cycle(this, cycle);
            }
        }

        /// <summary>What such a window would pick now. null: all defaults.</summary>
        public Plan Plan(Window window = null)
        {
            using (var lent = new Lent())
            {
                Raw.Window raw = (window ?? new Window()).Lend(lent);
                Raw.Plan* plan;
                SeleneException.Check(Raw.selene_cycle_plan(Handle, &raw, &plan));
                try
                {
                    return new Plan(plan);
                }
                finally
                {
                    Raw.selene_free(plan);
                }
            }
        }

        /// <summary>
        /// Starts a thread that opens windows whenever something can run, until <see cref="StopDriver"/> or a close. null: all
        /// defaults.
        /// </summary>
        public void StartDriver(Driver driver = null)
        {
            Raw.Driver raw = (driver ?? new Driver()).Lend();
            SeleneException.Check(Raw.selene_driver_start(Handle, &raw));
        }

        /// <summary>Stops it; runs in its windows are stopped and have the grace to return. Without one it does nothing.</summary>
        public void StopDriver(Duration grace)
        {
            SeleneException.Check(Raw.selene_driver_stop(Handle, grace.Nanoseconds));
        }

        // ---- the governor ----

        /// <summary>
        /// Says what the governor asks for from now on, before the driver opens a window. It is not stored.
        /// </summary>
        public void SetProfile(Profile profile)
        {
            var raw = new Raw.Profile { struct_size = (uint)sizeof(Raw.Profile) };
            raw.@base = (int)profile;
            SeleneException.Check(Raw.selene_governor_set_profile(Handle, &raw));
        }

        /// <summary>Sets a signal in place of what the system says, until it is cleared, or for a time.</summary>
        public void SetSignal(Signal signal, long value, Duration? validFor = null)
        {
            SeleneException.Check(Raw.selene_signal_set(Handle, (int)signal, value, validFor?.Nanoseconds ?? 0));
        }

        /// <summary>Takes that back.</summary>
        public void ClearSignal(Signal signal)
        {
            SeleneException.Check(Raw.selene_signal_clear(Handle, (int)signal));
        }

        /// <summary>Whether a kind deserves a window now, and why.</summary>
        public Decision Ask(Kind kind)
        {
            Raw.Decision* made;
            SeleneException.Check(Raw.selene_governor_ask(Handle, (int)kind, 0, &made));
            try
            {
                return new Decision(made);
            }
            finally
            {
                Raw.selene_free(made);
            }
        }

        // ---- events ----

        /// <summary>
        /// Tells events from now on, of which so many wait at most; those that find no room are lost, and counted. What happened
        /// at open is told first. A scheduler has one such queue: another one ends the one before.
        /// </summary>
        public Events Observe(int capacity = 1024)
        {
            if (capacity < 1)
            {
                throw new ArgumentOutOfRangeException(nameof(capacity), capacity, "at least 1");
            }
            var made = new Events(this, capacity);
            lock (gate)
            {
                SeleneException.Check(
                    Raw.selene_scheduler_observe(Handle, Callbacks.Event, Callbacks.Keep(made), Callbacks.Release));
                events = made;
            }
            return made;
        }

        /// <summary>If it is still this one.</summary>
        internal void Unobserve(Events closed)
        {
            lock (gate)
            {
                if (events != closed)
                {
                    return;
                }
                events = null;
                int status = Raw.selene_scheduler_observe(Handle, IntPtr.Zero, null, IntPtr.Zero);
                if (status != (int)Status.InvalidHandle)
                {
                    SeleneException.Check(status);
                }
            }
        }

        // ---- tasks ----

        private delegate int NamedCall(byte* text, long length);

        private delegate int CountedCall(byte* text, long length, ulong* count);

        private static void Named(string name, NamedCall call)
        {
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(name, nameof(name));
                SeleneException.Check(call(text.data, text.length));
            }
        }

        private static ulong Counted(string name, CountedCall call)
        {
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(name, nameof(name));
                ulong count;
                SeleneException.Check(call(text.data, text.length, &count));
                return count;
            }
        }

        private static IReadOnlyList<string> Ids(Raw.TaskIds* made)
        {
            try
            {
                return Lent.Strings(made->ids, made->count);
            }
            finally
            {
                Raw.selene_free(made);
            }
        }

        /// <summary>Registers a task; what became of it.</summary>
        public Disposition Register(TaskRequest task)
        {
            if (task == null)
            {
                throw new ArgumentNullException(nameof(task));
            }
            using (var lent = new Lent())
            {
                Raw.Task raw = task.Lend(lent);
                int disposition;
                SeleneException.Check(Raw.selene_task_register(Handle, &raw, &disposition));
                return (Disposition)disposition;
            }
        }

        /// <summary>Registers many tasks in one commit. Each is judged for itself; one that is refused stops no other.</summary>
        public IReadOnlyList<Registered> Register(IEnumerable<TaskRequest> tasks)
        {
            using (var lent = new Lent())
            {
                Raw.Task[] raws = tasks.Select(one => one.Lend(lent)).ToArray();
                int room = Math.Max(1, raws.Length);
                var pointers = new IntPtr[room];
                int[] statuses = new int[room], dispositions = new int[room];
                fixed (Raw.Task* first = raws.Length == 0 ? new Raw.Task[1] : raws)
                fixed (IntPtr* all = pointers)
                fixed (int* refused = statuses, became = dispositions)
                {
                    for (int i = 0; i < raws.Length; i++)
                    {
                        all[i] = (IntPtr)(first + i);
                    }
                    SeleneException.Check(
                        Raw.selene_task_register_batch(Handle, (Raw.Task**)all, (ulong)raws.Length, refused, became));
                }
                return raws.Select((_, i) => new Registered(statuses[i], dispositions[i])).ToArray();
            }
        }

        /// <summary>A task's record; NotFound: there is none of that id.</summary>
        public TaskInfo Get(string id)
        {
            Raw.TaskInfo* made = null;
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(id, nameof(id));
                SeleneException.Check(Raw.selene_task_get(Handle, text.data, text.length, 0, &made));
            }
            try
            {
                return new TaskInfo(made);
            }
            finally
            {
                Raw.selene_free(made);
            }
        }

        /// <summary>A task's record; null: there is none of that id.</summary>
        public TaskInfo Find(string id)
        {
            try
            {
                return Get(id);
            }
            catch (SeleneException refused) when (refused.Status == Status.NotFound)
            {
                return null;
            }
        }

        /// <summary>The ids of all tasks, or of those with a tag.</summary>
        public IReadOnlyList<string> Ids(string tag = null)
        {
            Raw.TaskIds* made;
            using (var lent = new Lent())
            {
                Raw.Text text = tag == null ? default(Raw.Text) : lent.Text(tag, nameof(tag));
                SeleneException.Check(Raw.selene_task_list(Handle, text.data, text.length, &made));
            }
            return Ids(made);
        }

        /// <summary>The ids of those in a state.</summary>
        public IReadOnlyList<string> Ids(State state)
        {
            Raw.TaskIds* made;
            SeleneException.Check(Raw.selene_task_list_state(Handle, (int)state, &made));
            return Ids(made);
        }

        /// <summary>Cancels a task and what waits behind it; how many records.</summary>
        public ulong Cancel(string id)
        {
            return Counted(id, (text, length, count) => Raw.selene_task_cancel(Handle, text, length, count));
        }

        /// <summary>Cancels those with a tag.</summary>
        public ulong CancelTagged(string tag)
        {
            return Counted(tag, (text, length, count) => Raw.selene_task_cancel_tag(Handle, text, length, count));
        }

        /// <summary>Cancels all.</summary>
        public ulong CancelAll()
        {
            ulong count;
            SeleneException.Check(Raw.selene_task_cancel_all(Handle, &count));
            return count;
        }

        /// <summary>Pauses a task and what waits behind it: they stay as they are, and none begins.</summary>
        public ulong Pause(string id)
        {
            return Counted(id, (text, length, count) => Raw.selene_task_pause(Handle, text, length, count));
        }

        /// <summary>Pauses those that have a tag now.</summary>
        public ulong PauseTagged(string tag)
        {
            return Counted(tag, (text, length, count) => Raw.selene_task_pause_tag(Handle, text, length, count));
        }

        /// <summary>Lets a task go on that was paused, and what waits behind it.</summary>
        public ulong Unpause(string id)
        {
            return Counted(id, (text, length, count) => Raw.selene_task_resume(Handle, text, length, count));
        }

        /// <summary>Lets those with a tag go on.</summary>
        public ulong UnpauseTagged(string tag)
        {
            return Counted(tag, (text, length, count) => Raw.selene_task_resume_tag(Handle, text, length, count));
        }

        /// <summary>Enqueues a failed task again.</summary>
        public void Retry(string id)
        {
            Named(id, (text, length) => Raw.selene_task_retry(Handle, text, length));
        }

        /// <summary>Runs a task now, outside of windows.</summary>
        public void Launch(string id)
        {
            Named(id, (text, length) => Raw.selene_task_launch(Handle, text, length));
        }

        /// <summary>Says when a live task is due next, once, in place of the instant that was or will be computed.</summary>
        public void SetNext(string id, Instant next)
        {
            Named(id, (text, length) => Raw.selene_task_set_next(Handle, text, length, next.NanosecondsSinceEpoch));
        }

        /// <summary>What the last success of a task left; empty: nothing.</summary>
        public byte[] Output(string id)
        {
            Raw.TaskOutput* made = null;
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(id, nameof(id));
                SeleneException.Check(Raw.selene_task_get_output(Handle, text.data, text.length, &made));
            }
            try
            {
                return Lent.Array(made->output);
            }
            finally
            {
                Raw.selene_free(made);
            }
        }

        /// <summary>Says why a task does not run now.</summary>
        public Explanation Explain(string id)
        {
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(id, nameof(id));
                var raw = new Raw.Explanation { struct_size = (uint)sizeof(Raw.Explanation) };
                SeleneException.Check(Raw.selene_task_explain(Handle, text.data, text.length, &raw));
                return new Explanation(&raw);
            }
        }

        /// <summary>Says where the time of a task went since it was last due, or registered.</summary>
        public Waits Waits(string id)
        {
            Raw.Waits* made = null;
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(id, nameof(id));
                SeleneException.Check(Raw.selene_task_waits(Handle, text.data, text.length, &made));
            }
            try
            {
                return new Waits(made);
            }
            finally
            {
                Raw.selene_free(made);
            }
        }

        // ---- conditions of the host ----

        /// <summary>Defines a condition of the host's own, which tasks ask for by its name.</summary>
        public void DefineCondition(string name)
        {
            Named(name, (text, length) => Raw.selene_condition_define(Handle, text, length));
        }

        /// <summary>Takes the definition back; it then does not hold.</summary>
        public void UndefineCondition(string name)
        {
            Named(name, (text, length) => Raw.selene_condition_undefine(Handle, text, length));
        }

        /// <summary>Says whether a condition that is defined holds; runs that lose it are stopped.</summary>
        public void SetCondition(string name, bool holds)
        {
            Named(name, (text, length) => Raw.selene_condition_set(Handle, text, length, holds ? 1 : 0));
        }

        /// <summary>What a condition is; NotFound: it is not defined and no task asks for it.</summary>
        public ConditionState Condition(string name)
        {
            return (ConditionState)(int)Counted(
                name, (text, length, state) => Raw.selene_condition_get(Handle, text, length, (int*)state));
        }

        /// <summary>The names of all that are defined, or that a task asks for.</summary>
        public IReadOnlyList<string> ConditionNames()
        {
            Raw.TaskIds* made;
            SeleneException.Check(Raw.selene_condition_list(Handle, &made));
            return Ids(made);
        }

        /// <summary>The names of those that a task asks for and that do not hold.</summary>
        public IReadOnlyList<string> MissingConditions(string id)
        {
            Raw.TaskIds* made = null;
            Named(id, (text, length) =>
            {
                Raw.TaskIds* found;
                int status = Raw.selene_condition_missing(Handle, text, length, &found);
                made = found;
                return status;
            });
            return Ids(made);
        }

        // ---- groups ----

        /// <summary>Lets at most so many runs of a group go on at a time; 0: no limit.</summary>
        public void LimitGroup(string name, uint limit)
        {
            Named(name, (text, length) => Raw.selene_group_set_limit(Handle, text, length, limit));
        }

        /// <summary>Begins no more runs of a group.</summary>
        public void PauseGroup(string name)
        {
            Named(name, (text, length) => Raw.selene_group_pause(Handle, text, length));
        }

        /// <summary>Lets a group go on that was paused.</summary>
        public void UnpauseGroup(string name)
        {
            Named(name, (text, length) => Raw.selene_group_resume(Handle, text, length));
        }

        /// <summary>A group; NotFound: nothing of it is set, no task of it waits and none runs.</summary>
        public GroupInfo Group(string name)
        {
            using (var lent = new Lent())
            {
                Raw.Text text = lent.Text(name, nameof(name));
                var raw = new Raw.GroupInfo { struct_size = (uint)sizeof(Raw.GroupInfo) };
                SeleneException.Check(Raw.selene_group_get(Handle, text.data, text.length, &raw));
                return new GroupInfo(raw);
            }
        }

        /// <summary>The names of all groups.</summary>
        public IReadOnlyList<string> Groups()
        {
            Raw.TaskIds* made;
            SeleneException.Check(Raw.selene_group_list(Handle, &made));
            return Ids(made);
        }

        // ---- pauses of kinds ----

        /// <summary>
        /// Pauses kinds, everywhere or in a pool (of the tasks whose handlers its processes offer): none of their tasks begins
        /// before an instant, at most 10 years ahead; null: until they are resumed. Runs in flight go on. The store keeps it;
        /// pausing them again changes the end. Everywhere and in each pool they are paused apart, and a task waits while either
        /// holds.
        /// </summary>
        public void PauseKinds(Kind kinds, Instant? until = null, string pool = null)
        {
            // The header's 0 resumes, so that instant is refused as any that is past, and what is later than it can say as what
            // is too far ahead.
            long end = until == null ? Raw.NEVER : Math.Min(until.Value.NanosecondsSinceEpoch, Raw.NEVER - 1);
            SetPause(kinds, end == 0 ? -1 : end, pool);
        }

        /// <summary>Lets kinds go on that were paused, everywhere or in a pool.</summary>
        public void UnpauseKinds(Kind kinds, string pool = null)
        {
            SetPause(kinds, 0, pool);
        }

        private void SetPause(Kind kinds, long until, string pool)
        {
            if (pool == "")
            {
                throw new SeleneException(Status.InvalidArgument, "pool: empty; a pool has a name", "pool");
            }
            using (var lent = new Lent())
            {
                // To the header no kind is both of a pool; without one it is refused.
                Raw.Text text = lent.Text(kinds == Kind.None || pool == null ? "" : pool, nameof(pool));
                SeleneException.Check(Raw.selene_scheduler_pause(Handle, (uint)kinds, text.data, text.length, until));
            }
        }

        /// <summary>The kinds that are paused: first everywhere, then by pool.</summary>
        public IReadOnlyList<Pause> Pauses()
        {
            Raw.Pauses* made;
            SeleneException.Check(Raw.selene_pause_list(Handle, &made));
            try
            {
                var pauses = new Pause[made->count];
                for (int i = 0; i < pauses.Length; i++)
                {
                    pauses[i] = new Pause(made->pauses[i]);
                }
                return pauses;
            }
            finally
            {
                Raw.selene_free(made);
            }
        }

        // ---- the store ----

        /// <summary>Copies the store to a file that does not exist, while it is used.</summary>
        public void Backup(string path)
        {
            Named(path, (text, length) => Raw.selene_store_backup(Handle, text, length));
        }
    }

    /// <summary>What became of one of many tasks.</summary>
    public readonly struct Registered
    {
        internal Registered(int status, int disposition)
        {
            Refused = status == Raw.OK ? (Status?)null : (Status)status;
            Disposition = status == Raw.OK ? (Disposition?)(Disposition)disposition : null;
        }

        /// <summary>Why it was refused; null: it was not.</summary>
        public Status? Refused { get; }

        /// <summary>What its registration did; null: it was refused.</summary>
        public Disposition? Disposition { get; }
    }
}
