//go:build !race

// Whether memory is flat: what looks for races keeps some for every goroutine.
package selene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// resident is in pages.
func resident(t *testing.T) (pages int64) {
	text, err := os.ReadFile("/proc/self/statm")
	must(t, err)
	var size int64
	_, err = fmt.Sscan(string(text), &size, &pages)
	must(t, err)
	return pages
}

func TestMemoryIsFlatOver100000RunsAndAsManyFailuresWhileTheCollectorWorks(t *testing.T) {
	s := opened(t, Options{})
	must(t, s.Handler("works", func(ctx context.Context, run *Run) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return run.SetOutput(run.Input)
	}))
	must(t, s.Handler("fails", func(_ context.Context, run *Run) error {
		if run.Attempt%2 == 0 {
			panic(strings.Repeat("no ", 50) + run.ID)
		}
		return errors.New(strings.Repeat("no ", 50) + run.ID)
	}))
	for i := 0; i < 100; i++ {
		for _, handler := range []string{"works", "fails"} {
			task := Standing(fmt.Sprint(handler, i))
			task.Handler, task.Input = handler, make([]byte, 1000)
			register(t, s, task)
		}
	}
	over, collected := make(chan bool), make(chan bool)
	go func() {
		defer close(collected)
		for {
			select {
			case <-over:
				return
			default:
				runtime.GC()
			}
		}
	}()
	var before int64
	var newData, failed uint64
	for window := 0; newData < 100_000 || failed < 100_000; window++ {
		if window == 200 {
			debug.FreeOSMemory()
			before = resident(t)
		}
		// One whose goroutine has not come back yet after its failure waits for the next window.
		report := run(t, s, Window{Budget: long, Lanes: 2})
		newData += report.NewData
		failed += report.Failed
		equal(t, report.NewData+report.Failed, report.Eligible)
	}
	close(over)
	<-collected
	debug.FreeOSMemory()
	// A byte a run would be 40 pages, a run that is kept more than 50 000.
	if grown := resident(t) - before; grown > 1000 {
		t.Fatalf("%d pages", grown)
	}
}

func TestMemoryIsFlatOver100000PulledRuns(t *testing.T) {
	s := opened(t, Options{Clock: time.Unix(0, 0), NoThreads: true})
	must(t, s.PulledHandler("a"))
	task := Standing("a")
	task.Input = make([]byte, 1000)
	register(t, s, task)
	var before int64
	for i := 0; i < 100_000; i++ {
		if i == 20_000 {
			debug.FreeOSMemory()
			before = resident(t)
		}
		cycle, err := s.Begin(Window{})
		must(t, err)
		_, run, _, err := cycle.Next()
		must(t, err)
		if i%10 == 0 {
			must(t, run.Fail(errors.New("one of ten")))
		} else {
			must(t, run.Complete(OutcomeNewData))
		}
		_, err = cycle.End()
		must(t, err)
	}
	debug.FreeOSMemory()
	// A byte a run would be 20 pages, a run that is lost more than a thousand; the collector keeps some, though it is asked for what it has.
	if grown := resident(t) - before; grown > 1000 {
		t.Fatalf("%d pages", grown)
	}
	runs.Lock()
	defer runs.Unlock()
	for _, run := range runs.byToken {
		if run.scheduler == s {
			t.Fatal("a run that was completed is kept")
		}
	}
}
