import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.selene.ConditionState;
import org.selene.Connection;
import org.selene.Constraint;
import org.selene.Cycle;
import org.selene.Decision;
import org.selene.Disposition;
import org.selene.Driver;
import org.selene.Event;
import org.selene.EventType;
import org.selene.Events;
import org.selene.Explanation;
import org.selene.Factor;
import org.selene.GroupInfo;
import org.selene.Handler;
import org.selene.Kind;
import org.selene.Options;
import org.selene.Outcome;
import org.selene.Pause;
import org.selene.Priority;
import org.selene.Profile;
import org.selene.Reason;
import org.selene.Report;
import org.selene.Registered;
import org.selene.Result;
import org.selene.Run;
import org.selene.Scheduler;
import org.selene.SchedulerInfo;
import org.selene.SeleneException;
import org.selene.Signal;
import org.selene.State;
import org.selene.Status;
import org.selene.Step;
import org.selene.Stop;
import org.selene.Task;
import org.selene.TaskInfo;
import org.selene.Waits;
import org.selene.Window;

/** The package's own tests: each method is one, its name a sentence. Arguments: those to run; none: all. */
public final class Tests {
    /** Until something that must happen counts as failed. */
    private static final Duration LONG = Duration.ofMinutes(10);

    private static final Window WINDOW = Window.of(LONG);
    private static final Set<Constraint> ALL = EnumSet.allOf(Constraint.class);

    private interface Code {
        void run() throws Exception;
    }

    private static void equal(Object found, Object wanted) {
        if (!Objects.equals(found, wanted)) {
            throw new AssertionError("found " + found + ", wanted " + wanted);
        }
    }

    private static void holds(boolean isTrue, Object found) {
        if (!isTrue) {
            throw new AssertionError("found " + found);
        }
    }

    private static SeleneException refused(Status status, Code code) {
        try {
            code.run();
        } catch (SeleneException e) {
            equal(e.status(), status);
            return e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        throw new AssertionError("not refused: " + status);
    }

    private static void refusedFor(String field, Code code) {
        equal(refused(Status.INVALID_ARGUMENT, code).field(), field);
    }

    private static Scheduler opened(Options options) {
        Scheduler scheduler = Scheduler.open(options);
        scheduler.setConditions(ALL, ALL);
        return scheduler;
    }

    private static Scheduler opened() {
        return opened(Options.builder().build());
    }

    private static Scheduler pulled(Instant clock) {
        Scheduler scheduler = opened(Options.builder().clock(clock).noThreads().build());
        scheduler.addPulledHandler("a");
        return scheduler;
    }

    private static void once(Scheduler scheduler, String... ids) {
        for (String id : ids) {
            scheduler.register(Task.once(id).build());
        }
    }

    // ---- handlers ----

    public static void whatIsThrownIsAFailureWithItsText() throws Exception {
        try (Scheduler scheduler = opened()) {
            Map<String, Handler> handlers = Map.of(
                    "exception", run -> { throw new IOException("no such wood"); },
                    "error", run -> { throw new AssertionError("no such " + run.id()); },
                    "null", run -> Result.failed(((String) null).trim()),
                    "deep", run -> Result.failed("" + deep(0)),
                    "large", run -> Result.failed("" + new long[Integer.MAX_VALUE].length),
                    "nothing", run -> null,
                    "nul", run -> Result.failed("a\0b"),
                    "late", run -> Result.retryAfter(Duration.ofHours(2), "later"),
                    "never", run -> Result.abandoned("of no use"),
                    "wrong", run -> Result.retryAfter(Duration.ofNanos(-1), "before"));
            handlers = new HashMap<>(handlers);
            handlers.put("mute", run -> { throw new Mute(); });
            for (var one : handlers.entrySet()) {
                scheduler.addHandler(one.getKey(), one.getValue());
                once(scheduler, one.getKey());
            }
            Report report = scheduler.run(Window.builder().budget(LONG).lanes(2).build());
            equal(report.runs().size(), 11);
            equal(report.failed(), 10L);
            equal(report.abandoned(), 1L);
            Map<String, String> said = Map.of(
                    "exception", "java.io.IOException: no such wood",
                    "error", "java.lang.AssertionError: no such error",
                    "deep", "java.lang.StackOverflowError",
                    "nothing", "the handler returned null",
                    "nul", "a\uFFFDb",
                    "late", "later",
                    "never", "of no use",
                    "mute", "Tests$Mute");
            said.forEach((id, failure) -> equal(scheduler.get(id).failure(), failure));
            String failure = scheduler.get("null").failure();
            holds(failure.startsWith("java.lang.NullPointerException"), failure);
            failure = scheduler.get("large").failure();
            holds(failure.startsWith("java.lang.OutOfMemoryError"), failure);
            failure = scheduler.get("wrong").failure();
            holds(failure.startsWith("what the handler returned was refused: delay"), failure);
            TaskInfo late = scheduler.get("late");
            equal(late.state(), State.ENQUEUED);
            equal(late.earliestBegin(), late.failedAt().plus(Duration.ofHours(2)));
            equal(scheduler.idsIn(State.FAILED), List.of("never"));
        }
    }

    /** It cannot say what it is. */
    private static final class Mute extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            throw new IllegalStateException("no words");
        }
    }

    private static long deep(long at) {
        return deep(at + 1) + 1;
    }

    /** The VM finds null by the signal of a fault, once it has compiled the code. */
    public static void faultsAreTheLanguagesOwnExceptionsOnThreadsOfTheLibrary() throws Exception {
        try (Scheduler scheduler = opened()) {
            AtomicInteger found = new AtomicInteger();
            Node[] list = {new Node(), null};
            scheduler.addHandler("a", run -> {
                for (int i = 0; i < 200_000; i++) {
                    try {
                        list[(i & 1023) == 0 ? 1 : 0].value++;
                    } catch (NullPointerException e) {
                        found.incrementAndGet();
                    }
                }
                return Result.newData();
            });
            once(scheduler, "a");
            equal(scheduler.run(WINDOW).newData(), 1L);
            equal(found.get(), 196);
        }
    }

    private static final class Node {
        private int value;
    }

    public static void whatAHandlerReturnsIsTheOutcomeAndWhatItLeavesIsKept() throws Exception {
        try (Scheduler scheduler = opened()) {
            byte[] left = "out\0put".getBytes(StandardCharsets.UTF_8);
            scheduler.addHandler("news", run -> {
                run.setOutput(left);
                return Result.newData();
            });
            scheduler.addHandler("none", run -> Result.noData());
            scheduler.register(Task.standing("news").build());
            scheduler.register(Task.standing("none").build());
            Report report = scheduler.run(WINDOW);
            equal(report.newData(), 1L);
            equal(report.noData(), 1L);
            equal(report.result(), Outcome.NEW_DATA);
            equal(scheduler.get("none").lastOutcome(), Outcome.NO_DATA);
            holds(Arrays.equals(scheduler.output("news"), left), scheduler.output("news"));
            equal(scheduler.output("none"), null);
            Instant next = scheduler.now().plus(LONG);
            scheduler.setNext("none", next);
            equal(scheduler.get("none").earliestBegin(), next);
        }
    }

    public static void aHandlerHasTheClassLoaderOfWhoRegisteredItAndAThreadWithAName() throws Exception {
        try (Scheduler scheduler = opened()) {
            AtomicReference<Thread> thread = new AtomicReference<>();
            AtomicReference<ClassLoader> loader = new AtomicReference<>();
            scheduler.addHandler("a", run -> {
                thread.set(Thread.currentThread());
                loader.set(Thread.currentThread().getContextClassLoader());
                return Result.newData();
            });
            once(scheduler, "a");
            scheduler.run(WINDOW);
            equal(loader.get(), Thread.currentThread().getContextClassLoader());
            holds(thread.get().isDaemon() && thread.get().getName().startsWith("selene/"), thread.get());
        }
    }

    public static void asynchronousWorkCompletesLater() throws Exception {
        try (Scheduler scheduler = opened()) {
            BlockingQueue<CompletableFuture<Result>> started = new LinkedBlockingQueue<>();
            scheduler.addAsyncHandler("later", run -> {
                CompletableFuture<Result> made = new CompletableFuture<>();
                started.add(made);
                return made;
            });
            scheduler.addAsyncHandler("throws", run -> { throw new IOException("not begun"); });
            scheduler.addAsyncHandler("nothing", run -> null);
            for (String id : List.of("a", "b", "c")) {
                scheduler.register(Task.once(id).handler("later").build());
            }
            once(scheduler, "throws", "nothing");
            CompletableFuture<Report> window = scheduler.runAsync(Window.builder().budget(LONG).lanes(5).build());
            started.take().complete(Result.newData());
            started.take().completeExceptionally(new IOException("broken"));
            started.take().complete(null);
            Report report = window.get();
            equal(report.newData(), 1L);
            equal(report.failed(), 4L);
            Set<String> said = new java.util.TreeSet<>();
            for (String id : scheduler.ids()) {
                said.add(scheduler.get(id).failure());
            }
            equal(said.toString(), "[, java.io.IOException: broken, java.io.IOException: not begun, the handler returned null]");
        }
    }

    // ---- stops ----

    public static void aStopInterruptsTheHandlersThread() throws Exception {
        try (Scheduler scheduler = opened()) {
            CountDownLatch begun = new CountDownLatch(1);
            BlockingQueue<String> told = new LinkedBlockingQueue<>();
            scheduler.addHandler("long", run -> {
                run.onStopped(reason -> told.add("told " + reason));
                begun.countDown();
                try {
                    Thread.sleep(LONG.toMillis());
                } catch (InterruptedException e) {
                    told.add("interrupted " + run.isStopped());
                    throw e;
                }
                return Result.newData();
            });
            once(scheduler, "long");
            CompletableFuture<Report> window = scheduler.runAsync(WINDOW);
            begun.await();
            equal(scheduler.cancel("long"), 1L);
            equal(Set.of(told.take(), told.take()), Set.of("told CANCELLED", "interrupted true"));
            equal(window.get().stopped(), 1L);
            equal(scheduler.get("long").state(), State.CANCELLED);
        }
    }

    public static void aRunThatExpiresIsInterruptedAndSaysSo() throws Exception {
        try (Scheduler scheduler = opened()) {
            scheduler.addHandler("long", run -> {
                Thread.sleep(LONG.toMillis());
                return Result.newData();
            });
            once(scheduler, "long");
            // A slow machine begins nothing in a short time.
            Report report;
            Duration time = Duration.ofMillis(50);
            do {
                report = scheduler.run(Window.builder().budget(LONG.plus(time)).reserve(LONG).build());
                time = time.multipliedBy(2);
            } while (report.runs().isEmpty());
            equal(report.failed(), 1L);
            equal(scheduler.get("long").failure(), "stopped: expiring");
        }
    }

    public static void noInterruptionOutlivesItsRun() throws Exception {
        try (Scheduler scheduler = opened()) {
            AtomicInteger stray = new AtomicInteger();
            scheduler.addHandler("a", run -> {
                if (Thread.currentThread().isInterrupted()) {
                    stray.incrementAndGet();
                }
                Thread.currentThread().interrupt();
                return Result.newData();
            });
            BlockingQueue<Boolean> isInterrupted = new LinkedBlockingQueue<>();
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch stopped = new CountDownLatch(1);
            scheduler.addHandler("deaf", Handler.uninterrupted(run -> {
                run.onStopped(reason -> stopped.countDown());
                begun.countDown();
                stopped.await();
                isInterrupted.add(Thread.currentThread().isInterrupted());
                return Result.newData();
            }));
            for (int i = 0; i < 100; i++) {
                scheduler.register(Task.once("a" + i).handler("a").build());
            }
            scheduler.run(WINDOW);
            equal(stray.get(), 0);
            once(scheduler, "deaf");
            CompletableFuture<Report> window = scheduler.runAsync(WINDOW);
            begun.await();
            scheduler.cancel("deaf");
            window.get();
            equal(isInterrupted.take(), false);
        }
    }

    public static void aStopCancelsAsynchronousWork() throws Exception {
        try (Scheduler scheduler = opened()) {
            BlockingQueue<CompletableFuture<Result>> started = new LinkedBlockingQueue<>();
            scheduler.addAsyncHandler("a", run -> {
                CompletableFuture<Result> made = new CompletableFuture<>();
                started.add(made);
                return made;
            });
            once(scheduler, "a");
            CompletableFuture<Report> window = scheduler.runAsync(WINDOW);
            CompletableFuture<Result> work = started.take();
            scheduler.cancel("a");
            equal(window.get().stopped(), 1L);
            // A cancelled run is over, and reported, whether its work was told yet or not.
            try {
                work.get();
                throw new AssertionError("not cancelled");
            } catch (CancellationException e) {
                // So it was.
            }
        }
    }

    public static void anInterruptedCallerEndsItsWindow() throws Exception {
        try (Scheduler scheduler = opened()) {
            BlockingQueue<String> begun = new LinkedBlockingQueue<>();
            scheduler.addHandler("a", run -> {
                begun.add(run.id());
                Thread.sleep(LONG.toMillis());
                return Result.newData();
            });
            once(scheduler, "a");
            AtomicReference<Object> answer = new AtomicReference<>();
            Thread caller = new Thread(() -> {
                try {
                    answer.set(scheduler.run(WINDOW));
                } catch (InterruptedException e) {
                    answer.set(e);
                }
            });
            caller.start();
            equal(begun.take(), "a");
            caller.interrupt();
            caller.join();
            holds(answer.get() instanceof InterruptedException, answer.get());
            equal(scheduler.get("a").state(), State.ENQUEUED);
            // What was stopped waits as before, and would be first.
            scheduler.cancel("a");
            scheduler.register(Task.once("b").handler("a").build());
            CompletableFuture<Report> window = scheduler.runAsync(WINDOW);
            equal(begun.take(), "b");
            window.cancel(true);
            try {
                window.get();
                throw new AssertionError("not cancelled");
            } catch (CancellationException e) {
                // Another can be opened at once.
                scheduler.begin(Window.builder().kinds(Kind.REFRESH).build()).close();
            }
        }
    }

    public static void aWindowEndsByItsDeadlineAndACloseAtOnceWhateverAHandlerDoes() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(2);
        CountDownLatch returned = new CountDownLatch(2);
        // No interruption reaches it.
        Handler hangs = run -> {
            called.countDown();
            while (over.getCount() > 0) {
                Thread.onSpinWait();
                Thread.yield();
            }
            returned.countDown();
            return Result.newData();
        };
        try (Scheduler scheduler = opened(Options.builder().stopGrace(Duration.ZERO).build())) {
            AtomicInteger quick = new AtomicInteger();
            scheduler.addHandler("times out", hangs);
            scheduler.addHandler("hangs", hangs);
            scheduler.addHandler("quick", run -> {
                quick.incrementAndGet();
                return Result.newData();
            });
            Task first = Task.once("times out").priority(Priority.VERY_HIGH).timeout(Duration.ofMillis(20)).maxAttempts(1).build();
            scheduler.register(first);
            for (int i = 0; i < 5; i++) {
                scheduler.register(Task.once("" + i).handler("quick").build());
            }
            Report report = scheduler.run(WINDOW);
            equal(report.expired(), 1L);
            equal(report.newData(), 5L);
            equal(quick.get(), 5);
            equal(scheduler.get("times out").failure(), "timed out");
            // Where nothing ends the run before, the window's deadline does. A slow machine begins nothing in a short one.
            once(scheduler, "hangs");
            Duration budget = Duration.ofMillis(50);
            do {
                budget = budget.multipliedBy(2);
                report = scheduler.run(Window.of(budget));
            } while (report.runs().isEmpty());
            equal(report.expired(), 1L);
            equal(report.runs().get(0).outcome(), Outcome.EXPIRED);
            Duration late = Duration.between(report.deadline(), report.endedAt());
            holds(!late.isNegative() && late.compareTo(Duration.ofMinutes(1)) < 0, late);
            equal(scheduler.get("hangs").state(), State.ENQUEUED);
            called.await();
        } finally {
            equal(returned.getCount(), 2L);
            // What they give then comes too late, and disturbs nobody.
            over.countDown();
        }
        returned.await();
    }

    // ---- what is refused ----

    public static void whatIsRefusedIsAnExceptionOfItsThread() throws Exception {
        try (Scheduler scheduler = opened()) {
            SeleneException fault = refused(Status.INVALID_ARGUMENT, () ->
                    scheduler.register(Task.standing("a").responseWindow(31).build()));
            equal(fault.field() + " " + fault.found() + " " + fault.allowed(), "response_window 31 0 … 30");
            equal(fault.detail(), fault.getMessage());
            equal(fault.toString(), "org.selene.SeleneException: INVALID_ARGUMENT: " + fault.detail());
            refused(Status.NOT_FOUND, () -> scheduler.cancel("nobody"));
            equal(scheduler.find("nobody"), null);
            refused(Status.INVALID_ARGUMENT, () -> scheduler.register(Task.standing("half \uD83D").build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.cancelTagged("\uDE00\uD83D"));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.register(Task.once("a").maxAttempts(-1).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.register(Task.once("a").jitter(-1).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.register(
                    Task.once("a").expectedResponse(Duration.ofNanos(-1)).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.register(
                    Task.once("a").initialDelay(Duration.ofSeconds(Long.MAX_VALUE)).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.setNext("a", Instant.MIN));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.run(Window.builder().reserve(Duration.ofNanos(-1)).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.register(Task.once("a").responseWindow(-1).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.plan(Window.builder().lanes(0).build()));
            refused(Status.INVALID_ARGUMENT, () -> scheduler.limitGroup("a", -1));
            refused(Status.INVALID_ARGUMENT, () -> Priority.of(0));
            refused(Status.INVALID_ARGUMENT, () -> Scheduler.open(Options.builder().path(Path.of("")).build()));
            equal(scheduler.register(Task.standing("\uD83D\uDE00").build()), Disposition.ADDED);
            equal(scheduler.ids(), List.of("\uD83D\uDE00"));
            scheduler.addHandler("a", run -> Result.newData());
            refused(Status.ALREADY_EXISTS, () -> scheduler.addHandler("a", run -> Result.newData()));
            scheduler.removeHandler("a");
            refused(Status.NOT_FOUND, () -> scheduler.removeHandler("a"));
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                int found = 100 + i;
                threads[i] = new Thread(() -> {
                    for (int round = 0; round < 500; round++) {
                        try {
                            scheduler.register(Task.standing("a").responseWindow(found).build());
                        } catch (SeleneException e) {
                            if (!e.found().equals("" + found)) {
                                wrong.set(e);
                            }
                        }
                    }
                });
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            equal(wrong.get(), null);
        }
    }

    public static void aCloseInsideAHandlerIsRefusedAndChangesNothing() throws Exception {
        try (Scheduler scheduler = opened()) {
            AtomicReference<Status> refused = new AtomicReference<>();
            scheduler.addHandler("a", run -> {
                try {
                    scheduler.close();
                } catch (SeleneException e) {
                    refused.set(e.status());
                }
                return Result.newData();
            });
            once(scheduler, "a");
            equal(scheduler.run(WINDOW).newData(), 1L);
            equal(refused.get(), Status.REENTRANT);
            equal(scheduler.get("a").state(), State.SUCCEEDED);
            refused(Status.INVALID_ARGUMENT, () -> scheduler.close(Duration.ofDays(2)));
            scheduler.now();
        }
    }

    public static void aUseAfterCloseIsRefusedWhateverTheOrder() throws Exception {
        Scheduler scheduler = pulled(Instant.EPOCH);
        byte[] input = "in\0put".getBytes(StandardCharsets.UTF_8);
        scheduler.register(Task.standing("a").input(input).build());
        Events events = scheduler.events(64);
        Cycle cycle = scheduler.begin(Window.builder().build());
        Run run = (Run) cycle.next();
        scheduler.close();
        scheduler.close();
        refused(Status.INVALID_HANDLE, scheduler::now);
        refused(Status.INVALID_HANDLE, cycle::next);
        refused(Status.INVALID_HANDLE, cycle::end);
        cycle.close();
        while (events.take() != null) {
            // What was told before.
        }
        events.close();
        refused(Status.INVALID_HANDLE, () -> scheduler.events(1));
        holds(isRefused(() -> run.complete(Outcome.NEW_DATA)), "a run of a closed scheduler was completed");
        equal(run.stopReason(), Stop.SHUTDOWN);
        equal(run.remaining(), Duration.ZERO);
        equal(run.id(), "a");
        holds(Arrays.equals(run.input(), input), run.input());
        refused(Status.INVALID_HANDLE, () -> scheduler.begin(WINDOW));
        refused(Status.INVALID_HANDLE, () -> scheduler.run(WINDOW));
        refused(Status.INVALID_HANDLE, () -> scheduler.startDriver(Driver.builder().build()));
    }

    private static boolean isRefused(Code code) throws Exception {
        try {
            code.run();
        } catch (SeleneException e) {
            return true;
        }
        return false;
    }

    // ---- pulled ----

    public static void progressIsToldAndAStalledRunIsAskedToStop() throws Exception {
        Instant start = Instant.ofEpochSecond(3600);
        try (Scheduler scheduler = pulled(start)) {
            scheduler.register(Task.once("a").stallLimit(Duration.ofMinutes(1)).jitter(250).build());
            try (Cycle cycle = scheduler.begin(WINDOW)) {
                Run run = (Run) cycle.next();
                List<Stop> told = new java.util.ArrayList<>();
                run.onStopped(told::add);
                equal(scheduler.get("a").progress(), null);
                run.progress(3, 10, "three");
                equal(scheduler.get("a").progress(), new TaskInfo.Progress(3, 10, "three", start));
                refused(Status.INVALID_ARGUMENT, () -> run.progress(0, 0, "a\0b"));
                equal(run.stopReason(), Stop.NONE);
                scheduler.setClock(start.plusSeconds(60));
                equal(run.stopReason(), Stop.STALLED);
                holds(cycle.next() instanceof Step.Wait, "a step");
                equal(told, List.of(Stop.STALLED));
                run.onStopped(told::add);
                equal(told.size(), 2);
                run.complete(Result.newData());
                refused(Status.ALREADY_COMPLETED, () -> run.complete(Outcome.NEW_DATA));
                equal(cycle.end().newData(), 1L);
            }
            refused(Status.UNSUPPORTED, () -> scheduler.run(Window.of(LONG)));
            refused(Status.UNSUPPORTED, () -> scheduler.startDriver(Driver.builder().build()));
        }
    }

    public static void largeInputsComeWhole() throws Exception {
        try (Scheduler scheduler = opened(Options.builder().noThreads().maxInputSize(1 << 20).build())) {
            scheduler.addPulledHandler("a");
            for (int size : new int[] {0, 1, 500, 514, 515, 1024, 100_000, 1 << 20}) {
                byte[] input = new byte[size];
                Arrays.fill(input, (byte) 7);
                scheduler.register(Task.once("size " + size).handler("a").input(input).build());
                holds(Arrays.equals(scheduler.get("size " + size).input(), input), size);
                try (Cycle cycle = scheduler.begin(WINDOW)) {
                    Run run = (Run) cycle.next();
                    equal(run.id() + run.handler(), "size " + size + "a");
                    holds(Arrays.equals(run.input(), input), size);
                    run.complete(Outcome.NEW_DATA);
                    holds(cycle.next() instanceof Step.Done, "a step");
                }
            }
            refused(Status.TOO_LARGE, () -> scheduler.register(Task.once("a").input(new byte[(1 << 20) + 1]).build()));
            String longest = "ä".repeat(127) + "b";
            scheduler.addPulledHandler(longest);
            scheduler.register(Task.once(longest).input(new byte[514]).build());
            try (Cycle cycle = scheduler.begin(WINDOW)) {
                Run run = (Run) cycle.next();
                equal(run.id(), longest);
                equal(run.handler(), longest);
                equal(run.input().length, 514);
            }
        }
    }

    public static void aTestsClockSaysWhatIsDueAndWhy() {
        Instant start = Instant.ofEpochSecond(3_600_000);
        try (Scheduler scheduler = pulled(start)) {
            scheduler.register(Task.once("a").initialDelay(Duration.ofHours(1)).build());
            Instant at = start.plus(Duration.ofHours(1));
            equal(scheduler.nextWakeup(), at);
            Explanation why = scheduler.explain("a");
            equal(why.missing().get(0), new Explanation.Missing(Reason.NOT_DUE, Set.of(), at));
            scheduler.setClock(start.plus(Duration.ofMinutes(30)));
            Waits waits = scheduler.waits("a");
            equal(waits.since(), start);
            equal(waits.parts().get(0).reason(), Reason.NOT_DUE);
            equal(waits.parts().get(0).duration(), Duration.ofMinutes(30));
            scheduler.setClock(at);
            equal(scheduler.plan(WINDOW).runs().get(0).id(), "a");
            equal(scheduler.cancelAll(), 1L);
            equal(scheduler.nextWakeup(), null);
        }
    }

    // ---- drivers and events ----

    public static void aDriverRunsWhatIsRegisteredUntilItIsStopped() throws Exception {
        try (Scheduler scheduler = opened()) {
            BlockingQueue<String> ran = new ArrayBlockingQueue<>(8);
            CountDownLatch begun = new CountDownLatch(1);
            scheduler.addHandler("a", run -> {
                ran.add(run.id());
                return Result.newData();
            });
            scheduler.addHandler("last", run -> {
                begun.countDown();
                try {
                    Thread.sleep(LONG.toMillis());
                } finally {
                    ran.add("stopped");
                }
                return Result.newData();
            });
            Driver driver = Driver.builder().ungoverned().refresh(LONG, 2).build();
            scheduler.startDriver(driver);
            refused(Status.BUSY, () -> scheduler.startDriver(driver));
            once(scheduler, "a");
            equal(ran.take(), "a");
            once(scheduler, "last");
            begun.await();
            scheduler.register(Task.once("beside").handler("a").build());
            equal(ran.take(), "beside");
            scheduler.stopDriver(Duration.ZERO);
            equal(ran.take(), "stopped");
            equal(scheduler.get("a").state(), State.SUCCEEDED);
            equal(scheduler.get("last").state(), State.ENQUEUED);
            scheduler.startDriver(Driver.builder().ungoverned().kinds(Kind.PROCESSING).build());
            scheduler.stopDriver(Duration.ZERO);
        }
    }

    public static void aCloseWithAGraceLetsRunsEnd() throws Exception {
        Scheduler scheduler = opened();
        CountDownLatch begun = new CountDownLatch(1);
        scheduler.addHandler("a", run -> {
            begun.countDown();
            Thread.sleep(20);
            return Result.newData();
        });
        Events events = scheduler.events(64);
        scheduler.startDriver(Driver.builder().ungoverned().build());
        once(scheduler, "a");
        begun.await();
        scheduler.close(LONG);
        boolean[] completed = {false};
        events.forEach(event -> completed[0] |= event.type() == EventType.COMPLETED && event.detail() == Outcome.NEW_DATA.number());
        equal(completed[0], true);
    }

    public static void eventsAreReadAndLostOnesCounted() throws Exception {
        try (Scheduler scheduler = opened(Options.builder().noThreads().build())) {
            Events events = scheduler.events(2);
            for (String id : List.of("a", "b", "c")) {
                scheduler.register(Task.standing(id).build());
            }
            Event first = events.poll(LONG);
            equal(first.number() + first.id() + first.type() + first.state() + first.lost(), "1aREGISTEREDENQUEUED0");
            equal(events.take().id(), "b");
            equal(events.poll(), null);
            equal(events.poll(Duration.ofMillis(1)), null);
            scheduler.register(Task.standing("d").build());
            Event next = events.take();
            equal(next.id() + next.lost(), "d1");
            Thread reader = Thread.currentThread();
            Thread interrupter = new Thread(reader::interrupt);
            interrupter.start();
            try {
                events.take();
                throw new AssertionError("an event");
            } catch (InterruptedException e) {
                interrupter.join();
            }
            Events others = scheduler.events(8);
            equal(events.take(), null);
            events.close();
            scheduler.register(Task.standing("e").build());
            equal(others.take().id(), "e");
            others.close();
            equal(others.take(), null);
        }
    }

    // ---- the work model ----

    public static void aTaskWaitsForConditionsOfTheHost() {
        try (Scheduler scheduler = opened()) {
            scheduler.defineCondition("vpn");
            scheduler.register(Task.once("a").handler("upload").conditions(List.of("vpn", "signed-in")).build());
            scheduler.setCondition("vpn", true);
            equal(scheduler.missingConditions("a"), List.of("signed-in"));
            equal(scheduler.condition("vpn"), ConditionState.SATISFIED);
            scheduler.undefineCondition("vpn");
            equal(scheduler.conditionNames(), List.of("signed-in", "vpn"));
            equal(scheduler.get("a").conditions(), List.of("signed-in", "vpn"));
            refused(Status.NOT_FOUND, () -> scheduler.setCondition("vpn", true));
        }
    }

    public static void aGroupHasALimitAndIsPaused() throws Exception {
        try (Scheduler scheduler = opened()) {
            AtomicInteger now = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            scheduler.addHandler("upload", run -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                Thread.sleep(1);
                now.decrementAndGet();
                return Result.newData();
            });
            scheduler.limitGroup("uploads", 1);
            for (int i = 0; i < 6; i++) {
                scheduler.register(Task.once("" + i).handler("upload").group("uploads").build());
            }
            Window window = Window.builder().budget(LONG).lanes(3).build();
            scheduler.pauseGroup("uploads");
            equal(scheduler.run(window).runs(), List.of());
            scheduler.unpauseGroup("uploads");
            equal(scheduler.run(window).newData(), 6L);
            equal(most.get(), 1);
            equal(scheduler.get("0").group(), "uploads");
            equal(scheduler.group("uploads"), new GroupInfo(1, false, 0, 0));
            equal(scheduler.groups(), List.of("uploads"));
            refused(Status.NOT_FOUND, () -> scheduler.group("others"));
        }
    }

    /** The id of the one run that a window gives; null: it gives none. */
    private static String pulledId(Scheduler scheduler) {
        Window window = Window.builder().budget(Duration.ofMinutes(1)).kinds(Kind.values()).build();
        try (Cycle cycle = scheduler.begin(window)) {
            if (!(cycle.next() instanceof Run run)) {
                return null;
            }
            run.complete(Outcome.NEW_DATA);
            return run.id();
        }
    }

    public static void aNightlyJobsWeekPassesOnAClockOfATest() {
        Instant midnight = Instant.parse("2026-01-01T00:00:00Z");
        List<Instant> nights = new ArrayList<>();
        List<Stop> stops = new ArrayList<>();
        try (Scheduler scheduler = opened(Options.builder().clock(midnight).build())) {
            scheduler.addHandler("backup", run -> {
                nights.add(run.startedAt());
                stops.add(run.sleep(Duration.ofSeconds(4)));
                return Result.newData();
            });
            scheduler.register(Task.periodic("backup", Duration.ofHours(24)).initialDelay(Duration.ofHours(3)).build());
            scheduler.startDriver(Driver.builder().build());
            equal(scheduler.advance(midnight), midnight.plus(Duration.ofHours(3)));
            scheduler.advance(midnight.plus(Duration.ofDays(7)));
            List<Instant> expected = new ArrayList<>();
            for (int day = 0; day < 7; day++) {
                // A period counts from the end of the run before.
                expected.add(midnight.plus(Duration.ofHours(3)).plus(Duration.ofHours(24).plusSeconds(4).multipliedBy(day)));
            }
            equal(nights, expected);
            equal(stops, Collections.nCopies(7, Stop.NONE));
        }
    }

    public static void timeWaitsForHandlersThatAreAsynchronous() {
        Instant start = Instant.ofEpochSecond(3600);
        List<Instant> ends = Collections.synchronizedList(new ArrayList<>());
        try (Scheduler scheduler = opened(Options.builder().clock(start).build())) {
            scheduler.addAsyncHandler("later", run -> CompletableFuture.supplyAsync(() -> {
                for (int part = 0; part < 2; part++) {
                    equal(run.sleep(Duration.ofSeconds(4)), Stop.NONE);
                    ends.add(scheduler.now());
                }
                return Result.newData();
            }));
            scheduler.register(Task.once("later").build());
            scheduler.startDriver(Driver.builder().build());
            equal(scheduler.advance(start.plusSeconds(3)), start.plusSeconds(4));
            equal(scheduler.advance(start.plusSeconds(4)), start.plusSeconds(8));
            equal(ends, List.of(start.plusSeconds(4)));
            scheduler.advance(start.plusSeconds(60));
            equal(ends, List.of(start.plusSeconds(4), start.plusSeconds(8)));
            equal(scheduler.get("later").state(), State.SUCCEEDED);
        }
    }

    public static void kindsArePausedUntilAnInstantOrUntilTheyAreResumed() {
        Instant start = Instant.ofEpochSecond(3600);
        Instant until = start.plusSeconds(3600);
        Set<Kind> both = Set.of(Kind.values());
        Set<Kind> refresh = Set.of(Kind.REFRESH);
        Set<Kind> processing = Set.of(Kind.PROCESSING);
        try (Scheduler scheduler = opened(Options.builder().clock(start).noThreads().build())) {
            scheduler.addPulledHandler("work");
            scheduler.register(Task.once("short").handler("work").build());
            scheduler.register(Task.once("long").handler("work").kind(Kind.PROCESSING).build());
            equal(scheduler.pauses(), List.of());
            scheduler.pauseKinds(refresh, until);
            Explanation.Missing why = scheduler.explain("short").missing().get(0);
            equal(why.reason(), Reason.KIND_PAUSED);
            equal(why.mayChangeAt(), until);
            equal(scheduler.pauses(), List.of(new Pause(refresh, null, until)));
            equal(pulledId(scheduler), "long");
            equal(pulledId(scheduler), null);
            equal(scheduler.nextWakeup(), until);
            scheduler.setClock(until);
            equal(scheduler.pauses(), List.of());
            equal(pulledId(scheduler), "short");

            Instant later = until.plusSeconds(3600);
            scheduler.pauseKinds(both, null);
            scheduler.pausePool("mailer", List.of(Kind.REFRESH, Kind.PROCESSING), later);
            equal(scheduler.pauses(), List.of(new Pause(both, null, null), new Pause(both, "mailer", later)));
            scheduler.unpauseKinds(refresh);
            scheduler.unpausePool("mailer", processing);
            equal(scheduler.pauses(), List.of(new Pause(processing, null, null), new Pause(refresh, "mailer", later)));
            scheduler.unpauseKinds(both);
            scheduler.unpausePool("mailer", both);
            equal(scheduler.pauses(), List.of());
        }
    }

    public static void aPauseOfNoKindOfNoPoolOrUntilWhatIsPastIsRefused() {
        Instant now = Instant.ofEpochSecond(3600);
        Set<Kind> refresh = Set.of(Kind.REFRESH);
        try (Scheduler scheduler = opened(Options.builder().clock(now).noThreads().build())) {
            scheduler.pauseKinds(refresh, null);
            Duration years = Duration.ofDays(11 * 365);
            for (Instant until : List.of(Instant.EPOCH, Instant.MIN, now, now.plus(years), Instant.MAX)) {
                refusedFor("until", () -> scheduler.pauseKinds(refresh, until));
            }
            refusedFor("kinds", () -> scheduler.pauseKinds(Set.of(), null));
            refusedFor("kinds", () -> scheduler.unpauseKinds(Set.of()));
            refusedFor("kinds", () -> scheduler.pausePool("mailer", Set.of(), null));
            refusedFor("pool", () -> scheduler.pausePool("", refresh, null));
            refusedFor("pool", () -> scheduler.unpausePool("", refresh));
            refusedFor("pool", () -> scheduler.pausePool("a\0b", refresh, null));
            equal(scheduler.pauses(), List.of(new Pause(refresh, null, null)));
            scheduler.close();
            refused(Status.INVALID_HANDLE, scheduler::pauses);
        }
    }

    public static void manyTasksAreRegisteredInOneCommitAndCounted() throws Exception {
        try (Scheduler scheduler = opened()) {
            List<Task> tasks = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                // Every tenth has no id.
                tasks.add(Task.once(i % 10 == 0 ? "" : "task " + i).handler("a").input(new byte[100]).build());
            }
            List<Registered> became = scheduler.registerAll(tasks);
            equal(became.size(), 2000);
            for (int i = 0; i < 2000; i++) {
                boolean isRefused = i % 10 == 0;
                equal(became.get(i).refused(), isRefused ? Status.INVALID_ARGUMENT : null);
                equal(became.get(i).disposition(), isRefused ? null : Disposition.ADDED);
            }
            equal(scheduler.registerAll(List.of()), List.of());
            equal(scheduler.info().enqueued(), 1800L);
            Task urgent = Task.once("urgent").handler("a").latestBegin(LONG).constraints(Constraint.UNMETERED).build();
            scheduler.register(urgent);
            Explanation why = scheduler.explain("urgent");
            equal(why.latestBegin().isAfter(scheduler.now()), true);
            equal(why.isUrgent() || why.isExpedited(), false);
            equal(why.unknownConstraints(), Set.of());
            scheduler.cancel("urgent");
            scheduler.addHandler("a", run -> run.input().length == 100 ? Result.newData() : Result.abandoned("wrong"));
            equal(scheduler.run(Window.builder().budget(LONG).build()).newData(), 1800L);
            // A report that takes more than a second to be told counts as an overrun until it is.
            while (scheduler.info().overrunThreads() > 0) {
                Thread.sleep(1);
            }
            SchedulerInfo info = scheduler.info();
            equal(info.kinds(), EnumSet.allOf(Kind.class));
            equal(info.enqueued() + info.running() + info.failed() + info.overrunThreads(), 0L);
            equal(info.dispatched(), 1800L);
        }
    }

    public static void aTaskComesAfterOthersAndReadsWhatTheyLeft() throws Exception {
        try (Scheduler scheduler = opened()) {
            scheduler.addHandler("a", run -> {
                run.setOutput("left".getBytes(StandardCharsets.UTF_8));
                return Result.newData();
            });
            AtomicReference<String> read = new AtomicReference<>();
            scheduler.addHandler("b", run -> {
                read.set(new String(scheduler.output("a"), StandardCharsets.UTF_8));
                return Result.newData();
            });
            scheduler.addHandler("fails", run -> Result.abandoned("no"));
            scheduler.addHandler("all the same", run -> Result.newData());
            once(scheduler, "a", "fails");
            scheduler.register(Task.once("b").after(List.of("a")).build());
            scheduler.register(Task.once("c").after(List.of("fails")).build());
            scheduler.register(Task.once("all the same").afterAnyEnd(List.of("fails")).build());
            equal(scheduler.get("b").state(), State.BLOCKED);
            equal(scheduler.get("b").after(), List.of("a"));
            scheduler.run(Window.builder().budget(LONG).build());
            equal(read.get(), "left");
            equal(scheduler.get("b").state(), State.SUCCEEDED);
            equal(scheduler.get("c").state(), State.FAILED);
            equal(scheduler.get("all the same").state(), State.SUCCEEDED);
            refused(Status.NOT_FOUND, () -> scheduler.register(Task.once("d").after(List.of("nobody")).build()));
        }
    }

    // ---- stores ----

    private static Path folder() throws IOException {
        return Files.createTempDirectory("selene-java-");
    }

    private static void remove(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void aStoreCanBeClosedAndOpenedAgain() throws Exception {
        Path folder = folder();
        Options options = Options.builder().path(folder.resolve("störe")).owner("org.example.tests").build();
        byte[] input = "in\0put".getBytes(StandardCharsets.UTF_8);
        try (Scheduler scheduler = opened(options)) {
            scheduler.register(Task.once("a").input(input).tags(List.of("ä")).build());
            refused(Status.STORE_LOCKED, () -> Scheduler.open(options));
            scheduler.backup(folder.resolve("copy"));
        }
        for (int i = 0; i < 3; i++) {
            try (Scheduler scheduler = opened(options)) {
                equal(scheduler.idsTagged("ä"), List.of("a"));
                holds(Arrays.equals(scheduler.get("a").input(), input), i);
            }
        }
        Options others = Options.builder().path(folder.resolve("copy")).owner("org.example.others").build();
        String text = refused(Status.STORE_FOREIGN, () -> Scheduler.open(others)).getMessage();
        holds(text.contains("org.example.tests"), text);
        remove(folder);
    }

    public static void aPeriodicTaskIsDueAgainAfterItsPeriodAndARunKnowsItsTimes() throws Exception {
        Instant start = Instant.ofEpochSecond(3_600_000);
        try (Scheduler scheduler = pulled(start)) {
            scheduler.register(Task.periodic("a", Duration.ofHours(1)).build());
            for (Instant now : List.of(start, start.plusSeconds(3600))) {
                scheduler.setClock(now);
                equal(scheduler.drain(Duration.ZERO), true);
                scheduler.resume();
                try (Cycle cycle = scheduler.begin(Window.of(Duration.ofSeconds(30)))) {
                    Run run = (Run) cycle.next();
                    equal(run.startedAt(), now);
                    equal(run.deadline(), now.plusSeconds(30));
                    equal(run.expiresAt(), now.plusMillis(28_500));
                    run.complete(Outcome.NEW_DATA);
                }
                equal(scheduler.get("a").earliestBegin(), now.plusSeconds(3600));
            }
        }
        try (Scheduler scheduler = opened(Options.builder().backgroundThreads().threadStackSize(1 << 24).build())) {
            CountDownLatch ran = new CountDownLatch(1);
            scheduler.addHandler("b", run -> {
                ran.countDown();
                return Result.newData();
            });
            scheduler.register(Task.once("b").initialDelay(LONG).build());
            scheduler.launch("b");
            ran.await();
        }
    }

    public static void aDriverHoldsBackWhatTheProfileRefusesAndSaysWhy() throws Exception {
        try (Scheduler scheduler = opened()) {
            CountDownLatch ran = new CountDownLatch(1);
            scheduler.addHandler("a", run -> {
                ran.countDown();
                return Result.newData();
            });
            scheduler.setProfile(Profile.APPLE);
            scheduler.setSignal(Signal.BACKGROUND_SWITCH, 0);
            Decision refusal = scheduler.ask(Kind.REFRESH);
            equal(refusal.isGranted(), false);
            Decision.Finding because = refusal.findings().stream()
                    .filter(one -> one.factor() == Factor.BACKGROUND_SWITCH).findFirst().orElseThrow();
            equal(because.refuses() + " " + because.observed() + " " + because.clearsAt(), "true 0 null");
            once(scheduler, "a");
            scheduler.startDriver(Driver.builder().build());
            equal(ran.await(50, TimeUnit.MILLISECONDS), false);
            refused(Status.INVALID_ARGUMENT, () -> scheduler.setSignal(Signal.BACKGROUND_SWITCH, 7));
            scheduler.clearSignal(Signal.BACKGROUND_SWITCH);
            scheduler.setProfile(Profile.OPEN);
            ran.await();
            Decision grant = scheduler.ask(Kind.REFRESH);
            equal(grant.isGranted() + " " + grant.longestWindow() + " " + grant.findings(), "true null []");
        }
    }

    public static void anotherProcessEnqueuesLooksAndWorksForTheOwnerOfAStore() throws Exception {
        Path folder = folder();
        Path store = folder.resolve("störe");
        Connection connection = Connection.to(store).pool("tests").build();
        refused(Status.OWNER_AWAY, () -> Scheduler.connect(connection));
        try (Scheduler owner = opened(Options.builder().path(store).build())) {
            owner.serve();
            Scheduler client = Scheduler.connect(connection);
            CountDownLatch begun = new CountDownLatch(1);
            BlockingQueue<Stop> told = new LinkedBlockingQueue<>();
            client.addHandler("work", run -> {
                run.setOutput(("by " + run.id()).getBytes(StandardCharsets.UTF_8));
                return Result.newData();
            });
            client.addHandler("waits", run -> {
                begun.countDown();
                try {
                    Thread.sleep(LONG.toMillis());
                } finally {
                    told.add(run.stopReason());
                }
                return Result.newData();
            });
            refused(Status.ALREADY_EXISTS, () -> owner.addHandler("work", run -> Result.newData()));
            client.register(Task.once("a").handler("work").build());
            equal(owner.get("a").state(), State.ENQUEUED);
            equal(client.run(WINDOW).newData(), 1L);
            equal(new String(owner.output("a"), StandardCharsets.UTF_8), "by a");
            // A stop of the owner's interrupts the handler's thread here.
            client.startDriver(Driver.builder().ungoverned().build());
            once(owner, "waits");
            begun.await();
            equal(owner.cancel("waits"), 1L);
            Stop reason = told.take();
            holds(reason == Stop.CANCELLED || reason == Stop.SHUTDOWN, reason);
            equal(client.get("waits").state(), State.CANCELLED);
            client.stopDriver(LONG);
            owner.close();
            refused(Status.OWNER_AWAY, () -> client.get("a"));
            client.close();
            refused(Status.INVALID_HANDLE, client::now);
        }
        remove(folder);
    }

    public static void threadsShareASchedulerWhileOneClosesIt() throws Exception {
        for (int round = 0; round < 20; round++) {
            Scheduler scheduler = opened();
            AtomicInteger ran = new AtomicInteger();
            Set<String> wrong = ConcurrentHashMap.newKeySet();
            scheduler.addHandler("h", run -> {
                if (!run.handler().equals("h") || run.input().length != 99) {
                    wrong.add(run.toString());
                }
                ran.incrementAndGet();
                return Result.newData();
            });
            for (int i = 0; i < 50; i++) {
                scheduler.register(Task.standing("" + i).handler("h").input(new byte[99]).build());
            }
            Thread[] threads = new Thread[3];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> {
                    try {
                        while (true) {
                            scheduler.run(Window.builder().lanes(3).build());
                        }
                    } catch (SeleneException e) {
                        if (e.status() != Status.INVALID_HANDLE) {
                            wrong.add(e.toString());
                        }
                    } catch (InterruptedException e) {
                        wrong.add(e.toString());
                    }
                });
                threads[i].start();
            }
            while (ran.get() < 100) {
                Thread.yield();
            }
            scheduler.close();
            for (Thread thread : threads) {
                thread.join();
            }
            equal(wrong, Set.of());
        }
    }

    public static void pullersShareACycleWhileOneClosesItsScheduler() throws Exception {
        for (int round = 0; round < 50; round++) {
            Scheduler scheduler = opened(Options.builder().noThreads().build());
            scheduler.addPulledHandler("h");
            for (int i = 0; i < 2000; i++) {
                scheduler.register(Task.standing("task " + i).handler("h").input(new byte[i]).build());
            }
            Cycle cycle = scheduler.begin(WINDOW);
            Set<String> wrong = ConcurrentHashMap.newKeySet();
            AtomicInteger pulled = new AtomicInteger();
            Thread[] threads = new Thread[2];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> {
                    try {
                        while (!(cycle.next() instanceof Step.Done)) {
                            pulled.incrementAndGet();
                        }
                    } catch (SeleneException e) {
                        if (e.status() != Status.INVALID_HANDLE) {
                            wrong.add(e.toString());
                        }
                    }
                });
                threads[i].start();
            }
            while (pulled.get() < 1) {
                Thread.yield();
            }
            scheduler.close();
            for (Thread thread : threads) {
                thread.join();
            }
            equal(wrong, Set.of());
        }
    }

    // ---- all of them ----

    /** A test's name as a sentence. */
    private static String sentence(String name) {
        return name.replaceAll("(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    }

    public static void main(String[] names) throws Exception {
        boolean isGood = true;
        Method[] methods = Tests.class.getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (Method method : methods) {
            boolean isTest = Modifier.isPublic(method.getModifiers()) && method.getParameterCount() == 0;
            if (!isTest || (names.length > 0 && !List.of(names).contains(method.getName()))) {
                continue;
            }
            try {
                method.invoke(null);
                System.out.println("ok Java: " + sentence(method.getName()));
            } catch (InvocationTargetException e) {
                isGood = false;
                e.getCause().printStackTrace(System.out);
                System.out.println("FAILED Java: " + sentence(method.getName()));
            }
        }
        System.exit(isGood ? 0 : 1);
    }
}
