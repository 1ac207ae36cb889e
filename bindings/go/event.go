package selene

// #include <selene.h>
import "C"

import (
	"errors"
	"sync"
	"time"
	"unsafe"
)

// Event is one change.
type Event struct {
	// Number counts 1, 2, 3 … in the order of the changes; those of events that were lost are missing.
	Number uint64
	Type   EventType
	// State is that of the task after it; −1 where there is no task.
	State State
	Time  time.Time
	// ID is that of the task; empty where there is none.
	ID string
	// Detail is a number whose meaning depends on the type; the header says which.
	Detail   int32
	Attempts uint32
	// Message is why a run failed, or what the trouble is.
	Message string
	// Lost events found no room before this one.
	Lost uint64
}

// Events are those of a scheduler from a moment on.
type Events struct {
	scheduler *Scheduler
	lock      sync.Mutex
}

// Events opens the queue of a scheduler's events, of which it has one; those that find no room are lost, and counted. What
// happened at open is told first.
func (s *Scheduler) Events(capacity int) (*Events, error) {
	err := check(func() C.selene_status { return C.selene_events_open(s.handle, C.uint64_t(capacity), nil) })
	if err != nil {
		return nil, err
	}
	return &Events{scheduler: s}, nil
}

// Next is the next event, if there is one by the end of the timeout (negative: no end); else nil. ErrInvalidHandle: the
// scheduler is closed. ErrUnsupported: the events are.
func (e *Events) Next(timeout time.Duration) (*Event, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	// Its texts are lent until the scheduler is closed, which waits for those that copy them.
	if !e.scheduler.enter() {
		return nil, errClosed
	}
	defer e.scheduler.leave()
	var raw C.selene_event
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	var (
		found C.int32_t
		lost  C.uint64_t
		made  *Event
	)
	span := C.int64_t(timeout)
	if timeout < 0 {
		span = C.SELENE_NEVER
	}
	err := check(func() C.selene_status {
		status := C.selene_events_next(e.scheduler.handle, span, &raw, &found, &lost)
		if status == C.SELENE_OK && found != 0 {
			made = &Event{
				uint64(raw.number), EventType(raw._type), State(raw.state), moment(raw.time), text(raw.id),
				int32(raw.detail), uint32(raw.attempts), text(raw.message), uint64(lost),
			}
		}
		return status
	})
	return made, err
}

// All gives each event to a function, until it answers false, or the events or the scheduler are closed.
func (e *Events) All(told func(*Event) bool) error {
	for {
		event, err := e.Next(-1)
		switch {
		case errors.Is(err, ErrInvalidHandle) || errors.Is(err, ErrUnsupported):
			return nil
		case err != nil:
			return err
		case event != nil && !told(event):
			return nil
		}
	}
}

// Close closes the queue with what waits in it.
func (e *Events) Close() error {
	return check(func() C.selene_status { return C.selene_events_close(e.scheduler.handle) })
}
