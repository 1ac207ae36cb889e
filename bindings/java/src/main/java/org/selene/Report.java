package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What a window did.
 *
 * @param result of all its runs together
 * @param beganAt when it began
 * @param endedAt when it ended
 * @param deadline when it had to
 * @param eligible how many tasks could have run
 * @param didNotFit how many of them did not fit
 * @param newData runs that found something new
 * @param noData runs that found nothing new
 * @param failed runs that failed
 * @param abandoned runs that failed and are not tried again
 * @param expired runs that were not over in time
 * @param stopped runs that were stopped
 * @param isStored false: the disk was not done with the last outcomes when it was due; they follow
 * @param runs in the order in which they began
 */
public record Report(
        Outcome result,
        Instant beganAt,
        Instant endedAt,
        Instant deadline,
        long eligible,
        long didNotFit,
        long newData,
        long noData,
        long failed,
        long abandoned,
        long expired,
        long stopped,
        boolean isStored,
        List<ReportRun> runs) {
    /**
     * One run of a report.
     *
     * @param id of its task
     * @param outcome how it ended
     * @param stopReason why it was asked to stop; {@link Stop#NONE}: it was not
     * @param attempt 1 for the first
     * @param priority of its task
     * @param score by which it was picked
     * @param estimate how long it was expected to take
     * @param startedAt when it was dispatched
     * @param responseTime how long it took
     */
    public record ReportRun(
            String id,
            Outcome outcome,
            Stop stopReason,
            int attempt,
            Priority priority,
            double score,
            Duration estimate,
            Instant startedAt,
            Duration responseTime) {
        private static ReportRun of(Struct raw) {
            return new ReportRun(
                    raw.text(Layout.ReportRun.ID),
                    Outcome.of(raw.getInt(Layout.ReportRun.OUTCOME)),
                    Stop.of(raw.getInt(Layout.ReportRun.STOP_REASON)),
                    raw.getInt(Layout.ReportRun.ATTEMPT),
                    Priority.of(raw.getInt(Layout.ReportRun.PRIORITY)),
                    raw.getDouble(Layout.ReportRun.SCORE),
                    raw.span(Layout.ReportRun.ESTIMATE),
                    raw.instant(Layout.ReportRun.STARTED_AT),
                    raw.span(Layout.ReportRun.RESPONSE_TIME));
        }
    }

    static Report of(Struct raw) {
        return new Report(
                Outcome.of(raw.getInt(Layout.Report.RESULT)),
                raw.instant(Layout.Report.BEGAN_AT),
                raw.instant(Layout.Report.ENDED_AT),
                raw.instant(Layout.Report.DEADLINE),
                raw.getLong(Layout.Report.ELIGIBLE),
                raw.getLong(Layout.Report.DID_NOT_FIT),
                raw.getLong(Layout.Report.NEW_DATA),
                raw.getLong(Layout.Report.NO_DATA),
                raw.getLong(Layout.Report.FAILED),
                raw.getLong(Layout.Report.ABANDONED),
                raw.getLong(Layout.Report.EXPIRED),
                raw.getLong(Layout.Report.STOPPED),
                (raw.getInt(Layout.Report.FLAGS) & Layout.REPORT_NOT_STORED) == 0,
                raw.list(Layout.Report.RUNS, raw.getLong(Layout.Report.RUN_COUNT), Layout.ReportRun.SIZE, ReportRun::of));
    }

    /** Ends a cycle. */
    static Report end(long cycle) {
        try (Lent lent = new Lent()) {
            Lent.Block out = lent.room(8);
            Raw.selene_cycle_end(cycle, out.address);
            long report = out.getLong(0);
            try {
                return of(Struct.at(report, Layout.Report.SIZE));
            } finally {
                Raw.selene_free(report);
            }
        }
    }
}
