package selene

// #include <selene.h>
import "C"

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// work is a window that goroutines work through, each a lane.
type work struct {
	scheduler *Scheduler
	cycle     C.selene_cycle
	ctx       context.Context
	// isFull is true while there are as many lanes as there may be.
	isFull atomic.Bool
	// report is that of a window that a close has ended, before it was waited for.
	report *Report
	ending sync.Mutex
}

// through works through a window until it is over, or the context is.
func (s *Scheduler) through(ctx context.Context, cycle C.selene_cycle) (*Report, error) {
	w := &work{scheduler: s, cycle: cycle, ctx: ctx}
	if !s.keep(w) {
		return nil, errClosed
	}
	defer s.forget(cycle)
	go w.lane()
	ended := make(chan struct{})
	cancelled := make(chan *Report, 1)
	go func() {
		select {
		case <-ctx.Done():
			report, _ := end(cycle)
			cancelled <- report
		case <-ended:
			cancelled <- nil
		}
	}()
	var raw *C.selene_report
	err := check(func() C.selene_status { return C.selene_cycle_wait(cycle, C.SELENE_NEVER, &raw, nil) })
	close(ended)
	if report := <-cancelled; report != nil {
		return report, ctx.Err()
	}
	if err != nil {
		w.ending.Lock()
		defer w.ending.Unlock()
		if w.report != nil {
			return w.report, nil
		}
		return nil, err
	}
	return newReport(raw), nil
}

// end ends the window for a close; whoever works through it has its report.
func (w *work) end() {
	w.ending.Lock()
	defer w.ending.Unlock()
	w.report, _ = end(w.cycle)
}

func end(cycle C.selene_cycle) (*Report, error) {
	var raw *C.selene_report
	if err := check(func() C.selene_status { return C.selene_cycle_end(cycle, &raw) }); err != nil {
		return nil, err
	}
	return newReport(raw), nil
}

// drain lets a window begin nothing more, and gives its runs the grace; it may be over.
func drain(cycle C.selene_cycle, grace time.Duration) {
	_ = check(func() C.selene_status { return C.selene_cycle_drain(cycle, C.int64_t(grace)) })
}

// more lends another goroutine, unless there are enough.
func (w *work) more() {
	if !w.isFull.Load() {
		go w.lane()
	}
}

// replace takes the place of a lane whose handler works on when its run is over: then the window has room for another one.
func (w *work) replace(run *Run) {
	for pause := time.Millisecond; !run.hasReturned(); {
		time.Sleep(pause)
		if pause *= 2; pause > 100*time.Millisecond {
			pause = 100 * time.Millisecond
		}
		lane, err := w.open()
		if err == nil {
			w.serve(lane)
		}
		if !errors.Is(err, ErrBusy) {
			return
		}
	}
}

func (w *work) open() (lane C.selene_lane, err error) {
	if !w.scheduler.enter() {
		return 0, errClosed
	}
	defer w.scheduler.leave()
	err = check(func() C.selene_status { return C.selene_lane_open(w.cycle, &lane) })
	return lane, err
}

// lane lends this goroutine to the window until there is nothing more for it.
func (w *work) lane() {
	if lane, err := w.open(); err == nil {
		w.serve(lane)
	} else {
		// It is over, or has its lanes.
		w.isFull.Store(errors.Is(err, ErrBusy))
	}
}

func (w *work) serve(lane C.selene_lane) {
	lent := lentPulled.Get().(*pulledOwner)
	defer lentPulled.Put(lent)
	outcome := C.int32_t(C.SELENE_OUTCOME_NONE)
	for {
		run := w.next(lane, outcome, lent.pulled)
		if run == nil {
			C.selene_lane_close(lane)
			return
		}
		w.more()
		handler, ok := w.scheduler.handlers.Load(run.Handler)
		if !ok {
			handler = Handler(func(context.Context, *Run) error { return errors.New("its handler was removed") })
		}
		call(w.ctx, handler.(Handler), run, func(err error, returned bool) {
			outcome = run.give(err)
			run.over()
			if !returned {
				// This goroutine ends: another takes its place.
				C.selene_lane_close(lane)
				go w.lane()
			}
		})
	}
}

// next gives the outcome of the run before and takes the next one; nil: there is none for this lane.
func (w *work) next(lane C.selene_lane, outcome C.int32_t, lent *pulled) *Run {
	// Texts of a run are lent until the scheduler is closed, which waits for those that copy them.
	if !w.scheduler.enter() {
		return nil
	}
	defer w.scheduler.leave()
	for pause := 10 * time.Millisecond; ; pause = 2 * pause {
		before := stops.Load()
		err := check(func() C.selene_status {
			return C.selene_lane_next(lane, outcome, C.SELENE_NEVER, &lent.step, &lent.info, nil)
		})
		if err == nil {
			if lent.step != C.SELENE_STEP_RUN {
				return nil
			}
			return newRun(w.scheduler, &lent.info).lent(w, before)
		}
		if !isOfStore(err) {
			return nil
		}
		// No run was begun, but the outcome was taken.
		outcome = C.SELENE_OUTCOME_NONE
		if pause > time.Second {
			pause = time.Second
		}
		time.Sleep(pause)
	}
}

func isOfStore(err error) bool {
	for _, status := range []Status{ErrStoreFull, ErrStoreIo, ErrOutcomeUnknown, ErrStoreMoved} {
		if errors.Is(err, status) {
			return true
		}
	}
	return false
}
