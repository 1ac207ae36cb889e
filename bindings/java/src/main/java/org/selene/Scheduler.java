package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;

/**
 * Has tasks and handlers. Any thread may use it, handlers too; it lives until it is closed.
 *
 * <p>What is refused is a {@link SeleneException}, and nothing has changed.
 */
public final class Scheduler implements AutoCloseable {
    /** How long advance waits for handlers at an instant, ns of the system's clock. */
    private static final long PATIENCE = 10_000_000_000L;

    private final long handle;
    /** Runs that a stop is told. */
    final ConcurrentHashMap<Long, Run> live = new ConcurrentHashMap<>();

    private final AtomicReference<Events> events = new AtomicReference<>();
    private volatile boolean isClosed;
    /** How many copy what the library lends until the scheduler is closed. */
    private final AtomicInteger inside = new AtomicInteger();

    private Scheduler(long handle) {
        this.handle = handle;
    }

    /** Opens a scheduler whose tasks live in memory. */
    public static Scheduler open() {
        return open(Options.builder().build());
    }

    /** Opens a scheduler. */
    public static Scheduler open(Options options) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            Raw.selene_scheduler_open(options.lend(lent).address, out.address);
            return new Scheduler(out.getLong(0));
        }
    }

    /**
     * Connects to the process that has a store open and serves it ({@link #serve}, or selened). The scheduler is used as any
     * other: what is registered is kept there, and its windows and its driver run the tasks of its handlers.
     */
    public static Scheduler connect(Connection connection) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            Raw.selene_scheduler_connect(connection.lend(lent).address, out.address);
            return new Scheduler(out.getLong(0));
        }
    }

    /** Lets other processes of this user connect until it is closed, at the store's path and "-sock". */
    public void serve() {
        serve(null);
    }

    /** The same at a path. */
    public void serve(java.nio.file.@Nullable Path path) {
        try (Lent lent = new Lent()) {
            Lent.Block raw = lent.struct(Layout.ServerOptions.SIZE);
            Lent.Block out = lent.room(8);
            if (path != null) {
                raw.put(Layout.ServerOptions.PATH, lent.text(path.toFile().getPath()));
            }
            Raw.selene_server_start(handle, raw.address, out.address);
        }
    }

    /** The number by which the header knows it. */
    public long handle() {
        return handle;
    }

    void enter() {
        // In one order with the flag and the count of close: one of both sees the other.
        inside.incrementAndGet();
        if (isClosed) {
            leave();
            throw SeleneException.closed();
        }
    }

    void leave() {
        inside.decrementAndGet();
    }

    /** What a listener threw, for who looks at such things. */
    void uncaught(Throwable thrown) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        if (handler == null) {
            thrown.printStackTrace();
            return;
        }
        try {
            handler.uncaughtException(thread, thrown);
        } catch (Throwable again) {
            // As the VM does it.
        }
    }

    /** Closes it; runs in flight are stopped, and their tasks wait again as before the run. */
    @Override
    public void close() {
        close(Duration.ZERO);
    }

    /**
     * Closes it. Runs in flight have the grace to complete; what is left in its last tenth is asked to stop, and the tasks of
     * what does not wait again as before the run. A second close does nothing; one inside a handler is refused
     * ({@link Status#REENTRANT}).
     */
    public void close(Duration grace) {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        // A step, and perhaps a commit: soon over.
        while (inside.get() != 0) {
            LockSupport.parkNanos(50_000);
        }
        try {
            Raw.selene_scheduler_close(handle, Time.nanoseconds(grace));
        } catch (SeleneException refused) {
            if (refused.status() == Status.INVALID_ARGUMENT || refused.status() == Status.REENTRANT) {
                isClosed = false;
                throw refused;
            }
            // With others it is closed, though its last changes could not be stored; or a child of a fork has it.
            live.clear();
            throw refused;
        }
        live.clear();
    }

    /** Lets nothing more be dispatched and waits until nothing runs; false: something still does. */
    public boolean drain(Duration grace) {
        int status = Raw.selene_scheduler_drain(handle, Time.nanoseconds(grace));
        if (status != Layout.OK && status != Status.BUSY.number()) {
            Native.refuse(status);
        }
        return status == Layout.OK;
    }

    /** Ends a drain. */
    public void resume() {
        Raw.selene_scheduler_resume(handle);
    }

    /** Scheduler time, which never goes back. */
    public Instant now() {
        return Time.instant(number(out -> Raw.selene_scheduler_now(handle, out)));
    }

    /** Says what time it is, to a scheduler that was opened with a clock. */
    public void setClock(Instant now) {
        Raw.selene_clock_set(handle, Time.nanoseconds(now));
    }

    /**
     * Lets time pass up to an instant, for a scheduler that was opened with a clock: from one instant at which something is
     * due to the next, and at each it waits until all that is due is done, also by handlers. When something is due next;
     * null: nothing is. Handlers that take more than ten real seconds are {@link Status#BUSY}, which names them.
     */
    public @Nullable Instant advance(Instant to) {
        long at = Time.nanoseconds(to);
        int flags = Layout.ADVANCE_HANDLERS | Layout.ADVANCE_RUNS;
        return Time.instant(number(out -> Raw.selene_clock_advance(handle, at, flags, PATIENCE, out)));
    }

    /** When the next window is worth opening; null: when something changes. */
    public @Nullable Instant nextWakeup() {
        return Time.instant(number(out -> Raw.selene_scheduler_next_wakeup(handle, out, 0)));
    }

    /** Counts of its tasks and threads. */
    public SchedulerInfo info() {
        try (Lent lent = new Lent()) {
            Lent.Block raw = lent.struct(Layout.SchedulerInfo.SIZE);
            Raw.selene_scheduler_get(handle, raw.address);
            return SchedulerInfo.of(raw);
        }
    }

    /** Says which of these constraints are satisfied, until the next call. The others are the system's. */
    public void setConditions(Collection<Constraint> of, Collection<Constraint> satisfied) {
        Raw.selene_conditions_set(handle, Constraint.bits(of), Constraint.bits(satisfied));
    }

    /** Switches these kinds on, and all others off. */
    public void enable(Collection<Kind> kinds) {
        Raw.selene_scheduler_enable(handle, Kind.bits(kinds));
    }

    // ---- handlers ----

    /** Registers a handler under a name. It is called on threads of the library, several at once where a window has lanes. */
    public void addHandler(String name, Handler handler) {
        register(name, new Registration(this, Objects.requireNonNull(handler, "handler"), null), Native.RUN);
    }

    /** Registers a handler that starts work which completes later. */
    public void addAsyncHandler(String name, AsyncHandler handler) {
        register(name, new Registration(this, null, Objects.requireNonNull(handler, "handler")), Native.RUN);
    }

    /** Registers a name whose runs are pulled ({@link #begin}). */
    public void addPulledHandler(String name) {
        register(name, new Registration(this, null, null), 0);
    }

    private void register(String name, Registration registration, long run) {
        try (Lent lent = new Lent()) {
            Lent.Block text = lent.text(name);
            // It releases the context also when it fails.
            Raw.selene_handler_register(
                    handle, text.address, text.size, run, Native.STOP, Native.keep(registration), Native.RELEASE);
        }
    }

    /** Takes a handler back. */
    public void removeHandler(String name) {
        named(name, (text, length) -> Raw.selene_handler_unregister(handle, text, length));
    }

    // ---- windows ----

    /**
     * Opens a window and works through it on threads of the library. The report comes by its deadline, also where handlers do
     * not return. If a window of exactly these kinds is open, it is joined. An interruption ends the window.
     */
    public Report run(Window window) throws InterruptedException {
        WindowFuture report = launch(window, true);
        try {
            return report.get();
        } catch (InterruptedException e) {
            report.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            throw (SeleneException) e.getCause();
        }
    }

    /** The same, without waiting. Cancelling it ends the window. */
    public CompletableFuture<Report> runAsync(Window window) {
        return launch(window, false);
    }

    private WindowFuture launch(Window window, boolean isAwaited) {
        WindowFuture report = new WindowFuture(isAwaited);
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            long raw = window.lend(lent).address;
            // It releases the context also when it fails.
            Raw.selene_cycle_run_async(handle, raw, Native.REPORT, Native.keep(report), Native.RELEASE, out.address, 0);
            report.begun(out.getLong(0));
        }
        return report;
    }

    /** Opens a window whose runs are pulled. */
    public Cycle begin(Window window) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            Raw.selene_cycle_begin(handle, window.lend(lent).address, out.address);
            return new Cycle(this, out.getLong(0));
        }
    }

    /** What such a window would pick now. */
    public Plan plan(Window window) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            Raw.selene_cycle_plan(handle, window.lend(lent).address, out.address);
            try {
                return Plan.of(Struct.at(out.getLong(0), Layout.Plan.SIZE));
            } finally {
                Raw.selene_free(out.getLong(0));
            }
        }
    }

    /** Starts a thread that opens windows whenever something can run, until {@link #stopDriver} or {@link #close}. */
    public void startDriver(Driver driver) {
        try (Lent lent = new Lent()) {
            Raw.selene_driver_start(handle, driver.lend(lent).address);
        }
    }

    /** Stops it; runs in its windows are stopped and have the grace to return. Without a driver it does nothing. */
    public void stopDriver(Duration grace) {
        Raw.selene_driver_stop(handle, Time.nanoseconds(grace));
    }

    // ---- the governor ----

    /** Says what the governor asks for from now on, before the driver opens a window. It is not stored. */
    public void setProfile(Profile profile) {
        try (Lent lent = new Lent()) {
            Lent.Block raw = lent.struct(Layout.Profile.SIZE);
            raw.put(Layout.Profile.BASE, profile.number());
            Raw.selene_governor_set_profile(handle, raw.address);
        }
    }

    /** Sets a signal in place of what the system says, until it is cleared. */
    public void setSignal(Signal signal, long value) {
        Raw.selene_signal_set(handle, signal.number(), value, 0);
    }

    /** The same for a time, after which it is unknown. */
    public void setSignal(Signal signal, long value, Duration validFor) {
        Raw.selene_signal_set(handle, signal.number(), value, Time.nanoseconds(validFor));
    }

    /** Takes that back. */
    public void clearSignal(Signal signal) {
        Raw.selene_signal_clear(handle, signal.number());
    }

    /** Whether a kind deserves a window now, and why. */
    public Decision ask(Kind kind) {
        long made = number(out -> Raw.selene_governor_ask(handle, kind.number(), 0, out));
        return owned(made, at -> Decision.of(Struct.at(at, Layout.Decision.SIZE)));
    }

    // ---- events ----

    /**
     * Tells events from now on, of which so many wait at most; those that find no room are lost, and counted. What happened
     * at open is told first. A scheduler has one such queue: another one ends the one before.
     */
    public Events events(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity: " + capacity + " is out of range, at least 1");
        }
        Events made = new Events(this, capacity);
        synchronized (events) {
            Raw.selene_scheduler_observe(handle, Native.EVENT, Native.keep(made), Native.RELEASE);
            events.set(made);
        }
        return made;
    }

    /** If it is still this one. */
    void unobserve(Events closed) {
        synchronized (events) {
            if (!events.compareAndSet(closed, null)) {
                return;
            }
            try {
                Raw.selene_scheduler_observe(handle, 0, 0, 0);
            } catch (SeleneException refused) {
                if (refused.status() != Status.INVALID_HANDLE) {
                    throw refused;
                }
            }
        }
    }

    // ---- tasks ----

    private interface Named {
        void call(long text, long length);
    }

    private interface Counted {
        void call(long text, long length, long out);
    }

    private void named(String name, Named call) {
        try (Lent lent = new Lent()) {
            Lent.Block text = lent.text(name);
            call.call(text.address, text.size);
        }
    }

    private interface Out {
        void call(long out);
    }

    private static long number(Out call) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            call.call(out.address);
            return out.getLong(0);
        }
    }

    private static long counted(String name, Counted call) {
        try (Lent lent = new Lent()) {
            Lent.Block text = lent.text(name);
            Lent.Block out = lent.room(8);
            call.call(text.address, text.size, out.address);
            return out.getLong(0);
        }
    }

    /** What a call makes, and what frees it. */
    private static <T> T owned(long made, LongFunction<T> copied) {
        try {
            return copied.apply(made);
        } finally {
            Raw.selene_free(made);
        }
    }

    private static List<String> ids(long made) {
        return owned(
                made,
                at -> {
                    Struct raw = Struct.at(at, Layout.TaskIds.SIZE);
                    return raw.texts(Layout.TaskIds.IDS, raw.getLong(Layout.TaskIds.COUNT));
                });
    }

    /** Registers a task; what became of it. */
    public Disposition register(Task task) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(4);
            Raw.selene_task_register(handle, task.lend(lent).address, out.address);
            return Disposition.of(out.getInt(0));
        }
    }

    /** Registers many tasks in one commit. Each is judged for itself; one that is refused stops no other. */
    public List<Registered> registerAll(Collection<Task> tasks) {
        try (Lent lent = new Lent()) {
            Lent.Block all = lent.room(8 * tasks.size());
            Lent.Block statuses = lent.room(4 * tasks.size());
            Lent.Block dispositions = lent.room(4 * tasks.size());
            int at = 0;
            for (Task task : tasks) {
                all.put(8 * at++, task.lend(lent).address);
            }
            Raw.selene_task_register_batch(handle, all.address, at, statuses.address, dispositions.address);
            List<Registered> became = new ArrayList<>(at);
            for (int i = 0; i < at; i++) {
                int status = statuses.getInt(4 * i);
                became.add(status == Layout.OK
                        ? new Registered(null, Disposition.of(dispositions.getInt(4 * i)))
                        : new Registered(Status.of(status), null));
            }
            return became;
        }
    }

    /** A task's record; null: there is none of that id. */
    public @Nullable TaskInfo find(String id) {
        try {
            return get(id);
        } catch (SeleneException refused) {
            if (refused.status() == Status.NOT_FOUND) {
                return null;
            }
            throw refused;
        }
    }

    /** A task's record; {@link Status#NOT_FOUND}: there is none of that id. */
    public TaskInfo get(String id) {
        long made = counted(id, (text, length, out) -> Raw.selene_task_get(handle, text, length, 0, out));
        return owned(made, at -> TaskInfo.of(Struct.at(at, Layout.TaskInfo.SIZE)));
    }

    /** The ids of all tasks. */
    public List<String> ids() {
        return ids(number(out -> Raw.selene_task_list(handle, 0, 0, out)));
    }

    /** The ids of those with a tag. */
    public List<String> idsTagged(String tag) {
        return ids(counted(tag, (text, length, out) -> Raw.selene_task_list(handle, text, length, out)));
    }

    /** The ids of those in a state. */
    public List<String> idsIn(State state) {
        return ids(number(out -> Raw.selene_task_list_state(handle, state.number(), out)));
    }

    /** Cancels a task and what waits behind it; how many records. */
    public long cancel(String id) {
        return counted(id, (text, length, out) -> Raw.selene_task_cancel(handle, text, length, out));
    }

    /** Cancels those with a tag. */
    public long cancelTagged(String tag) {
        return counted(tag, (text, length, out) -> Raw.selene_task_cancel_tag(handle, text, length, out));
    }

    /** Cancels all. */
    public long cancelAll() {
        return number(out -> Raw.selene_task_cancel_all(handle, out));
    }

    /** Pauses a task and what waits behind it: they stay as they are, and none begins. */
    public long pause(String id) {
        return counted(id, (text, length, out) -> Raw.selene_task_pause(handle, text, length, out));
    }

    /** Pauses those that have a tag now. */
    public long pauseTagged(String tag) {
        return counted(tag, (text, length, out) -> Raw.selene_task_pause_tag(handle, text, length, out));
    }

    /** Lets a task go on that was paused, and what waits behind it. */
    public long unpause(String id) {
        return counted(id, (text, length, out) -> Raw.selene_task_resume(handle, text, length, out));
    }

    /** Lets those with a tag go on. */
    public long unpauseTagged(String tag) {
        return counted(tag, (text, length, out) -> Raw.selene_task_resume_tag(handle, text, length, out));
    }

    /** Enqueues a failed task again. */
    public void retry(String id) {
        named(id, (text, length) -> Raw.selene_task_retry(handle, text, length));
    }

    /** Runs a task now, outside of windows. */
    public void launch(String id) {
        named(id, (text, length) -> Raw.selene_task_launch(handle, text, length));
    }

    /** Says when a live task is due next, once, in place of the instant that was or will be computed. */
    public void setNext(String id, Instant next) {
        named(id, (text, length) -> Raw.selene_task_set_next(handle, text, length, Time.nanoseconds(next)));
    }

    /** What the last success of a task left; null: nothing. */
    public byte @Nullable [] output(String id) {
        long made = counted(id, (text, length, out) -> Raw.selene_task_get_output(handle, text, length, out));
        byte[] output = owned(
                made,
                at -> Struct.at(at, Layout.TaskOutput.SIZE).bytes(Layout.TaskOutput.OUTPUT));
        return output.length == 0 ? null : output;
    }

    /** Says why a task does not run now. */
    public Explanation explain(String id) {
        try (Lent lent = new Lent()) {
            Lent.Block text = lent.text(id);
            Lent.Block out = lent.struct(Layout.Explanation.SIZE);
            Raw.selene_task_explain(handle, text.address, text.size, out.address);
            return Explanation.of(new Struct(out.getBytes(), 0));
        }
    }

    /** Says where the time of a task went since it was last due, or registered. */
    public Waits waits(String id) {
        long made = counted(id, (text, length, out) -> Raw.selene_task_waits(handle, text, length, out));
        return owned(made, at -> Waits.of(Struct.at(at, Layout.Waits.SIZE)));
    }

    // ---- conditions of the host ----

    /** Defines a condition of the host's own, which tasks ask for by its name. */
    public void defineCondition(String name) {
        named(name, (text, length) -> Raw.selene_condition_define(handle, text, length));
    }

    /** Takes the definition back; it then does not hold. */
    public void undefineCondition(String name) {
        named(name, (text, length) -> Raw.selene_condition_undefine(handle, text, length));
    }

    /** Says whether a condition that is defined holds; runs that lose it are stopped. */
    public void setCondition(String name, boolean holds) {
        named(name, (text, length) -> Raw.selene_condition_set(handle, text, length, holds ? 1 : 0));
    }

    /** What a condition is; {@link Status#NOT_FOUND}: it is not defined and no task asks for it. */
    public ConditionState condition(String name) {
        return ConditionState.of((int) counted(name, (text, length, out) -> Raw.selene_condition_get(handle, text, length, out)));
    }

    /** The names of all that are defined, or that a task asks for. */
    public List<String> conditionNames() {
        return ids(number(out -> Raw.selene_condition_list(handle, out)));
    }

    /** The names of those that a task asks for and that do not hold. */
    public List<String> missingConditions(String id) {
        return ids(counted(id, (text, length, out) -> Raw.selene_condition_missing(handle, text, length, out)));
    }

    // ---- groups ----

    /** Lets at most so many runs of a group go on at a time; 0: no limit. */
    public void limitGroup(String name, int limit) {
        int count = Options.count("limit", limit);
        named(name, (text, length) -> Raw.selene_group_set_limit(handle, text, length, count));
    }

    /** Begins no more runs of a group. */
    public void pauseGroup(String name) {
        named(name, (text, length) -> Raw.selene_group_pause(handle, text, length));
    }

    /** Lets a group go on that was paused. */
    public void unpauseGroup(String name) {
        named(name, (text, length) -> Raw.selene_group_resume(handle, text, length));
    }

    /** A group; {@link Status#NOT_FOUND}: nothing of it is set, no task of it waits and none runs. */
    public GroupInfo group(String name) {
        try (Lent lent = new Lent()) {
            Lent.Block text = lent.text(name);
            Lent.Block out = lent.struct(Layout.GroupInfo.SIZE);
            Raw.selene_group_get(handle, text.address, text.size, out.address);
            return new GroupInfo(
                    out.getInt(Layout.GroupInfo.LIMIT),
                    out.getInt(Layout.GroupInfo.PAUSED) != 0,
                    out.getLong(Layout.GroupInfo.RUNNING),
                    out.getLong(Layout.GroupInfo.WAITING));
        }
    }

    /** The names of all groups. */
    public List<String> groups() {
        return ids(number(out -> Raw.selene_group_list(handle, out)));
    }

    // ---- pauses of kinds ----

    /**
     * Pauses kinds everywhere: none of their tasks begins before an instant, at most 10 years ahead; null: until they are
     * resumed. Runs in flight go on. The store keeps it; pausing them again changes the end.
     */
    public void pauseKinds(Collection<Kind> kinds, @Nullable Instant until) {
        setPause(kinds, "", pauseEnd(until));
    }

    /** Lets kinds go on that were paused everywhere. */
    public void unpauseKinds(Collection<Kind> kinds) {
        setPause(kinds, "", 0);
    }

    /**
     * Pauses kinds in a pool: of the tasks whose handlers its processes offer. Everywhere and in each pool they are paused
     * apart, and a task waits while either holds.
     */
    public void pausePool(String pool, Collection<Kind> kinds, @Nullable Instant until) {
        setPause(kinds, poolName(pool), pauseEnd(until));
    }

    /** Lets kinds go on that were paused in a pool. */
    public void unpausePool(String pool, Collection<Kind> kinds) {
        setPause(kinds, poolName(pool), 0);
    }

    /** To the header an empty one is everywhere. */
    private static String poolName(String pool) {
        if (pool.isEmpty()) {
            throw new SeleneException(Status.INVALID_ARGUMENT, "pool: empty; a pool has a name", "pool", "", "");
        }
        return pool;
    }

    /**
     * The header's 0 resumes, so that instant is refused as any that is past, and what is later than it can say as what is
     * too far ahead.
     */
    private static long pauseEnd(@Nullable Instant until) {
        if (until == null) {
            return Layout.NEVER;
        }
        long end = Time.nanoseconds(until);
        return end == 0 ? -1 : Math.min(end, Layout.NEVER - 1);
    }

    private void setPause(Collection<Kind> kinds, String pool, long until) {
        int bits = Kind.bits(kinds);
        // To the header no kind is both of a pool; without one it is refused.
        named(bits == 0 ? "" : pool, (text, length) -> Raw.selene_scheduler_pause(handle, bits, text, length, until));
    }

    /** The kinds that are paused: first everywhere, then by pool. */
    public List<Pause> pauses() {
        return owned(
                number(out -> Raw.selene_pause_list(handle, out)),
                at -> {
                    Struct raw = Struct.at(at, Layout.Pauses.SIZE);
                    return raw.list(Layout.Pauses.PAUSES, raw.getLong(Layout.Pauses.COUNT), Layout.Pause.SIZE, Pause::of);
                });
    }

    // ---- the store ----

    /** Copies the store to a file that does not exist, while it is used. */
    public void backup(java.nio.file.Path to) {
        named(to.toString(), (text, length) -> Raw.selene_store_backup(handle, text, length));
    }
}
