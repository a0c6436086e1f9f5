package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"browser-coordinator/coordinator/cdplog"
)

// What may wait for the reader of what is shown, while a recording goes on.
const (
	besideLines = 10_000
	besideBytes = 128 << 20
)

// besideView shows what is being recorded, and never makes the recording wait: its
// reader may be a terminal that is paused.
type besideView struct {
	view   *trafficView
	lines  chan cdplog.Line
	bytes  atomic.Int64  // of lines
	missed int           // not shown since the last one that was
	ended  chan struct{} // closed when run has returned
}

// showBeside begins to show. unread is called when nobody reads any more.
func showBeside(view *trafficView, unread func()) *besideView {
	// A pipe whose reader has gone would end the program, before the recording is.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	b := &besideView{view: view, lines: make(chan cdplog.Line, besideLines), ended: make(chan struct{})}
	go b.run(unread)
	return b
}

func (b *besideView) run(unread func()) {
	defer close(b.ended)
	var err error
	for l := range b.lines {
		b.bytes.Add(-int64(len(l.Message) + len(l.Text)))
		if err == nil {
			if err = b.view.show(l); err != nil {
				unread()
			}
		}
	}
}

// show takes a line, or counts it as missing where too much waits.
func (b *besideView) show(l cdplog.Line) error {
	size := int64(len(l.Message) + len(l.Text))
	if len(b.lines) > besideLines-2 || b.bytes.Load()+size > besideBytes {
		b.missed++
		return nil
	}
	if b.missed > 0 {
		b.lines <- cdplog.Line{Time: l.Time, Lost: b.missed} // there is room: nobody else adds
		b.missed = 0
	}
	b.bytes.Add(size)
	b.lines <- l
	return nil
}

// close returns when all is shown that waits.
func (b *besideView) close() {
	close(b.lines)
	<-b.ended
}
