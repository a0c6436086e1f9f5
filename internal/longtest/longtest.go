// Package longtest shortens tests for `go tool task test`, which runs `go test -short`.
// test:all runs their long forms. Each shortened test logs that, and test:counts counts
// these lines, so that none is shortened without notice.
package longtest

import "testing"

// Require skips a test, or what follows in it, that has only a long form.
func Require(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip(notice)
	}
}

// Form returns the size, time or number of rounds for the form that runs.
func Form[T any](t testing.TB, short, long T) T {
	t.Helper()
	if !testing.Short() {
		return long
	}
	t.Log(notice)
	return short
}

const notice = "longer in test:all"
