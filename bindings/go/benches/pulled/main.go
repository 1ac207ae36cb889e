// What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"selene"
)

func need(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func window(s *selene.Scheduler) (runs int) {
	cycle, err := s.Begin(selene.Window{})
	need(err)
	for ; runs < 500; runs++ {
		step, run, _, err := cycle.Next()
		need(err)
		if step != selene.StepRun {
			break
		}
		need(run.Complete(selene.OutcomeNewData))
	}
	need(cycle.Close())
	return runs
}

func main() {
	tasks := 1000
	if len(os.Args) > 1 {
		tasks, _ = strconv.Atoi(os.Args[1])
	}
	s, err := selene.Open(selene.Options{NoThreads: true})
	need(err)
	need(s.SetConditions(selene.AllConstraints, selene.AllConstraints))
	need(s.PulledHandler("count"))
	for number := 0; number < tasks; number++ {
		task := selene.Standing(fmt.Sprintf("task-%011d", number))
		task.Handler, task.ExpectedResponse = "count", -1
		_, err := s.Register(task)
		need(err)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		begin := time.Now()
		runs := window(s)
		fmt.Println(float64(time.Since(begin).Nanoseconds()) / float64(runs))
	}
}
