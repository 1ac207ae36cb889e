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

// flat works twice on so many runs that succeed and as many that fail, and says that the second half of them kept nothing. What
// the collector and the allocators keep comes and goes: what is lost with each run is lost in each of four more stretches.
func flat(t *testing.T, count int, some func() int) {
	t.Helper()
	stretch := func() int64 {
		for done := 0; done < count; done += some() {
		}
		debug.FreeOSMemory()
		return resident(t)
	}
	// That is 20 bytes a run; one that is kept has ten times as much.
	most := int64(count) / 100
	grown := most
	for before, i := stretch(), 0; i < 5 && grown >= most; i++ {
		now := stretch()
		grown, before = now-before, now
	}
	if grown >= most {
		t.Fatalf("%d pages in %d runs", grown, 2*count)
	}
}

func min(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
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
	flat(t, 50_000, func() (some int) {
		// One whose goroutine has not come back yet after its failure waits for the next window.
		report := run(t, s, Window{Budget: long, Lanes: 2, Frozen: true})
		equal(t, report.NewData+report.Failed, report.Eligible)
		return int(min(report.NewData, report.Failed))
	})
	close(over)
	<-collected
}

func TestMemoryIsFlatOver100000PulledRunsAndAsManyFailures(t *testing.T) {
	s := opened(t, Options{Clock: time.Unix(0, 0), NoThreads: true})
	must(t, s.PulledHandler("a"))
	task := Standing("a")
	task.Input = make([]byte, 1000)
	register(t, s, task)
	i := 0
	flat(t, 50_000, func() int {
		cycle, err := s.Begin(Window{})
		must(t, err)
		_, run, _, err := cycle.Next()
		must(t, err)
		i++
		if i%2 == 0 {
			must(t, run.Fail(errors.New("one of two")))
		} else {
			must(t, run.Complete(OutcomeNewData))
		}
		_, err = cycle.End()
		must(t, err)
		return i % 2
	})
	runs.Lock()
	defer runs.Unlock()
	for _, run := range runs.byToken {
		if run.scheduler == s {
			t.Fatal("a run that was completed is kept")
		}
	}
}

func TestMemoryIsFlatOver40000ListsOfPauses(t *testing.T) {
	s := opened(t, Options{Clock: time.Unix(0, 0), NoThreads: true})
	for i := 0; i < 20; i++ {
		must(t, s.PausePool(fmt.Sprint("pool", i), 0, time.Time{}))
	}
	flat(t, 20_000, func() int {
		pauses, err := s.Pauses()
		must(t, err)
		equal(t, len(pauses), 20)
		return 1
	})
}
