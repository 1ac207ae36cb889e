import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.EnumSet;
import org.selene.Constraint;
import org.selene.Cycle;
import org.selene.Options;
import org.selene.Outcome;
import org.selene.Run;
import org.selene.Scheduler;
import org.selene.Task;
import org.selene.Window;

/**
 * What a pulled run costs once the VM is warm: for each line that it reads, a window of 500 runs, and ns a run. Argument:
 * number of tasks.
 */
public final class Pulled {
    private static int window(Scheduler scheduler) {
        int runs = 0;
        try (Cycle cycle = scheduler.begin(Window.builder().build())) {
            while (runs < 500 && cycle.next() instanceof Run run) {
                run.complete(Outcome.NEW_DATA);
                runs++;
            }
        }
        return runs;
    }

    public static void main(String[] arguments) throws Exception {
        int tasks = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1000;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        try (Scheduler scheduler = Scheduler.open(Options.builder().noThreads().build())) {
            scheduler.setConditions(EnumSet.allOf(Constraint.class), EnumSet.allOf(Constraint.class));
            scheduler.addPulledHandler("count");
            for (int i = 0; i < tasks; i++) {
                Task.Builder task = Task.standing(String.format("task-%011d", i));
                scheduler.register(task.handler("count").expectedResponse(Duration.ZERO).build());
            }
            // The VM compiles what was called often: a service that has run for a second.
            for (int i = 0; i < 400; i++) {
                window(scheduler);
            }
            while (in.readLine() != null) {
                long begin = System.nanoTime();
                int runs = window(scheduler);
                System.out.printf("%.1f%n", (System.nanoTime() - begin) / (double) runs);
            }
        }
    }
}
