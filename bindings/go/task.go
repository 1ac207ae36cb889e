package selene

// #include <selene.h>
import "C"

import (
	"time"
	"unsafe"
)

// Task is what a task is. What is zero has its default; Standing, Once and Periodic name the schedule, which is once
// otherwise, or periodic with a period.
type Task struct {
	ID string
	// Handler is the name of its handler; empty: the id.
	Handler    string
	Kind       Kind
	Schedule   Schedule
	Priority   Priority
	Existing   Existing
	Recurrence Recurrence
	Backoff    Backoff
	// BackoffDelay is the first delay before a retry (30 s; None: none).
	BackoffDelay time.Duration
	// ResponseWindow is how many of the last response times the estimate is the mean of (3; None: it is always
	// ExpectedResponse).
	ResponseWindow int32
	// MaxAttempts until it has failed; 0: no limit.
	MaxAttempts uint32
	Constraints Constraints
	Tags        []string
	// ExpectedResponse is what a run is expected to take while nothing is known (what the runs of its handler took; None:
	// nothing).
	ExpectedResponse time.Duration
	InitialDelay     time.Duration
	// LatestBegin is how long after its registration a once task may begin at the latest; near it, it goes before others, and
	// if it has not begun by then it has failed. 0: it may wait.
	LatestBegin  time.Duration
	Period, Flex time.Duration
	// Jitter makes the initial delay and each period longer by a random part of at most so many per mille.
	Jitter uint32
	// Timeout after which a run is asked to stop, StallLimit after which one that tells no progress is; 0: none.
	Timeout, StallLimit time.Duration
	// After are the ids of once tasks that this one waits for: it starts when all have succeeded, fails or is cancelled if
	// one does, or starts when all have ended, AfterAnyEnd.
	After       []string
	AfterAnyEnd bool
	// Conditions are names of conditions of the host, all of which must hold (DefineCondition).
	Conditions []string
	// Group is the name of the group that it is in; empty: none.
	Group string
	// Input are bytes that each run gets.
	Input []byte
	// Steady: the freshness rule does not learn from its outcomes.
	Steady bool
	// Expedited: important now; a once task goes before others while something is left of Options.ExpeditedQuota.
	// RefuseOutOfQuota: registering it while that is used up is an error, not an ordinary task.
	Expedited, RefuseOutOfQuota bool
}

// Standing is a candidate in every window.
func Standing(id string) Task { return Task{ID: id, Schedule: ScheduleStanding} }

// Once is work that is done once.
func Once(id string) Task { return Task{ID: id, Schedule: ScheduleOnce} }

// Periodic is work that is due again and again, each time after the period.
func Periodic(id string, period time.Duration) Task {
	return Task{ID: id, Schedule: SchedulePeriodic, Period: period}
}

// lend gives it to a function as the header has it.
func (t *Task) lend(call func(*C.selene_task) error) error {
	var raw C.selene_task
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	var lent arena
	defer lent.free()
	raw.id, raw.handler = lent.text(t.ID), lent.text(t.Handler)
	raw.kind, raw.schedule, raw.priority = C.int32_t(t.Kind), C.int32_t(t.Schedule), C.int32_t(t.Priority)
	raw.existing, raw.recurrence, raw.backoff = C.int32_t(t.Existing), C.int32_t(t.Recurrence), C.int32_t(t.Backoff)
	raw.backoff_delay, raw.response_window = C.int64_t(t.BackoffDelay), C.int32_t(t.ResponseWindow)
	raw.max_attempts, raw.constraints = C.uint32_t(t.MaxAttempts), C.uint32_t(t.Constraints)
	raw.tags, raw.tag_count = lent.texts(t.Tags), C.uint32_t(len(t.Tags))
	raw.expected_response, raw.initial_delay = C.int64_t(t.ExpectedResponse), C.int64_t(t.InitialDelay)
	raw.latest_begin = C.int64_t(t.LatestBegin)
	raw.period, raw.flex, raw.jitter = C.int64_t(t.Period), C.int64_t(t.Flex), C.uint32_t(t.Jitter)
	raw.timeout, raw.stall_limit = C.int64_t(t.Timeout), C.int64_t(t.StallLimit)
	raw.group = lent.text(t.Group)
	raw.conditions, raw.condition_count = lent.texts(t.Conditions), C.uint32_t(len(t.Conditions))
	if len(t.Input) > 0 {
		input := C.CBytes(t.Input)
		lent = append(lent, input)
		raw.input, raw.input_length = input, C.int64_t(len(t.Input))
	}
	raw.after, raw.after_count = lent.texts(t.After), C.uint32_t(len(t.After))
	if t.AfterAnyEnd {
		raw.flags |= C.SELENE_TASK_AFTER_ANY_END
	}
	if t.Steady {
		raw.flags |= C.SELENE_TASK_STEADY
	}
	if t.Expedited {
		raw.flags |= C.SELENE_TASK_EXPEDITED
	}
	if t.RefuseOutOfQuota {
		raw.flags |= C.SELENE_TASK_REFUSE_OUT_OF_QUOTA
	}
	return call(&raw)
}

// Progress is how far a run has come, as it told.
type Progress struct {
	// Done of Total; 0: unknown.
	Done, Total int64
	Text        string
	At          time.Time
}

// TaskInfo is a task's record.
type TaskInfo struct {
	ID, Handler string
	Input       []byte
	Tags        []string
	Constraints Constraints
	Kind        Kind
	Schedule    Schedule
	Priority    Priority
	State       State
	HasHandler  bool
	Paused      bool
	// Attempts are failures in a row, and the run in flight.
	Attempts uint32
	// LastOutcome is OutcomeNone while it never ran.
	LastOutcome Outcome
	// StopReason is why its last run was stopped.
	StopReason                           Stop
	Generation                           uint32
	Group                                string
	Sequence, Appended                   uint64
	RegisteredAt, EarliestBegin, LastRun time.Time
	// Estimate is what its next run is expected to take.
	Estimate      time.Duration
	ResponseTimes []time.Duration
	// After are the ids of the tasks that it comes after.
	After []string
	// Conditions are those of the host that it asks for.
	Conditions []string
	// Failure is why it last failed, if no run has succeeded since.
	Failure  string
	FailedAt time.Time
	// Progress is that of the run in flight; nil: it has told none.
	Progress *Progress
}

func newTaskInfo(raw *C.selene_task_info) *TaskInfo {
	info := &TaskInfo{
		ID: text(raw.id), Handler: text(raw.handler), Input: bytes(raw.input), Constraints: Constraints(raw.constraints),
		Kind: Kind(raw.kind), Schedule: Schedule(raw.schedule), Priority: Priority(raw.priority), State: State(raw.state),
		HasHandler: raw.has_handler != 0, Paused: raw.paused != 0, Attempts: uint32(raw.attempts),
		LastOutcome: Outcome(raw.last_outcome), StopReason: Stop(raw.stop_reason), Generation: uint32(raw.generation),
		Sequence: uint64(raw.sequence), Appended: uint64(raw.appended), RegisteredAt: moment(raw.registered_at),
		EarliestBegin: moment(raw.earliest_begin), LastRun: moment(raw.last_run), Estimate: time.Duration(raw.estimate),
		Failure: text(raw.failure), Group: text(raw.group),
	}
	for _, tag := range unsafe.Slice(raw.tags, raw.tag_count) {
		info.Tags = append(info.Tags, text(tag))
	}
	for _, name := range unsafe.Slice(raw.conditions, raw.condition_count) {
		info.Conditions = append(info.Conditions, text(name))
	}
	for _, id := range unsafe.Slice(raw.after, raw.after_count) {
		info.After = append(info.After, text(id))
	}
	for i := 0; i < int(raw.response_time_count); i++ {
		info.ResponseTimes = append(info.ResponseTimes, time.Duration(raw.response_times[i]))
	}
	if raw.failed_at != 0 {
		info.FailedAt = moment(raw.failed_at)
	}
	if raw.progress_at != 0 {
		info.Progress = &Progress{
			int64(raw.progress_done), int64(raw.progress_total), text(raw.progress_text), moment(raw.progress_at),
		}
	}
	return info
}

// Missing is one reason why a task does not run.
type Missing struct {
	Reason Reason
	// Constraints are those that do not hold.
	Constraints Constraints
	// MayChangeAt is when it may be over; the zero time: when something changes.
	MayChangeAt time.Time
}

// Explanation is why a task does not run now.
type Explanation struct {
	State State
	// Missing is empty where nothing but a window is.
	Missing []Missing
	// Rank counts from 1; 0: it is not eligible.
	Rank, Eligible uint64
	Score          float64
	Estimate       time.Duration
	// LatestBegin is the last instant at which it may begin, while it waits; the zero time: there is none.
	LatestBegin time.Time
	// Urgent and Expedited: it goes before others, because that is near, or because something of the quota is left.
	Urgent, Expedited bool
}

// Waits tells where the time of a task went since it was last due, or registered; the durations add up to the whole.
type Waits struct {
	Since, Until time.Time
	Parts        []WaitPart
	// Preferred counts the dispatches of others that went before it in windows that it fitted.
	Preferred uint64
	// PreferredIDs are the last of these, the latest first.
	PreferredIDs []string
}

// WaitPart is how much of it went to one reason.
type WaitPart struct {
	Reason Reason
	// Detail is the bit of a constraint, the number of a factor, or 0.
	Detail   int64
	Duration time.Duration
	// Times counts how often it began; for the reasons of windows in how many of them.
	Times uint64
	// Name is the condition of the host, the group, or the id that it waits for; or empty.
	Name string
}

func newWaits(raw *C.selene_waits) *Waits {
	made := &Waits{Since: moment(raw.since), Until: moment(raw.until), Preferred: uint64(raw.preferred_count)}
	for _, part := range unsafe.Slice(raw.parts, raw.part_count) {
		made.Parts = append(made.Parts, WaitPart{
			Reason(part.reason), int64(part.detail), time.Duration(part.duration), uint64(part.times), text(part.name),
		})
	}
	for _, id := range unsafe.Slice(raw.preferred_ids, raw.preferred_id_count) {
		made.PreferredIDs = append(made.PreferredIDs, text(id))
	}
	return made
}

func newExplanation(raw *C.selene_explanation) *Explanation {
	made := &Explanation{
		State: State(raw.state), Rank: uint64(raw.rank), Eligible: uint64(raw.eligible), Score: float64(raw.score),
		Estimate: time.Duration(raw.estimate), Urgent: raw.urgent != 0, Expedited: raw.expedited != 0,
	}
	if raw.latest_begin != 0 {
		made.LatestBegin = moment(raw.latest_begin)
	}
	for _, one := range raw.reasons[:raw.reason_count] {
		made.Missing = append(made.Missing, Missing{
			Reason(one.reason), Constraints(one.constraints), moment(one.may_change_at),
		})
	}
	return made
}
