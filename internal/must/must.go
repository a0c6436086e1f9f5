// Package must ends a test at an error that the test is not about.
//
//	must.Do(t, os.Remove(path))
//	dir := must.Get(os.MkdirTemp("", "x"))(t)
package must

import (
	"errors"
	"testing"
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
