package endpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"browser-coordinator/cdpproxy"
)

// Status is the state of a served endpoint, as its owner reports it.
type Status struct {
	Port          int  `json:"port"`
	TokenRequired bool `json:"tokenRequired"` // of every client

	PID     int      `json:"pid"`
	Program string   `json:"program"`
	Access  string   `json:"access"`
	Browser *Browser `json:"browser"` // nil: none
	Waiting int      `json:"waiting"` // requests that wait for a browser
	Clients []Client `json:"clients"`
}

// Browser is what clients use. The names of its JSON are stable.
type Browser struct {
	Product string `json:"product"`
	Via     string `json:"via"`
	URL     string `json:"url,omitempty"` // of a window or a private browser
}

// Client uses a browser. The names of its JSON are stable.
type Client struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Kind    string    `json:"kind"` // mcp or cdp
	Since   time.Time `json:"since"`
	Stopped bool      `json:"stopped"`        // by the window's user
	Page    string    `json:"page,omitempty"` // the target id of the page that it works in
	Last    *Action   `json:"last"`
	// Running are the calls that have run for a while, the oldest first.
	Running []Action `json:"running,omitempty"`
	// Holds is what a CDP client has the browser hold up; empty: nothing.
	Holds string `json:"holds,omitempty"`
}

// Action is what a client does, or did last.
type Action struct {
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`             // for people
	Failed string    `json:"failed,omitempty"` // why; Text has it too
	URL    string    `json:"url,omitempty"`    // of the page, without its query
}

// ReadStatus asks the owner of an endpoint for its state. It makes no file. The error is
// ErrNotServed if no coordinator serves the endpoint.
func ReadStatus(ctx context.Context, hash string) (s Status, err error) {
	f, err := filesOf(hash)
	if err != nil {
		return s, err
	}
	if f.Token == "" {
		return s, ErrNotServed
	}
	s, err = f.state(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return s, f.notServed(fmt.Errorf("the coordinator that serves %s does not respond: it is stopped or busy",
			f.addr(f.Port).URL))
	case err != nil:
		return s, f.notServed(fmt.Errorf("the coordinator that serves %s does not report its state: %w",
			f.addr(f.Port).URL, err))
	}
	return s, nil
}

func statusOf(now cdpproxy.Status) Status {
	s := Status{
		PID: os.Getpid(), Program: now.Program, Access: now.Access, Waiting: now.Waiting,
		Clients: []Client{},
	}
	if b := now.Browser; b != nil {
		s.Browser = &Browser{Product: b.Product, Via: b.Via}
	}
	for _, c := range now.Clients {
		each := Client{ID: c.ID, Name: c.Name, Version: c.Version, Kind: "cdp", Since: c.Since.UTC()}
		if last := c.Last.Load(); last != nil {
			each.Last = &Action{Time: last.Time.UTC(), Text: last.Text}
		}
		if holds := c.Holds.Load(); holds != nil {
			each.Holds = *holds
		}
		s.Clients = append(s.Clients, each)
	}
	return s
}
