import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.selene.Constraint;
import org.selene.Cycle;
import org.selene.Events;
import org.selene.Options;
import org.selene.Report;
import org.selene.Result;
import org.selene.Run;
import org.selene.Scheduler;
import org.selene.Task;
import org.selene.Window;

/**
 * Memory is flat over so many runs (100 000, or the argument; twice as many on threads of the library), of which half fail,
 * while another thread collects garbage.
 */
public final class Stress {
    private static final int TASKS = 500;

    /** In bytes: what the kernel says that the process has. */
    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("there is no VmRSS");
    }

    private interface Work {
        /** Some runs; how many. */
        int some() throws Exception;
    }

    private static void flat(String name, int runs, Work work) throws Exception {
        // A run that is kept would be two hundred bytes and more, in every stretch; the VM compiles for a while, in some.
        long grown = Long.MAX_VALUE;
        for (int done = 0; done < runs / 2; ) {
            done += work.some();
        }
        for (int stretch = 0; stretch < 4 && grown >= 8 << 20; stretch++) {
            long before = resident();
            for (int done = 0; done < runs / 2; ) {
                done += work.some();
            }
            grown = resident() - before;
        }
        boolean isFlat = grown < 8 << 20;
        System.out.printf("%s Java: memory is flat over %d %s runs of which half fail%n", isFlat ? "ok" : "FAILED", runs, name);
        if (!isFlat) {
            System.out.printf("grown by %d bytes%n", grown);
            System.exit(1);
        }
    }

    private static void check(boolean isTrue, Object found) {
        if (!isTrue) {
            System.out.println("FAILED Java: the runs of the stress: " + found);
            System.exit(1);
        }
    }

    private static Scheduler opened(Options options, String handler) {
        Scheduler scheduler = Scheduler.open(options);
        scheduler.setConditions(EnumSet.allOf(Constraint.class), EnumSet.allOf(Constraint.class));
        for (int i = 0; i < TASKS; i++) {
            scheduler.register(Task.standing("task " + i).handler(handler).input(new byte[i]).build());
        }
        return scheduler;
    }

    public static void main(String[] arguments) throws Exception {
        int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100_000;
        Thread collector = new Thread(() -> {
            while (true) {
                System.gc();
                try {
                    Thread.sleep(5);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        collector.setDaemon(true);
        collector.start();

        Window window = Window.builder().budget(Duration.ofMinutes(10)).lanes(4).build();
        try (Scheduler scheduler = opened(Options.builder().build(), "half");
                Events events = scheduler.events(16)) {
            AtomicInteger count = new AtomicInteger();
            scheduler.addHandler("half", run -> {
                run.onStopped(reason -> count.addAndGet(1 << 30));
                if (run.input().length != Integer.parseInt(run.id().substring(5))) {
                    return Result.abandoned("it has not its input");
                }
                if ((count.incrementAndGet() & 1) == 0) {
                    throw new IOException("one of two");
                }
                return Result.newData();
            });
            flat("pushed", 2 * runs, () -> {
                Report report = scheduler.run(window);
                check(report.newData() + report.failed() == TASKS && report.failed() == TASKS / 2, report);
                while (events.poll() != null) {
                    // What found room.
                }
                return TASKS;
            });
        }
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try (Scheduler scheduler = opened(Options.builder().build(), "later")) {
            scheduler.addAsyncHandler("later", run -> CompletableFuture.supplyAsync(() -> {
                if (run.input().length % 2 == 0) {
                    throw new IllegalStateException("one of two");
                }
                return Result.noData();
            }, pool));
            flat("asynchronous", runs, () -> {
                Report report = scheduler.runAsync(window).get();
                check(report.noData() == TASKS / 2 && report.failed() == TASKS / 2, report);
                return TASKS;
            });
        }
        pool.shutdown();
        Instant[] now = {Instant.EPOCH};
        try (Scheduler scheduler = opened(Options.builder().clock(now[0]).noThreads().build(), "pulled")) {
            scheduler.addPulledHandler("pulled");
            flat("pulled", runs, () -> {
                int done = 0;
                scheduler.setClock(now[0] = now[0].plusSeconds(1));
                try (Cycle cycle = scheduler.begin(window)) {
                    while (cycle.next() instanceof Run run) {
                        run.complete(done++ % 2 == 0 ? Result.failed("one of two") : Result.newData());
                    }
                }
                check(done == TASKS, done);
                return TASKS;
            });
        }
    }
}
