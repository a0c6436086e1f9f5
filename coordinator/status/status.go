// Package status gathers what is going on now: the open windows, their browsers, who
// serves their endpoints, the connected clients, and what each did last.
//
// The window reports its agents, the owner of an endpoint reports its CDP clients, and a
// coordinator reports the agents that no window lists. None is asked for anything that was
// typed.
package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Report is the state of all windows and endpoints at one moment. The names of its JSON
// are stable.
type Report struct {
	Windows []Window `json:"windows"`
	// Endpoints are those that are served for folders without a window.
	Endpoints []Served `json:"endpoints"`
	// Agents are those that no window lists.
	Agents      []Agent       `json:"agents"`
	Unreachable []Unreachable `json:"unreachable"`
	// OwnBrowsers are the connections to browsers that the user works in.
	OwnBrowsers []userchrome.Shared `json:"ownBrowsers"`
}

// Hello is which window it is, and its browser, by its hello.
type Hello struct {
	Workspace *string  `json:"workspace"`
	Folders   []string `json:"folders"`
	Kind      string   `json:"kind"`
	Server    string   `json:"server"`
	PID       int      `json:"pid"`
	Session   string   `json:"session"`
	Browser   *Browser `json:"browser"` // nil: none
}

// HelloOf returns what a window's hello contains of that.
func HelloOf(h vscodeipc.Hello) Hello {
	out := Hello{Folders: h.Folders, Kind: h.Server.Kind, Server: h.Server.String(), PID: h.PID, Session: h.Session}
	if h.Workspace != "" {
		out.Workspace = &h.Workspace
	}
	if b := h.State.Browser; b != nil {
		out.Browser = &Browser{Product: b.Product, Via: b.Via, URL: b.URL}
	}
	return out
}

// Window is an open window.
type Window struct {
	Address string `json:"address"`
	Hello
	Pages  int    `json:"pages"` // how many its browser has
	Access string `json:"access"`
	// TakenOver: the user has taken over the browser, and the clients' actions wait.
	TakenOver bool     `json:"takenOver,omitempty"`
	Endpoint  Endpoint `json:"endpoint"`
	Clients   []Client `json:"clients"`
	// Questions are what the user is asked. They are not for others: they may have what was typed.
	Questions        []vscodeipc.PendingQuestion `json:"-"`
	QuestionsUnknown bool                        `json:"-"`
	// Waiting is what waits for the user, for people.
	Waiting []string `json:"waiting,omitempty"`
	// ClientsUnknown is why not all clients are known; empty: they are.
	ClientsUnknown string `json:"clientsUnknown,omitempty"`

	label string
}

// Endpoint is the stable address of a window.
type Endpoint struct {
	URL     string `json:"url"`
	Served  bool   `json:"served"`
	PID     int    `json:"pid,omitempty"`     // of who serves it
	Program string `json:"program,omitempty"` // that serves it
	Waiting int    `json:"waiting"`           // CDP requests that wait for a browser
	// Unknown is why its state is not known; empty: it is.
	Unknown string `json:"unknown,omitempty"`
}

// Served is an endpoint without a window.
type Served struct {
	Workspace *string  `json:"workspace"` // nil: not known
	Browser   *Browser `json:"browser"`   // nil: none
	Access    string   `json:"access"`
	Endpoint  Endpoint `json:"endpoint"`
	Clients   []Client `json:"clients"`
}

// The browsers and clients, as the owner of an endpoint reports them too.
type (
	Browser = endpoint.Browser
	Client  = endpoint.Client
	Action  = endpoint.Action
)

// Unreachable is an address without a reachable window.
type Unreachable struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`
}

// unreachableIn returns the addresses of a listing without a reachable window.
func unreachableIn(listing registry.Listing) []Unreachable {
	all := []Unreachable{}
	for _, u := range listing.Unreachable {
		all = append(all, Unreachable{string(u.Address), u.Reason})
	}
	return all
}

// timeout bounds the questions to windows and owners, which respond within milliseconds.
const timeout = 2 * time.Second

// Read asks the listed windows and every owner of an endpoint, all at the same time.
func Read(ctx context.Context, windows *registry.Registry, listing registry.Listing) (Report, error) {
	files, err := endpoint.List()
	if err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := Report{Windows: make([]Window, len(listing.Windows)), Endpoints: []Served{},
		Unreachable: unreachableIn(listing)}
	var questions sync.WaitGroup
	first := map[string]bool{} // of several windows on a folder, the first has its endpoint's clients
	for i, w := range listing.Windows {
		owns := !first[w.Hash()]
		first[w.Hash()] = true
		questions.Go(func() { r.Windows[i] = readWindow(ctx, windows, w, owns) })
	}
	served := make([]*Served, len(files))
	for i, k := range files {
		if !first[k.Hash] {
			questions.Go(func() { served[i] = readServed(ctx, k) })
		}
	}
	questions.Go(func() { r.Agents = Agents(ctx) })
	var silent map[string]string
	questions.Go(func() { r.OwnBrowsers, silent = userchrome.Survey(ctx) })
	questions.Wait()
	for _, socket := range slices.Sorted(maps.Keys(silent)) {
		r.Unreachable = append(r.Unreachable, Unreachable{socket, silent[socket]})
	}
	for _, s := range served {
		if s != nil {
			r.Endpoints = append(r.Endpoints, *s)
		}
	}
	return r, nil
}

func readWindow(ctx context.Context, windows *registry.Registry, w registry.Window, owns bool) Window {
	out := Window{
		Address: string(w.Address), Hello: HelloOf(w.Hello), Pages: len(w.State.Pages),
		Access: string(w.State.Access.Mode), TakenOver: w.State.Access.TakenOver, Clients: []Client{}, label: w.Label(),
	}
	var clients []registry.Client
	var unknown error
	var questions sync.WaitGroup
	questions.Go(func() { clients, unknown = windows.Clients(ctx, w) })
	questions.Go(func() {
		var known bool
		out.Questions, known = windows.Questions(ctx, w)
		out.QuestionsUnknown = !known
	})
	state, served := readEndpoint(ctx, w.Hash())
	questions.Wait()
	out.Endpoint = served
	for _, c := range clients {
		out.Clients = append(out.Clients, clientOf(c))
	}
	if unknown != nil {
		out.ClientsUnknown = unknown.Error()
	}
	if owns {
		out.Clients = merge(out.Clients, state.Clients)
	}
	for i, c := range out.Clients {
		out.Clients[i].Stopped = policy.State{Stopped: w.State.Access.Stopped}.Stops(c.Name)
	}
	slices.SortStableFunc(out.Clients, func(a, b Client) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), a.Since.Compare(b.Since))
	})
	out.Waiting = waiting(out.Questions, out.TakenOver, out.Clients)
	return out
}

// waiting is what waits for a user: the answers to questions, and the browser that the user has taken over. It has
// nothing that was typed.
func waiting(questions []vscodeipc.PendingQuestion, takenOver bool, clients []Client) (all []string) {
	for _, q := range questions {
		name := strings.TrimSpace(q.Client.Name + " " + q.Client.Version)
		for _, each := range q.Actions {
			if act := each.Action.Act; act != vscodeipc.CommandRecordShow { // which waits for nothing
				all = append(all, name+" asks: "+act)
			}
		}
	}
	if !takenOver {
		return all
	}
	for _, c := range clients {
		for _, call := range c.Running {
			all = append(all, strings.TrimSpace(c.Name+" "+c.Version)+" waits until you give the browser back: "+call.Text)
		}
	}
	return all
}

// CountPages sets how many pages the windows' browsers have. Their users have opened most of
// them, which no window reports.
func (r *Report) CountPages(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var questions sync.WaitGroup
	for i := range r.Windows {
		if w := &r.Windows[i]; w.Browser != nil {
			questions.Go(func() { w.Pages = countPages(ctx, w.Browser.URL) })
		}
	}
	questions.Wait()
}

// countPages is 0 for a browser that does not respond.
func countPages(ctx context.Context, url string) (n int) {
	conn, err := cdp.Dial(ctx, url, nil)
	if err != nil {
		return 0
	}
	defer conn.Close()
	targets, err := protocol.Call(ctx, conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return 0
	}
	for _, info := range targets.TargetInfos {
		if info.Type == "page" {
			n++
		}
	}
	return n
}

func clientOf(c registry.Client) Client {
	out := Client{ID: c.ID, Name: c.Name, Version: c.Version, Kind: c.Kind, Since: time.UnixMilli(c.Since).UTC(),
		Page: c.Page}
	if c.Last != nil {
		last := actionOf(*c.Last)
		out.Last = &last
	}
	for _, call := range c.Running {
		out.Running = append(out.Running, actionOf(registry.Public(vscodeipc.Activity{
			Time: call.Time, Act: call.Act, Target: call.Target, OK: true}, c.Kind)))
	}
	return out
}

func actionOf(a vscodeipc.Activity) Action {
	out := Action{Time: time.UnixMilli(a.Time).UTC(), Text: registry.Describe(a), URL: a.URL}
	if !a.OK {
		out.Failed = a.Outcome
	}
	return out
}

// readServed is the endpoint of a folder without a window; nil: it is not served.
func readServed(ctx context.Context, k endpoint.Entry) *Served {
	state, e := readEndpoint(ctx, k.Hash)
	if !e.Served {
		return nil
	}
	s := &Served{Browser: state.Browser, Access: state.Access, Endpoint: e, Clients: merge([]Client{}, state.Clients)}
	if k.Workspace != "" {
		s.Workspace = &k.Workspace
	}
	return s
}

func readEndpoint(ctx context.Context, hash string) (endpoint.Status, Endpoint) {
	e := Endpoint{URL: endpoint.URL(hash)}
	state, err := endpoint.ReadStatus(ctx, hash)
	switch {
	case errors.Is(err, endpoint.ErrNotServed):
	case err != nil:
		e.Served, e.Unknown = true, err.Error()
	default:
		e.Served, e.PID, e.Program, e.Waiting = true, state.PID, state.Program, state.Waiting
	}
	return state, e
}

// merge adds what the owner of the endpoint knows to what the window knows: the owner
// announces its clients a moment later.
func merge(windows, owners []Client) []Client {
	for _, c := range owners {
		index := slices.IndexFunc(windows, func(w Client) bool { return w.ID == c.ID })
		if index < 0 {
			windows = append(windows, c)
			continue
		}
		windows[index].Last, windows[index].Holds = cmp.Or(windows[index].Last, c.Last), c.Holds
	}
	return windows
}
