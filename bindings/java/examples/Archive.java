import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.selene.Options;
import org.selene.Priority;
import org.selene.Result;
import org.selene.Run;
import org.selene.Scheduler;
import org.selene.State;
import org.selene.Task;
import org.selene.Window;

/** Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window. */
public final class Archive {
    private static Path path(Run run) {
        return Path.of(new String(run.input(), StandardCharsets.UTF_8));
    }

    /** Prints the sum of a file; it is tried again where there is none. */
    private static Result sum(Run run) throws IOException {
        Path path = path(run);
        if (!Files.exists(path)) {
            return Result.retryAfter(Duration.ZERO, path.getFileName() + " is not there");
        }
        long sum = 0xcbf29ce484222325L;
        for (byte one : Files.readAllBytes(path)) {
            sum = (sum ^ (one & 0xff)) * 0x100000001b3L;
        }
        System.out.printf("%s: %016x, attempt %d%n", run.id(), sum, run.attempt());
        return Result.newData();
    }

    /** Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be. */
    private static Result copy(Run run) throws IOException {
        Path from = path(run);
        Path to = from.resolveSibling(from.getFileName() + ".copy");
        long copied = Files.exists(to) ? Files.size(to) : 0;
        try (InputStream in = Files.newInputStream(from);
                OutputStream out = Files.newOutputStream(to, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            in.skipNBytes(copied);
            for (byte[] piece = in.readNBytes(4096); piece.length > 0; piece = in.readNBytes(4096)) {
                out.write(piece);
                copied += piece.length;
                // A slow disk; the wait ends early if the run is asked to stop.
                Thread.sleep(150);
            }
        } catch (InterruptedException stopped) {
            return Result.retryAfter(Duration.ZERO, "not done yet");
        }
        System.out.printf("%s: %d bytes%n", run.id(), copied);
        return Result.newData();
    }

    private static Task task(String id, String handler, Path file, Priority priority, Duration expected) {
        return Task.once(id)
                .handler(handler)
                .priority(priority)
                .expectedResponse(expected)
                .input(file.toString().getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /** A program that is started, works for a window, and ends; what is left to do, and why. */
    private static List<String> live(Path folder) throws InterruptedException {
        Options options = Options.builder().path(folder.resolve("store")).owner("org.example.archive").build();
        try (Scheduler scheduler = Scheduler.open(options)) {
            scheduler.addHandler("sum", Archive::sum);
            scheduler.addHandler("copy", Archive::copy);
            List<Task> tasks = List.of(
                    task("sum of a", "sum", folder.resolve("a"), Priority.NORMAL, Duration.ofMillis(1)),
                    task("sum of b", "sum", folder.resolve("b"), Priority.NORMAL, Duration.ofMillis(1)),
                    task("copy of big", "copy", folder.resolve("big"), Priority.LOW, Duration.ofMillis(100)));
            for (Task task : tasks) {
                // Those of an earlier life are known.
                if (scheduler.find(task.id()) == null) {
                    scheduler.register(task);
                }
            }
            scheduler.run(Window.builder().budget(Duration.ofSeconds(10)).reserve(Duration.ofSeconds(5)).build());
            List<String> left = new ArrayList<>();
            for (String id : scheduler.idsIn(State.ENQUEUED)) {
                left.add(id + ": " + scheduler.get(id).failure());
            }
            return left;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("selene-archive-");
        try {
            Files.writeString(folder.resolve("a"), "first");
            Files.write(folder.resolve("big"), new byte[40 * 4096]);
            List<String> left = live(folder);
            left.forEach(System.out::println);
            Files.writeString(folder.resolve("b"), "second");
            // What was copied is not copied again, so this comes to an end.
            while (!left.isEmpty()) {
                left = live(folder);
            }
        } finally {
            try (Stream<Path> all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
            }
        }
    }
}
