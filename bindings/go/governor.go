package selene

// #include <selene.h>
import "C"

import (
	"time"
	"unsafe"
)

// Decision is whether a kind of work deserves a window now, and why.
type Decision struct {
	Granted bool
	At      time.Time
	// LongestWindow is what budgets leave room for; negative: any.
	LongestWindow time.Duration
	// AskAgainAt is when asking again is worth it, unless a signal changes before; the zero time: only then.
	AskAgainAt time.Time
	// Findings are those of every factor that the profile asks for.
	Findings []Finding
}

// Finding is what became of a factor, in its unit.
type Finding struct {
	Factor   Factor
	Verdict  Verdict
	Observed int64
	Required int64
	// ClearsAt is when it can be better; the zero time: when a signal changes.
	ClearsAt time.Time
}

// SetProfile says what the governor asks for from now on, before Drive opens a window. It is not stored.
func (s *Scheduler) SetProfile(profile Profile) error {
	var raw C.selene_profile
	raw.struct_size = C.uint32_t(unsafe.Sizeof(raw))
	raw.base = C.int32_t(profile)
	return check(func() C.selene_status { return C.selene_governor_set_profile(s.handle, &raw) })
}

// SetSignal says what the host knows, in place of what the system says: until it is cleared, or for a time (0: it stays).
func (s *Scheduler) SetSignal(signal Signal, value int64, validFor time.Duration) error {
	return check(func() C.selene_status {
		return C.selene_signal_set(s.handle, C.int32_t(signal), C.int64_t(value), C.int64_t(validFor))
	})
}

// ClearSignal takes that back.
func (s *Scheduler) ClearSignal(signal Signal) error {
	return check(func() C.selene_status { return C.selene_signal_clear(s.handle, C.int32_t(signal)) })
}

// Ask asks the governor whether a kind deserves a window now.
func (s *Scheduler) Ask(kind Kind) (*Decision, error) {
	var raw *C.selene_decision
	err := check(func() C.selene_status { return C.selene_governor_ask(s.handle, C.int32_t(kind), 0, &raw) })
	if err != nil {
		return nil, err
	}
	defer C.selene_free(unsafe.Pointer(raw))
	decision := &Decision{
		Granted: raw.granted != 0, At: moment(raw.at), LongestWindow: time.Duration(raw.longest_window),
		AskAgainAt: moment(raw.ask_again_at),
	}
	if raw.longest_window == C.SELENE_NEVER {
		decision.LongestWindow = -1
	}
	for _, one := range unsafe.Slice(raw.findings, raw.finding_count) {
		decision.Findings = append(decision.Findings, Finding{
			Factor(one.factor), Verdict(one.verdict), int64(one.observed), int64(one.required), moment(one.clears_at),
		})
	}
	return decision, nil
}
