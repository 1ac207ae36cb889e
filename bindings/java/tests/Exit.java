import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import org.selene.Constraint;
import org.selene.Driver;
import org.selene.Options;
import org.selene.Result;
import org.selene.Scheduler;
import org.selene.Task;
import org.selene.TaskInfo;

/**
 * A process that ends with runs in flight ends with its exit code, whatever they do, and the store tells it afterwards.
 * Arguments: the store; how to end (exit, return, halt), or nothing to look at what is left.
 */
public final class Exit {
    private static final String[] IDS = {"sleeps", "computes", "stores", "fails"};
    private static byte[] garbage;

    public static void main(String[] arguments) throws Exception {
        Options options = Options.builder().path(Path.of(arguments[0])).build();
        if (arguments.length == 1) {
            try (Scheduler scheduler = Scheduler.open(options)) {
                for (String id : IDS) {
                    TaskInfo info = scheduler.get(id);
                    System.out.println(id + " " + info.state() + " " + info.stopReason());
                }
            }
            return;
        }
        Scheduler scheduler = Scheduler.open(options);
        scheduler.setConditions(EnumSet.allOf(Constraint.class), EnumSet.allOf(Constraint.class));
        CountDownLatch begun = new CountDownLatch(IDS.length);
        scheduler.addHandler("sleeps", run -> {
            begun.countDown();
            Thread.sleep(Duration.ofHours(1).toMillis());
            return Result.newData();
        });
        scheduler.addHandler("computes", run -> {
            begun.countDown();
            while (true) {
                garbage = new byte[1000];
            }
        });
        scheduler.addHandler("stores", run -> {
            begun.countDown();
            for (int i = 0; ; i++) {
                run.progress(i, 0, "");
                scheduler.register(Task.once("made " + i % 10).initialDelay(Duration.ofDays(1)).build());
            }
        });
        scheduler.addHandler("fails", run -> {
            begun.countDown();
            while (true) {
                try {
                    scheduler.get("nobody");
                } catch (RuntimeException e) {
                    garbage = e.getMessage().getBytes();
                }
            }
        });
        for (String id : IDS) {
            scheduler.register(Task.once(id).build());
        }
        scheduler.startDriver(Driver.builder().ungoverned().refresh(Duration.ofHours(2), IDS.length).build());
        begun.await();
        // Its commit has what began, too.
        scheduler.register(Task.standing("last").build());
        switch (arguments[1]) {
            case "exit" -> System.exit(7);
            case "halt" -> Runtime.getRuntime().halt(8);
            default -> {
                // The threads of the library do not keep the VM alive.
            }
        }
    }
}
