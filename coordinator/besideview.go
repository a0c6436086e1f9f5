package main

import (
	"errors"
	"io"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// What may wait for the reader of what is shown, while a recording goes on.
const (
	besideLines = 10_000
	besideBytes = 128 << 20
)

// besideView shows what is being recorded, and never makes the recording wait: its
// reader may be a terminal that is paused. The view reads every line, so that it knows
// who is who also behind a gap; what it shows of them waits, or is missing.
type besideView struct {
	view   *trafficView
	texts  chan string   // with a place more than show takes
	bytes  atomic.Int64  // of texts
	missed int           // messages that were not shown since the last one that was
	last   time.Time     // when the last of these passed
	ended  chan struct{} // closed when run has returned
	failed error         // to show: to be read then
}

// showBeside begins to show. failed is called once, where that fails.
func showBeside(view *trafficView, failed func(error)) *besideView {
	// A pipe whose reader has gone would end the program, before the recording is.
	signal.Ignore(syscall.SIGPIPE)
	b := &besideView{view: view, texts: make(chan string, besideLines+1), ended: make(chan struct{})}
	go b.run(failed)
	return b
}

func (b *besideView) run(failed func(error)) {
	defer close(b.ended)
	for text := range b.texts {
		b.bytes.Add(-int64(len(text)))
		if b.failed != nil {
			continue
		}
		if _, b.failed = io.WriteString(b.view.out, text); b.failed != nil {
			failed(b.failed)
		}
	}
}

// show takes a line, or counts what it tells of as missing where too much waits.
func (b *besideView) show(l cdplog.Line) error {
	text := b.view.text(l)
	if text == "" {
		return nil
	}
	if b.missed > 0 {
		text = b.view.gap(b.last, b.missed) + text
	}
	if len(b.texts) >= besideLines || b.bytes.Load()+int64(len(text)) > besideBytes {
		b.missed += max(1, l.Lost)
		b.last = l.Time
		return nil
	}
	b.missed = 0
	b.view.told(l.Client)
	b.bytes.Add(int64(len(text)))
	b.texts <- text // there is room: nobody else adds
	return nil
}

// close returns when all is shown that waits, what is missing at the end too, or when
// the patience with its reader is over; 0: it never is. It returns why nothing more
// was shown, if that is so.
func (b *besideView) close(patience time.Duration) error {
	if b.missed > 0 {
		b.texts <- b.view.gap(b.last, b.missed)
	}
	close(b.texts)
	var over <-chan time.Time
	if patience > 0 {
		over = time.After(patience)
	}
	select {
	case <-b.ended:
		return b.failed
	case <-over:
		return nil
	}
}

// unread says whether a write failed because its reader has gone.
func unread(err error) bool {
	if runtime.GOOS == "windows" { // ERROR_BROKEN_PIPE, and ERROR_NO_DATA
		return errors.Is(err, syscall.Errno(109)) || errors.Is(err, syscall.Errno(232))
	}
	return errors.Is(err, syscall.EPIPE)
}
