package cdpproxy

import (
	"sync"

	"browser-coordinator/cdpproxy/eventloop"
)

// relays are those of a proxy, with the loop that moves their bytes.
type relays struct {
	loop      *eventloop.Loop
	closeLoop sync.Once
	memory    *budget // of the relays' clients

	mu sync.Mutex // guards the fields that follow
	// ending is true once the proxy ends. Goroutines are added to wg only while it
	// is false, so that a Wait after it turned true misses none.
	ending    bool
	all       map[*relay]struct{}
	closed    []*relay // that finishAll has not reached
	finishing bool     // finishAll is running
	wg        sync.WaitGroup
}

func (s *relays) start() (err error) {
	s.loop, err = eventloop.Start()
	return err
}

// wait returns when the last relay has ended, and the loop.
func (s *relays) wait() {
	s.wg.Wait()
	if s.loop != nil {
		s.closeLoop.Do(s.loop.Close)
	}
}

// add registers r, unless the proxy is ending.
func (s *relays) add(r *relay) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.all[r] = struct{}{}
	s.wg.Add(1)
	return true
}

func (s *relays) remove(r *relay) {
	defer s.wg.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, r)
}

// stop makes add fail, and reports whether it did not before.
func (s *relays) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.ending
	s.ending = true
	return first
}

func (s *relays) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// list returns the relays at this moment. A relay's lock is never taken under s.mu.
func (s *relays) list() []*relay {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*relay, 0, len(s.all))
	for r := range s.all {
		list = append(list, r)
	}
	return list
}

// finish lets a closed relay take its last step soon: its caller holds locks. All of
// them do so one after the other. Go keeps some memory for each goroutine that ever
// ran at the same time, and thousands of relays may end together.
func (s *relays) finish(r *relay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = append(s.closed, r)
	if !s.finishing {
		s.finishing = true
		s.wg.Go(s.finishAll)
	}
}

func (s *relays) finishAll() {
	for {
		s.mu.Lock()
		batch := s.closed
		s.closed = nil
		if len(batch) == 0 {
			s.finishing = false
			s.mu.Unlock()
			s.memory.release()
			return
		}
		s.mu.Unlock()
		for _, r := range batch {
			r.finish()
			s.remove(r)
		}
	}
}
