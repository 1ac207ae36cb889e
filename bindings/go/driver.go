package selene

// #include <selene.h>
import "C"

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"
)

// Driver says how Drive opens windows; what is zero has its default.
type Driver struct {
	// RefreshBudget and ProcessingBudget are those of its windows (zero: nobody has decided a deadline), RefreshLanes and
	// ProcessingLanes (1) how many runs they have at a time.
	RefreshBudget, ProcessingBudget time.Duration
	RefreshLanes, ProcessingLanes   uint32
	// Kinds are those of its windows; both.
	Kinds Kinds
	// Reserve is kept free at the end of each; a twentieth of the budget, None: none.
	Reserve time.Duration
	// Every is the least time from window to window of a kind.
	Every time.Duration
	// StrictFit picks nothing whose estimate does not fit, Together opens one window at a time for all kinds that are due,
	// Frozen lets each window pick from what was eligible at its begin, Ungoverned asks no governor.
	StrictFit, Together, Frozen, Ungoverned bool
	// Grace is how long runs in flight may go on when the context ends; in its last tenth they are asked to stop, at its end
	// they are over.
	Grace time.Duration
	// Report is told of each window; it may be called by two goroutines at once.
	Report func(*Report)
	// Opened is called once, when it is open: a test that advances its clock waits for that.
	Opened func()
}

// Drive opens windows whenever something can run, and works through them on goroutines, until the context ends: then nothing
// more begins, runs in flight have the grace, and it returns the context's error. A scheduler has one driver at a time.
func (s *Scheduler) Drive(ctx context.Context, driver Driver) error {
	if ctx == nil {
		return errNilContext
	}
	var raw C.selene_driver
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	raw.refresh_budget = C.int64_t(driver.RefreshBudget)
	raw.processing_budget = C.int64_t(driver.ProcessingBudget)
	raw.refresh_lanes, raw.processing_lanes = C.uint32_t(driver.RefreshLanes), C.uint32_t(driver.ProcessingLanes)
	raw.kinds = C.uint32_t(driver.Kinds)
	raw.reserve, raw.every = C.int64_t(driver.Reserve), C.int64_t(driver.Every)
	raw.flags = C.SELENE_DRIVER_LANES
	for flag, isSet := range map[C.uint32_t]bool{
		C.SELENE_DRIVER_STRICT_FIT: driver.StrictFit,
		C.SELENE_DRIVER_TOGETHER:   driver.Together,
		C.SELENE_DRIVER_FROZEN:     driver.Frozen,
		C.SELENE_DRIVER_UNGOVERNED: driver.Ungoverned,
	} {
		if isSet {
			raw.flags |= flag
		}
	}
	if err := s.canWait(); err != nil {
		return err
	}
	if err := check(func() C.selene_status { return C.selene_driver_open(s.handle, &raw, nil) }); err != nil {
		return err
	}
	if driver.Opened != nil {
		driver.Opened()
	}
	stopped := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
		case <-ended:
		}
		_ = check(func() C.selene_status { return C.selene_driver_stop(s.handle, 0) })
	}()
	// Handlers have the values of the context; it ends their windows only behind the grace.
	working := values{context.Background(), ctx}
	var windows sync.WaitGroup
	open := openCycles{cycles: map[C.selene_cycle]bool{}}
	err := s.steps(func(cycle C.selene_cycle) {
		windows.Add(1)
		open.add(cycle)
		go func() {
			defer windows.Done()
			defer open.remove(cycle)
			if report, _ := s.through(working, cycle); report != nil && driver.Report != nil {
				driver.Report(report)
			}
		}()
	})
	close(ended)
	<-stopped
	open.drain(driver.Grace)
	windows.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// openCycles are the windows of a driver that are open.
type openCycles struct {
	lock   sync.Mutex
	cycles map[C.selene_cycle]bool
}

func (o *openCycles) add(cycle C.selene_cycle) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.cycles[cycle] = true
}

func (o *openCycles) remove(cycle C.selene_cycle) {
	o.lock.Lock()
	defer o.lock.Unlock()
	delete(o.cycles, cycle)
}

// drain gives their runs the grace, in whose last tenth they are asked to stop.
func (o *openCycles) drain(grace time.Duration) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for cycle := range o.cycles {
		drain(cycle, grace)
	}
}

// values is one context with the values of another.
type values struct {
	context.Context
	of context.Context
}

func (v values) Value(key any) any { return v.of.Value(key) }

// steps does what is due, again and again, until the driver is stopped.
func (s *Scheduler) steps(begun func(C.selene_cycle)) error {
	pause := 10 * time.Millisecond
	for {
		var cycle C.selene_cycle
		err := check(func() C.selene_status { return C.selene_driver_step(s.handle, &cycle, nil) })
		if err != nil && !isOfStore(err) && !errors.Is(err, ErrOwnerAway) {
			return over(err)
		}
		if err != nil {
			// Work waits until the store takes it, whose trouble is told as an event, or until it is served again.
			if pause *= 2; pause > time.Second {
				pause = time.Second
			}
			time.Sleep(pause)
			continue
		}
		pause = 10 * time.Millisecond
		if cycle != 0 {
			begun(cycle)
			continue
		}
		var ready C.int32_t
		err = check(func() C.selene_status { return C.selene_driver_wait(s.handle, C.SELENE_NEVER, &ready) })
		if err != nil && !errors.Is(err, ErrOwnerAway) {
			return over(err)
		}
	}
}

// over is nil where a driver was stopped or its scheduler closed.
func over(err error) error {
	if errors.Is(err, ErrUnsupported) || errors.Is(err, ErrInvalidHandle) {
		return nil
	}
	return err
}
