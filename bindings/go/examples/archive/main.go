// Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.
package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"selene"
)

// sum prints the sum of a file; it is tried again where there is none.
func sum(_ context.Context, run *selene.Run) error {
	path := string(run.Input)
	bytes, err := os.ReadFile(path)
	if err != nil {
		return selene.RetryAfter(0, fmt.Errorf("%s is not there", filepath.Base(path)))
	}
	sum := fnv.New64a()
	_, _ = sum.Write(bytes)
	fmt.Printf("%s: %016x, attempt %d\n", run.ID, sum.Sum64(), run.Attempt)
	return nil
}

// copyFile copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be.
func copyFile(ctx context.Context, run *selene.Run) error {
	path := string(run.Input)
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path+".copy", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	copied, err := to.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := from.Seek(copied, io.SeekStart); err != nil {
		return err
	}
	for {
		count, err := io.CopyN(to, from, 4096)
		copied += count
		switch {
		case errors.Is(err, io.EOF):
			fmt.Printf("%s: %d bytes\n", run.ID, copied)
			return nil
		case err != nil:
			return err
		}
		// A slow disk; the wait ends early if the run is asked to stop.
		select {
		case <-ctx.Done():
			return selene.RetryAfter(0, errors.New("not done yet"))
		case <-time.After(150 * time.Millisecond):
		}
	}
}

// live is a program that is started, works for a window, and ends; what is left to do, and why.
func live(folder string) (left []string, err error) {
	s, err := selene.Open(selene.Options{Path: filepath.Join(folder, "store"), Owner: "org.example.archive"})
	if err != nil {
		return nil, err
	}
	defer func() { err = first(err, s.Close(10*time.Second)) }()
	if err := first(s.Handler("sum", sum), s.Handler("copy", copyFile)); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		id, handler, file string
		priority          selene.Priority
		expected          time.Duration
	}{
		{"sum of a", "sum", "a", selene.PriorityNormal, time.Millisecond},
		{"sum of b", "sum", "b", selene.PriorityNormal, time.Millisecond},
		{"copy of big", "copy", "big", selene.PriorityLow, 100 * time.Millisecond},
	} {
		// From an earlier life.
		if _, err := s.Get(one.id); err == nil {
			continue
		}
		task := selene.Once(one.id)
		task.Handler, task.Priority, task.ExpectedResponse = one.handler, one.priority, one.expected
		task.Input = []byte(filepath.Join(folder, one.file))
		if _, err := s.Register(task); err != nil {
			return nil, err
		}
	}
	if _, err := s.Run(context.Background(), selene.Window{Budget: 10 * time.Second, Reserve: 5 * time.Second}); err != nil {
		return nil, err
	}
	ids, err := s.IDsIn(selene.StateEnqueued)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		info, err := s.Get(id)
		if err != nil {
			return nil, err
		}
		left = append(left, id+": "+info.Failure)
	}
	return left, nil
}

// first is the first error of several.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func write(path string, text []byte) {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		log.Fatal(err)
	}
}

func main() {
	folder, err := os.MkdirTemp("", "selene-archive-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	write(filepath.Join(folder, "a"), []byte("first"))
	write(filepath.Join(folder, "big"), make([]byte, 40*4096))
	left, err := live(folder)
	for _, why := range left {
		fmt.Println(why)
	}
	write(filepath.Join(folder, "b"), []byte("second"))
	// What was copied is not copied again, so this comes to an end.
	for err == nil && len(left) > 0 {
		left, err = live(folder)
	}
	if err != nil {
		log.Fatal(err)
	}
}
