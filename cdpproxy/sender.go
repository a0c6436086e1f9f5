package cdpproxy

import (
	"errors"
	"math"
	"net"
	"os"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/eventloop"
)

// errTooSlow: the bound on bytes buffered for a client is reached.
var errTooSlow = errors.New("the client reads too slowly")

// How long send waits for a client: for each piece, and in all until the browser
// has been drained again.
const (
	waitOnce  = 20 * time.Millisecond
	waitInAll = 250 * time.Millisecond
)

// sender writes the browser's bytes to the client and never makes the browser wait
// for long. Beyond 256 MiB of unread output Chromium drops messages without an
// error. What the client does not take is queued, up to a bound, and written by a
// goroutine that lives only as long as the queue. See specs/platform-notes.md,
// "Chromium's DevTools server".
//
// send and last are called under the downstream's lock.
type sender struct {
	conn   *net.TCPConn   // nil while the loop has the relay
	try    *tryWriter     // to conn
	parked eventloop.Pair // nil while the loop does not have the relay
	held   []byte         // what could not be sent at once there; sent before all else
	limit  int
	claim  claim // for the queue

	waited time.Duration // in send, since the browser was last drained
	keptUp int           // pieces in a row that drained the browser and were taken at once

	mu      sync.Mutex // guards the fields that follow
	queue   [][]byte
	queued  int           // bytes in queue and in the write under way
	flushed chan struct{} // closed when flush returns; nil while it does not run
	err     error         // of flush
}

// send writes b or queues it; the caller may reuse b when it returns.
func (s *sender) send(b []byte) error {
	if s.parked != nil {
		return s.sendParked(b)
	}
	if err := s.catchUp(); err != nil || len(b) == 0 {
		return err
	}
	if queued, err := s.enqueue(b, false, s.limit); queued || err != nil {
		s.keptUp = 0
		return err
	}
	n, err := s.try.write(b)
	if err != nil || n == len(b) {
		s.keptUp++
		return err
	}
	b, s.keptUp = b[n:], 0
	// The client is behind. Waiting for it costs no memory, as long as the
	// browser's output meanwhile stays far below the point where Chromium drops
	// messages.
	wait := min(waitOnce, waitInAll-s.waited)
	began := time.Now()
	if err := s.conn.SetWriteDeadline(began.Add(wait)); err != nil {
		return err
	}
	n, err = s.conn.Write(b)
	s.waited += time.Since(began)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err := s.conn.SetWriteDeadline(time.Time{}); err != nil {
			return err
		}
		// The first entry of a queue always has room: send never writes only a
		// part.
		_, err = s.enqueue(b[n:], true, math.MaxInt)
		return err
	}
	if err != nil {
		return err
	}
	return s.conn.SetWriteDeadline(time.Time{})
}

// catchUp sends held, after the relay has left the loop.
func (s *sender) catchUp() error {
	held := s.held
	s.held = nil
	if len(held) == 0 {
		return nil
	}
	return s.send(held)
}

// sendParked sends what the client takes at once. If bytes are left, it holds them
// and unparks the relay.
func (s *sender) sendParked(b []byte) error {
	if len(s.held) == 0 {
		n, err := s.parked.Write(eventloop.Client, b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) > 0 {
		s.held = append(s.held, b...)
		s.parked.Unpark()
	}
	return nil
}

// use makes send write to conn, which belongs to the relay.
func (s *sender) use(conn *net.TCPConn) error {
	try, err := newTryWriter(conn)
	s.conn, s.try, s.parked = conn, try, nil
	return err
}

// direct makes send write to a parked pair.
func (s *sender) direct(pair eventloop.Pair) { s.conn, s.try, s.parked = nil, nil, pair }

// idle reports whether nothing is queued and no write has failed.
func (s *sender) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flushed == nil && s.err == nil
}

// last queues b after send has failed with errTooSlow: the rest of a frame.
func (s *sender) last(b []byte) {
	if len(b) > 0 {
		s.enqueue(b, true, math.MaxInt)
	}
}

// enqueue queues a copy of b if flush runs or start is set, which starts it.
func (s *sender) enqueue(b []byte, start bool, limit int) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false, s.err
	}
	if s.flushed == nil && !start {
		return false, nil
	}
	if s.queued+len(b) > limit {
		return false, errTooSlow
	}
	if limit == math.MaxInt {
		s.claim.takeAnyway(len(b))
	} else if !s.claim.take(len(b)) {
		return false, errTooSlow
	}
	s.queue = append(s.queue, append([]byte(nil), b...))
	s.queued += len(b)
	if s.flushed == nil {
		s.flushed = make(chan struct{})
		go s.flush(s.flushed)
	}
	return true, nil
}

// flush writes the queue until it is empty. wait awaits it.
func (s *sender) flush(done chan struct{}) {
	defer close(done)
	for {
		s.mu.Lock()
		batch := s.queue
		s.queue = nil
		if len(batch) == 0 || s.err != nil {
			s.flushed = nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		for i, b := range batch {
			_, err := s.conn.Write(b)
			batch[i] = nil
			s.mu.Lock()
			s.queued -= len(b)
			s.claim.give(len(b))
			if err != nil {
				s.err = err
			}
			s.mu.Unlock()
			if err != nil {
				break
			}
		}
	}
}

// wait returns when the queue is written or, at the latest, at the deadline.
func (s *sender) wait(deadline time.Time) error {
	s.conn.SetWriteDeadline(deadline)
	s.mu.Lock()
	flushed := s.flushed
	s.mu.Unlock()
	if flushed != nil {
		<-flushed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
