package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

var agentM1 = vscodeipc.ConnectedClient{ID: "m1", Name: "Agent", Kind: "mcp", Since: 2}

// recorder is a window that passes on the notifications and questions that it receives.
type recorder struct {
	*vscodeipc.Server
	announced chan vscodeipc.AnnounceArg
	reported  chan vscodeipc.ReportArg
	asked     chan vscodeipc.AskArg
	answer    chan vscodeipc.AskResult
}

func serveRecorder(t *testing.T, workspace string) *recorder {
	t.Helper()
	w := &recorder{
		announced: make(chan vscodeipc.AnnounceArg, 100), reported: make(chan vscodeipc.ReportArg, 100),
		asked: make(chan vscodeipc.AskArg, 100), answer: make(chan vscodeipc.AskResult, 100),
	}
	w.Server = serveCommands(t, workspace, map[string]vscodeipc.Handler{
		vscodeipc.CommandClientAnnounce: hand(w.announced),
		vscodeipc.CommandClientReport:   hand(w.reported),
		vscodeipc.CommandPermissionAsk: func(ctx context.Context, c vscodeipc.Call) (any, error) {
			if _, err := hand(w.asked)(ctx, c); err != nil {
				return nil, err
			}
			select {
			case a := <-w.answer:
				return a, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	})
	return w
}

func hand[T any](to chan<- T) vscodeipc.Handler {
	return func(_ context.Context, c vscodeipc.Call) (any, error) {
		var arg T
		if err := json.Unmarshal(c.Arg, &arg); err != nil {
			return nil, err
		}
		to <- arg
		return struct{}{}, nil
	}
}

func take[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came within 30 s")
		panic("unreachable")
	}
}

func waitMode(t *testing.T, s *Source, mode policy.Mode) policy.State {
	t.Helper()
	for {
		state, changed := s.Access()
		if state.Mode == mode {
			return state
		}
		take(t, changed)
	}
}

// TestUser: what the user of a window chooses and answers reaches the source, and an
// enforcer with that source.
func TestUser(t *testing.T) {
	folder, r := shop(t)
	source := r.Source(folder)
	if state, _ := source.Access(); state.Mode != policy.ModeView {
		t.Errorf("before any window: %+v", state)
	}
	window := serveRecorder(t, folder)
	window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}})
	waitMode(t, source, policy.ModeFull)
	enforcer := policy.NewEnforcer(source)
	q := policy.Question{Actor: policy.Actor{Kind: policy.Agent, ID: "c1", Name: "Agent", Version: "1"},
		Operation: policy.Operation{Name: "browser_click",
			Class: policy.Mutating}, Detail: "button Buy", Page: &policy.Page{Title: "Shop", URL: "http://shop.test/"}}
	if _, err := enforcer.Permit(t.Context(), q); err != nil {
		t.Errorf("full: %v", err)
	}
	window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessView, Stopped: []string{"Other"}}})
	if state := waitMode(t, source, policy.ModeView); len(state.Stopped) != 1 {
		t.Errorf("view: %+v", state)
	}
	var refused *policy.DeniedError
	if _, err := enforcer.Permit(t.Context(), q); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), `"view"`) || strings.Contains(err.Error(), "status bar") {
		t.Errorf("view: %v", err)
	}
	other := q
	other.Actor.ID, other.Actor.Name = "c2", "Other"
	if _, err := enforcer.Permit(t.Context(), other); err == nil || !strings.Contains(err.Error(), "stopped by the user") {
		t.Errorf("stopped: %v", err)
	}

	window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessAsk}})
	waitMode(t, source, policy.ModeAsk)
	window.answer <- vscodeipc.AskResult{Decision: "refuse", Reason: "timeout"}
	if _, err := enforcer.Permit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "nobody answered") {
		t.Errorf("ask, no answer: %v", err)
	}
	if arg := take(t, window.asked); arg.Act != "browser_click" || arg.Detail != "button Buy" ||
		arg.Client.Name != "Agent" || arg.Page == nil || arg.Page.Title != "Shop" {
		t.Errorf("the user was asked %+v", arg)
	}
	window.answer <- vscodeipc.AskResult{Decision: "allow", Reason: policy.ByGrant, Covers: policy.Everything}
	q.Origin = "http://127.0.0.1:1"
	want := policy.Grounds{Reason: policy.ByGrant, Covers: policy.Everything}
	if grounds, err := enforcer.Permit(t.Context(), q); err != nil || grounds != want {
		t.Errorf("allowed: %+v, %v", grounds, err)
	}
	if arg := take(t, window.asked); arg.Origin != q.Origin {
		t.Errorf("the user was asked %+v", arg)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other.Actor.ID, other.Actor.Name = "c3", "Third"
	if _, err := enforcer.Permit(ctx, other); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// TestTakeoverEndsWithWindow: nobody could give back the browser of a window that has gone.
func TestTakeoverEndsWithWindow(t *testing.T) {
	folder, r := shop(t)
	source := r.Source(folder)
	await := func(want Takeover) {
		t.Helper()
		for {
			got, changed := source.Takeover()
			if got == want {
				return
			}
			take(t, changed)
		}
	}
	window := serveRecorder(t, folder)
	access := vscodeipc.Access{Mode: vscodeipc.AccessFull, TakenOver: true}
	window.SetState(vscodeipc.State{Access: access})
	await(Takeover{Now: true, Changes: 1})
	window.Close(t.Context())
	await(Takeover{Changes: 2})
	if state, _ := source.Access(); state.Mode != policy.ModeFull {
		t.Errorf("the mode is now %q", state.Mode)
	}
}

// TestAskTerminal: a window that cannot ask refuses, with that reason. The error does not say how the
// user could allow more.
func TestAskTerminal(t *testing.T) {
	folder, r := shop(t)
	source := r.Source(folder)
	window := serve(t, folder)
	window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessAsk}})
	waitMode(t, source, policy.ModeAsk)
	_, err := policy.NewEnforcer(source).Permit(t.Context(),
		policy.Question{Actor: policy.Actor{Kind: policy.Agent, ID: "c"},
			Operation: policy.Operation{Name: "browser_navigate", Class: policy.Mutating}})
	if err == nil || !strings.Contains(err.Error(), "nobody could be asked") ||
		strings.Contains(err.Error(), "--access full") {
		t.Errorf("%v", err)
	}
}

// TestManyConnectionsHideNobody: the user stops clients by their names, so that each name is
// announced, however many connections another client has.
func TestManyConnectionsHideNobody(t *testing.T) {
	folder, r := shop(t)
	source := r.Source(folder)
	var all []vscodeipc.ConnectedClient
	for n := range 2 * MaxAnnounced {
		all = append(all, vscodeipc.ConnectedClient{ID: fmt.Sprint(n), Name: "Playwright", Kind: "cdp",
			Since: int64(n)})
	}
	all = append(all, vscodeipc.ConnectedClient{ID: "last", Name: "Puppeteer", Kind: "cdp", Since: 1000})
	source.Announce("cdp", all)
	announced := take(t, serveRecorder(t, folder).announced).Clients
	if len(announced) != MaxAnnounced || announced[0].ID != "0" || announced[1].ID != "last" || announced[2].ID != "1" {
		t.Errorf("%d are announced: %+v", len(announced), announced[:3])
	}
}

// TestReport: the window is notified of the clients of its browser and of their actions; so
// is a window that opens later. Many actions do not become many calls.
func TestReport(t *testing.T) {
	folder, r := shop(t)
	source := r.Source(folder)
	source.Announce("cdp", []vscodeipc.ConnectedClient{{ID: "c1", Name: "Playwright", Kind: "cdp", Since: 1}})
	source.Announce("mcp", []vscodeipc.ConnectedClient{agentM1})
	expect := func(w *recorder, ids string) {
		t.Helper()
		for {
			var got []string
			for _, c := range take(t, w.announced).Clients {
				got = append(got, c.ID)
			}
			slices.Sort(got)
			if strings.Join(got, " ") == ids {
				return
			}
		}
	}
	window := serveRecorder(t, folder)
	expect(window, "c1 m1")
	source.Announce("cdp", nil)
	expect(window, "m1")
	for _, serving := range []bool{true, false} {
		source.AnnounceServing(serving)
		for take(t, window.announced).Serving != serving {
		}
	}

	const actions = 1000
	for n := range actions {
		source.Report(func() vscodeipc.Activity {
			return vscodeipc.Activity{Client: "m1", Time: int64(n), Act: "browser_click", OK: true}
		})
	}
	count, calls := 0, 0
	for count < actions {
		calls++
		for _, e := range take(t, window.reported).Entries {
			count += max(e.Times, 1)
		}
	}
	if count != actions || calls > 10 {
		t.Errorf("%d actions were reported in %d calls, want %d in a few", count, calls, actions)
	}

	window.Close(t.Context())
	expect(serveRecorder(t, folder), "m1")
}

// TestReportAgain: an announcement that the window could not handle is repeated, and the actions
// after it follow. Those that the window refuses are not repeated.
func TestReportAgain(t *testing.T) {
	folder, r := shop(t)
	announced, reported := make(chan vscodeipc.AnnounceArg, 100), make(chan vscodeipc.ReportArg, 100)
	failing, failures, refusals := make(chan struct{}), 1, 1
	serveCommands(t, folder, map[string]vscodeipc.Handler{
		vscodeipc.CommandClientAnnounce: func(ctx context.Context, c vscodeipc.Call) (any, error) {
			if failures > 0 { // one call at a time
				failures--
				<-failing
				return nil, errors.New("not now")
			}
			return hand(announced)(ctx, c)
		},
		vscodeipc.CommandClientReport: func(ctx context.Context, c vscodeipc.Call) (any, error) {
			if refusals > 0 {
				refusals--
				return nil, errors.New("not those")
			}
			return hand(reported)(ctx, c)
		},
	})
	source := r.Source(folder)
	if err := source.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	source.Announce("mcp", []vscodeipc.ConnectedClient{agentM1})
	const actions = maxActions + 5
	for n := range actions {
		source.Report(func() vscodeipc.Activity {
			return vscodeipc.Activity{Client: "m1", Time: int64(n), Act: "browser_click", OK: true}
		})
	}
	close(failing)
	if got := take(t, announced).Clients; len(got) != 1 || got[0].ID != "m1" {
		t.Errorf("announced: %+v", got)
	}
	for count := maxReported; count < actions; { // the first are refused
		for _, e := range take(t, reported).Entries {
			if e.Times == 0 && e.Time != int64(count) {
				t.Errorf("action %d is reported after %d others", e.Time, count)
			}
			count += max(e.Times, 1)
		}
	}
}

// TestReportsOfOneThatLeaves: what was done just before the program ends is reported.
func TestReportsOfOneThatLeaves(t *testing.T) {
	folder, r := shop(t)
	source := r.Source(folder)
	window := serveRecorder(t, folder)
	source.Announce("mcp", []vscodeipc.ConnectedClient{agentM1})
	take(t, window.announced)
	for range 4 {
		source.Report(func() vscodeipc.Activity {
			return vscodeipc.Activity{Client: "m1", Act: "browser_click",
				OK: true}
		})
	}
	source.Announce("mcp", nil)
	r.Close()
	count := 0
	for len(window.reported) > 0 {
		count += len(take(t, window.reported).Entries)
	}
	if count != 4 {
		t.Errorf("%d of 4 actions were reported", count)
	}
}

// TestCloseWithAWindowThatHangs: a window that does not respond delays the end of the
// program, but not for long.
func TestCloseWithAWindowThatHangs(t *testing.T) {
	folder, r := shop(t)
	called, ended := make(chan struct{}, 100), make(chan error, 100)
	serveCommands(t, folder, map[string]vscodeipc.Handler{
		vscodeipc.CommandClientAnnounce: func(ctx context.Context, _ vscodeipc.Call) (any, error) {
			called <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		},
	})
	r.Source(folder).Announce("mcp", []vscodeipc.ConnectedClient{agentM1})
	take(t, called)
	r.Close()
	if err := take(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the end has waited for the deadline of the call: %v", err)
	}
}
