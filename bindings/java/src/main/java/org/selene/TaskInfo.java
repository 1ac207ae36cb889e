package org.selene;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A task's record.
 *
 * @param id its id
 * @param handler the name of its handler
 * @param input what its runs get
 * @param tags names that it shares with others
 * @param constraints what it asks of the system
 * @param conditions of the host, that it asks for
 * @param kind how long it takes
 * @param schedule when it is due
 * @param priority how important it is
 * @param group empty: none
 * @param state what it is at
 * @param hasHandler whether one of its name is registered
 * @param isPaused whether it is paused
 * @param attempts failures in a row, and the run in flight
 * @param lastOutcome {@link Outcome#NONE} while it never ran
 * @param stopReason why its last run was stopped
 * @param generation how often it was updated
 * @param sequence the number of the record
 * @param appended how many wait behind it
 * @param after the tasks that it comes after
 * @param waitsFor how many of these are not over
 * @param registeredAt when it was registered
 * @param earliestBegin when it is due
 * @param lastRun when it last ran, or was registered
 * @param estimate what its next run is expected to take
 * @param responseTimes what its last runs took
 * @param failure why it last failed, if no run has succeeded since; else empty
 * @param failedAt when; null: it has not
 * @param progress of the run in flight; null: it has told none
 */
public record TaskInfo(
        String id,
        String handler,
        byte[] input,
        List<String> tags,
        Set<Constraint> constraints,
        List<String> conditions,
        Kind kind,
        Schedule schedule,
        Priority priority,
        String group,
        State state,
        boolean hasHandler,
        boolean isPaused,
        int attempts,
        Outcome lastOutcome,
        Stop stopReason,
        int generation,
        long sequence,
        long appended,
        List<String> after,
        int waitsFor,
        Instant registeredAt,
        @Nullable Instant earliestBegin,
        Instant lastRun,
        Duration estimate,
        List<Duration> responseTimes,
        String failure,
        @Nullable Instant failedAt,
        @Nullable Progress progress) {
    /**
     * How far a run has come, as it told.
     *
     * @param done so much
     * @param total of so much; 0: it is not known
     * @param text what it said
     * @param at when
     */
    public record Progress(long done, long total, String text, Instant at) {}

    static TaskInfo of(Struct raw) {
        List<Duration> times = new ArrayList<>();
        for (int i = 0; i < raw.getLong(Layout.TaskInfo.RESPONSE_TIME_COUNT); i++) {
            times.add(raw.span(Layout.TaskInfo.RESPONSE_TIMES + 8 * i));
        }
        return new TaskInfo(
                raw.text(Layout.TaskInfo.ID),
                raw.text(Layout.TaskInfo.HANDLER),
                raw.bytes(Layout.TaskInfo.INPUT),
                raw.texts(Layout.TaskInfo.TAGS, raw.getInt(Layout.TaskInfo.TAG_COUNT)),
                Constraint.set(raw.getInt(Layout.TaskInfo.CONSTRAINTS)),
                raw.texts(Layout.TaskInfo.CONDITIONS, raw.getInt(Layout.TaskInfo.CONDITION_COUNT)),
                Kind.of(raw.getInt(Layout.TaskInfo.KIND)),
                Schedule.of(raw.getInt(Layout.TaskInfo.SCHEDULE)),
                Priority.of(raw.getInt(Layout.TaskInfo.PRIORITY)),
                raw.text(Layout.TaskInfo.GROUP),
                State.of(raw.getInt(Layout.TaskInfo.STATE)),
                raw.getInt(Layout.TaskInfo.HAS_HANDLER) != 0,
                raw.getInt(Layout.TaskInfo.PAUSED) != 0,
                raw.getInt(Layout.TaskInfo.ATTEMPTS),
                Outcome.of(raw.getInt(Layout.TaskInfo.LAST_OUTCOME)),
                Stop.of(raw.getInt(Layout.TaskInfo.STOP_REASON)),
                raw.getInt(Layout.TaskInfo.GENERATION),
                raw.getLong(Layout.TaskInfo.SEQUENCE),
                raw.getLong(Layout.TaskInfo.APPENDED),
                raw.texts(Layout.TaskInfo.AFTER, raw.getInt(Layout.TaskInfo.AFTER_COUNT)),
                raw.getInt(Layout.TaskInfo.WAITS_FOR),
                raw.instant(Layout.TaskInfo.REGISTERED_AT),
                raw.instant(Layout.TaskInfo.EARLIEST_BEGIN),
                raw.instant(Layout.TaskInfo.LAST_RUN),
                raw.span(Layout.TaskInfo.ESTIMATE),
                List.copyOf(times),
                raw.text(Layout.TaskInfo.FAILURE),
                raw.getLong(Layout.TaskInfo.FAILED_AT) == 0 ? null : raw.instant(Layout.TaskInfo.FAILED_AT),
                raw.getLong(Layout.TaskInfo.PROGRESS_AT) == 0
                        ? null
                        : new Progress(
                                raw.getLong(Layout.TaskInfo.PROGRESS_DONE),
                                raw.getLong(Layout.TaskInfo.PROGRESS_TOTAL),
                                raw.text(Layout.TaskInfo.PROGRESS_TEXT),
                                raw.instant(Layout.TaskInfo.PROGRESS_AT)));
    }
}
