// Plays commands of Tests/conformance through the package.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"selene"
)

func decode(text string) string {
	var made strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			made.WriteByte(byte(number(text[i+1:i+3], 16)))
			i += 2
		} else {
			made.WriteByte(text[i])
		}
	}
	return made.String()
}

func encode(text string) string {
	var made strings.Builder
	for _, one := range []byte(text) {
		fmt.Fprintf(&made, "%%%02X", one)
	}
	return made.String()
}

func number(text string, base int) int64 {
	made, err := strconv.ParseInt(text, base, 64)
	if err != nil {
		panic(err)
	}
	return made
}

// words are those of a command.
type words struct {
	word   string
	fields map[string]string
}

func (w words) number(key string, standard int64) int64 {
	if text, ok := w.fields[key]; ok {
		return number(text, 10)
	}
	return standard
}

func (w words) span(key string) time.Duration { return time.Duration(w.number(key, 0)) }

// some is a duration of which 0 stands for a default.
func (w words) some(key string) time.Duration {
	if text, ok := w.fields[key]; ok && text == "0" {
		return selene.None
	}
	return w.span(key)
}

func (w words) list(key string) []string {
	text, ok := w.fields[key]
	if !ok {
		return nil
	}
	list := []string{}
	for _, one := range strings.Split(text, ",") {
		if one != "" {
			list = append(list, decode(one))
		}
	}
	return list
}

func (w words) task() selene.Task {
	task := selene.Standing(decode(w.fields["id"]))
	task.Handler = decode(w.fields["handler"])
	task.Kind = selene.Kind(w.number("kind", int64(task.Kind)))
	task.Schedule = selene.Schedule(w.number("schedule", int64(task.Schedule)))
	task.Priority = selene.Priority(w.number("priority", int64(task.Priority)))
	task.Existing = selene.Existing(w.number("existing", int64(task.Existing)))
	task.Recurrence = selene.Recurrence(w.number("recurrence", int64(task.Recurrence)))
	task.Backoff = selene.Backoff(w.number("backoff", int64(task.Backoff)))
	task.BackoffDelay = w.some("backoff_delay")
	task.ResponseWindow = int32(w.some("response_window"))
	task.MaxAttempts = uint32(w.number("max_attempts", 0))
	task.Constraints = selene.Constraints(w.number("constraints", 0))
	task.Tags, task.Conditions = w.list("tags"), w.list("conditions")
	task.ExpectedResponse = w.some("expected_response")
	task.InitialDelay, task.Period, task.Flex = w.span("initial_delay"), w.span("period"), w.span("flex")
	task.Jitter = uint32(w.number("jitter", 0))
	task.Timeout, task.LatestBegin = w.span("timeout"), w.span("latest_begin")
	task.StallLimit = w.span("stall_limit")
	flags := w.number("flags", 0)
	task.Expedited, task.RefuseOutOfQuota = flags&4 != 0, flags&8 != 0
	task.After, task.AfterAnyEnd = w.list("after"), flags&2 != 0
	for _, group := range w.list("group") {
		task.Group = group
	}
	task.Input = make([]byte, w.number("input_size", 0))
	return task
}

func (w words) window() selene.Window {
	return selene.Window{
		Budget: w.span("budget"), Reserve: w.some("reserve"), Kinds: selene.Kinds(w.number("kinds", 0)),
		StrictFit: w.number("strict", 0) != 0, Frozen: w.number("frozen", 0) != 0,
	}
}

// work is the handler of a case of ends.
type work struct {
	answer          string
	begun, released chan struct{}
}

func (w *work) run(ctx context.Context, _ *selene.Run) error {
	close(w.begun)
	if w.answer == "deaf" || w.answer == "completes" {
		<-w.released
		return nil
	}
	<-ctx.Done()
	switch w.answer {
	case "obeys":
		return ctx.Err()
	case "fails":
		return errors.New("it was asked to stop")
	}
	return nil
}

var errNoSuchEnd = &selene.Error{Status: selene.ErrUnsupported, Detail: "a cancelled Run has no grace"}

// playEnd plays an end: Drive ends with its context, and so does Run, which has no grace.
func playEnd(way string, given words) error {
	grace := given.span("grace")
	if way == "wait" && grace != 0 {
		return errNoSuchEnd
	}
	s, err := selene.Open(selene.Options{Path: decode(given.fields["path"])})
	if err != nil {
		return err
	}
	w := &work{given.fields["answer"], make(chan struct{}), make(chan struct{})}
	if err := s.Handler("work", w.run); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		if way == "wait" {
			_, err := s.Run(ctx, selene.Window{Kinds: selene.AllKinds})
			ended <- err
		} else {
			ended <- s.Drive(ctx, selene.Driver{Grace: grace, Ungoverned: true})
		}
	}()
	if w.answer != "idle" {
		<-w.begun
	}
	if way == "exit" {
		os.Exit(0)
	}
	released := make(chan struct{})
	go func() {
		if w.answer == "completes" {
			close(w.released)
		}
		close(released)
	}()
	if way == "close" {
		err = s.Close(grace)
	}
	cancel()
	if drove := <-ended; way != "close" && !errors.Is(drove, context.Canceled) {
		err = drove
	}
	<-released
	if w.answer != "completes" {
		close(w.released)
	}
	if err != nil {
		return err
	}
	return s.Close(0)
}

type player struct {
	now       time.Time
	scheduler *selene.Scheduler
	events    *selene.Events
	cycle     *selene.Cycle
	run       *selene.Run
}

func (p *player) open(given words) (said []any, err error) {
	if p.scheduler != nil {
		_ = p.scheduler.Close(0)
	}
	p.scheduler, err = selene.Open(selene.Options{
		Path: decode(given.fields["path"]), Permitted: given.list("permitted"), Clock: p.now, NoThreads: true,
		Hold: given.number("hold", 0) != 0, ObservedRange: given.number("observed_range", 0) != 0,
		MaxPendingRefresh:      int64(given.number("max_pending_refresh", 1)),
		MaxPendingProcessing:   int64(given.number("max_pending_processing", 10)),
		MinimumIntervalRefresh: given.span("minimum_interval_refresh"), Seed: uint64(given.number("seed", 0)),
		ExpeditedQuota: given.some("expedited_quota"),
	})
	if err != nil {
		return nil, err
	}
	if err = p.scheduler.SetConditions(selene.AllConstraints, selene.AllConstraints); err == nil {
		p.events, err = p.scheduler.Events(65536)
	}
	return nil, err
}

func count(of uint64, err error) ([]any, error) { return []any{of}, err }

func (p *player) perform(verb string, given words) (said []any, err error) {
	word, s := decode(given.word), p.scheduler
	switch verb {
	case "clock":
		if p.now = time.Unix(0, number(word, 10)); s != nil {
			err = s.SetClock(p.now)
		}
	case "open":
		return p.open(given)
	case "close":
		p.scheduler = nil
		return nil, s.Close(0)
	case "ends":
		err = playEnd(word, given)
	case "unknown":
		err = &selene.Error{Status: selene.ErrUnsupported, Detail: "the compiler knows the words"}
	case "exit":
		os.Exit(0)
	case "handler":
		err = s.PulledHandler(word)
	case "conditions":
		err = s.SetConditions(selene.AllConstraints, selene.Constraints(number(word, 10)))
	case "enable":
		err = s.Enable(selene.Kinds(number(word, 10)))
	case "register":
		disposition, err := s.Register(given.task())
		return []any{int32(disposition)}, err
	case "cancel":
		return count(s.Cancel(word))
	case "cancel_tag":
		return count(s.CancelTag(word))
	case "cancel_all":
		return count(s.CancelAll())
	case "pause":
		return count(s.Pause(word))
	case "pause_tag":
		return count(s.PauseTag(word))
	case "resume":
		return count(s.Unpause(word))
	case "resume_tag":
		return count(s.UnpauseTag(word))
	case "limit_group":
		err = s.LimitGroup(word, uint32(given.number("limit", 0)))
	case "define":
		err = s.DefineCondition(word)
	case "undefine":
		err = s.UndefineCondition(word)
	case "meet", "lose":
		err = s.SetCondition(word, verb == "meet")
	case "pause_group":
		err = s.PauseGroup(word)
	case "resume_group":
		err = s.UnpauseGroup(word)
	case "retry":
		err = s.Retry(word)
	case "info":
		info, err := s.Get(word)
		if err != nil {
			return nil, err
		}
		failure := info.Failure
		if failure == "" {
			failure = "-"
		}
		return []any{
			int32(info.State), info.Attempts, info.EarliestBegin.UnixNano(), info.LastRun.UnixNano(), int64(info.Estimate),
			info.Generation, info.Appended, len(info.ResponseTimes), encode(failure),
		}, nil
	case "waits":
		waits, err := s.Waits(word)
		if err != nil {
			return nil, err
		}
		for _, part := range waits.Parts {
			said = append(said, part.Reason, part.Detail, int64(part.Duration), part.Times)
		}
		said = append(said, "preferred")
		for _, id := range waits.PreferredIDs {
			said = append(said, encode(id))
		}
	case "left":
		info, err := s.Get(word)
		if err != nil {
			return nil, err
		}
		output, err := s.Output(word)
		return []any{int32(info.StopReason), "=" + encode(string(output))}, err
	case "set_next":
		err = s.SetNext(word, time.Unix(0, given.number("at", -1)))
	case "output":
		err = p.run.SetOutput([]byte(word))
	case "progress":
		err = p.run.Progress(number(word, 10), given.number("total", 0), "")
	case "wakeup":
		at, err := s.NextWakeup()
		if at.IsZero() {
			return []any{"never"}, err
		}
		return []any{at.UnixNano()}, err
	case "plan":
		plan, err := s.Plan(given.window())
		if err != nil {
			return nil, err
		}
		for _, run := range plan.Runs {
			said = append(said, encode(run.ID))
		}
	case "begin":
		p.cycle, err = s.Begin(given.window())
	case "next":
		step, run, _, err := p.cycle.Next()
		switch {
		case err != nil:
			return nil, err
		case step == selene.StepRun:
			p.run = run
			score := strconv.FormatFloat(run.Score, 'g', 17, 64)
			return []any{"run", encode(run.ID), score, int64(run.Estimate), run.Attempt}, nil
		case step == selene.StepWait:
			return []any{"wait"}, nil
		}
		return []any{"done"}, nil
	case "complete":
		err = p.run.Complete(selene.Outcome(number(word, 10)))
	case "fail":
		err = p.run.Fail(errors.New(word))
	case "stopping":
		return []any{int32(p.run.Stopping())}, nil
	case "end":
		report, err := p.cycle.End()
		if err != nil {
			return nil, err
		}
		said = []any{int32(report.Result), report.EndedAt.UnixNano(), report.Eligible}
		for _, run := range report.Runs {
			said = append(said, int32(run.Outcome))
		}
	case "events":
		for {
			event, err := p.events.Next(0)
			if event == nil || err != nil {
				return said, err
			}
			said = append(said, fmt.Sprintf("%d:%s", event.Type, encode(event.ID)))
		}
	default:
		panic("there is no command " + verb)
	}
	return said, err
}

func main() {
	p := &player{now: time.Unix(0, 0)}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		parts := strings.Split(in.Text(), " ")
		given := words{fields: map[string]string{}}
		for _, part := range parts[1:] {
			if key, value, ok := strings.Cut(part, "="); ok {
				given.fields[key] = value
			} else {
				given.word = part
			}
		}
		said, err := p.perform(parts[0], given)
		var refused *selene.Error
		if errors.As(err, &refused) {
			fmt.Println("error", refused.Status.Error(), refused.Detail)
		} else {
			fmt.Println(append([]any{"ok"}, said...)...)
		}
	}
}
