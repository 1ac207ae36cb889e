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
	// StartedAt is when it was dispatched, ExpiresAt when it is asked to stop, Deadline when it is over at the latest.
	StartedAt, ExpiresAt, Deadline time.Time

	token     C.selene_run
	scheduler *Scheduler
	// work is the window whose lane has it; nil where it was pulled.
	work *work
	lock sync.Mutex
	done chan struct{}
	// isEnded: it was asked to stop; isOver: it has its outcome; isListed: it is among the runs.
	isEnded, isOver, isListed bool
}

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
	C.selene_run_info_init(&made.info, C.uint32_t(unsafe.Sizeof(made.info)))
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

// newRun copies what a window gave. One that was pulled is listed when somebody asks for its end.
func newRun(s *Scheduler, info *C.selene_run_info, work *work) *Run {
	return &Run{
		ID: text(info.id), Handler: s.handlerName(info.handler), Input: bytes(info.input), Kind: Kind(info.kind),
		Priority: Priority(info.priority), Attempt: uint32(info.attempt), Score: float64(info.score),
		Estimate: time.Duration(info.estimate), StartedAt: moment(info.started_at), ExpiresAt: moment(info.expires_at),
		Deadline: moment(info.deadline), token: info.run, scheduler: s, work: work,
	}
}

// listed is the run of a lane, whose place is taken if it does not return. before: how many stops there were before it was
// given.
func (r *Run) listed(before uint64) *Run {
	r.list()
	if stops.Load() != before && r.Stopping() != StopNone {
		r.stop() // it was this one, before anybody knew it
	}
	return r
}

// list lets a stop find it; nobody else has it yet, or its lock is held.
func (r *Run) list() {
	r.isListed = true
	runs.Lock()
	runs.byToken[r.token] = r
	runs.Unlock()
}

// stop ends its context: it is asked to stop. A lane whose handler does not return has its place taken.
func (r *Run) stop() {
	if r.end() && r.work != nil {
		go r.work.replace(r)
	}
}

// end tells those who wait; whether it was the first to do so.
func (r *Run) end() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.endLocked()
}

func (r *Run) endLocked() bool {
	if r.isEnded {
		return false
	}
	r.isEnded = true
	if r.done == nil {
		r.done = ended
	} else {
		close(r.done)
	}
	return true
}

// ended is the channel of runs that nobody waited for.
var ended = func() chan struct{} {
	made := make(chan struct{})
	close(made)
	return made
}()

// over forgets it, and ends its context.
func (r *Run) over() {
	r.lock.Lock()
	r.endLocked()
	r.isOver = true
	wasListed := r.isListed
	r.lock.Unlock()
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
		run.end()
	}
}

func (r *Run) hasReturned() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.isOver
}

// Token is the number by which the header knows it.
func (r *Run) Token() uint64 { return uint64(r.token) }

// Done is closed when it is asked to stop, or is over.
func (r *Run) Done() <-chan struct{} {
	done, isNew := r.await()
	// A stop from before it was listed, or the end of its scheduler, did not find it.
	if isNew && r.Stopping() != StopNone {
		r.unlist()
		r.end()
	}
	return done
}

// await is the channel, and whether the run is listed only now.
func (r *Run) await() (done <-chan struct{}, isNew bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
	}
	if isNew = !r.isListed && !r.isEnded; isNew {
		r.list()
	}
	return r.done, isNew
}

// Stopping is why it should stop; StopNone: go on; StopShutdown for one that is over. Cheap enough for a loop.
func (r *Run) Stopping() Stop {
	var reason C.int32_t
	if C.selene_run_stopping(r.token, &reason) != C.SELENE_OK {
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

func (c runContext) Deadline() (time.Time, bool) { return time.Time{}, false }

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
