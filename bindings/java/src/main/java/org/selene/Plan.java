package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What a window would pick now.
 *
 * @param eligible how many tasks could run
 * @param runs the picks in order
 */
public record Plan(long eligible, List<PlanRun> runs) {
    /**
     * One run of a plan.
     *
     * @param id of its task
     * @param score by which it would be picked
     * @param estimate how long it is expected to take
     * @param startsAt when it would begin if each run took its estimate
     */
    public record PlanRun(String id, double score, Duration estimate, Instant startsAt) {
        private static PlanRun of(Struct raw) {
            return new PlanRun(
                    raw.text(Layout.PlanRun.ID),
                    raw.getDouble(Layout.PlanRun.SCORE),
                    raw.span(Layout.PlanRun.ESTIMATE),
                    raw.instant(Layout.PlanRun.STARTS_AT));
        }
    }

    static Plan of(Struct raw) {
        return new Plan(
                raw.getLong(Layout.Plan.ELIGIBLE),
                raw.list(Layout.Plan.RUNS, raw.getLong(Layout.Plan.RUN_COUNT), Layout.PlanRun.SIZE, PlanRun::of));
    }
}
