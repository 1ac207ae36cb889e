package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Why a task does not run now.
 *
 * @param state what it is at
 * @param missing empty where nothing but a window is
 * @param rank counts from 1; 0: it is not eligible
 * @param eligible how many tasks are
 * @param score by which it would be picked
 * @param estimate what its next run is expected to take
 * @param latestBegin the last instant at which it may begin; null: it does not wait, or has none
 * @param isUrgent whether it goes before others, because that is near
 * @param isExpedited whether it goes before others, because it is expedited and something of the quota is left
 * @param unknownConstraints that it asks for and of which nothing is known, so that they count as satisfied
 */
public record Explanation(
        State state,
        List<Missing> missing,
        long rank,
        long eligible,
        double score,
        Duration estimate,
        @Nullable Instant latestBegin,
        boolean isUrgent,
        boolean isExpedited,
        Set<Constraint> unknownConstraints) {
    /**
     * One reason.
     *
     * @param reason which
     * @param constraints that do not hold
     * @param mayChangeAt when it may be over; null: when something changes
     */
    public record Missing(Reason reason, Set<Constraint> constraints, @Nullable Instant mayChangeAt) {}

    static Explanation of(Struct raw) {
        List<Missing> missing = new ArrayList<>();
        for (int i = 0; i < raw.getInt(Layout.Explanation.REASON_COUNT); i++) {
            int at = Layout.Explanation.REASONS + i * Layout.Reason.SIZE;
            missing.add(new Missing(
                    Reason.of(raw.getInt(at + Layout.Reason.REASON)),
                    Constraint.set(raw.getInt(at + Layout.Reason.CONSTRAINTS)),
                    raw.instant(at + Layout.Reason.MAY_CHANGE_AT)));
        }
        long latestBegin = raw.getLong(Layout.Explanation.LATEST_BEGIN);
        return new Explanation(
                State.of(raw.getInt(Layout.Explanation.STATE)),
                List.copyOf(missing),
                raw.getLong(Layout.Explanation.RANK),
                raw.getLong(Layout.Explanation.ELIGIBLE),
                raw.getDouble(Layout.Explanation.SCORE),
                raw.span(Layout.Explanation.ESTIMATE),
                latestBegin == 0 ? null : raw.instant(Layout.Explanation.LATEST_BEGIN),
                raw.getInt(Layout.Explanation.URGENT) != 0,
                raw.getInt(Layout.Explanation.EXPEDITED) != 0,
                Constraint.set(raw.getInt(Layout.Explanation.UNKNOWN_CONSTRAINTS)));
    }
}
