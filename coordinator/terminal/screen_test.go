package terminal

import (
	"fmt"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// A screen replaces its text, cuts what does not fit, and leaves the last text behind.
func TestScreen(t *testing.T) {
	var out strings.Builder
	s := OpenScreen(&out)
	var long strings.Builder
	for i := range 30 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	out.Reset()
	must.Do(t, s.Show(long.String()))
	if got := out.String(); !strings.HasPrefix(got, "\x1b[H\x1b[Kline 0\r\n\x1b[Kline 1\r\n") ||
		!strings.HasSuffix(got, "line 22\r\n\x1b[K… 7 more lines") {
		t.Errorf("%q", got)
	}
	out.Reset()
	if err := s.Show("one\ntwo\n"); err != nil || out.String() != "\x1b[H\x1b[Kone\r\n\x1b[Ktwo\r\n\x1b[J" {
		t.Errorf("%q, %v", &out, err)
	}
	out.Reset()
	s.Close()
	if got := out.String(); !strings.HasSuffix(got, "\x1b[?1049lone\ntwo\n") {
		t.Errorf("it leaves %q", got)
	}
}
