package org.selene;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Loads the library, and has what {@link Raw} has not: memory, callbacks, and the fast way to the next run. */
final class Native {
    static final long RUN;
    static final long STOP;
    static final long REPORT;
    static final long EVENT;
    static final long RELEASE;
    static final long THREAD_BEGIN;
    static final long THREAD_END;

    static {
        load();
        RUN = function(0);
        STOP = function(1);
        REPORT = function(2);
        EVENT = function(3);
        RELEASE = function(4);
        THREAD_BEGIN = function(5);
        THREAD_END = function(6);
    }

    private Native() {}

    /** From the file that the property names, from the jar, or from java.library.path. */
    private static void load() {
        String path = System.getProperty("org.selene.library");
        if (path != null) {
            System.load(Path.of(path).toAbsolutePath().toString());
            return;
        }
        String machine = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        String name = System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-" + machine + "/libselene_java.so";
        try (InputStream packed = Native.class.getResourceAsStream(name)) {
            if (packed == null) {
                System.loadLibrary("selene_java");
                return;
            }
            Path unpacked = Files.createTempFile("libselene_java", ".so");
            try {
                Files.copy(packed, unpacked, StandardCopyOption.REPLACE_EXISTING);
                System.load(unpacked.toString());
            } finally {
                // What is loaded stays, also without its name.
                Files.delete(unpacked);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the library could not be unpacked where temporary files are kept", e);
        }
    }

    /** The address of a callback. */
    private static native long function(int which);

    /** A context for a callback: the object, until the library releases it. */
    static native long keep(Object object);

    /** Where the memory of a direct buffer is. */
    static native long address(ByteBuffer buffer);

    /** A copy of what the library lends. */
    static native byte[] read(long address, long length);

    /** selene_cycle_next, into the room of a {@link Cycle}. */
    static native void next(long cycle, long room);

    /** Throws what the last call, on this thread, was refused for. */
    static native void refuse(int status);

    /** The facts of the run in a room whose texts did not fit. */
    static native byte[] facts(long room);
}
