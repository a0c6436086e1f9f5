package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/vscodeipc"
)

const (
	// tellTime bounds a call that tells the window something.
	tellTime = 5 * time.Second
	// tellPause is the time between two such calls, so that a client that acts
	// without rest does not keep the window busy.
	tellPause = 200 * time.Millisecond
	// MaxAnnounced bounds the clients of one kind that are announced: a window takes
	// 256 in all, or none.
	MaxAnnounced = 128
	// maxActs bounds the acts that wait to be told.
	maxActs = 100
)

// Announce has the workspace's window told who uses its browser. It replaces
// what was said of clients of this kind ("mcp" or "cdp") before; of more than
// MaxAnnounced the first are told. A window that comes later is told too.
func (s *Source) Announce(kind string, clients []vscodeipc.ConnectedClient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[kind] = clients[:min(len(clients), MaxAnnounced)]
	s.wake()
}

// Report has the window told what a client did. It does not block; of acts that
// come faster than they can be told, only the first are, and how many more there
// were.
func (s *Source) Report(act vscodeipc.Activity) {
	s.ReportOf(func() vscodeipc.Activity { return act })
}

// ReportOf is Report for the action that describe returns. It calls describe before it
// returns, and only where there is room for one more: actions that come by the thousand
// are only counted.
func (s *Source) ReportOf(describe func() vscodeipc.Activity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.acts) == maxActs {
		s.dropped++
		return
	}
	s.acts = append(s.acts, describe())
	s.wake()
}

// wake has the window told what there is to tell. s.mu is held.
func (s *Source) wake() {
	if len(s.clients) == 0 && len(s.acts) == 0 {
		return // nobody ever used the browser
	}
	select {
	case s.told <- struct{}{}:
	default:
	}
}

// tell is owned by the registry, and ends with it.
func (s *Source) tell() {
	defer s.registry.running.Done()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-s.told:
		case <-s.registry.ctx.Done():
			return
		}
		s.tellOnce()
		pause.Reset(tellPause)
		select {
		case <-pause.C:
		case <-s.registry.ctx.Done():
			return
		}
	}
}

func (s *Source) tellOnce() {
	ctx, cancel := context.WithTimeout(s.registry.ctx, tellTime)
	defer cancel()
	s.mu.Lock()
	clients := []vscodeipc.ConnectedClient{}
	for _, each := range s.clients {
		clients = append(clients, each...)
	}
	acts := s.acts
	if s.dropped > 0 {
		last := acts[len(acts)-1]
		acts = append(acts, vscodeipc.Activity{
			Client: last.Client, Time: last.Time, OK: true,
			Act: fmt.Sprintf("%d more acts", s.dropped), Outcome: "not listed: they came too fast",
		})
	}
	s.acts, s.dropped = nil, 0
	s.mu.Unlock()

	err := s.call(ctx, vscodeipc.CommandClientAnnounce, vscodeipc.AnnounceArg{Clients: clients}, nil)
	if err == nil && len(acts) > 0 {
		err = s.call(ctx, vscodeipc.CommandClientReport, vscodeipc.ReportArg{Entries: acts}, nil)
	}
	var no *NotOfferedError
	if err != nil && !errors.As(err, &no) && ctx.Err() == nil {
		s.registry.log.Debug("the window was not told who uses its browser", "workspace", s.workspace, "error", err)
	}
}
