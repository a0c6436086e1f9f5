package show

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/guard"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/vscodeipc"
)

// interval is the time after which windows are asked again: there is no event for what their
// clients do and ask.
const interval = time.Second

// readTimeout bounds how long one that does not respond delays what the page has of the others: they
// respond within milliseconds.
const readTimeout = interval / 2

// shown is a window, or a browser without one, as the page has it
// (extension/src/webview/show/feed.ts).
type shown struct {
	Key       string                      `json:"key"` // the address of a window, or the id of an agent
	Title     string                      `json:"title"`
	Place     string                      `json:"place"`
	Kind      string                      `json:"kind"`
	Product   string                      `json:"product"`
	Mode      string                      `json:"mode"` // empty: there is none
	Stopped   []string                    `json:"stopped"`
	TakenOver bool                        `json:"takenOver"`
	Controls  bool                        `json:"controls"` // the window takes a change of mode and stopped
	Notes     bool                        `json:"notes"`    // the window takes notes to agents
	Clients   []status.Client             `json:"clients"`
	Questions []vscodeipc.PendingQuestion `json:"questions"`
	State     state                       `json:"state"`
	// Own is the profile folder of the user's own browser; empty: it is another one.
	Own string `json:"own"`
}

// state is what the live view reads of a window's state.
type state struct {
	Browser       *vscodeipc.Browser       `json:"browser"`
	Pages         []vscodeipc.PageEndpoint `json:"pages"`
	DebugSessions []vscodeipc.DebugSession `json:"debugSessions"`
}

// feed sends the page what there is, at each change, until it leaves.
func (s *Server) feed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	var last []byte
	var before []shown
	err := s.windows.Watch(r.Context(), interval, func(listing registry.Listing) error {
		windows, err := s.read(r.Context(), listing, before)
		if err != nil {
			return err
		}
		before = windows
		data, err := json.Marshal(map[string]any{"windows": windows})
		if err != nil || bytes.Equal(data, last) {
			return err
		}
		last = data
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil {
		s.log.Debug("the page no longer gets reports", "error", err)
	}
}

// read is what there is now. A window that does not respond has the clients and the questions that it
// had before.
func (s *Server) read(ctx context.Context, listing registry.Listing, before []shown) ([]shown, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	report, err := status.Read(ctx, s.windows, listing)
	if err != nil {
		return nil, err
	}
	all := []shown{}
	for i, w := range listing.Windows {
		each := shown{
			Key: string(w.Address), Title: w.Title(), Place: w.Workspace, Kind: w.Server.Kind,
			Mode: string(w.State.Access.Mode), Stopped: w.State.Access.Stopped,
			TakenOver: w.State.Access.TakenOver, Controls: slices.Contains(w.Commands, vscodeipc.CommandAccessChange),
			Notes:   slices.Contains(w.Commands, vscodeipc.CommandNoteGive),
			Clients: report.Windows[i].Clients, Questions: report.Windows[i].Questions,
			State: s.stateOf(w.State.Browser, w.State.Pages, w.State.DebugSessions),
			Own:   ownBrowser(report.OwnBrowsers, report.Windows[i].Browser),
		}
		if w.Workspace == "" {
			each.Title = "A window without a folder"
		}
		if w.State.Browser != nil {
			each.Product = w.State.Browser.Product
		}
		former := slices.IndexFunc(before, func(s shown) bool { return s.Key == each.Key })
		if former >= 0 && report.Windows[i].QuestionsUnknown {
			each.Questions = before[former].Questions
		}
		if former >= 0 && report.Windows[i].ClientsUnknown != "" {
			each.Clients = before[former].Clients
		}
		all = append(all, each)
	}
	for _, e := range report.Endpoints {
		each := s.alone(e.Endpoint.URL, "endpoint", e.Workspace, e.Browser, e.Clients)
		each.Mode = e.Access
		each.Own = ownBrowser(report.OwnBrowsers, e.Browser)
		all = append(all, each)
	}
	agents := make([]shown, len(report.Agents))
	var asked sync.WaitGroup
	for i, a := range report.Agents {
		asked.Go(func() {
			agents[i] = s.agent(ctx, a)
			agents[i].Own = ownBrowser(report.OwnBrowsers, a.Browser)
		})
	}
	asked.Wait()
	return append(all, agents...), nil
}

// agent is an agent without a window, with its own browser.
func (s *Server) agent(ctx context.Context, a status.Agent) shown {
	each := s.alone(a.ID, "agent", &a.Workspace, a.Browser, []status.Client{a.Client})
	each.Mode, each.TakenOver, each.Controls, each.Notes = a.Access, a.TakenOver, true, true
	var result vscodeipc.QuestionsResult
	if err := a.Call(ctx, vscodeipc.CommandPermissionList, nil, &result); err != nil {
		s.log.Debug("the questions of an agent are not known", "error", err)
	}
	each.Questions = append(each.Questions, result.Questions...)
	return each
}

// ownBrowser is the profile folder of the connection that a browser's address is of; empty: none.
func ownBrowser(all []userchrome.Shared, of *status.Browser) string {
	at := slices.IndexFunc(all, func(s userchrome.Shared) bool { return of != nil && s.URL != "" && s.URL == of.URL })
	if at < 0 {
		return ""
	}
	return all[at].Profile
}

// alone is a browser without a window.
func (s *Server) alone(
	key, kind string, workspace *string, browser *status.Browser, clients []status.Client,
) shown {
	each := shown{Key: key, Title: "An unknown folder", Kind: kind, Clients: clients, Stopped: []string{},
		Questions: []vscodeipc.PendingQuestion{}, State: s.stateOf(nil, nil, nil)}
	if workspace != nil && *workspace != "" {
		each.Title, each.Place = filepath.Base(*workspace), *workspace
	}
	if browser != nil {
		each.Product = browser.Product
		if browser.URL != "" {
			each.State = s.stateOf(&vscodeipc.Browser{URL: browser.URL, Product: browser.Product, Via: browser.Via}, nil, nil)
		}
	}
	return each
}

// stateOf is a state with the page's addresses for those of browsers.
func (s *Server) stateOf(
	browser *vscodeipc.Browser, pages []vscodeipc.PageEndpoint, sessions []vscodeipc.DebugSession,
) state {
	now := state{Pages: []vscodeipc.PageEndpoint{}, DebugSessions: append([]vscodeipc.DebugSession{}, sessions...)}
	if browser != nil {
		relayed := *browser
		relayed.URL = s.relayTo(browser.URL)
		now.Browser = &relayed
	}
	for _, p := range pages {
		p.URL = s.relayTo(p.URL)
		now.Pages = append(now.Pages, p)
	}
	return now
}

// maxCall bounds a call, in bytes: a note has pictures. A window reads lines of up to 8 MiB.
const maxCall = 7 << 20

// userCommands are those of a window by which a user reaches it from elsewhere.
var userCommands = []string{
	vscodeipc.CommandPermissionAnswer, vscodeipc.CommandAccessChange, vscodeipc.CommandNoteGive,
}

// call runs a command of a window, or of an agent without one, for the user.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Window  string          `json:"window"`
		Command string          `json:"command"`
		Arg     json.RawMessage `json:"arg"`
	}
	body, err := guard.Body(w, r, maxCall, bodyTimeout)
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		http.Error(w, "The note is too large: remove a place.", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "The request cannot be read.", http.StatusBadRequest)
		return
	}
	if strings.HasPrefix(request.Command, "tab.") {
		s.tabs(w, r, request.Command, request.Arg)
		return
	}
	if !slices.Contains(userCommands, request.Command) {
		http.Error(w, "There is no such command.", http.StatusBadRequest)
		return
	}
	if err := s.run(r.Context(), request.Window, request.Command, request.Arg); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// run runs a command of the window, or of the agent, that the page has by this key.
func (s *Server) run(ctx context.Context, key, command string, arg json.RawMessage) error {
	listing, err := s.windows.List(ctx)
	if err != nil {
		return err
	}
	for _, w := range listing.Windows {
		if string(w.Address) == key {
			return s.windows.Call(ctx, w, command, arg, nil)
		}
	}
	for _, a := range status.Agents(ctx) {
		if a.ID == key {
			return a.Call(ctx, command, arg, new(struct{}))
		}
	}
	return errors.New("this window or browser has closed")
}
