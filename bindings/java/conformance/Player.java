import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.selene.Backoff;
import org.selene.Constraint;
import org.selene.Cycle;
import org.selene.Driver;
import org.selene.Event;
import org.selene.Events;
import org.selene.Existing;
import org.selene.Kind;
import org.selene.Options;
import org.selene.Outcome;
import org.selene.Plan;
import org.selene.Priority;
import org.selene.Recurrence;
import org.selene.Report;
import org.selene.Result;
import org.selene.Run;
import org.selene.Schedule;
import org.selene.Scheduler;
import org.selene.SeleneException;
import org.selene.Step;
import org.selene.Task;
import org.selene.TaskInfo;
import org.selene.Waits;
import org.selene.Window;

/** Plays commands of Tests/conformance through the package. */
public final class Player {
    private static final Set<Constraint> ALL = EnumSet.allOf(Constraint.class);

    private Instant now = Instant.EPOCH;
    private Scheduler scheduler;
    private Events events;
    private Cycle cycle;
    private Run run;

    private static String decode(String text) {
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                made.write(Integer.parseInt(text.substring(i + 1, i + 3), 16));
                i += 2;
            } else {
                made.write(text.charAt(i));
            }
        }
        return made.toString(StandardCharsets.UTF_8);
    }

    private static String encode(String text) {
        StringBuilder made = new StringBuilder();
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            made.append(String.format("%%%02X", one));
        }
        return made.toString();
    }

    private static long nanoseconds(Instant at) {
        return at.getEpochSecond() * 1_000_000_000 + at.getNano();
    }

    private static Set<Constraint> constraints(int bits) {
        Set<Constraint> set = EnumSet.noneOf(Constraint.class);
        for (int bit = 1; bit > 0; bit <<= 1) {
            if ((bits & bit) != 0) {
                set.add(Constraint.of(bit));
            }
        }
        return set;
    }

    private static Kind[] kinds(int bits) {
        return EnumSet.allOf(Kind.class).stream().filter(one -> (bits & one.number()) != 0).toArray(Kind[]::new);
    }

    /** The words of a command. */
    private record Words(String word, Map<String, String> fields) {
        /** Gives a field to a function, if it is said. */
        void with(String key, Consumer<String> given) {
            if (fields.containsKey(key)) {
                given.accept(fields.get(key));
            }
        }

        void number(String key, Consumer<Integer> given) {
            with(key, text -> given.accept((int) Long.parseLong(text)));
        }

        void span(String key, Consumer<Duration> given) {
            with(key, text -> given.accept(Duration.ofNanos(Long.parseLong(text))));
        }

        void list(String key, Consumer<List<String>> given) {
            with(key, text -> {
                List<String> list = new ArrayList<>();
                for (String one : text.split(",")) {
                    if (!one.isEmpty()) {
                        list.add(decode(one));
                    }
                }
                given.accept(list);
            });
        }

        boolean is(String key) {
            return !fields.getOrDefault(key, "0").equals("0");
        }
    }

    private static Task task(Words given) {
        String id = decode(given.fields.getOrDefault("id", ""));
        int[] schedule = {Schedule.STANDING.number()};
        given.number("schedule", number -> schedule[0] = number);
        Task.Builder task = schedule[0] == Schedule.STANDING.number() ? Task.standing(id)
                : schedule[0] == Schedule.ONCE.number() ? Task.once(id) : Task.periodic(id, Duration.ZERO);
        given.with("handler", text -> task.handler(decode(text)));
        given.number("kind", number -> task.kind(Kind.of(number)));
        given.number("priority", number -> task.priority(Priority.of(number)));
        given.number("existing", number -> task.existing(Existing.of(number)));
        given.number("recurrence", number -> task.recurrence(Recurrence.of(number)));
        Backoff[] backoff = {Backoff.DEFAULT};
        given.number("backoff", number -> task.backoff(backoff[0] = Backoff.of(number)));
        given.span("backoff_delay", delay -> task.backoff(backoff[0], delay));
        given.number("response_window", task::responseWindow);
        given.number("max_attempts", task::maxAttempts);
        given.number("constraints", bits -> task.constraints(constraints(bits).toArray(Constraint[]::new)));
        given.list("tags", task::tags);
        given.list("conditions", task::conditions);
        given.with("expected_response", text -> {
            if (!text.equals("-1")) {
                task.expectedResponse(Duration.ofNanos(Long.parseLong(text)));
            }
        });
        given.span("initial_delay", task::initialDelay);
        given.span("period", task::period);
        given.span("flex", task::flex);
        given.number("jitter", task::jitter);
        given.span("timeout", task::timeout);
        given.span("stall_limit", task::stallLimit);
        given.span("latest_begin", task::latestBegin);
        given.with("group", text -> task.group(decode(text)));
        given.number("input_size", size -> task.input(new byte[size]));
        int flags = Integer.parseInt(given.fields.getOrDefault("flags", "0"));
        given.list("after", ids -> {
            if ((flags & 2) != 0) {
                task.afterAnyEnd(ids);
            } else {
                task.after(ids);
            }
        });
        if ((flags & 4) != 0) {
            task.expedited();
        }
        if ((flags & 8) != 0) {
            task.refuseOutOfQuota();
        }
        return task.build();
    }

    /** The handler of a case of ends. */
    private static final class Work {
        final String answer;
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);

        Work(String answer) {
            this.answer = answer;
        }

        Result run(Run run) throws InterruptedException {
            begun.countDown();
            boolean isDeaf = answer.equals("deaf") || answer.equals("completes");
            while (true) {
                try {
                    released.await();
                    return Result.newData();
                } catch (InterruptedException stop) {
                    if (answer.equals("obeys")) {
                        throw stop;
                    }
                    if (answer.equals("fails")) {
                        throw new IllegalStateException("it was asked to stop");
                    }
                    if (!isDeaf) {
                        return Result.newData();
                    }
                }
            }
        }
    }

    /** Plays an end; false: there is none like that. A run that is interrupted has no grace. */
    private static boolean playEnd(String way, Words given) throws Exception {
        Duration grace = Duration.ofNanos(Long.parseLong(given.fields.get("grace")));
        if (way.equals("wait") && !grace.isZero()) {
            return false;
        }
        Work work = new Work(given.fields.get("answer"));
        try (Scheduler own = Scheduler.open(Options.builder().path(Path.of(decode(given.fields.get("path")))).build())) {
            own.addHandler("work", work::run);
            Thread waiting = new Thread(() -> {
                try {
                    own.run(Window.builder().kinds(Kind.values()).build());
                } catch (InterruptedException ended) {
                    // That is how it ends.
                }
            });
            if (way.equals("wait")) {
                waiting.start();
            } else {
                own.startDriver(Driver.builder().ungoverned().build());
            }
            if (!work.answer.equals("idle")) {
                work.begun.await();
            }
            Thread releasing = new Thread(work.released::countDown);
            if (work.answer.equals("completes")) {
                releasing.start();
            }
            switch (way) {
                case "exit" -> System.exit(0);
                case "wait" -> {
                    waiting.interrupt();
                    waiting.join();
                }
                case "shutdown" -> own.stopDriver(grace);
                default -> own.close(grace);
            }
            work.released.countDown();
            releasing.join();
        }
        return true;
    }

    private static Window window(Words given) {
        Window.Builder window = Window.builder();
        given.span("budget", window::budget);
        given.span("reserve", window::reserve);
        given.number("kinds", bits -> window.kinds(kinds(bits)));
        if (given.is("strict")) {
            window.strictFit();
        }
        if (given.is("frozen")) {
            window.frozen();
        }
        return window.build();
    }

    private void open(Words given) {
        if (scheduler != null) {
            scheduler.close();
        }
        Options.Builder options = Options.builder().clock(now).noThreads().maxPendingRefresh(1).maxPendingProcessing(10);
        given.with("path", text -> options.path(Path.of(decode(text))));
        given.list("permitted", options::permitted);
        if (given.is("hold")) {
            options.hold();
        }
        if (given.is("observed_range")) {
            options.observedRange();
        }
        given.number("max_pending_refresh", limit -> options.maxPendingRefresh(limit < 0 ? Options.UNLIMITED : limit));
        given.number("max_pending_processing", limit -> options.maxPendingProcessing(limit < 0 ? Options.UNLIMITED : limit));
        given.span("minimum_interval_refresh", options::minimumIntervalRefresh);
        given.span("expedited_quota", options::expeditedQuota);
        given.with("seed", text -> options.seed(Long.parseLong(text)));
        scheduler = Scheduler.open(options.build());
        scheduler.setConditions(ALL, ALL);
        events = scheduler.events(65536);
    }

    private List<Object> perform(String verb, Words given) throws Exception {
        String word = decode(given.word);
        List<Object> said = new ArrayList<>();
        switch (verb) {
            case "clock" -> {
                now = Instant.EPOCH.plusNanos(Long.parseLong(word));
                if (scheduler != null) {
                    scheduler.setClock(now);
                }
            }
            case "open" -> open(given);
            case "close" -> {
                Scheduler closed = scheduler;
                scheduler = null;
                closed.close();
            }
            case "ends" -> {
                if (!playEnd(word, given)) {
                    throw new UnsupportedOperationException("a run that is interrupted has no grace");
                }
            }
            case "unknown" -> throw new UnsupportedOperationException("the compiler knows the words");
            case "exit" -> System.exit(0);
            case "handler" -> scheduler.addPulledHandler(word);
            case "conditions" -> scheduler.setConditions(ALL, constraints(Integer.parseInt(word)));
            case "enable" -> scheduler.enable(List.of(kinds(Integer.parseInt(word))));
            case "register" -> said.add(scheduler.register(task(given)).number());
            case "cancel" -> said.add(scheduler.cancel(word));
            case "cancel_tag" -> said.add(scheduler.cancelTagged(word));
            case "cancel_all" -> said.add(scheduler.cancelAll());
            case "pause" -> said.add(scheduler.pause(word));
            case "pause_tag" -> said.add(scheduler.pauseTagged(word));
            case "resume" -> said.add(scheduler.unpause(word));
            case "resume_tag" -> said.add(scheduler.unpauseTagged(word));
            case "limit_group" -> scheduler.limitGroup(word, Integer.parseInt(given.fields.get("limit")));
            case "pause_group" -> scheduler.pauseGroup(word);
            case "resume_group" -> scheduler.unpauseGroup(word);
            case "define" -> scheduler.defineCondition(word);
            case "undefine" -> scheduler.undefineCondition(word);
            case "meet" -> scheduler.setCondition(word, true);
            case "lose" -> scheduler.setCondition(word, false);
            case "retry" -> scheduler.retry(word);
            case "info" -> {
                TaskInfo info = scheduler.get(word);
                said.addAll(List.of(info.state().number(), info.attempts(), nanoseconds(info.earliestBegin()),
                        nanoseconds(info.lastRun()), info.estimate().toNanos(), info.generation(), info.appended(),
                        info.responseTimes().size(), encode(info.failure().isEmpty() ? "-" : info.failure())));
            }
            case "waits" -> {
                Waits waits = scheduler.waits(word);
                for (Waits.Part part : waits.parts()) {
                    said.add(part.reason().name().toLowerCase(Locale.ROOT));
                    said.add(part.detail());
                    said.add(part.duration().toNanos());
                    said.add(part.times());
                }
                said.add("preferred");
                waits.preferredIds().forEach(id -> said.add(encode(id)));
            }
            case "left" -> {
                byte[] output = scheduler.output(word);
                said.add(scheduler.get(word).stopReason().number());
                said.add("=" + encode(output == null ? "" : new String(output, StandardCharsets.UTF_8)));
            }
            case "set_next" -> scheduler.setNext(word, Instant.EPOCH.plusNanos(Long.parseLong(given.fields.get("at"))));
            case "output" -> run.setOutput(word.getBytes(StandardCharsets.UTF_8));
            case "progress" -> run.progress(Long.parseLong(word), Long.parseLong(given.fields.get("total")), "");
            case "wakeup" -> {
                Instant at = scheduler.nextWakeup();
                said.add(at == null ? "never" : nanoseconds(at));
            }
            case "plan" -> {
                for (Plan.PlanRun one : scheduler.plan(window(given)).runs()) {
                    said.add(encode(one.id()));
                }
            }
            case "begin" -> cycle = scheduler.begin(window(given));
            case "next" -> {
                Step step = cycle.next();
                if (step instanceof Run next) {
                    run = next;
                    said.addAll(List.of("run", encode(run.id()), run.score(), run.estimate().toNanos(), run.attempt()));
                } else {
                    said.add(step instanceof Step.Wait ? "wait" : "done");
                }
            }
            case "complete" -> run.complete(Outcome.of(Integer.parseInt(word)));
            case "fail" -> run.complete(Result.failed(word));
            case "stopping" -> said.add(run.stopReason().number());
            case "end" -> {
                Report report = cycle.end();
                said.addAll(List.of(report.result().number(), nanoseconds(report.endedAt()), report.eligible()));
                report.runs().forEach(one -> said.add(one.outcome().number()));
            }
            case "events" -> {
                for (Event event = events.poll(); event != null; event = events.poll()) {
                    said.add(event.type().number() + ":" + encode(event.id()));
                }
            }
            default -> throw new IllegalArgumentException("there is no command " + verb);
        }
        return said;
    }

    public static void main(String[] arguments) throws Exception {
        Player player = new Player();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            Map<String, String> fields = new HashMap<>();
            String word = "";
            for (int i = 1; i < parts.length; i++) {
                int sign = parts[i].indexOf('=');
                if (sign < 0) {
                    word = parts[i];
                } else {
                    fields.put(parts[i].substring(0, sign), parts[i].substring(sign + 1));
                }
            }
            StringBuilder answer = new StringBuilder("ok");
            try {
                player.perform(parts[0], new Words(word, fields)).forEach(one -> answer.append(' ').append(one));
            } catch (SeleneException refused) {
                answer.setLength(0);
                answer.append("error ").append(refused.status()).append(' ').append(refused.detail());
            } catch (UnsupportedOperationException without) {
                answer.setLength(0);
                answer.append("error UNSUPPORTED ").append(without.getMessage());
            }
            out.println(answer);
        }
    }
}
