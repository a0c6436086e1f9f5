package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"browser-coordinator/internal/backoff"
	"browser-coordinator/vscodeipc"
)

const (
	// reportTimeout bounds a notification of the window.
	reportTimeout = 5 * time.Second
	// reportPause is the time between two notifications, so that a busy client does not keep
	// the window busy.
	reportPause = 200 * time.Millisecond
	// retryFirst and retryMax bound the pauses after a notification that has failed.
	retryFirst, retryMax = time.Second, 30 * time.Second
	// MaxAnnounced bounds the clients that one announces: a window accepts 256 in all, or none.
	MaxAnnounced = 128
	// maxActions bounds the queue of actions to report.
	maxActions = 100
	// maxReported bounds the actions in one message, which with their details must fit into a line.
	maxReported = 20
)

// Announce notifies the workspace's window of clients of its browser. It replaces those that
// the same one (by: an agent's id, or the endpoint) has announced before. It announces at most
// MaxAnnounced clients, the first of each name before others: the user stops clients by name,
// so that many connections of one must not hide another. A window that opens later is notified
// too.
func (s *Source) Announce(by string, clients []vscodeipc.ConnectedClient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(clients) > MaxAnnounced {
		names, repeated := map[string]bool{}, map[string]bool{} // names, ids
		for _, c := range clients {
			repeated[c.ID], names[c.Name] = names[c.Name], true
		}
		clients = slices.Clone(clients)
		slices.SortStableFunc(clients, func(a, b vscodeipc.ConnectedClient) int {
			switch {
			case repeated[a.ID] == repeated[b.ID]:
				return 0
			case repeated[a.ID]:
				return 1
			}
			return -1
		})
		clients = clients[:MaxAnnounced]
	}
	s.clients[by] = clients
	s.wake()
}

// AnnounceServing notifies the workspace's window whether this process serves its stable
// endpoint.
func (s *Source) AnnounceServing(serving bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving != serving {
		s.serving = serving
		s.wake()
	}
}

// Report notifies the window of the client's action that describe returns. It does not
// block: if actions come faster than they can be reported, only the first are reported,
// and the number of the others. It calls describe before it returns, and only if the
// queue has room: thousands of actions are only counted.
func (s *Source) Report(describe func() vscodeipc.Activity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.actions) == maxActions {
		s.dropped++
		return
	}
	s.actions = append(s.actions, describe())
	s.wake()
}

// ShowsPictures reports whether the window shows pictures of actions.
func (s *Source) ShowsPictures() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pictures
}

// wake triggers a notification of the window. s.mu is held.
func (s *Source) wake() {
	if len(s.clients) == 0 && len(s.actions) == 0 && !s.serving {
		return // there is nothing to report
	}
	select {
	case s.pending <- struct{}{}:
	default:
	}
}

// report is owned by the registry. When that closes, the last notification is sent: an
// agent that leaves at once has its actions listed.
func (s *Source) report() {
	defer s.registry.reporting.Done()
	closing := s.registry.closing.Done()
	var again <-chan time.Time // after a failure; nil: there was none
	pauses := backoff.Backoff{First: retryFirst, Max: retryMax, Jitter: 0.2}
	for {
		select {
		case <-s.pending:
		case <-again:
		case <-closing:
			select {
			case <-s.pending:
				s.reportOnce()
			default:
				if again != nil {
					s.reportOnce()
				}
			}
			return
		}
		if again = nil; s.reportOnce() {
			pauses.Reset()
		} else {
			again = time.After(pauses.Next())
		}
		select {
		case <-time.After(reportPause):
		case <-closing:
		}
	}
}

// reportOnce reports whether the window has got the notification. A window that is not open,
// or accepts none, needs no other: one that opens is notified then. Actions that were not sent
// stay in the queue.
func (s *Source) reportOnce() bool {
	ctx, cancel := context.WithTimeout(s.registry.ctx, reportTimeout)
	defer cancel()
	s.mu.Lock()
	clients := []vscodeipc.ConnectedClient{}
	for by, each := range s.clients {
		clients = append(clients, each...)
		if len(each) == 0 {
			delete(s.clients, by) // the window learns it now
		}
	}
	actions, serving := s.actions, s.serving
	if s.dropped > 0 {
		last := actions[len(actions)-1]
		actions = append(actions, vscodeipc.Activity{
			Client: last.Client, Time: last.Time, OK: true, Times: s.dropped,
			Act: "more actions", Outcome: fmt.Sprintf("%d are not listed: there was no room for them", s.dropped),
		})
	}
	s.actions, s.dropped = nil, 0
	s.mu.Unlock()

	var wanted vscodeipc.AnnounceResult
	arg := vscodeipc.AnnounceArg{Clients: clients, Serving: serving}
	err := s.call(ctx, vscodeipc.CommandClientAnnounce, arg, &wanted)
	for err == nil && len(actions) > 0 {
		next := min(maxReported, len(actions))
		err = s.call(ctx, vscodeipc.CommandClientReport, vscodeipc.ReportArg{Entries: actions[:next]}, nil)
		if isRefused(err) {
			s.registry.log.Warn("the window has refused actions", "workspace", s.workspace, "error", err)
			err = nil
		}
		if err == nil {
			actions = actions[next:]
		}
	}
	offered := !errors.As(err, new(*NotOfferedError))
	s.mu.Lock()
	s.pictures = wanted.Pictures
	open := s.window != nil
	if err != nil && offered && open {
		s.requeue(actions)
	}
	s.mu.Unlock()
	if err == nil || !open || !offered {
		return true
	}
	s.registry.log.Debug("the window cannot be notified of its clients", "workspace", s.workspace, "error", err)
	return false
}

// requeue puts actions before those that have come since. The window may have those already of which
// its response came too late: it then lists them twice. s.mu is held.
func (s *Source) requeue(actions []vscodeipc.Activity) {
	s.actions = append(actions, s.actions...)
	for _, action := range s.actions[min(maxActions, len(s.actions)):] {
		s.dropped += max(action.Times, 1)
	}
	s.actions = s.actions[:min(maxActions, len(s.actions))]
}

// isRefused reports whether a message would fail again: the window has responded with an error, or
// the message is too large.
func isRefused(err error) bool {
	return errors.As(err, new(*vscodeipc.Error)) || errors.Is(err, vscodeipc.ErrTooLarge)
}
