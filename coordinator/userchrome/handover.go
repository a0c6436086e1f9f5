package userchrome

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/usersocket"
	"browser-coordinator/policy"
)

// The paths of an owner's socket for the user's own tabs.
const (
	tabsPath     = "/tabs"
	handOverPath = "/hand-over"
	takeBackPath = "/take-back"
)

// Tab is one of the user's tabs.
type Tab struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Origin string `json:"origin"`
	// Developed: a server on this machine responds at the origin. It is likely the user's work.
	Developed bool `json:"developed,omitempty"`
	// HandedOver: agents and clients may use it.
	HandedOver bool `json:"handedOver,omitempty"`
}

// Line is the tab for a terminal.
func (t Tab) Line() string {
	const longest = 100 // bytes of each
	line := terminal.PrintableLine(policy.Excerpt(t.Title, longest)) + "  " +
		terminal.PrintableLine(policy.Excerpt(t.Origin, longest))
	if t.HandedOver {
		line += "  (agents may use it)"
	}
	return line
}

// tabs lists them: those that agents may use first, then those of servers on this machine.
func (w *owner) tabs(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	part := w.part
	w.mu.Unlock()
	list := []Tab{}
	if part != nil {
		for _, t := range part.UserTabs() {
			u, err := url.Parse(t.URL)
			if err != nil {
				continue
			}
			origin := u.Scheme + ":"
			if u.Host != "" {
				origin += "//" + u.Host
			}
			list = append(list, Tab{ID: t.ID, Title: t.Title, Origin: origin, HandedOver: t.HandedOver})
		}
	}
	findDeveloped(r.Context(), list)
	rank := func(t Tab) int {
		switch {
		case t.HandedOver:
			return 0
		case t.Developed:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(x, y Tab) int { return cmp.Compare(rank(x), rank(y)) })
	_ = json.NewEncoder(out).Encode(list) // the reader may be gone
}

// serverTimeout bounds how long a server on this machine takes to accept a connection.
const serverTimeout = time.Second

// findDeveloped sets Developed of each tab. Nothing is sent to the servers.
func findDeveloped(ctx context.Context, tabs []Tab) {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	var running sync.WaitGroup
	for i := range tabs {
		u, err := url.Parse(tabs[i].Origin)
		if err != nil || !isLocal(u.Hostname()) {
			continue
		}
		port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		running.Go(func() {
			host := u.Hostname()
			if net.ParseIP(host) == nil {
				host = "localhost" // browsers resolve all names below it so
			}
			if conn, _, err := dial.Dial(ctx, "ws://"+net.JoinHostPort(host, port)+"/", nil); err == nil {
				conn.Close()
				tabs[i].Developed = true
			}
		})
	}
	running.Wait()
}

// isLocal reports whether a host is this machine, by its name alone.
func isLocal(host string) bool {
	address := net.ParseIP(host)
	return address.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// change hands one over, or takes it back.
func (w *owner) change(what func(*partial.Browser, string) error) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		part := w.part
		w.mu.Unlock()
		var reason string // nothing: it is done
		if part == nil || what(part, r.FormValue("id")) != nil {
			reason = "the tab has closed meanwhile, or shows a page that agents cannot use"
		}
		_ = json.NewEncoder(out).Encode(reason) // the reader may be gone
	}
}

// Shared is a connection to one of the user's own browsers, which a process owns and shares.
type Shared struct {
	PID     int    `json:"pid"`
	Browser string `json:"browser"` // for people, within a sentence
	Profile string `json:"profile"`
	Asking  bool   `json:"asking"` // it asks its user to allow the connection
	URL     string `json:"-"`      // of CDP, whose path is a secret

	socket string
}

// Connections lists those of all processes of this user that respond.
func Connections(ctx context.Context) []Shared {
	all, _ := Survey(ctx)
	return all
}

// Survey is Connections, and a description of each process that has a connection and does not respond, by its socket.
func Survey(ctx context.Context) (all []Shared, silent map[string]string) {
	var mu sync.Mutex // guards the results
	all, silent = []Shared{}, map[string]string{}
	var questions sync.WaitGroup
	sockets, _ := filepath.Glob(filepath.Join(statedir.Path(), "chrome-*.sock"))
	for _, socket := range sockets {
		questions.Go(func() {
			var r report
			err := usersocket.Ask(ctx, socket, browserPath, &r)
			pid := 0
			if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
				pid = listening(ctx, socket)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && !r.Ended:
				all = append(all, Shared{r.PID, r.Browser, r.Profile, r.Asking, r.URL, socket})
			case pid != 0:
				silent[socket] = fmt.Sprintf("the program that holds the connection to a browser of yours (process %d) does "+
					"not respond: it is stopped or busy. The browser runs on. Continue that program, or end it: then "+
					"programs connect again, which the browser asks you to allow", pid)
			}
		})
	}
	questions.Wait()
	slices.SortFunc(all, func(x, y Shared) int { return strings.Compare(x.Profile, y.Profile) })
	return all, silent
}

// listening is the process that listens at a socket, also if it is stopped; 0: none is known. ctx may have ended with
// the wait for it.
func listening(ctx context.Context, socket string) int {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverTimeout)
	defer cancel()
	pid, err := usersocket.ServerPID(ctx, socket)
	if err != nil {
		return 0
	}
	return pid
}

// Connection is the first that matches, if a process has one. name is the browser's, for the error.
func Connection(ctx context.Context, name string, matches func(Shared) bool) (Shared, error) {
	all := Connections(ctx)
	if at := slices.IndexFunc(all, matches); at >= 0 {
		return all[at], nil
	}
	return Shared{}, fmt.Errorf("no program is connected to %s", name)
}

// Tabs lists the user's tabs in it.
func (s Shared) Tabs(ctx context.Context) (tabs []Tab, err error) {
	err = usersocket.Ask(ctx, s.socket, tabsPath, &tabs)
	return tabs, err
}

// HandOver lets agents and clients use one of the user's tabs, until the user takes it back, it
// closes or it leaves their reach.
func (s Shared) HandOver(ctx context.Context, id string) error {
	return s.change(ctx, handOverPath, id)
}

// TakeBack ends a hand-over.
func (s Shared) TakeBack(ctx context.Context, id string) error {
	return s.change(ctx, takeBackPath, id)
}

func (s Shared) change(ctx context.Context, path, id string) error {
	var reason string
	if err := usersocket.Post(ctx, s.socket, path, url.Values{"id": {id}}, &reason); err != nil {
		return fmt.Errorf("cannot reach the program that is connected to %s: %w", s.Browser, err)
	}
	if reason != "" {
		return errors.New(reason)
	}
	return nil
}

// Describe is the state of each of the user's browsers that has a profile folder, a sentence
// each. It does not make a browser ask its user.
func Describe() (sentences []string) {
	for _, name := range Names {
		b, _, _ := Parse(name)
		if len(b.usual()) == 0 {
			continue
		}
		if _, err := b.choose(); err != nil {
			sentences = append(sentences, "With --attach "+name+": "+err.Error()+".")
		} else {
			sentences = append(sentences, "Your own "+products[name]+" lets programs connect, with --attach "+name+".")
		}
	}
	return sentences
}
