package selene

/*
#include <selene.h>
// Addresses of memory of C, as numbers: cgo looks at what a pointer points to, in each call.
static inline selene_status seleneGoNext(selene_cycle cycle, uintptr_t step, uintptr_t info, uintptr_t wake) {
	return selene_cycle_next(cycle, (int32_t *)step, (selene_run_info *)info, (int64_t *)wake);
}
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Window is an opportunity to work; what is zero has its default.
type Window struct {
	// Budget is the time from its begin to its deadline; 30 s.
	Budget time.Duration
	// Reserve is kept free at the end, in which runs are asked to stop; a twentieth of the budget, None: none.
	Reserve time.Duration
	// Kinds are those of the tasks that it takes; all that may begin.
	Kinds Kinds
	// Lanes are runs at a time; 1.
	Lanes uint32
	// StrictFit picks nothing whose estimate does not fit, not even first.
	StrictFit bool
	// Frozen picks only tasks that were eligible at its begin; without it also those that become due meanwhile.
	Frozen bool
	// Task is the id of the one task that shall run now.
	Task string
}

func (w Window) lend(flags C.uint32_t, call func(*C.selene_window) error) error {
	var raw C.selene_window
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	raw.budget = C.int64_t(w.Budget)
	raw.reserve = C.int64_t(w.Reserve)
	raw.kinds, raw.lanes = C.uint32_t(w.Kinds), C.uint32_t(w.Lanes)
	raw.flags = flags
	if w.StrictFit {
		raw.flags |= C.SELENE_WINDOW_STRICT_FIT
	}
	if w.Frozen {
		raw.flags |= C.SELENE_WINDOW_FROZEN
	}
	var lent arena
	defer lent.free()
	raw.task = lent.text(w.Task)
	return call(&raw)
}

func (s *Scheduler) begin(window Window, flags C.uint32_t) (cycle C.selene_cycle, err error) {
	err = window.lend(flags, func(raw *C.selene_window) error {
		return check(func() C.selene_status { return C.selene_cycle_begin(s.handle, raw, &cycle) })
	})
	return cycle, err
}

var errNilContext = errors.New("selene: nil context; context.Background() never ends")

// Run opens a window and works through it on goroutines, as many as it has lanes. The report comes by its deadline, also
// where handlers do not return. If the context ends, so does the window: the report comes with the context's error.
func (s *Scheduler) Run(ctx context.Context, window Window) (*Report, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	if err := s.canWait(); err != nil {
		return nil, err
	}
	cycle, err := s.begin(window, C.SELENE_WINDOW_LANES)
	if err != nil {
		return nil, err
	}
	return s.through(ctx, cycle)
}

// Plan is what such a window would pick now.
func (s *Scheduler) Plan(window Window) (*Plan, error) {
	var raw *C.selene_plan
	err := window.lend(0, func(window *C.selene_window) error {
		return check(func() C.selene_status { return C.selene_cycle_plan(s.handle, window, &raw) })
	})
	if err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	plan := &Plan{Eligible: uint64(raw.eligible)}
	for _, run := range unsafe.Slice(raw.runs, raw.run_count) {
		plan.Runs = append(plan.Runs, PlanRun{
			text(run.id), float64(run.score), time.Duration(run.estimate), moment(run.starts_at),
		})
	}
	return plan, nil
}

// Step is what Next found.
type Step int32

const (
	// StepDone: there is nothing more to do.
	StepDone Step = C.SELENE_STEP_DONE
	// StepRun: work on the run, and complete it before or after the next.
	StepRun Step = C.SELENE_STEP_RUN
	// StepWait: ask again after a completion, or at the time.
	StepWait Step = C.SELENE_STEP_WAIT
)

// Cycle is a window whose runs are pulled: for loops of one's own, and for tests.
type Cycle struct {
	scheduler *Scheduler
	handle    C.selene_cycle
}

// Begin opens a window whose runs are pulled.
func (s *Scheduler) Begin(window Window) (*Cycle, error) {
	handle, err := s.begin(window, 0)
	if err != nil {
		return nil, err
	}
	return &Cycle{s, handle}, nil
}

// Next gives the next run, if there is one now; with StepWait the time to ask again at the latest.
func (c *Cycle) Next() (Step, *Run, time.Time, error) {
	if !c.scheduler.enter() {
		return StepDone, nil, time.Time{}, errClosed
	}
	defer c.scheduler.leave()
	lent := lentPulled.Get().(*pulledOwner)
	defer lentPulled.Put(lent)
	// As check does, without a function of its own.
	runtime.LockOSThread()
	err := failure(C.seleneGoNext(c.handle, address(&lent.step), address(&lent.info), address(&lent.wake)))
	runtime.UnlockOSThread()
	if err != nil {
		return StepDone, nil, time.Time{}, err
	}
	if lent.step == C.SELENE_STEP_RUN {
		return StepRun, newRun(c.scheduler, &lent.info), time.Time{}, nil
	}
	return Step(lent.step), nil, moment(lent.wake), nil
}

func address[T any](of *T) C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(of))) }

// End ends it. If the store refuses, it stays open and can be ended again.
func (c *Cycle) End() (*Report, error) { return end(c.handle) }

// Close ends it without a report, if that was not done.
func (c *Cycle) Close() error {
	err := check(func() C.selene_status { return C.selene_cycle_end(c.handle, nil) })
	// It may have ended by itself, or with its scheduler.
	if errors.Is(err, ErrInvalidHandle) {
		return nil
	}
	return err
}

// Report is what a window did.
type Report struct {
	// Result is that of all its runs together.
	Result                                               Outcome
	BeganAt, EndedAt, Deadline                           time.Time
	Eligible, DidNotFit                                  uint64
	NewData, NoData, Failed, Abandoned, Expired, Stopped uint64
	// Runs are in the order in which they began.
	Runs []ReportRun
}

// ReportRun is one run of a report.
type ReportRun struct {
	ID      string
	Outcome Outcome
	// StopReason is why it was asked to stop; StopNone: it was not.
	StopReason             Stop
	Attempt                uint32
	Score                  float64
	Estimate, ResponseTime time.Duration
	StartedAt              time.Time
}

// newReport copies a report, and frees it.
func newReport(raw *C.selene_report) *Report {
	if raw == nil {
		return nil
	}
	defer C.selene_free(unsafe.Pointer(raw))
	report := &Report{
		Result: Outcome(raw.result), BeganAt: moment(raw.began_at), EndedAt: moment(raw.ended_at),
		Deadline: moment(raw.deadline), Eligible: uint64(raw.eligible), DidNotFit: uint64(raw.did_not_fit),
		NewData: uint64(raw.new_data), NoData: uint64(raw.no_data), Failed: uint64(raw.failed),
		Abandoned: uint64(raw.abandoned), Expired: uint64(raw.expired), Stopped: uint64(raw.stopped),
		Runs: make([]ReportRun, 0, raw.run_count),
	}
	runs := unsafe.Slice(raw.runs, raw.run_count)
	// One copy of all ids, of which each is a part.
	length := C.int64_t(0)
	for i := range runs {
		length += runs[i].id.length
	}
	var all strings.Builder
	all.Grow(int(length))
	for i := range runs {
		all.Write(peek(runs[i].id))
	}
	ids := all.String()
	for i := range runs {
		run := &runs[i]
		id := ids[:run.id.length]
		ids = ids[run.id.length:]
		report.Runs = append(report.Runs, ReportRun{
			mended(id), Outcome(run.outcome), Stop(run.stop_reason), uint32(run.attempt), float64(run.score),
			time.Duration(run.estimate), time.Duration(run.response_time), moment(run.started_at),
		})
	}
	return report
}

// Plan is what a window would pick now.
type Plan struct {
	Eligible uint64
	Runs     []PlanRun
}

// PlanRun is one run of a plan; StartsAt is when it would begin if each run took its estimate.
type PlanRun struct {
	ID       string
	Score    float64
	Estimate time.Duration
	StartsAt time.Time
}
