package provider_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/provider"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/gridtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// timeout is for a slow machine: a grid is three Java programs and several browsers.
const timeout = 3 * time.Minute

// on is a browser of a grid, as with the flags of a command, and its log.
func on(t testing.TB, address string) (*launch.OnDemand, *logged) {
	t.Helper()
	return chosen(t, provider.Choice{Grid: address})
}

// chosen is as on; an empty Choice takes the address from the variable.
func chosen(t testing.TB, choice provider.Choice) (*launch.OnDemand, *logged) {
	t.Helper()
	log := &logged{}
	choice.Capabilities = gridtest.CapabilityFile(t)
	source := must.Get(choice.Source(slog.New(slog.NewTextHandler(log, nil))))(t)
	browser := launch.New(source)
	t.Cleanup(func() {
		if err := browser.End(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return browser, log
}

type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func open(t testing.TB, b *launch.OnDemand) (address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return must.Get(b.Browser(ctx))(t)
}

func sessions(t testing.TB, g *gridtest.Grid) []string {
	t.Helper()
	return must.Get(g.Sessions(t.Context()))(t)
}

func awaitEnd(t *testing.T, b *launch.OnDemand) error {
	t.Helper()
	select {
	case <-b.Done():
		return b.Err()
	case <-time.After(timeout):
		t.Fatal("the end of the browser is not noticed")
		return nil
	}
}

// eventually waits for a change in the grid, which has no event for it.
func eventually(t *testing.T, description string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(description)
		}
	}
}

// A browser of a grid serves several clients at an address of this machine, and is
// followed by another one whatever ends it.
func TestSessions(t *testing.T) {
	t.Parallel()
	grid := gridtest.Start(t, gridtest.Options{Nodes: 2})
	b, _ := on(t, grid.URL()+"/wd/hub") // an old form of the address
	first := open(t, b)
	ids := sessions(t, grid)
	if len(ids) != 1 {
		t.Fatalf("sessions %q", ids)
	}
	one, two := cdptest.Dial(t, first), cdptest.Dial(t, first)
	var created struct{ TargetID string }
	one.Call("", "Target.createTarget", `{"url":"data:text/html,<title>Here</title>"}`, &created)
	if got := two.Evaluate(two.Attach(created.TargetID), "1 + 1"); got != "2" {
		t.Errorf("the second client in the page of the first: %s", got)
	}
	if second := open(t, b); second != first {
		t.Errorf("%s, then %s", first, second)
	}

	// Somebody else ends the session.
	request(t, http.MethodDelete, grid.URL()+"/session/"+ids[0])
	if err := awaitEnd(t, b); err == nil || !strings.Contains(err.Error(), "the grid has ended the session") {
		t.Errorf("the reason: %v", err)
	}
	one.Ended()
	second := open(t, b)
	cdptest.Dial(t, second).Call("", "Browser.getVersion", "", nil)
	ids = sessions(t, grid)
	if len(ids) != 1 {
		t.Fatalf("sessions %q", ids)
	}

	// Its node dies.
	node := must.Get(grid.NodeOf(t.Context(), ids[0]))(t)
	grid.KillNode(node)
	if err := awaitEnd(t, b); err == nil || !strings.Contains(err.Error(), "grid") {
		t.Errorf("the reason: %v", err)
	}
	cdptest.Dial(t, open(t, b)).Call("", "Browser.getVersion", "", nil)
	if err := b.End(); err != nil {
		t.Error(err)
	}
	eventually(t, "a session stays behind", func() bool { return len(sessions(t, grid)) == 0 })
}

// A request in a full queue reports its place, and leaves the queue when it is cancelled.
func TestQueue(t *testing.T) {
	t.Parallel()
	grid := gridtest.Start(t, gridtest.Options{SessionRequestTimeout: 15 * time.Second})
	holder, _ := on(t, grid.URL())
	open(t, holder)
	waiting, log := on(t, grid.URL())
	queued, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	result := make(chan error, 1)
	go func() {
		_, err := waiting.Browser(queued)
		result <- err
	}()
	eventually(t, "no place in the queue", func() bool {
		return strings.Contains(waiting.Waiting(),
			"request 1 of 1 in its queue")
	})
	why := errors.New("the user has had enough")
	cancel(why)
	if err := <-result; !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	if text := log.String(); !strings.Contains(text, "request 1 of 1 in its queue") {
		t.Errorf("logged: %s", text)
	}
	if waiting.Waiting() != "" {
		t.Errorf("still waits: %s", waiting.Waiting())
	}
	leaves := func() {
		t.Helper()
		eventually(t, "the request stays in the queue", func() bool {
			return !strings.Contains(request(t, http.MethodGet, grid.URL()+"/se/grid/newsessionqueue/queue"),
				"requestId")
		})
	}
	leaves()

	// An agent's call reports its place as progress, and can be cancelled.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var reported atomic.Bool
	host := toolstest.StartWith(t, agent.Options{Dir: t.TempDir(), Launcher: waiting,
		Logger: slog.New(slog.DiscardHandler)}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			if strings.Contains(req.Params.Message, "browser_snapshot goes on") &&
				strings.Contains(req.Params.Message, "request 1 of 1 in its queue") {
				reported.Store(true)
				stop()
			}
		},
	}, "")
	call := &mcp.CallToolParams{Name: "browser_snapshot"}
	call.SetProgressToken("mine")
	if _, err := host.CallTool(ctx, call); err == nil || !reported.Load() {
		t.Errorf("the call ended with %v", err)
	}
	leaves()

	// The grid has its own limit.
	_, err := waiting.Browser(t.Context())
	if err == nil || !strings.Contains(err.Error(), "created no session: ") ||
		!strings.Contains(err.Error(), "timed out") {
		t.Errorf("at the grid's limit: %v", err)
	}

	// When the slot is free, nothing but a new request takes it.
	if err := holder.End(); err != nil {
		t.Error(err)
	}
	eventually(t, "the slot is not free", func() bool { return len(sessions(t, grid)) == 0 })
	open(t, waiting)
	if ids := sessions(t, grid); len(ids) != 1 {
		t.Errorf("sessions %q", ids)
	}
}

// Credentials in the variable's address are sent, and shown nowhere.
func TestCredentials(t *testing.T) {
	grid := gridtest.Start(t, gridtest.Options{Username: "ada", Password: "long secret"})
	none, log := on(t, grid.URL())
	_, err := none.Browser(t.Context())
	if refused := new(provider.RefusedError); !errors.As(err, &refused) ||
		refused.Status != http.StatusUnauthorized || !strings.Contains(err.Error(), "--headers") {
		t.Errorf("without credentials: %v", err)
	}
	with := func(password string) string {
		u := must.Get(url.Parse(grid.URL()))(t)
		u.User = url.UserPassword("ada", password)
		return u.String()
	}
	t.Setenv(provider.EnvGrid, with("wrong secret"))
	wrong, wrongLog := chosen(t, provider.Choice{})
	_, err = wrong.Browser(t.Context())
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("with wrong credentials: %v", err)
	}
	t.Setenv(provider.EnvGrid, with("long secret"))
	right, rightLog := chosen(t, provider.Choice{})
	cdptest.Dial(t, open(t, right)).Call("", "Browser.getVersion", "", nil)
	if err := right.End(); err != nil {
		t.Error(err)
	}
	eventually(t, "a session stays behind", func() bool { return len(sessions(t, grid)) == 0 })
	for _, text := range []string{log.String(), wrongLog.String(), rightLog.String()} {
		if strings.Contains(text, "secret") || strings.Contains(text, "Basic") {
			t.Errorf("in the log: %s", text)
		}
	}
}

// A restarted hub knows none of its sessions. Then there is a new one.
func TestHubRestart(t *testing.T) {
	t.Parallel()
	grid := gridtest.Start(t, gridtest.Options{MaxSessions: 2})
	b, _ := on(t, grid.URL())
	open(t, b)
	before := sessions(t, grid)
	restarted := make(chan error, 1)
	go func() { restarted <- grid.RestartHub() }()
	awaitEnd(t, b)
	cdptest.Dial(t, open(t, b)).Call("", "Browser.getVersion", "", nil)
	must.Do(t, <-restarted)
	if ids := sessions(t, grid); !slices.ContainsFunc(ids,
		func(id string) bool { return !slices.Contains(before, id) }) {
		t.Errorf("sessions %q, and before %q", ids, before)
	}
}

// What the grid cannot give is an error that names the cause.
func TestNoSession(t *testing.T) {
	nowhere, _ := on(t, "http://127.0.0.1:1")
	if _, err := nowhere.Browser(t.Context()); err == nil || !strings.Contains(err.Error(),
		"cannot connect to http://127.0.0.1:1: ") {
		t.Errorf("nothing listens: %v", err)
	}
	other := cdptest.Launch(t, "--remote-debugging-port=0") // a server, but no grid
	address := must.Get(url.Parse(other.URL()))(t)
	wrong, _ := on(t, "http://"+address.Host)
	if _, err := wrong.Browser(t.Context()); err == nil || !strings.Contains(err.Error(), "http://"+address.Host) {
		t.Errorf("no grid: %v", err)
	}
}

func request(t *testing.T, method, address string) string {
	t.Helper()
	_, body := cdptest.Request(t, method, address)
	return body
}
