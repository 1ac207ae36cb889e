package selene

/*
#include <selene.h>
void seleneGoStop(selene_run run, int32_t reason, void *context);
*/
import "C"

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Scheduler has tasks and handlers. Any goroutine may use it, handlers too.
type Scheduler struct {
	handle C.selene_scheduler
	// isTold: time is what a test says; isPulled: and runs are pulled.
	isTold, isPulled bool
	// isConnection: its calls are made by another process.
	isConnection bool
	handlers     sync.Map

	isClosed atomic.Bool
	// inside is how many copy what the library lends until the scheduler is closed.
	inside atomic.Int64
	// lastHandler is the name of that of the last run.
	lastHandler atomic.Pointer[string]

	lock sync.Mutex
	// cycles are those that goroutines work through.
	cycles map[C.selene_cycle]*work
}

func newScheduler(handle C.selene_scheduler, isTold, isPulled bool) *Scheduler {
	return &Scheduler{handle: handle, isTold: isTold, isPulled: isPulled, cycles: map[C.selene_cycle]*work{}}
}

// canWait is nil unless a test said that it has neither threads nor time of its own.
func (s *Scheduler) canWait() error {
	if s.isPulled {
		return &Error{Status: ErrUnsupported, Detail: "opened with a Clock and NoThreads; only Begin, which pulls, is possible"}
	}
	return nil
}

func (s *Scheduler) enter() bool {
	// In one order with the flag and the count of Close: one of both sees the other.
	s.inside.Add(1)
	if s.isClosed.Load() {
		s.leave()
		return false
	}
	return true
}

func (s *Scheduler) leave() { s.inside.Add(-1) }

func (s *Scheduler) keep(w *work) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.isClosed.Load() {
		return false
	}
	s.cycles[w.cycle] = w
	return true
}

func (s *Scheduler) forget(cycle C.selene_cycle) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.cycles, cycle)
}

// Handle is the number by which the header knows it, for calls that have no name here.
func (s *Scheduler) Handle() uint64 { return uint64(s.handle) }

// Close closes it. Runs in flight have the grace to complete; in its last tenth, at most 10 s, they are asked to stop. What is
// left then is stopped, and its tasks wait again as before the run. A second close does nothing.
func (s *Scheduler) Close(grace time.Duration) error {
	if err := s.drainAndAsk(grace); err != nil && !errors.Is(err, ErrForked) {
		if errors.Is(err, ErrInvalidHandle) {
			return nil
		}
		return err
	}
	s.lock.Lock()
	if s.isClosed.Swap(true) {
		s.lock.Unlock()
		return nil
	}
	cycles := s.cycles
	s.cycles = map[C.selene_cycle]*work{}
	s.lock.Unlock()
	// Lanes that wait for a run come back, and who waits for an event.
	C.selene_events_close(s.handle)
	for _, w := range cycles {
		w.end()
	}
	for s.inside.Load() > 0 {
		time.Sleep(50 * time.Microsecond)
	}
	defer s.forgetRuns()
	return check(func() C.selene_status { return C.selene_scheduler_close(s.handle, 0) })
}

// drainAndAsk drains as Drain does, but asks runs to stop before the grace is over, and stops them when it is.
func (s *Scheduler) drainAndAsk(grace time.Duration) error {
	if !s.isConnection {
		if drained, err := s.Drain(0); drained || err != nil {
			return err
		}
		for _, cycle := range s.kept() {
			drain(cycle, grace)
		}
	}
	_, err := s.Drain(grace)
	return err
}

// Drain lets nothing more be dispatched and waits until nothing runs; false: something still does. Resume ends it. Of a
// connection it is the windows that are open now.
func (s *Scheduler) Drain(grace time.Duration) (bool, error) {
	if s.isConnection {
		return s.drainCycles(grace), nil
	}
	err := check(func() C.selene_status { return C.selene_scheduler_drain(s.handle, C.int64_t(grace)) })
	if errors.Is(err, ErrBusy) {
		return false, nil
	}
	return err == nil, err
}

// Resume ends a drain.
func (s *Scheduler) Resume() error {
	if s.isConnection {
		return nil
	}
	return check(func() C.selene_status { return C.selene_scheduler_resume(s.handle) })
}

// Now is scheduler time, which never goes back.
func (s *Scheduler) Now() (time.Time, error) {
	var now C.int64_t
	err := check(func() C.selene_status { return C.selene_scheduler_now(s.handle, &now) })
	return moment(now), err
}

// SetClock says what time it is, to a scheduler that was opened with a Clock.
func (s *Scheduler) SetClock(now time.Time) error {
	return check(func() C.selene_status { return C.selene_clock_set(s.handle, instant(now)) })
}

// Advance lets time pass up to an instant, for a scheduler that was opened with a Clock: from one instant at which something
// is due to the next, and at each it waits until all that is due is done, also by handlers. It returns when something is due
// next; the zero time: nothing is. Handlers that take more than ten real seconds are an ErrBusy, which names them.
func (s *Scheduler) Advance(to time.Time) (time.Time, error) {
	next := C.int64_t(C.SELENE_NEVER)
	err := check(func() C.selene_status {
		return C.selene_clock_advance(s.handle, instant(to), C.SELENE_ADVANCE_HANDLERS, 10*C.SELENE_SECOND, &next)
	})
	return moment(next), err
}

// NextWakeup is when the next window is worth opening; the zero time: when something changes.
func (s *Scheduler) NextWakeup() (time.Time, error) {
	at := C.int64_t(C.SELENE_NEVER)
	err := check(func() C.selene_status { return C.selene_scheduler_next_wakeup(s.handle, &at, nil) })
	return moment(at), err
}

// SetConditions says which of these constraints are satisfied, until the next call. The others are the system's.
func (s *Scheduler) SetConditions(of, satisfied Constraints) error {
	return check(func() C.selene_status {
		return C.selene_conditions_set(s.handle, C.uint32_t(of), C.uint32_t(satisfied))
	})
}

// Enable switches these kinds on, and all others off.
func (s *Scheduler) Enable(kinds Kinds) error {
	return check(func() C.selene_status { return C.selene_scheduler_enable(s.handle, C.uint32_t(kinds)) })
}

// Handler registers a handler under a name. It is called on goroutines, several at once where a window has lanes.
func (s *Scheduler) Handler(name string, handler Handler) error {
	if handler == nil {
		return &Error{Status: ErrInvalidArgument, Detail: "handler is nil", Field: "handler"}
	}
	if err := s.PulledHandler(name); err != nil {
		return err
	}
	s.handlers.Store(name, handler)
	return nil
}

// PulledHandler registers a name whose runs are pulled.
func (s *Scheduler) PulledHandler(name string) error {
	return check(func() C.selene_status {
		return C.selene_handler_register(
			s.handle, data(name), C.int64_t(len(name)), nil, C.selene_stop_fn(C.seleneGoStop), nil, nil)
	})
}

// RemoveHandler takes a handler back.
func (s *Scheduler) RemoveHandler(name string) error {
	err := s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_handler_unregister(s.handle, data, length)
	})
	if err == nil {
		s.handlers.Delete(name)
	}
	return err
}

// ---- tasks ----

func (s *Scheduler) named(name string, call func(*C.char, C.int64_t) C.selene_status) error {
	return check(func() C.selene_status { return call(data(name), C.int64_t(len(name))) })
}

func (s *Scheduler) counted(name string, call func(*C.char, C.int64_t, *C.uint64_t) C.selene_status) (uint64, error) {
	var count C.uint64_t
	err := s.named(name, func(data *C.char, length C.int64_t) C.selene_status { return call(data, length, &count) })
	return uint64(count), err
}

// Register registers a task, and says what became of it.
func (s *Scheduler) Register(task Task) (Disposition, error) {
	var disposition C.int32_t
	err := task.lend(func(raw *C.selene_task) error {
		return check(func() C.selene_status { return C.selene_task_register(s.handle, raw, &disposition) })
	})
	return Disposition(disposition), err
}

// Get is a task's record; ErrNotFound: there is none of that id.
func (s *Scheduler) Get(id string) (*TaskInfo, error) {
	var raw *C.selene_task_info
	err := s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_task_get(s.handle, data, length, 0, &raw)
	})
	if err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	return newTaskInfo(raw), nil
}

// IDs are those of all tasks, or of those with a tag.
func (s *Scheduler) IDs(tag string) ([]string, error) {
	return listed(func(raw **C.selene_task_ids) C.selene_status {
		if tag == "" {
			return C.selene_task_list(s.handle, nil, 0, raw)
		}
		return C.selene_task_list(s.handle, data(tag), C.int64_t(len(tag)), raw)
	})
}

// IDsIn are those of the tasks in a state.
func (s *Scheduler) IDsIn(state State) ([]string, error) {
	return listed(func(raw **C.selene_task_ids) C.selene_status {
		return C.selene_task_list_state(s.handle, C.int32_t(state), raw)
	})
}

func listed(list func(**C.selene_task_ids) C.selene_status) ([]string, error) {
	var raw *C.selene_task_ids
	if err := check(func() C.selene_status { return list(&raw) }); err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	ids := make([]string, 0, raw.count)
	for _, id := range unsafe.Slice(raw.ids, raw.count) {
		ids = append(ids, text(id))
	}
	return ids, nil
}

// Cancel cancels a task and what waits behind it; how many records.
func (s *Scheduler) Cancel(id string) (uint64, error) {
	return s.counted(id, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_cancel(s.handle, data, length, count)
	})
}

// CancelTag cancels those with a tag.
func (s *Scheduler) CancelTag(tag string) (uint64, error) {
	return s.counted(tag, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_cancel_tag(s.handle, data, length, count)
	})
}

// CancelAll cancels all.
func (s *Scheduler) CancelAll() (uint64, error) {
	var count C.uint64_t
	err := check(func() C.selene_status { return C.selene_task_cancel_all(s.handle, &count) })
	return uint64(count), err
}

// Pause pauses a task and what waits behind it: they stay as they are, and none begins.
func (s *Scheduler) Pause(id string) (uint64, error) {
	return s.counted(id, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_pause(s.handle, data, length, count)
	})
}

// PauseTag pauses those that have a tag now.
func (s *Scheduler) PauseTag(tag string) (uint64, error) {
	return s.counted(tag, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_pause_tag(s.handle, data, length, count)
	})
}

// Unpause lets a task go on that was paused, and what waits behind it.
func (s *Scheduler) Unpause(id string) (uint64, error) {
	return s.counted(id, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_resume(s.handle, data, length, count)
	})
}

// UnpauseTag lets those with a tag go on.
func (s *Scheduler) UnpauseTag(tag string) (uint64, error) {
	return s.counted(tag, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_resume_tag(s.handle, data, length, count)
	})
}

// PauseKinds pauses kinds everywhere: none of their tasks begins before an instant, at most 10 years ahead; the zero time:
// until they are resumed. Runs in flight go on. The store keeps it; pausing them again changes the end.
func (s *Scheduler) PauseKinds(kinds Kinds, until time.Time) error {
	return s.setPause(kinds, "", pauseEnd(until))
}

// UnpauseKinds lets kinds go on that were paused everywhere.
func (s *Scheduler) UnpauseKinds(kinds Kinds) error { return s.setPause(kinds, "", 0) }

// PausePool pauses kinds in a pool, 0: both: of the tasks whose handlers its processes offer. Everywhere and in each pool
// they are paused apart, and a task waits while either holds.
func (s *Scheduler) PausePool(pool string, kinds Kinds, until time.Time) error {
	if pool == "" {
		return errNoPool
	}
	return s.setPause(kinds, pool, pauseEnd(until))
}

// UnpausePool lets kinds go on that were paused in a pool; 0: both.
func (s *Scheduler) UnpausePool(pool string, kinds Kinds) error {
	if pool == "" {
		return errNoPool
	}
	return s.setPause(kinds, pool, 0)
}

// errNoPool: to the header an empty pool is everywhere.
var errNoPool = &Error{Status: ErrInvalidArgument, Detail: "pool: empty; a pool has a name", Field: "pool"}

func (s *Scheduler) setPause(kinds Kinds, pool string, until C.int64_t) error {
	return s.named(pool, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_scheduler_pause(s.handle, C.uint32_t(kinds), data, length, until)
	})
}

// pauseEnd is the end of a pause. The header's 0 resumes, so that instant is refused as any that is past, and what is later
// than it can say as what is too far ahead.
func pauseEnd(until time.Time) C.int64_t {
	if until.IsZero() {
		return C.SELENE_NEVER
	}
	switch at := instant(until); at {
	case 0:
		return -1
	case C.SELENE_NEVER:
		return at - 1
	default:
		return at
	}
}

// Pause is kinds that are paused until the same instant.
type Pause struct {
	Kinds Kinds
	// Pool is the one whose tasks wait; empty: those of all.
	Pool string
	// Until is when it ends; the zero time: when it is resumed.
	Until time.Time
}

// Pauses are the kinds that are paused: first everywhere, then by pool.
func (s *Scheduler) Pauses() ([]Pause, error) {
	var raw *C.selene_pauses
	if err := check(func() C.selene_status { return C.selene_pause_list(s.handle, &raw) }); err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	pauses := make([]Pause, 0, raw.count)
	for _, one := range unsafe.Slice(raw.pauses, raw.count) {
		pauses = append(pauses, Pause{Kinds(one.kinds), text(one.pool), moment(one.until)})
	}
	return pauses, nil
}

// GroupInfo is a group of tasks.
type GroupInfo struct {
	// Limit of runs at a time; 0: none.
	Limit  uint32
	Paused bool
	// Running are its runs that are not over, or have not come back; Waiting its tasks that wait.
	Running, Waiting uint64
}

// DefineCondition defines a condition of the host's own, which tasks ask for by its name.
func (s *Scheduler) DefineCondition(name string) error {
	return s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_condition_define(s.handle, data, length)
	})
}

// UndefineCondition takes the definition back; it then does not hold.
func (s *Scheduler) UndefineCondition(name string) error {
	return s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_condition_undefine(s.handle, data, length)
	})
}

// SetCondition says whether a condition that is defined holds; runs that lose it are stopped.
func (s *Scheduler) SetCondition(name string, holds bool) error {
	var satisfied C.int32_t
	if holds {
		satisfied = 1
	}
	return s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_condition_set(s.handle, data, length, satisfied)
	})
}

// Condition is what a condition of the host is; ErrNotFound if it is not defined and no task asks for it.
func (s *Scheduler) Condition(name string) (Condition, error) {
	var state C.int32_t
	err := s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_condition_get(s.handle, data, length, &state)
	})
	return Condition(state), err
}

// ConditionNames are the names of all conditions that are defined, or that a task asks for.
func (s *Scheduler) ConditionNames() ([]string, error) {
	return listed(func(raw **C.selene_task_ids) C.selene_status { return C.selene_condition_list(s.handle, raw) })
}

// MissingConditions are the names of those that a task asks for and that do not hold.
func (s *Scheduler) MissingConditions(id string) (names []string, err error) {
	failed := s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		names, err = listed(func(raw **C.selene_task_ids) C.selene_status {
			return C.selene_condition_missing(s.handle, data, length, raw)
		})
		return C.SELENE_OK
	})
	if err == nil {
		err = failed
	}
	return names, err
}

// LimitGroup lets at most so many runs of a group go on at a time; 0: no limit.
func (s *Scheduler) LimitGroup(name string, limit uint32) error {
	return s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_group_set_limit(s.handle, data, length, C.uint32_t(limit))
	})
}

// PauseGroup begins no more runs of a group.
func (s *Scheduler) PauseGroup(name string) error {
	return s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_group_pause(s.handle, data, length)
	})
}

// UnpauseGroup lets a group go on that was paused.
func (s *Scheduler) UnpauseGroup(name string) error {
	return s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_group_resume(s.handle, data, length)
	})
}

// Group is a group; ErrNotFound if nothing of it is set, no task of it waits and none runs.
func (s *Scheduler) Group(name string) (GroupInfo, error) {
	var raw C.selene_group_info
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	err := s.named(name, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_group_get(s.handle, data, length, &raw)
	})
	return GroupInfo{uint32(raw.limit), raw.paused != 0, uint64(raw.running), uint64(raw.waiting)}, err
}

// Groups are the names of all groups.
func (s *Scheduler) Groups() ([]string, error) {
	return listed(func(raw **C.selene_task_ids) C.selene_status { return C.selene_group_list(s.handle, raw) })
}

// Retry enqueues a failed task again.
func (s *Scheduler) Retry(id string) error {
	return s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_task_retry(s.handle, data, length)
	})
}

// RetrySuccessors enqueues a failed task again, and all that failed because of it; how many.
func (s *Scheduler) RetrySuccessors(id string) (uint64, error) {
	return s.counted(id, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_retry_successors(s.handle, data, length, count)
	})
}

// RetryTag enqueues the failed tasks with a tag again, with successors also all that failed because of them; how many.
func (s *Scheduler) RetryTag(tag string, successors bool) (uint64, error) {
	return s.counted(tag, func(data *C.char, length C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_retry_all(s.handle, data, length, retryFlags(successors), count)
	})
}

// RetryAll enqueues all failed tasks again, with successors also all that failed because of them; how many.
func (s *Scheduler) RetryAll(successors bool) (uint64, error) {
	return s.counted("", func(_ *C.char, _ C.int64_t, count *C.uint64_t) C.selene_status {
		return C.selene_task_retry_all(s.handle, nil, 0, retryFlags(successors), count)
	})
}

func retryFlags(successors bool) C.uint32_t {
	if successors {
		return C.SELENE_RETRY_SUCCESSORS
	}
	return 0
}

// Output is what the last success of a task left; nil: nothing.
func (s *Scheduler) Output(id string) ([]byte, error) {
	var raw *C.selene_task_output
	err := s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_task_get_output(s.handle, data, length, &raw)
	})
	if err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	return bytes(raw.output), nil
}

// SetNext says when a live task is due next, once, in place of the instant that was or will be computed.
func (s *Scheduler) SetNext(id string, next time.Time) error {
	return s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_task_set_next(s.handle, data, length, instant(next))
	})
}

// Waits says where the time of a task went since it was last due, or registered.
func (s *Scheduler) Waits(id string) (*Waits, error) {
	var raw *C.selene_waits
	err := s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_task_waits(s.handle, data, length, &raw)
	})
	if err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	return newWaits(raw), nil
}

// Explain says why a task does not run now.
func (s *Scheduler) Explain(id string) (*Explanation, error) {
	var raw C.selene_explanation
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	err := s.named(id, func(data *C.char, length C.int64_t) C.selene_status {
		return C.selene_task_explain(s.handle, data, length, &raw)
	})
	if err != nil {
		return nil, err
	}
	return newExplanation(&raw), nil
}
