package terminal

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	var out strings.Builder
	log := slog.New(NewSentences(&out)).With("port", 4711)
	log.Info("not shown")
	log.Warn("another program listens", "error", errors.New("it \x1b[31mfailed"))
	if want := "coordinator: another program listens (port 4711): it \\x1b[31mfailed\n"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}
