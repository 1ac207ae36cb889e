package selene

// #include <selene.h>
import "C"

import (
	"time"
	"unsafe"
)

// Connection says how Connect reaches the process that has a store open.
type Connection struct {
	// Path is the store, or the socket on which it is served.
	Path string
	// Wait is how long a call waits for an owner while none serves the store (not at all), Timeout how long for an answer (30 s).
	Wait, Timeout time.Duration
	// Pool names those whose handlers are the same: its tasks are run by any of them; empty: the name of the executable.
	Pool string
}

// Connect connects to the process that has a store open and serves it (Serve, or selened). The scheduler is used as any other:
// what it registers is kept there, and Run and Drive work on the tasks of its handlers. ErrOwnerAway: nobody serves it now.
func Connect(connection Connection) (*Scheduler, error) {
	var raw C.selene_connect_options
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	var lent arena
	defer lent.free()
	raw.path, raw.pool = lent.text(connection.Path), lent.text(connection.Pool)
	raw.wait, raw.timeout = C.int64_t(connection.Wait), C.int64_t(connection.Timeout)
	var handle C.selene_scheduler
	if err := check(func() C.selene_status { return C.selene_scheduler_connect(&raw, &handle) }); err != nil {
		return nil, err
	}
	s := newScheduler(handle, false, false)
	s.isConnection = true
	return s, nil
}

// Serve lets other processes of this user connect, until it is closed: at a path, or, where that is empty, at the store's path
// and "-sock".
func (s *Scheduler) Serve(path string) error {
	var raw C.selene_server_options
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	var lent arena
	defer lent.free()
	raw.path = lent.text(path)
	var server C.selene_server
	return check(func() C.selene_status { return C.selene_server_start(s.handle, &raw, &server) })
}

// drainCycles lets the windows of a connection dispatch nothing more, and waits until they are over; false: some are not.
func (s *Scheduler) drainCycles(grace time.Duration) bool {
	end := time.Now().Add(grace)
	for _, cycle := range s.kept() {
		drain(cycle, grace)
	}
	for len(s.kept()) > 0 {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

func (s *Scheduler) kept() []C.selene_cycle {
	s.lock.Lock()
	defer s.lock.Unlock()
	cycles := make([]C.selene_cycle, 0, len(s.cycles))
	for cycle := range s.cycles {
		cycles = append(cycles, cycle)
	}
	return cycles
}
