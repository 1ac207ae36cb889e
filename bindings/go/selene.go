// Package selene decides which background work deserves a moment, and does it on goroutines.
//
// A program registers tasks and handlers once; whenever it has a moment it opens a Window, or it lets Drive open them.
// Handlers get a context that ends when their run is asked to stop. The package stands on libselene and nothing else;
// selene.h is the manual of what each call does.
package selene

/*
#cgo pkg-config: selene
#include <selene.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"
)

// Error is a call that was refused, or failed; nothing has changed. errors.Is finds its Status.
type Error struct {
	Status Status
	// Detail is the whole sentence.
	Detail string
	// Field is the parameter or field; empty where the call as a whole is refused. Found is what was found there, Allowed
	// what is allowed; both may be empty.
	Field, Found, Allowed string
}

// Error is the status and the sentence.
func (e *Error) Error() string { return e.Status.Error() + ": " + e.Detail }

// Is says whether a target is its status.
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

var errClosed = &Error{Status: ErrInvalidHandle, Detail: "the scheduler is closed"}

// check calls the library and reads what a refusal says. The words belong to the thread of the system that called, so the
// goroutine stays on it.
func check(call func() C.selene_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return failure(call())
}

// failure is what the last failed call of this thread left.
func failure(status C.selene_status) error {
	if status == C.SELENE_OK {
		return nil
	}
	fault := C.selene_error_last()
	return &Error{
		Status:  Status(status),
		Detail:  C.GoString(fault.message.data),
		Field:   text(fault.field),
		Found:   text(fault.found),
		Allowed: text(fault.allowed),
	}
}

// text copies one that the library lends; what a damaged store may have made of it is mended.
func text(lent C.selene_text) string {
	return mended(C.GoStringN(lent.data, C.int(lent.length)))
}

// mended has U+FFFD where the text of a damaged store is not UTF-8.
func mended(text string) string {
	// That is quick where it is.
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// peek is what the library lends, not a copy.
func peek(lent C.selene_text) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(lent.data)), lent.length)
}

// bytes copies what the library lends.
func bytes(lent C.selene_text) []byte {
	if lent.length == 0 {
		return nil
	}
	return C.GoBytes(unsafe.Pointer(lent.data), C.int(lent.length))
}

// data is where a string is, for a call that copies it.
func data(s string) *C.char { return (*C.char)(*(*unsafe.Pointer)(unsafe.Pointer(&s))) }

// arena is memory of C for structs that point to texts, which a call may not have of Go's.
type arena []unsafe.Pointer

func (a *arena) text(s string) C.selene_text {
	if s == "" {
		return C.selene_text{}
	}
	made := C.CString(s)
	*a = append(*a, unsafe.Pointer(made))
	return C.selene_text{data: made, length: C.int64_t(len(s))}
}

func (a *arena) texts(list []string) *C.selene_text {
	if list == nil {
		return nil
	}
	// One more, so that none at all is not NULL.
	made := (*C.selene_text)(C.calloc(C.size_t(len(list)+1), C.size_t(unsafe.Sizeof(C.selene_text{}))))
	*a = append(*a, unsafe.Pointer(made))
	for i, one := range list {
		unsafe.Slice(made, len(list))[i] = a.text(one)
	}
	return made
}

func (a *arena) free() {
	for _, one := range *a {
		C.free(one)
	}
}

// instant is a time of the header; before and after what it can say are its ends.
func instant(at time.Time) C.int64_t {
	switch seconds := at.Unix(); {
	case seconds > math.MaxInt64/int64(time.Second)-1:
		return C.SELENE_NEVER
	case seconds < math.MinInt64/int64(time.Second)+1:
		return math.MinInt64
	}
	return C.int64_t(at.UnixNano())
}

// moment is a time of Go; the zero time is never.
func moment(ns C.int64_t) time.Time {
	if ns == C.SELENE_NEVER {
		return time.Time{}
	}
	return time.Unix(0, int64(ns))
}

// None says of a field whose zero is a default that there is none of it: a duration of 0, a number of 0. Its comment says where.
const None = -1

// Options say how a scheduler is opened. What is zero has its default.
type Options struct {
	// Path is the file of the store; empty: the tasks live in memory.
	Path string
	// Owner is the name of the application, as "org.example.mail"; its store opens under no other.
	Owner string
	// Permitted are the ids that may be registered; one that ends in ".*" permits all that begin so. nil permits all.
	Permitted []string
	// MaxPendingRefresh and MaxPendingProcessing limit the once and periodic tasks that wait or run at a time; 0: no limit,
	// None: none may.
	MaxPendingRefresh, MaxPendingProcessing int64
	// Hold keeps what is over a limit back instead of refusing it.
	Hold bool
	// MinimumBackoff (10 s; None: none) and MaximumBackoff (5 h) are what backoff delays are brought into.
	MinimumBackoff, MaximumBackoff time.Duration
	// BackoffJitter shortens each backoff by at most so many per mille.
	BackoffJitter uint32
	// MinimumIntervalRefresh and MinimumIntervalProcessing are the least time from begin to begin of windows.
	MinimumIntervalRefresh, MinimumIntervalProcessing time.Duration
	// StopGrace is how long a run that has reached its timeout may still complete (5 s; None: not at all).
	StopGrace time.Duration
	// ExpeditedQuota is how long expedited tasks may run in 24 h (10 min; None: not at all).
	ExpeditedQuota time.Duration
	// ThreadStackSize is that of the library's threads in bytes (8 MiB), on which windows that are not lent run.
	ThreadStackSize uint64
	// BackgroundThreads lets the library's threads give way to others.
	BackgroundThreads bool
	// WaitLogEntries is how far back Waits knows what happened to all tasks alike (4 096 windows and dispatches).
	WaitLogEntries uint64
	// MaxInputSize is how many bytes of input a task may carry (10 240; None: none).
	MaxInputSize int64
	// MaxOutputSize is how many bytes of output a run may leave (1 MiB; None: none).
	MaxOutputSize int64
	// CrashPause is how long a task waits at least after a second run of it ended its process, each further time twice as
	// long (30 s; None: not at all).
	CrashPause time.Duration
	// Seed is that of the jitter; 0: taken from the clock.
	Seed uint64
	// ObservedRange scores with the observed range, Freshness ranks by the freshness rule.
	ObservedRange, Freshness bool
	// Relaxed lets a loss of power undo the last calls.
	Relaxed bool
	// NoThreads lets the library start no thread. This package needs none: handlers run on goroutines.
	NoThreads bool
	// Clock is that of a test: time stands here until SetClock or Advance. With NoThreads runs are pulled (Begin).
	Clock time.Time
}

// Open opens a scheduler; Close closes it.
func Open(options Options) (*Scheduler, error) {
	var raw C.selene_options
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	var lent arena
	defer lent.free()
	raw.path, raw.owner = lent.text(options.Path), lent.text(options.Owner)
	raw.permitted, raw.permitted_count = lent.texts(options.Permitted), C.uint64_t(len(options.Permitted))
	raw.max_pending_refresh = C.int64_t(options.MaxPendingRefresh)
	raw.max_pending_processing = C.int64_t(options.MaxPendingProcessing)
	raw.minimum_backoff = C.int64_t(options.MinimumBackoff)
	raw.maximum_backoff = C.int64_t(options.MaximumBackoff)
	raw.backoff_jitter = C.uint32_t(options.BackoffJitter)
	raw.minimum_interval_refresh = C.int64_t(options.MinimumIntervalRefresh)
	raw.minimum_interval_processing = C.int64_t(options.MinimumIntervalProcessing)
	raw.stop_grace = C.int64_t(options.StopGrace)
	raw.crash_pause = C.int64_t(options.CrashPause)
	raw.expedited_quota = C.int64_t(options.ExpeditedQuota)
	raw.thread_stack_size = C.uint64_t(options.ThreadStackSize)
	if options.BackgroundThreads {
		raw.thread_quality = C.SELENE_THREADS_BACKGROUND
	}
	raw.wait_log_entries = C.uint64_t(options.WaitLogEntries)
	raw.max_input_size, raw.max_output_size = C.int64_t(options.MaxInputSize), C.int64_t(options.MaxOutputSize)
	raw.seed = C.uint64_t(options.Seed)
	for flag, isSet := range map[C.uint32_t]bool{
		C.SELENE_OPTIONS_HOLD:           options.Hold,
		C.SELENE_OPTIONS_OBSERVED_RANGE: options.ObservedRange,
		C.SELENE_OPTIONS_FRESHNESS:      options.Freshness,
		C.SELENE_OPTIONS_RELAXED:        options.Relaxed,
		C.SELENE_OPTIONS_NO_THREADS:     options.NoThreads,
		C.SELENE_OPTIONS_SET_CLOCK:      !options.Clock.IsZero(),
	} {
		if isSet {
			raw.flags |= flag
		}
	}
	if !options.Clock.IsZero() {
		raw.clock_start = instant(options.Clock)
	}
	var handle C.selene_scheduler
	if err := check(func() C.selene_status { return C.selene_scheduler_open(&raw, &handle) }); err != nil {
		return nil, err
	}
	return newScheduler(handle, !options.Clock.IsZero(), !options.Clock.IsZero() && options.NoThreads), nil
}

// String tells options apart where they are printed.
func (o Options) String() string {
	return fmt.Sprintf("selene.Options{Path: %q, Owner: %q}", o.Path, o.Owner)
}
