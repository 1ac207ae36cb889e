package selene

/*
#include <selene.h>
#include <stdlib.h>
void seleneGoStop(selene_run run, int32_t reason, void *context);
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Run is one dispatch of one task. Its facts are copies; it may outlive its window and its scheduler.
type Run struct {
	ID, Handler string
	// Input is what the task carries for it.
	Input    []byte
	Kind     Kind
	Priority Priority
	// Attempt is 1 for the first.
	Attempt uint32
	// Score is that by which it was picked.
	Score float64
	// Estimate is how long it is expected to take.
	Estimate time.Duration

	// Nanoseconds: a time.Time is three times as large.
	startedAt, expiresAt, deadline C.int64_t

	token     C.selene_run
	scheduler *Scheduler
	// ending is nil until somebody waits for its end, or it is over.
	ending atomic.Pointer[ending]
}

// ending is what those share who wait for the end of a run.
type ending struct {
	// work is the window whose lane has it; nil where it was pulled.
	work *work
	lock sync.Mutex
	done chan struct{}
	// isEnded: it was asked to stop; isOver: it has its outcome; isListed: it is among the runs.
	isEnded, isOver, isListed bool
}

// unawaited is that of all that were over before anybody waited.
var unawaited = func() *ending {
	done := make(chan struct{})
	close(done)
	return &ending{done: done, isEnded: true, isOver: true}
}()

// StartedAt is when it was dispatched.
func (r *Run) StartedAt() time.Time { return moment(r.startedAt) }

// ExpiresAt is when it is asked to stop.
func (r *Run) ExpiresAt() time.Time { return moment(r.expiresAt) }

// Deadline is when it is over at the latest.
func (r *Run) Deadline() time.Time { return moment(r.deadline) }

// Runs that a stop concerns by their tokens, for the function that tells of it, and how often it was called: those of lanes,
// and of the others those whose end somebody waits for.
var (
	runs = struct {
		sync.Mutex
		byToken map[C.selene_run]*Run
	}{byToken: map[C.selene_run]*Run{}}
	stops atomic.Uint64
)

//export seleneGoStop
func seleneGoStop(token C.selene_run, reason C.int32_t, context unsafe.Pointer) {
	stops.Add(1)
	runs.Lock()
	run := runs.byToken[token]
	runs.Unlock()
	if run != nil {
		run.stop()
	}
}

// pulled is what the library fills in where a run is asked for. It is memory of C: what a call is given of Go's goes to the
// heap, and is looked through for pointers in each call.
type pulled struct {
	info C.selene_run_info
	step C.int32_t
	wake C.int64_t
}

// lentPulled are those that no call has now.
var lentPulled = sync.Pool{New: func() any {
	made := (*pulled)(C.calloc(1, C.size_t(unsafe.Sizeof(pulled{}))))
	made.info.struct_size = C.uint32_t(unsafe.Sizeof(made.info))
	owner := &pulledOwner{made}
	runtime.SetFinalizer(owner, func(owner *pulledOwner) { C.free(unsafe.Pointer(owner.pulled)) })
	return owner
}}

type pulledOwner struct{ *pulled }

// handlerName is a copy of a handler's name: most runs have that of the run before.
func (s *Scheduler) handlerName(lent C.selene_text) string {
	if last := s.lastHandler.Load(); last != nil && *last == string(peek(lent)) {
		return *last
	}
	name := text(lent)
	s.lastHandler.Store(&name)
	return name
}

// shortRun is a run with the bytes of its id, if they are few: one piece of memory instead of two.
type shortRun struct {
	Run
	id [24]byte
}

// newRun copies what a window gave.
func newRun(s *Scheduler, info *C.selene_run_info) *Run {
	var run *Run
	if id := peek(info.id); len(id) <= len(shortRun{}.id) {
		short := &shortRun{}
		kept := short.id[:copy(short.id[:], id)]
		// Nobody writes there again.
		run, short.ID = &short.Run, mended(*(*string)(unsafe.Pointer(&kept)))
	} else {
		run = &Run{ID: text(info.id)}
	}
	run.Handler, run.Input = s.handlerName(info.handler), bytes(info.input)
	run.Kind, run.Priority, run.Attempt = Kind(info.kind), Priority(info.priority), uint32(info.attempt)
	run.Score, run.Estimate = float64(info.score), time.Duration(info.estimate)
	run.startedAt, run.expiresAt, run.deadline = info.started_at, info.expires_at, info.deadline
	run.token, run.scheduler = info.run, s
	return run
}

// lent is the run of a lane, whose place is taken if it does not return. before: how many stops there were before it was
// given.
func (r *Run) lent(work *work, before uint64) *Run {
	end := &ending{work: work}
	r.ending.Store(end)
	r.list(end)
	if stops.Load() != before && r.Stopping() != StopNone {
		r.stop() // it was this one, before anybody knew it
	}
	return r
}

// list lets a stop find it; nobody else has it yet, or the lock of its ending is held.
func (r *Run) list(end *ending) {
	end.isListed = true
	runs.Lock()
	runs.byToken[r.token] = r
	runs.Unlock()
}

// awaited is its ending, which it has from now on.
func (r *Run) awaited() *ending {
	if r.ending.Load() == nil {
		r.ending.CompareAndSwap(nil, &ending{})
	}
	return r.ending.Load()
}

// stop ends its context: it is asked to stop. A lane whose handler does not return has its place taken.
func (r *Run) stop() {
	if end := r.awaited(); end.end() && end.work != nil {
		go end.work.replace(r)
	}
}

// end tells those who wait; whether it was the first to do so.
func (e *ending) end() bool {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.endLocked()
}

func (e *ending) endLocked() bool {
	if e.isEnded {
		return false
	}
	e.isEnded = true
	if e.done == nil {
		e.done = unawaited.done
	} else {
		close(e.done)
	}
	return true
}

// over forgets it, and ends its context.
func (r *Run) over() {
	if r.ending.CompareAndSwap(nil, unawaited) {
		return
	}
	end := r.ending.Load()
	end.lock.Lock()
	end.endLocked()
	end.isOver = true
	wasListed := end.isListed
	end.lock.Unlock()
	if wasListed {
		r.unlist()
	}
}

func (r *Run) unlist() {
	runs.Lock()
	delete(runs.byToken, r.token)
	runs.Unlock()
}

// forgetRuns ends the contexts of what was not completed when its scheduler was closed.
func (s *Scheduler) forgetRuns() {
	var forgotten []*Run
	runs.Lock()
	for token, run := range runs.byToken {
		if run.scheduler == s {
			delete(runs.byToken, token)
			forgotten = append(forgotten, run)
		}
	}
	runs.Unlock()
	// Who asks for the end of a run has its lock while it is listed.
	for _, run := range forgotten {
		run.awaited().end()
	}
}

func (r *Run) hasReturned() bool {
	end := r.awaited()
	end.lock.Lock()
	defer end.lock.Unlock()
	return end.isOver
}

// Token is the number by which the header knows it.
func (r *Run) Token() uint64 { return uint64(r.token) }

// Done is closed when it is asked to stop, or is over.
func (r *Run) Done() <-chan struct{} {
	end := r.awaited()
	done, isNew := end.await(r)
	// A stop from before it was listed, or the end of its scheduler, did not find it.
	if isNew && r.Stopping() != StopNone {
		r.unlist()
		end.end()
	}
	return done
}

// await is the channel, and whether the run is listed only now.
func (e *ending) await(run *Run) (done <-chan struct{}, isNew bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.done == nil {
		e.done = make(chan struct{})
	}
	if isNew = !e.isListed && !e.isEnded; isNew {
		run.list(e)
	}
	return e.done, isNew
}

// Stopping is why it should stop; StopNone: go on; StopShutdown for one that is over. Cheap enough for a loop.
func (r *Run) Stopping() Stop {
	var reason C.int32_t
	if C.selene_run_stopping(r.token, &reason) != C.SELENE_OK {
		return StopShutdown
	}
	return Stop(reason)
}

// Sleep waits until so much scheduler time has passed, or until it should stop; what Stopping says then. On the clock of a
// test that is when the test has moved it so far.
func (r *Run) Sleep(duration time.Duration) Stop {
	var reason C.int32_t
	if C.selene_run_sleep(r.token, C.int64_t(duration), &reason) != C.SELENE_OK {
		return StopShutdown
	}
	return Stop(reason)
}

// Remaining is how long until it is asked to stop; 0 if it was, or is over.
func (r *Run) Remaining() time.Duration {
	var remaining C.int64_t
	if C.selene_run_remaining(r.token, &remaining) != C.SELENE_OK {
		return 0
	}
	return time.Duration(remaining)
}

// Progress tells how far it has come: how much of how much (0: unknown), and a text. Every call lets the task's stall limit
// begin anew.
func (r *Run) Progress(done, total int64, words string) error {
	return check(func() C.selene_status {
		return C.selene_run_progress(r.token, C.int64_t(done), C.int64_t(total), data(words), C.int64_t(len(words)))
	})
}

// SetOutput says what it leaves if it succeeds, for those who look at its task (Scheduler.Output) and for the handlers of
// those that come after it. The last call before the outcome counts.
func (r *Run) SetOutput(output []byte) error {
	// Bytes of Go that a call copies: never of none, whose address is NULL.
	var first unsafe.Pointer
	if len(output) > 0 {
		first = unsafe.Pointer(&output[0])
	}
	return check(func() C.selene_status { return C.selene_run_set_output(r.token, first, C.int64_t(len(output))) })
}

// Complete gives the outcome of a run that was pulled, once, from any goroutine.
func (r *Run) Complete(outcome Outcome) error {
	runtime.LockOSThread()
	err := failure(C.selene_run_complete(r.token, C.int32_t(outcome)))
	runtime.UnlockOSThread()
	if err == nil || !errors.Is(err, ErrInvalidArgument) {
		r.over()
	}
	return err
}

// Fail says that it failed, and why, as an error of a handler does: RetryAfter and Abandon say more.
func (r *Run) Fail(why error) error {
	defer r.over()
	return r.fail(why)
}

func (r *Run) fail(why error) error {
	outcome, delay := C.int32_t(C.SELENE_OUTCOME_FAILED), C.int64_t(-1)
	var said *verdict
	if errors.As(why, &said) {
		if delay = C.int64_t(said.delay); said.isFinal {
			outcome = C.SELENE_OUTCOME_ABANDONED
		}
	}
	// The library takes no text with a NUL in it.
	words := strings.ReplaceAll(strings.ToValidUTF8(why.Error(), "\uFFFD"), "\x00", "\uFFFD")
	return check(func() C.selene_status {
		return C.selene_run_fail(r.token, outcome, delay, data(words), C.int64_t(len(words)))
	})
}

// ---- what a handler returns ----

// Handler works on a run. Its context ends when the run is asked to stop; Run(ctx).Stopping says why. It returns nil where
// there was something new, NothingNew where there was not, and otherwise why it failed: RetryAfter and Abandon say what
// follows. A panic is a failure, too.
type Handler func(ctx context.Context, run *Run) error

// NothingNew is what a handler returns whose work succeeded and found nothing new.
var NothingNew = errors.New("selene: nothing new")

type verdict struct {
	error
	delay   time.Duration
	isFinal bool
}

func (v *verdict) Unwrap() error { return v.error }

// RetryAfter is a failure whose task is tried again after this time.
func RetryAfter(delay time.Duration, why error) error { return &verdict{error: why, delay: delay} }

// Abandon is a failure whose task is not tried again.
func Abandon(why error) error { return &verdict{error: why, delay: -1, isFinal: true} }

// runContext is the context of a run: that of the window, ended by a stop.
type runContext struct {
	context.Context
	run *Run
}

func (c runContext) Done() <-chan struct{} { return c.run.Done() }

func (c runContext) Err() error {
	select {
	case <-c.run.Done():
		return context.Canceled
	default:
		return nil
	}
}

// Deadline is when the run is asked to stop at the latest, if that is known; not by a test's clock, which others do not follow.
func (c runContext) Deadline() (time.Time, bool) {
	at := c.run.ExpiresAt()
	if at.IsZero() || c.run.scheduler.isTold {
		return time.Time{}, false
	}
	return at, true
}

// call gives a run to its handler; what it made of it, and whether its goroutine ended in it.
func call(ctx context.Context, handler Handler, run *Run, finished func(error, bool)) {
	var (
		err      error
		returned bool
	)
	defer func() {
		if !returned {
			if panicked := recover(); panicked != nil {
				err, returned = fmt.Errorf("panicked: %v", panicked), true
			} else {
				err = errors.New("its goroutine ended")
			}
		}
		finished(err, returned)
	}()
	err = handler(runContext{ctx, run}, run)
	returned = true
}

// give takes an error of a handler for an outcome: one that the next call of a lane takes along, or OutcomeNone where it was
// given. What comes too late is no error here.
func (r *Run) give(err error) (outcome C.int32_t) {
	defer func() {
		// An error has code of its own, as that of a nil pointer that is no nil error.
		if panicked := recover(); panicked != nil {
			_ = r.fail(fmt.Errorf("its error panicked: %v", panicked))
			outcome = C.SELENE_OUTCOME_NONE
		}
	}()
	switch {
	case err == nil:
		return C.SELENE_OUTCOME_NEW_DATA
	case errors.Is(err, NothingNew):
		return C.SELENE_OUTCOME_NO_DATA
	}
	if refused := r.fail(err); errors.Is(refused, ErrInvalidArgument) {
		_ = r.fail(fmt.Errorf("what the handler returned was refused: %s", refused.(*Error).Detail))
	}
	return C.SELENE_OUTCOME_NONE
}
