package selene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// long is until something that must happen counts as failed.
const long = 10 * time.Minute

// opened is a scheduler that needs nothing of the system.
func opened(t *testing.T, options Options) *Scheduler {
	t.Helper()
	s, err := Open(options)
	must(t, err)
	t.Cleanup(func() { _ = s.Close(0) })
	must(t, s.SetConditions(AllConstraints, AllConstraints))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, found, wanted T) {
	t.Helper()
	if found != wanted {
		t.Fatalf("found %v, wanted %v", found, wanted)
	}
}

func refused(t *testing.T, err error, status Status) {
	t.Helper()
	if !errors.Is(err, status) {
		t.Fatalf("found %v, wanted %v", err, status)
	}
}

func register(t *testing.T, s *Scheduler, tasks ...Task) {
	t.Helper()
	for _, task := range tasks {
		_, err := s.Register(task)
		must(t, err)
	}
}

func info(t *testing.T, s *Scheduler, id string) *TaskInfo {
	t.Helper()
	found, err := s.Get(id)
	must(t, err)
	return found
}

func run(t *testing.T, s *Scheduler, window Window) *Report {
	t.Helper()
	report, err := s.Run(context.Background(), window)
	must(t, err)
	return report
}

// mute is an error that cannot say what it is.
type mute struct{}

func (*mute) Error() string { panic("no words") }

func TestErrorsAndPanicsOfAHandlerAreFailuresWithTheirText(t *testing.T) {
	s := opened(t, Options{})
	for name, handler := range map[string]Handler{
		"error": func(context.Context, *Run) error { return errors.New("no such wood") },
		"panic": func(_ context.Context, run *Run) error { panic("no such " + run.ID) },
		"nil":   func(context.Context, *Run) error { var none *Run; _ = none.ID; return nil },
		"goexit": func(context.Context, *Run) error {
			runtime.Goexit()
			return nil
		},
		"nul":   func(context.Context, *Run) error { return errors.New("a\x00b\xff") },
		"late":  func(context.Context, *Run) error { return RetryAfter(2*time.Hour, errors.New("later")) },
		"never": func(context.Context, *Run) error { return fmt.Errorf("so: %w", Abandon(errors.New("of no use"))) },
		"wrong": func(context.Context, *Run) error { return RetryAfter(-time.Hour, errors.New("before")) },
		"mute":  func(context.Context, *Run) error { return (*mute)(nil) },
	} {
		must(t, s.Handler(name, handler))
		register(t, s, Once(name))
	}
	report := run(t, s, Window{Budget: long, Lanes: 2})
	equal(t, len(report.Runs), 9)
	equal(t, report.Failed, 8)
	equal(t, report.Abandoned, 1)
	for id, failure := range map[string]string{
		"error": "no such wood", "panic": "panicked: no such panic", "goexit": "its goroutine ended", "nul": "a\uFFFDb\uFFFD",
		"late": "later", "never": "so: of no use", "mute": "its error panicked: no words",
	} {
		equal(t, info(t, s, id).Failure, failure)
	}
	if text := info(t, s, "nil").Failure; !strings.Contains(text, "nil pointer") {
		t.Fatal(text)
	}
	if text := info(t, s, "wrong").Failure; !strings.HasPrefix(text, "what the handler returned was refused: delay") {
		t.Fatal(text)
	}
	late := info(t, s, "late")
	equal(t, late.State, StateEnqueued)
	if late.EarliestBegin.Sub(late.FailedAt) < 2*time.Hour {
		t.Fatal(late.EarliestBegin)
	}
	failed, err := s.IDsIn(StateFailed)
	must(t, err)
	equal(t, fmt.Sprint(failed), "[never]")
}

func TestWhatAHandlerReturnsIsTheOutcomeAndWhatItLeavesIsKept(t *testing.T) {
	s := opened(t, Options{})
	must(t, s.Handler("news", func(_ context.Context, run *Run) error { return run.SetOutput([]byte("out\x00put")) }))
	must(t, s.Handler("none", func(context.Context, *Run) error { return NothingNew }))
	register(t, s, Standing("news"), Standing("none"))
	report := run(t, s, Window{Budget: long})
	equal(t, report.NewData, 1)
	equal(t, report.NoData, 1)
	equal(t, report.Result, OutcomeNewData)
	equal(t, info(t, s, "none").LastOutcome, OutcomeNoData)
	output, err := s.Output("news")
	must(t, err)
	equal(t, string(output), "out\x00put")
	output, err = s.Output("none")
	must(t, err)
	equal(t, len(output), 0)
	now, err := s.Now()
	must(t, err)
	must(t, s.SetNext("none", now.Add(long)))
	equal(t, info(t, s, "none").EarliestBegin.UnixNano(), now.Add(long).UnixNano())
}

func TestWhatIsRefusedIsAnErrorOnWhateverThread(t *testing.T) {
	s := opened(t, Options{})
	task := Standing("a")
	task.ResponseWindow = 31
	_, err := s.Register(task)
	var fault *Error
	if !errors.As(err, &fault) || !errors.Is(err, ErrInvalidArgument) {
		t.Fatal(err)
	}
	equal(t, fault.Field+" "+fault.Found+" "+fault.Allowed, "response_window 31 0 … 30")
	equal(t, err.Error(), "INVALID_ARGUMENT: "+fault.Detail)
	_, err = s.Cancel("nobody")
	refused(t, err, ErrNotFound)
	_, err = s.Register(Task{ID: "zero"})
	must(t, err)
	equal(t, info(t, s, "zero").Schedule, ScheduleOnce)
	task.ResponseWindow, task.BackoffDelay = None, -2
	_, err = s.Register(task)
	refused(t, err, ErrInvalidArgument)
	task.BackoffDelay = None
	_, err = s.Register(task)
	must(t, err)
	must(t, s.Handler("a", func(context.Context, *Run) error { return nil }))
	refused(t, s.Handler("a", func(context.Context, *Run) error { return nil }), ErrAlreadyExists)
	refused(t, s.Handler("b", nil), ErrInvalidArgument)
	var none context.Context
	if _, err := s.Run(none, Window{}); err == nil || !strings.Contains(err.Error(), "nil context") {
		t.Fatal(err)
	}
	if err := s.Drive(none, Driver{}); err == nil || !strings.Contains(err.Error(), "nil context") {
		t.Fatal(err)
	}
	must(t, s.RemoveHandler("a"))
	// The words belong to a thread of the system, goroutines do not.
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for round := 0; round < 500; round++ {
				task := Standing("a")
				task.ResponseWindow = int32(100 + i)
				var fault *Error
				if _, err := s.Register(task); !errors.As(err, &fault) || fault.Found != fmt.Sprint(100+i) {
					t.Errorf("found %v", err)
				}
				runtime.Gosched()
			}
		}(i)
	}
	group.Wait()
}

func TestTheContextEndsWhenARunIsAskedToStop(t *testing.T) {
	s := opened(t, Options{})
	type key struct{}
	begun := make(chan string)
	reasons := make(chan Stop, 1)
	must(t, s.Handler("long", func(ctx context.Context, run *Run) error {
		begun <- ctx.Value(key{}).(string)
		<-ctx.Done()
		reasons <- run.Stopping()
		return ctx.Err()
	}))
	register(t, s, Once("long"))
	done := make(chan *Report)
	go func() {
		report, _ := s.Run(context.WithValue(context.Background(), key{}, "value"), Window{Budget: long})
		done <- report
	}()
	equal(t, <-begun, "value")
	_, err := s.Cancel("long")
	must(t, err)
	if reason := <-reasons; reason != StopCancelled && reason != StopShutdown {
		t.Fatal(reason)
	}
	equal(t, (<-done).Stopped, 1)
	equal(t, info(t, s, "long").State, StateCancelled)
}

func TestAWindowEndsWithItsContext(t *testing.T) {
	s := opened(t, Options{})
	begun := make(chan bool, 1)
	must(t, s.Handler("a", func(ctx context.Context, _ *Run) error {
		begun <- true
		<-ctx.Done()
		return NothingNew
	}))
	register(t, s, Once("a"))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-begun
		cancel()
	}()
	report, err := s.Run(ctx, Window{Budget: long})
	if !errors.Is(err, context.Canceled) || report == nil || len(report.Runs) != 1 {
		t.Fatal(report, err)
	}
	equal(t, info(t, s, "a").State, StateEnqueued)
}

func TestAWindowEndsByItsDeadlineAndACloseAtOnceWhateverAHandlerDoes(t *testing.T) {
	s := opened(t, Options{StopGrace: -1})
	hang := make(chan bool)
	called, returned := make(chan bool, 2), make(chan bool, 2)
	hangs := func(context.Context, *Run) error {
		called <- true
		<-hang
		returned <- true
		return nil
	}
	var quick atomic.Int32
	must(t, s.Handler("times out", hangs))
	must(t, s.Handler("hangs", hangs))
	must(t, s.Handler("quick", func(context.Context, *Run) error { quick.Add(1); return nil }))
	first := Once("times out")
	first.Priority, first.Timeout, first.MaxAttempts = PriorityVeryHigh, 20*time.Millisecond, 1
	register(t, s, first)
	for i := 0; i < 5; i++ {
		task := Once(fmt.Sprint(i))
		task.Handler = "quick"
		register(t, s, task)
	}
	report := run(t, s, Window{Budget: long})
	equal(t, report.Expired, 1)
	equal(t, report.NewData, 5)
	equal(t, quick.Load(), 5)
	equal(t, info(t, s, "times out").Failure, "timed out")
	// Where nothing ends the run before, the window's deadline does. A slow machine begins nothing in a short one.
	register(t, s, Once("hangs"))
	budget := 100 * time.Millisecond
	for report = run(t, s, Window{Budget: budget}); len(report.Runs) == 0; report = run(t, s, Window{Budget: budget}) {
		budget *= 2
	}
	equal(t, report.Expired, 1)
	equal(t, report.Runs[0].Outcome, OutcomeExpired)
	if late := report.EndedAt.Sub(report.Deadline); late < 0 || late > time.Minute {
		t.Fatal(late)
	}
	equal(t, info(t, s, "hangs").State, StateEnqueued)
	<-called
	<-called
	must(t, s.Close(0))
	equal(t, len(returned), 0)
	// What they give then comes too late, and disturbs nobody.
	close(hang)
	<-returned
	<-returned
}

func TestANightlyJobsWeekPassesOnAClockOfATest(t *testing.T) {
	midnight := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := opened(t, Options{Clock: midnight})
	var nights []time.Time
	must(t, s.Handler("backup", func(_ context.Context, run *Run) error {
		nights = append(nights, run.StartedAt().UTC())
		equal(t, run.Sleep(4*time.Second), StopNone)
		return nil
	}))
	task := Periodic("backup", 24*time.Hour)
	task.InitialDelay = 3 * time.Hour
	register(t, s, task)
	ctx, cancel := context.WithCancel(context.Background())
	opened, driven := make(chan struct{}), make(chan error)
	go func() { driven <- s.Drive(ctx, Driver{Opened: func() { close(opened) }}) }()
	<-opened
	next, err := s.Advance(midnight)
	must(t, err)
	equal(t, next.UTC(), midnight.Add(3*time.Hour))
	_, err = s.Advance(midnight.Add(7 * 24 * time.Hour))
	must(t, err)
	// A period counts from the end of the run before.
	var expected []time.Time
	for day := time.Duration(0); day < 7; day++ {
		expected = append(expected, midnight.Add(3*time.Hour+day*(24*time.Hour+4*time.Second)))
	}
	equal(t, fmt.Sprint(nights), fmt.Sprint(expected))
	cancel()
	equal(t, errors.Is(<-driven, context.Canceled), true)
}

func TestTheContextOfARunHasTheDeadlineOfTheRun(t *testing.T) {
	for _, clock := range []time.Time{{}, time.Unix(3600, 0)} {
		s := opened(t, Options{Clock: clock})
		must(t, s.Handler("a", func(ctx context.Context, run *Run) error {
			at, isKnown := ctx.Deadline()
			equal(t, isKnown, clock.IsZero())
			if isKnown {
				equal(t, at.Equal(run.ExpiresAt()), true)
			}
			return nil
		}))
		register(t, s, Once("a"))
		report, err := s.Run(context.Background(), Window{Budget: long})
		must(t, err)
		equal(t, report.Runs[0].Outcome, OutcomeNewData)
	}
}

func TestAWindowOfAClockOfATestEndsWhenTheTestSaysSo(t *testing.T) {
	start := time.Unix(3600, 0)
	s := opened(t, Options{Clock: start})
	begun := make(chan struct{})
	must(t, s.Handler("deaf", func(_ context.Context, run *Run) error {
		close(begun)
		for run.Sleep(time.Hour) == StopNone {
		}
		return errors.New("stopped")
	}))
	register(t, s, Once("deaf"))
	reports := make(chan *Report)
	go func() {
		report, err := s.Run(context.Background(), Window{Budget: time.Minute})
		must(t, err)
		reports <- report
	}()
	<-begun
	_, err := s.Advance(start.Add(time.Minute))
	must(t, err)
	report := <-reports
	equal(t, len(report.Runs), 1)
	equal(t, report.Runs[0].StopReason, StopExpiring)
}

func TestProgressIsToldAndAStalledRunIsAskedToStop(t *testing.T) {
	start := time.Unix(3600, 0)
	s := opened(t, Options{Clock: start, NoThreads: true})
	must(t, s.PulledHandler("a"))
	task := Once("a")
	task.StallLimit, task.Jitter = time.Minute, 250
	register(t, s, task)
	cycle, err := s.Begin(Window{Budget: long})
	must(t, err)
	step, run, _, err := cycle.Next()
	must(t, err)
	equal(t, step, StepRun)
	if info(t, s, "a").Progress != nil {
		t.Fatal("progress before it was told")
	}
	must(t, run.Progress(3, 10, "three"))
	told := info(t, s, "a").Progress
	equal(t, fmt.Sprintf("%d %d %s %d", told.Done, told.Total, told.Text, told.At.Unix()), "3 10 three 3600")
	refused(t, run.Progress(0, 0, "a\x00b"), ErrInvalidArgument)
	equal(t, run.Stopping(), StopNone)
	must(t, s.SetClock(start.Add(time.Minute)))
	equal(t, run.Stopping(), StopStalled)
	_, _, _, err = cycle.Next()
	must(t, err)
	<-run.Done()
	must(t, run.Complete(OutcomeNewData))
	refused(t, run.Complete(OutcomeNewData), ErrAlreadyCompleted)
	_, err = cycle.End()
	must(t, err)
	_, err = s.Run(context.Background(), Window{})
	refused(t, err, ErrUnsupported)
	refused(t, s.Drive(context.Background(), Driver{}), ErrUnsupported)
}

func TestTheEndOfAPulledRunIsToldWheneverItIsAskedFor(t *testing.T) {
	start := time.Unix(3600, 0)
	isDone := func(run *Run) bool {
		select {
		case <-run.Done():
			return true
		default:
			return false
		}
	}
	// For each the end is asked for before or only after what ends the run.
	for name, end := range map[string]func(s *Scheduler, cycle *Cycle, run *Run){
		"a stop": func(s *Scheduler, cycle *Cycle, run *Run) {
			must(t, s.SetClock(start.Add(time.Minute)))
			_, _, _, err := cycle.Next()
			must(t, err)
			equal(t, run.Stopping(), StopStalled)
		},
		"an outcome": func(s *Scheduler, cycle *Cycle, run *Run) { must(t, run.Complete(OutcomeNewData)) },
		"a failure":  func(s *Scheduler, cycle *Cycle, run *Run) { must(t, run.Fail(errors.New("why"))) },
		"a close":    func(s *Scheduler, cycle *Cycle, run *Run) { must(t, s.Close(0)) },
	} {
		for _, isEarly := range []bool{true, false} {
			s := opened(t, Options{Clock: start, NoThreads: true})
			must(t, s.PulledHandler("a"))
			task := Once("a")
			task.StallLimit = time.Minute
			register(t, s, task)
			cycle, err := s.Begin(Window{Budget: long})
			must(t, err)
			_, run, _, err := cycle.Next()
			must(t, err)
			if isEarly && isDone(run) {
				t.Fatal("done before ", name)
			}
			end(s, cycle, run)
			if !isDone(run) {
				t.Fatal("not done after ", name, ", asked early: ", isEarly)
			}
			must(t, s.Close(0))
			runs.Lock()
			equal(t, runs.byToken[run.token] == nil, true)
			runs.Unlock()
		}
	}
}

func TestUseAfterCloseIsAnErrorWhateverTheOrder(t *testing.T) {
	s := opened(t, Options{Clock: time.Unix(0, 0), NoThreads: true})
	must(t, s.PulledHandler("a"))
	task := Standing("a")
	task.Input = []byte("in\x00put")
	register(t, s, task)
	events, err := s.Events(64)
	must(t, err)
	cycle, err := s.Begin(Window{})
	must(t, err)
	_, run, _, err := cycle.Next()
	must(t, err)
	must(t, s.Close(0))
	must(t, s.Close(0))
	_, err = s.Now()
	refused(t, err, ErrInvalidHandle)
	_, _, _, err = cycle.Next()
	refused(t, err, ErrInvalidHandle)
	_, err = cycle.End()
	refused(t, err, ErrInvalidHandle)
	_, err = events.Next(0)
	refused(t, err, ErrInvalidHandle)
	must(t, events.All(func(*Event) bool { return true }))
	if run.Complete(OutcomeNewData) == nil {
		t.Fatal("a run of a closed scheduler was completed")
	}
	equal(t, run.Stopping(), StopShutdown)
	equal(t, run.Remaining(), 0)
	equal(t, run.ID+string(run.Input), "ain\x00put")
	_, err = s.Begin(Window{})
	refused(t, err, ErrInvalidHandle)
	_, err = s.Run(context.Background(), Window{})
	if err == nil {
		t.Fatal("a window of a closed scheduler")
	}
}

func TestATestsClockSaysWhatIsDueAndWhy(t *testing.T) {
	start := time.Unix(3_600_000, 0)
	s := opened(t, Options{Clock: start, NoThreads: true})
	must(t, s.PulledHandler("a"))
	task := Once("a")
	task.InitialDelay = time.Hour
	register(t, s, task)
	at, err := s.NextWakeup()
	must(t, err)
	equal(t, at.Unix(), start.Add(time.Hour).Unix())
	why, err := s.Explain("a")
	must(t, err)
	equal(t, why.Missing[0].Reason, ReasonNotDue)
	equal(t, why.Missing[0].Reason.String(), "not_due")
	equal(t, why.Missing[0].MayChangeAt.Unix(), at.Unix())
	must(t, s.SetClock(start.Add(30*time.Minute)))
	waits, err := s.Waits("a")
	must(t, err)
	equal(t, waits.Since.Unix(), start.Unix())
	equal(t, waits.Parts[0].Reason, ReasonNotDue)
	equal(t, waits.Parts[0].Duration, 30*time.Minute)
	equal(t, waits.Parts[0].Name, "")
	soon := Once("soon")
	soon.Handler, soon.Kind, soon.Group = "a", Processing, "g"
	soon.Expedited, soon.LatestBegin = true, 20*time.Hour
	register(t, s, soon)
	must(t, s.PauseGroup("g"))
	must(t, s.SetClock(start.Add(31*time.Minute)))
	why, err = s.Explain("soon")
	must(t, err)
	equal(t, why.LatestBegin.Unix(), start.Add(30*time.Minute+20*time.Hour).Unix())
	equal(t, why.Expedited && !why.Urgent, true)
	waits, err = s.Waits("soon")
	must(t, err)
	equal(t, waits.Parts[0].Reason.String(), "group_paused")
	equal(t, waits.Parts[0].Name, "g")
	must(t, s.UnpauseGroup("g"))
	_, err = s.Cancel("soon")
	must(t, err)
	must(t, s.SetClock(at))
	plan, err := s.Plan(Window{})
	must(t, err)
	equal(t, plan.Runs[0].ID, "a")
}

func TestDriveRunsWhatIsRegisteredUntilItsContextEnds(t *testing.T) {
	s := opened(t, Options{})
	ran := make(chan string, 8)
	begun := make(chan bool, 1)
	must(t, s.Handler("a", func(_ context.Context, run *Run) error { ran <- run.ID; return nil }))
	must(t, s.Handler("last", func(ctx context.Context, run *Run) error {
		begun <- true
		<-ctx.Done()
		ran <- "stopped"
		return ctx.Err()
	}))
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error)
	var reports atomic.Int32
	go func() {
		over <- s.Drive(ctx, Driver{Ungoverned: true, RefreshLanes: 2, Report: func(*Report) { reports.Add(1) }})
	}()
	register(t, s, Once("a"))
	equal(t, <-ran, "a")
	// The window is open for a moment, or for this one: it begins in either case.
	register(t, s, Once("last"))
	<-begun
	task := Once("beside")
	task.Handler = "a"
	register(t, s, task)
	equal(t, <-ran, "beside")
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	equal(t, <-ran, "stopped")
	if reports.Load() == 0 {
		t.Fatal("no window was reported")
	}
	equal(t, info(t, s, "a").State, StateSucceeded)
	equal(t, info(t, s, "last").State, StateEnqueued)
	// Another may drive it now.
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Drive(ctx, Driver{Ungoverned: true, Kinds: KindsProcessing}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestACloseLetsRunsEndAndADriverWithIt(t *testing.T) {
	s := opened(t, Options{})
	begun := make(chan bool)
	must(t, s.Handler("a", func(context.Context, *Run) error {
		begun <- true
		time.Sleep(20 * time.Millisecond)
		return nil
	}))
	over := make(chan error)
	var newData atomic.Uint64
	driver := Driver{Ungoverned: true, Report: func(report *Report) { newData.Add(report.NewData) }}
	go func() { over <- s.Drive(context.Background(), driver) }()
	events, err := s.Events(64)
	must(t, err)
	told := make(chan error)
	go func() { told <- events.All(func(*Event) bool { return true }) }()
	register(t, s, Once("a"))
	<-begun
	must(t, s.Close(long))
	must(t, <-over)
	equal(t, newData.Load(), 1)
	must(t, <-told)
}

func TestEventsAreReadAndLostOnesCounted(t *testing.T) {
	s := opened(t, Options{NoThreads: true})
	events, err := s.Events(2)
	must(t, err)
	register(t, s, Standing("a"), Standing("b"), Standing("c"))
	first, err := events.Next(long)
	must(t, err)
	equal(t, fmt.Sprintf("%d %s %v %d", first.Number, first.ID, first.Type, first.Lost), "1 a registered 0")
	second, err := events.Next(0)
	must(t, err)
	equal(t, second.ID, "b")
	none, err := events.Next(time.Millisecond)
	must(t, err)
	if none != nil {
		t.Fatal(none)
	}
	register(t, s, Standing("d"))
	next, err := events.Next(-1)
	must(t, err)
	equal(t, next.ID, "d")
	must(t, events.Close())
	_, err = events.Next(-1)
	refused(t, err, ErrUnsupported)
}

func TestATaskWaitsForConditionsOfTheHost(t *testing.T) {
	s := opened(t, Options{})
	task := Once("a")
	task.Handler, task.Conditions = "upload", []string{"vpn", "signed-in"}
	must(t, s.DefineCondition("vpn"))
	_, err := s.Register(task)
	must(t, err)
	must(t, s.SetCondition("vpn", true))
	names, err := s.MissingConditions("a")
	must(t, err)
	equal(t, strings.Join(names, " "), "signed-in")
	state, err := s.Condition("vpn")
	must(t, err)
	equal(t, state, ConditionSatisfied)
	must(t, s.UndefineCondition("vpn"))
	names, err = s.ConditionNames()
	must(t, err)
	equal(t, strings.Join(names, " "), "signed-in vpn")
	equal(t, strings.Join(info(t, s, "a").Conditions, " "), "signed-in vpn")
	if err := s.SetCondition("vpn", true); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}

func TestAGroupHasALimitAndIsPaused(t *testing.T) {
	s := opened(t, Options{})
	var now, most atomic.Int32
	must(t, s.Handler("upload", func(context.Context, *Run) error {
		if count := now.Add(1); count > most.Load() {
			most.Store(count)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return nil
	}))
	must(t, s.LimitGroup("uploads", 1))
	for i := 0; i < 6; i++ {
		task := Once(fmt.Sprint(i))
		task.Handler, task.Group = "upload", "uploads"
		register(t, s, task)
	}
	must(t, s.PauseGroup("uploads"))
	equal(t, len(run(t, s, Window{Budget: long, Lanes: 3}).Runs), 0)
	must(t, s.UnpauseGroup("uploads"))
	equal(t, run(t, s, Window{Budget: long, Lanes: 3}).NewData, 6)
	equal(t, most.Load(), 1)
	equal(t, info(t, s, "0").Group, "uploads")
	group, err := s.Group("uploads")
	must(t, err)
	equal(t, group, GroupInfo{Limit: 1})
	names, err := s.Groups()
	must(t, err)
	equal(t, fmt.Sprint(names), "[uploads]")
	_, err = s.Group("others")
	refused(t, err, ErrNotFound)
}

// pulledID is that of the one run that a window gives; empty: it gives none.
func pulledID(t *testing.T, s *Scheduler) string {
	t.Helper()
	cycle, err := s.Begin(Window{Budget: time.Minute, Kinds: AllKinds})
	must(t, err)
	step, run, _, err := cycle.Next()
	must(t, err)
	id := ""
	if step == StepRun {
		id = run.ID
		must(t, run.Complete(OutcomeNewData))
	}
	_, err = cycle.End()
	must(t, err)
	return id
}

func pauses(t *testing.T, s *Scheduler, wanted ...Pause) {
	t.Helper()
	found, err := s.Pauses()
	must(t, err)
	equal(t, fmt.Sprint(found), fmt.Sprint(wanted))
}

func TestKindsArePausedUntilAnInstantOrUntilTheyAreResumed(t *testing.T) {
	start := time.Unix(3600, 0)
	until, later := start.Add(time.Hour), start.Add(2*time.Hour)
	s := opened(t, Options{Clock: start, NoThreads: true})
	must(t, s.PulledHandler("work"))
	short, far := Once("short"), Once("long")
	short.Handler, far.Handler, far.Kind = "work", "work", Processing
	register(t, s, short, far)
	pauses(t, s)
	must(t, s.PauseKinds(KindsRefresh, until))
	why, err := s.Explain("short")
	must(t, err)
	equal(t, why.Missing[0].Reason, ReasonKindPaused)
	equal(t, why.Missing[0].MayChangeAt, until)
	pauses(t, s, Pause{Kinds: KindsRefresh, Until: until})
	equal(t, pulledID(t, s), "long")
	equal(t, pulledID(t, s), "")
	at, err := s.NextWakeup()
	must(t, err)
	equal(t, at, until)
	must(t, s.SetClock(until))
	pauses(t, s)
	equal(t, pulledID(t, s), "short")

	must(t, s.PauseKinds(AllKinds, time.Time{}))
	must(t, s.PausePool("mailer", 0, later))
	pauses(t, s, Pause{Kinds: AllKinds}, Pause{AllKinds, "mailer", later})
	must(t, s.UnpauseKinds(KindsRefresh))
	must(t, s.UnpausePool("mailer", KindsProcessing))
	pauses(t, s, Pause{Kinds: KindsProcessing}, Pause{KindsRefresh, "mailer", later})
	must(t, s.UnpauseKinds(AllKinds))
	must(t, s.UnpausePool("mailer", 0))
	pauses(t, s)
}

func TestAPauseOfNoKindOfNoPoolOrUntilWhatIsPastIsRefused(t *testing.T) {
	now := time.Unix(3600, 0)
	s := opened(t, Options{Clock: now, NoThreads: true})
	wrong := func(err error, field string) {
		t.Helper()
		refused(t, err, ErrInvalidArgument)
		var said *Error
		equal(t, errors.As(err, &said), true)
		equal(t, said.Field, field)
	}
	must(t, s.PauseKinds(KindsRefresh, time.Time{}))
	for _, until := range []time.Time{time.Unix(0, 0), time.Unix(-1, 0), now, now.AddDate(11, 0, 0), now.AddDate(9000, 0, 0)} {
		wrong(s.PauseKinds(KindsRefresh, until), "until")
	}
	wrong(s.PauseKinds(0, time.Time{}), "kinds")
	wrong(s.PauseKinds(8, time.Time{}), "kinds")
	wrong(s.UnpauseKinds(0), "kinds")
	wrong(s.PausePool("", AllKinds, time.Time{}), "pool")
	wrong(s.UnpausePool("", AllKinds), "pool")
	wrong(s.PausePool("a\x00b", AllKinds, time.Time{}), "pool")
	pauses(t, s, Pause{Kinds: KindsRefresh})
	must(t, s.Close(0))
	_, err := s.Pauses()
	refused(t, err, ErrInvalidHandle)
}

func TestATaskComesAfterOthersAndReadsWhatTheyLeft(t *testing.T) {
	s := opened(t, Options{})
	must(t, s.Handler("a", func(_ context.Context, run *Run) error { return run.SetOutput([]byte("left")) }))
	must(t, s.Handler("b", func(context.Context, *Run) error {
		left, err := s.Output("a")
		if err == nil && string(left) != "left" {
			err = fmt.Errorf("found %q", left)
		}
		return err
	}))
	must(t, s.Handler("fails", func(context.Context, *Run) error { return Abandon(errors.New("no")) }))
	must(t, s.Handler("all the same", func(context.Context, *Run) error { return nil }))
	second, third, fourth := Once("b"), Once("c"), Once("all the same")
	second.After, third.After, fourth.After, fourth.AfterAnyEnd = []string{"a"}, []string{"fails"}, []string{"fails"}, true
	register(t, s, Once("a"), Once("fails"), second, third, fourth)
	equal(t, info(t, s, "b").State, StateBlocked)
	equal(t, fmt.Sprint(info(t, s, "b").After), "[a]")
	run(t, s, Window{Budget: long})
	for id, state := range map[string]State{
		"a": StateSucceeded, "b": StateSucceeded, "c": StateFailed, "all the same": StateSucceeded,
	} {
		equal(t, info(t, s, id).State, state)
	}
	missing := Once("d")
	missing.After = []string{"nobody"}
	_, err := s.Register(missing)
	refused(t, err, ErrNotFound)
}

func TestAStoreCanBeClosedAndOpenedAgain(t *testing.T) {
	options := Options{Path: filepath.Join(t.TempDir(), "store"), Owner: "org.example.tests"}
	first := opened(t, options)
	task := Once("a")
	task.Input, task.Tags = []byte("in\x00put"), []string{"ä"}
	register(t, first, task)
	_, err := Open(options)
	refused(t, err, ErrStoreLocked)
	must(t, first.Close(0))
	for i := 0; i < 3; i++ {
		s := opened(t, options)
		ids, err := s.IDs("ä")
		must(t, err)
		equal(t, fmt.Sprint(ids), "[a]")
		equal(t, string(info(t, s, "a").Input), "in\x00put")
		must(t, s.Close(0))
	}
	options.Owner = "org.example.others"
	_, err = Open(options)
	refused(t, err, ErrStoreForeign)
	if text := err.Error(); !strings.Contains(text, "org.example.tests") {
		t.Fatal(text)
	}
}

var inFlight = []string{"computes", "fails", "sleeps", "stores"}

// leave ends this process with runs in flight, whatever they do.
func leave(t *testing.T, store string) {
	s, err := Open(Options{Path: store})
	must(t, err)
	must(t, s.SetConditions(AllConstraints, AllConstraints))
	begun := make(chan string)
	handlers := map[string]Handler{
		"computes": func(context.Context, *Run) error {
			for {
				_ = make([]byte, 1000)
			}
		},
		"fails": func(context.Context, *Run) error {
			for {
				_, err := s.Cancel("nobody")
				refused(t, err, ErrNotFound)
			}
		},
		"sleeps": func(context.Context, *Run) error { time.Sleep(long); return nil },
		"stores": func(_ context.Context, run *Run) error {
			for i := int64(0); ; i++ {
				must(t, run.Progress(i, 0, ""))
				task := Once(fmt.Sprint("made ", i%10))
				task.InitialDelay = 24 * time.Hour
				register(t, s, task)
			}
		},
	}
	for _, id := range inFlight {
		handler := handlers[id]
		must(t, s.Handler(id, func(ctx context.Context, run *Run) error {
			begun <- run.ID
			return handler(ctx, run)
		}))
		register(t, s, Once(id))
	}
	go func() {
		_ = s.Drive(context.Background(), Driver{Ungoverned: true, RefreshBudget: long, RefreshLanes: 4})
	}()
	for range inFlight {
		<-begun
	}
	// Its commit has what began, too.
	register(t, s, Standing("last"))
	os.Exit(7)
}

func TestAProcessEndsWithItsExitCodeWithRunsInFlightAndTheStoreTellsThem(t *testing.T) {
	if store := os.Getenv("SELENE_TEST_STORE"); store != "" {
		leave(t, store)
	}
	store := filepath.Join(t.TempDir(), "store")
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "SELENE_TEST_STORE="+store)
	said, err := child.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 7 {
		t.Fatalf("%v: %s", err, said)
	}
	s := opened(t, Options{Path: store})
	for _, id := range inFlight {
		equal(t, info(t, s, id).State, StateEnqueued)
		equal(t, info(t, s, id).StopReason, StopInterrupted)
	}
}

func TestGoroutinesShareASchedulerWhileOneClosesIt(t *testing.T) {
	for round := 0; round < 20; round++ {
		s := opened(t, Options{})
		var ran atomic.Int32
		must(t, s.Handler("h", func(_ context.Context, run *Run) error {
			if run.Handler != "h" || len(run.Input) != 99 {
				t.Errorf("%q %d", run.Handler, len(run.Input))
			}
			ran.Add(1)
			return nil
		}))
		for i := 0; i < 50; i++ {
			task := Standing(fmt.Sprint(i))
			task.Handler, task.Input = "h", make([]byte, 99)
			register(t, s, task)
		}
		var group sync.WaitGroup
		for i := 0; i < 3; i++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					if _, err := s.Run(context.Background(), Window{Lanes: 3}); errors.Is(err, ErrInvalidHandle) {
						return
					}
				}
			}()
		}
		for ran.Load() < 100 {
			runtime.Gosched()
		}
		must(t, s.Close(0))
		group.Wait()
	}
}

// factors are those that refuse.
func factors(decision *Decision) (names []string) {
	for _, one := range decision.Findings {
		if one.Verdict == VerdictVetoed {
			names = append(names, one.Factor.String())
		}
	}
	return names
}

func TestADriverHoldsBackWhatTheProfileRefusesAndSaysWhy(t *testing.T) {
	s := opened(t, Options{})
	ran := make(chan string, 1)
	must(t, s.Handler("a", func(_ context.Context, run *Run) error { ran <- run.ID; return nil }))
	must(t, s.SetProfile(ProfileApple))
	must(t, s.SetSignal(SignalBackgroundSwitch, 0, 0))
	decision, err := s.Ask(Refresh)
	must(t, err)
	equal(t, decision.Granted, false)
	if names := strings.Join(factors(decision), " "); !strings.Contains(names, "background_switch") {
		t.Fatal(names)
	}
	register(t, s, Once("a"))
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- s.Drive(ctx, Driver{}) }()
	select {
	case <-ran:
		t.Fatal("it ran")
	case <-time.After(50 * time.Millisecond):
	}
	refused(t, s.SetSignal(SignalBackgroundSwitch, 7, 0), ErrInvalidArgument)
	must(t, s.ClearSignal(SignalBackgroundSwitch))
	must(t, s.SetProfile(ProfileOpen))
	equal(t, <-ran, "a")
	decision, err = s.Ask(Refresh)
	must(t, err)
	equal(t, decision.Granted && decision.LongestWindow < 0, true)
	cancel()
	<-over
	refused(t, s.SetProfile(7), ErrInvalidArgument)
}

func TestAnotherProcessEnqueuesLooksAndWorksForTheOwnerOfAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	_, err := Connect(Connection{Path: path})
	refused(t, err, ErrOwnerAway)
	owner := opened(t, Options{Path: path})
	must(t, owner.Serve(""))
	client, err := Connect(Connection{Path: path, Pool: "tests"})
	must(t, err)
	begun := make(chan string)
	reasons := make(chan Stop, 1)
	must(t, client.Handler("work", func(_ context.Context, run *Run) error {
		return run.SetOutput([]byte("by " + run.ID))
	}))
	must(t, client.Handler("waits", func(ctx context.Context, run *Run) error {
		begun <- run.ID
		<-ctx.Done()
		reasons <- run.Stopping()
		return ctx.Err()
	}))
	refused(t, owner.Handler("work", func(context.Context, *Run) error { return nil }), ErrAlreadyExists)
	task := Once("a")
	task.Handler = "work"
	register(t, client, task)
	equal(t, info(t, owner, "a").State, StateEnqueued)
	report := run(t, client, Window{Budget: long, Lanes: 2})
	equal(t, report.NewData, 1)
	output, err := owner.Output("a")
	must(t, err)
	equal(t, string(output), "by a")
	// A stop of the owner's ends the context here.
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- client.Drive(ctx, Driver{Ungoverned: true}) }()
	register(t, owner, Once("waits"))
	equal(t, <-begun, "waits")
	_, err = owner.Cancel("waits")
	must(t, err)
	if reason := <-reasons; reason != StopCancelled && reason != StopShutdown {
		t.Fatal(reason)
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	equal(t, info(t, client, "waits").State, StateCancelled)
	must(t, owner.Close(0))
	_, err = client.Get("a")
	refused(t, err, ErrOwnerAway)
	must(t, client.Close(long))
	must(t, client.Close(0))
	_, err = client.Now()
	refused(t, err, ErrInvalidHandle)
}

func TestAPeriodicTaskIsDueAgainAfterItsPeriodAndARunKnowsItsTimes(t *testing.T) {
	start := time.Unix(3_600_000, 0)
	s := opened(t, Options{Clock: start, NoThreads: true})
	must(t, s.PulledHandler("a"))
	task := Periodic("a", time.Hour)
	register(t, s, task)
	pull := func() {
		cycle, err := s.Begin(Window{})
		must(t, err)
		step, run, _, err := cycle.Next()
		must(t, err)
		equal(t, step, StepRun)
		now, err := s.Now()
		must(t, err)
		equal(t, run.StartedAt().Equal(now), true)
		equal(t, run.Deadline().Sub(now), 30*time.Second)
		equal(t, run.ExpiresAt().Sub(now), 28500*time.Millisecond)
		equal(t, run.Token() != 0, true)
		must(t, run.Complete(OutcomeNewData))
		must(t, cycle.Close())
		must(t, cycle.Close())
		equal(t, info(t, s, "a").EarliestBegin.Sub(now), time.Hour)
	}
	pull()
	must(t, s.SetClock(start.Add(time.Hour)))
	drained, err := s.Drain(0)
	must(t, err)
	equal(t, drained, true)
	must(t, s.Resume())
	pull()
}

func TestIdsOfAllLengthsComeWhole(t *testing.T) {
	s := opened(t, Options{Clock: time.Unix(0, 0), NoThreads: true})
	must(t, s.PulledHandler("a"))
	for length := 1; length <= 255; length += 1 + length/4 {
		id := strings.Repeat("ä", length/2) + strings.Repeat("b", length%2)
		task := Once(id)
		task.Handler = "a"
		register(t, s, task)
		cycle, err := s.Begin(Window{})
		must(t, err)
		_, run, _, err := cycle.Next()
		must(t, err)
		runtime.GC()
		equal(t, run.ID, id)
		must(t, run.Complete(OutcomeNewData))
		report, err := cycle.End()
		must(t, err)
		equal(t, report.Runs[0].ID, id)
	}
}
