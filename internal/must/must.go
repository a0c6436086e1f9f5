// Package must ends a test at an error that the test is not about, or a state that it waits for in vain.
//
//	must.Do(t, os.Remove(path))
//	dir := must.Get(os.MkdirTemp("", "x"))(t)
package must

import (
	"errors"
	"os"
	"testing"
	"time"
)

// Do ends the test if there is an error.
func Do(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call, and ends the test if that has failed.
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Skip skips a test that this machine cannot run. As root in CI it fails instead: nobody would notice the skip.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" && os.Getuid() == 0 {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Await waits for a state whose changes give the test no event.
func Await(t testing.TB, description string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in a minute", description)
		}
	}
}
