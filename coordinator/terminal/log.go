package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// sentences is a slog.Handler for people: each warning is one line without a time and a
// level.
type sentences struct {
	out   *syncWriter
	attrs []slog.Attr
}

type syncWriter struct {
	mu sync.Mutex
	to io.Writer
}

// NewSentences returns a handler that writes warnings and errors for people.
func NewSentences(w io.Writer) slog.Handler { return &sentences{out: &syncWriter{to: w}} }

func (s *sentences) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (s *sentences) Handle(_ context.Context, r slog.Record) error {
	var details, cause []string
	add := func(a slog.Attr) bool {
		if _, isError := a.Value.Any().(error); isError {
			cause = append(cause, a.Value.String())
		} else {
			details = append(details, fmt.Sprintf("%s %s", a.Key, a.Value))
		}
		return true
	}
	for _, a := range s.attrs {
		add(a)
	}
	r.Attrs(add)
	line := "coordinator: " + r.Message
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	line = strings.Join(append([]string{line}, cause...), ": ")
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	_, err := fmt.Fprintln(s.out.to, Printable(line))
	return err
}

func (s *sentences) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &sentences{s.out, append(s.attrs[:len(s.attrs):len(s.attrs)], attrs...)}
}

func (s *sentences) WithGroup(string) slog.Handler { return s }
