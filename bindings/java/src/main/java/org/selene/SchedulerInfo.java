package org.selene;

import java.util.Set;

/**
 * Counts of a scheduler ({@link Scheduler#info}).
 *
 * @param kinds that are on
 * @param enqueued tasks that wait
 * @param held tasks that are held back
 * @param blocked tasks that wait for others
 * @param running tasks that run
 * @param succeeded tasks that are kept and have succeeded
 * @param failed tasks that are kept and have failed
 * @param cancelled tasks that are kept and were cancelled
 * @param dispatched runs since it was opened
 * @param overrunThreads threads left with handlers that overran
 * @param stuckHandlers handlers that get no thread because of that
 */
public record SchedulerInfo(
        Set<Kind> kinds,
        long enqueued,
        long held,
        long blocked,
        long running,
        long succeeded,
        long failed,
        long cancelled,
        long dispatched,
        int overrunThreads,
        int stuckHandlers) {
    static SchedulerInfo of(Lent.Block raw) {
        return new SchedulerInfo(
                Kind.set(raw.getInt(Layout.SchedulerInfo.KINDS)),
                raw.getLong(Layout.SchedulerInfo.ENQUEUED),
                raw.getLong(Layout.SchedulerInfo.HELD),
                raw.getLong(Layout.SchedulerInfo.BLOCKED),
                raw.getLong(Layout.SchedulerInfo.RUNNING),
                raw.getLong(Layout.SchedulerInfo.SUCCEEDED),
                raw.getLong(Layout.SchedulerInfo.FAILED),
                raw.getLong(Layout.SchedulerInfo.CANCELLED),
                raw.getLong(Layout.SchedulerInfo.DISPATCHED),
                raw.getInt(Layout.SchedulerInfo.OVERRUN_THREADS),
                raw.getInt(Layout.SchedulerInfo.STUCK_HANDLERS));
    }
}
