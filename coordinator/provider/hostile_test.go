package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/provider"
	"browser-coordinator/internal/must"
)

// provide serves a provider that sends what no honest one does.
func provide(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// respond responds to one CDP command.
func respond(ws *websocket.Conn, r *http.Request, response string) error {
	_, text, err := ws.Read(r.Context())
	if err != nil {
		return err
	}
	var command struct{ ID int }
	if err := json.Unmarshal(text, &command); err != nil {
		return err
	}
	return ws.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,%s}`, command.ID, response))
}

// A provider that repeats a token, anywhere, does not put it into an error.
func TestTokenInTexts(t *testing.T) {
	const inPath = "a-token-of-the-path"
	for name, answer := range map[string]func(*websocket.Conn, *http.Request) error{
		"close": func(ws *websocket.Conn, r *http.Request) error {
			if _, _, err := ws.Read(r.Context()); err != nil {
				return err
			}
			return ws.Close(websocket.StatusPolicyViolation, "unknown: "+token+" "+inPath)
		},
		"error": func(ws *websocket.Conn, r *http.Request) error {
			if err := respond(ws, r, `"error":{"code":-32000,"message":"unknown: `+token+` `+inPath+`"}`); err != nil {
				return err
			}
			_, _, err := ws.Read(r.Context())
			return err
		},
		"status": nil,
	} {
		t.Run(name, func(t *testing.T) {
			address := provide(t, func(w http.ResponseWriter, r *http.Request) {
				if answer == nil {
					http.Error(w, "unknown: "+r.URL.String(), http.StatusNotFound)
					return
				}
				ws, err := websocket.Accept(w, r, nil)
				if err == nil {
					_ = answer(ws, r) // the browser's error is what counts
					ws.CloseNow()
				}
			})
			t.Setenv(provider.EnvAttach, "ws"+strings.TrimPrefix(address, "http")+"/"+inPath+"?"+token)
			b, _ := attach(t, provider.Choice{})
			if _, err := b.Browser(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown: ") ||
				strings.Contains(err.Error(), "a-long") || strings.Contains(err.Error(), inPath) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The token of an address goes with the WebSocket too, which the provider names without it.
func TestTokenOfTheAddressIsKept(t *testing.T) {
	var address string
	address = provide(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("token") != token:
			http.Error(w, "no token", http.StatusUnauthorized)
		case r.URL.Path == "/json/version":
			io.WriteString(w, `{"webSocketDebuggerUrl":"`+address+`/browser"}`)
		case r.URL.Path == "/session" && r.Method == http.MethodPost:
			io.WriteString(w, `{"value":{"sessionId":"1","capabilities":{"se:cdp":"`+address+`/browser"}}}`)
		case r.URL.Path != "/browser":
			io.WriteString(w, `{"value":{}}`)
		default:
			ws, err := websocket.Accept(w, r, nil)
			for err == nil {
				err = respond(ws, r, `"result":{}`)
			}
		}
	})
	for _, variable := range []string{provider.EnvAttach, provider.EnvGrid} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, address+"?token="+token)
			b, _ := attach(t, provider.Choice{})
			open(t, b)
		})
	}
}

// Neither End nor a cancelled call waits until a provider answers.
func TestAttachHangs(t *testing.T) {
	questions := make(chan struct{}, 10)
	address := provide(t, func(_ http.ResponseWriter, r *http.Request) {
		questions <- struct{}{}
		<-r.Context().Done()
	})
	for name, end := range map[string]func(b *launch.OnDemand, cancel func()) error{
		"ended":     func(b *launch.OnDemand, _ func()) error { return b.End() },
		"cancelled": func(_ *launch.OnDemand, cancel func()) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := attach(t, provider.Choice{Attach: address})
			result := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				_, err := b.Browser(ctx)
				result <- err
			}()
			<-questions
			must.Do(t, end(b, cancel))
			if err := <-result; err == nil {
				t.Error("a browser from a server that does not answer")
			}
		})
	}
}

// hostileGrid creates sessions whose CDP address is served by cdp.
type hostileGrid struct {
	id               string
	queue, cdp       http.HandlerFunc // nil: not found
	starting         <-chan struct{}  // a session is created when it is closed; nil: at once
	created, deleted atomic.Int32
}

func (g *hostileGrid) serve(t *testing.T) (address string) {
	return provide(t, func(w http.ResponseWriter, r *http.Request) {
		serve := func(handler http.HandlerFunc) {
			if handler == nil {
				handler = http.NotFound
			}
			handler(w, r)
		}
		switch {
		case r.Method == http.MethodPost:
			g.created.Add(1)
			if g.starting != nil {
				_, _ = io.Copy(io.Discard, r.Body)
				<-g.starting
			}
			fmt.Fprintf(w, `{"value":{"sessionId":%q,"capabilities":{"se:cdp":"ws://elsewhere.test/cdp"}}}`, g.id)
		case r.Method == http.MethodDelete:
			g.deleted.Add(1)
			io.WriteString(w, `{"value":null}`)
		case strings.HasSuffix(r.URL.Path, "/queue"):
			serve(g.queue)
		case r.URL.Path == "/cdp":
			serve(g.cdp)
		default:
			io.WriteString(w, `{"value":{}}`)
		}
	})
}

// A session that starts while its request is cancelled is ended, also if the grid does not
// show its queue.
func TestCancelledWhileStarting(t *testing.T) {
	starting, questions := make(chan struct{}), make(chan struct{}, 100)
	grid := &hostileGrid{id: "1", starting: starting, queue: func(w http.ResponseWriter, r *http.Request) {
		questions <- struct{}{}
		http.NotFound(w, r)
	}}
	b, _ := attach(t, provider.Choice{Grid: grid.serve(t)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := b.Browser(ctx)
		result <- err
	}()
	<-questions
	cancel()
	<-questions // after the cancellation
	close(starting)
	if err := <-result; err == nil {
		t.Error("a browser after the cancellation")
	}
	if grid.deleted.Load() != 1 {
		t.Error("the session stays behind")
	}
}

// A session whose browser cannot be reached any more is followed by another one, though
// the grid takes it for good.
func TestSessionWithoutCDP(t *testing.T) {
	conns := make(chan *websocket.Conn, 1)
	var dialed atomic.Int32
	grid := &hostileGrid{id: "1", cdp: func(w http.ResponseWriter, r *http.Request) {
		if dialed.Add(1) == 2 { // the first time after the connection broke
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		conns <- ws
		for err == nil {
			err = respond(ws, r, `"result":{}`)
		}
	}}
	b, _ := attach(t, provider.Choice{Grid: grid.serve(t)})
	open(t, b)
	(<-conns).CloseNow()
	awaitEnd(t, b)
	if _, err := b.Browser(t.Context()); err == nil {
		t.Error("a browser that cannot be reached")
	}
	open(t, b)
	if n := grid.created.Load(); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// An id that is no part of a path is not put into one.
func TestSessionID(t *testing.T) {
	for _, id := range []string{"", "a/../b", "a?b"} {
		b, _ := attach(t, provider.Choice{Grid: (&hostileGrid{id: id}).serve(t)})
		_, err := b.Browser(t.Context())
		if err == nil || !strings.Contains(err.Error(), "does not answer like a Selenium Grid") {
			t.Errorf("%q: %v", id, err)
		}
	}
}
