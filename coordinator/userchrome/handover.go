package userchrome

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/internal/usersocket"
)

// The paths of an owner's socket for the user's own tabs.
const (
	tabsPath     = "/tabs"
	handOverPath = "/hand-over"
)

// Tab is one of the user's tabs that no agent or client may use yet.
type Tab struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Origin string `json:"origin"`
}

// tabs lists them.
func (w *owner) tabs(out http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	part := w.part
	w.mu.Unlock()
	list := []Tab{}
	if part != nil {
		for _, t := range part.Hidden() {
			origin := t.URL
			if u, err := url.Parse(t.URL); err == nil && u.Host != "" {
				origin = u.Scheme + "://" + u.Host
			}
			list = append(list, Tab{t.ID, t.Title, origin})
		}
	}
	_ = json.NewEncoder(out).Encode(list) // the reader may be gone
}

// handOver hands one over.
func (w *owner) handOver(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	part := w.part
	w.mu.Unlock()
	if part == nil || part.HandOver(r.FormValue("id")) != nil {
		http.Error(out, "the tab has closed", http.StatusNotFound)
	}
}

// Shared is a connection to one of the user's own browsers, which a process owns and shares.
type Shared struct {
	PID     int    `json:"pid"`
	Browser string `json:"browser"` // for people, within a sentence
	Profile string `json:"profile"`
	Asking  bool   `json:"asking"` // it asks its user to allow the connection

	socket string
}

// Connections lists those of all processes of this user.
func Connections(ctx context.Context) []Shared {
	all := []Shared{}
	sockets, _ := filepath.Glob(filepath.Join(endpoint.StatePath(), "chrome-*.sock"))
	for _, socket := range sockets {
		var r report
		if get(ctx, socket, browserPath, &r) == nil && !r.Ended {
			all = append(all, Shared{r.PID, r.Browser, r.Profile, r.Asking, socket})
		}
	}
	slices.SortFunc(all, func(x, y Shared) int { return strings.Compare(x.Profile, y.Profile) })
	return all
}

// get reads the first value of a response; nil: there is none to read.
func get(ctx context.Context, socket, path string, value any) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	res, _, err := usersocket.Get(ctx, socket, path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if value == nil {
		return nil
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxReport)).Decode(value)
}

// Tabs lists the user's tabs in it that no agent or client may use yet.
func (s Shared) Tabs(ctx context.Context) (tabs []Tab, err error) {
	err = get(ctx, s.socket, tabsPath, &tabs)
	return tabs, err
}

// HandOver lets agents and clients use one of the user's tabs, until it closes or leaves
// their reach.
func (s Shared) HandOver(ctx context.Context, id string) error {
	if err := get(ctx, s.socket, handOverPath+"?id="+url.QueryEscape(id), nil); err != nil {
		return errors.New("the tab has closed meanwhile")
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
