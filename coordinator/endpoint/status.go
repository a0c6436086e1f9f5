package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"browser-coordinator/cdpproxy"
)

// Status is the state of a served endpoint, as its owner reports it.
type Status struct {
	PID     int            `json:"pid"`
	Program string         `json:"program"`
	Access  string         `json:"access"`
	Browser string         `json:"browser"` // for people; empty: none
	Waiting int            `json:"waiting"` // requests that wait for a browser
	Clients []StatusClient `json:"clients"`
}

// StatusClient is a connected CDP client.
type StatusClient struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Since   time.Time     `json:"since"`
	Last    *StatusAction `json:"last,omitempty"`
}

// StatusAction is what a client did last.
type StatusAction struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"` // for people
}

// maxStatus bounds the bytes of a status.
const maxStatus = 4 << 20

// ReadStatus asks the owner of an endpoint for its state. It makes no file. The error is
// ErrNotServed if no coordinator serves the endpoint.
func ReadStatus(ctx context.Context, hash string) (s Status, err error) {
	f, addr, err := look(hash)
	if err != nil {
		return s, err
	}
	if f.token == "" || !addr.Served {
		return s, ErrNotServed
	}
	res, _, err := f.ask(ctx, addr.Port, statusPath, nil)
	if err != nil {
		return s, fmt.Errorf("the coordinator that serves %s does not report its state: it may be older than this one: %w", addr.URL, f.notLogged(err))
	}
	defer res.Body.Close()
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, maxStatus)).Decode(&s); err != nil {
		return s, fmt.Errorf("read the state of %s: %w", addr.URL, errors.Join(err, ctx.Err()))
	}
	return s, nil
}

// status responds with the state.
func (s *ownerServer) status(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.admits(w, r, statusPath); !ok {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(statusOf(s.proxy.Status())) // the reader may be gone
}

func statusOf(now cdpproxy.Status) Status {
	s := Status{
		PID: os.Getpid(), Program: now.Program, Access: now.Access, Browser: now.Browser, Waiting: now.Waiting,
		Clients: []StatusClient{},
	}
	for _, c := range now.Clients {
		each := StatusClient{ID: c.ID, Name: c.Name, Version: c.Version, Since: c.Since}
		if last, ok := now.Last[c.ID]; ok {
			each.Last = &StatusAction{last.Time, last.Text}
		}
		s.Clients = append(s.Clients, each)
	}
	return s
}
