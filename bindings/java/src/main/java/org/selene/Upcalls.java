package org.selene;

import java.nio.charset.StandardCharsets;

/** What the library calls, through native/selene_java.c. */
final class Upcalls {
    /** The outcome was given, or will be. */
    static final int OPEN = -1;

    private Upcalls() {}

    static int run(Registration registration, long token, byte[] facts) {
        return registration.call(new Run(registration.scheduler, facts));
    }

    static void stop(Registration registration, long token, int reason) {
        Run run = registration.scheduler.live.get(token);
        if (run != null) {
            run.stop(Stop.of(reason));
        }
    }

    static void report(WindowFuture window, long report) {
        window.reported(Report.of(Struct.at(report, Layout.Report.SIZE)));
    }

    static void event(Events events, byte[] facts) {
        events.told(facts);
    }

    /** The last call of a callback was before. */
    static void release(Object context) {
        if (context instanceof WindowFuture window) {
            window.released();
        } else if (context instanceof Events events) {
            events.end();
        }
    }

    static SeleneException refused(int status, byte[] detail, byte[] field, byte[] found, byte[] allowed) {
        return new SeleneException(Status.of(status), text(detail), text(field), text(found), text(allowed));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
