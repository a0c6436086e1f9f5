package tools

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/pagetest"
	"browser-coordinator/vscodeipc"
)

// serverOptions are those of a server with these sets of tools, in a folder where no window is.
func serverOptions(t *testing.T, dir string, caps ...string) Options {
	t.Helper()
	windows := registry.Open(t.Context(),
		registry.Options{Client: vscodeipc.Peer{Name: "coordinator", Version: "test"}})
	t.Cleanup(func() { windows.Close() })
	return Options{Options: agent.Options{Windows: windows, Dir: dir, Version: "test"}, Caps: caps}
}

// attachedOptions are those of a server whose agents work in a browser.
func attachedOptions(t *testing.T, dir string, browser *chrome.Browser, caps ...string) Options {
	t.Helper()
	o := serverOptions(t, dir, caps...)
	o.Launcher, o.Attached = pagetest.Attached(t, browser.URL()), true
	return o
}

// connect returns a client of a server with these sets of tools, which ends with the test.
func connect(t *testing.T, caps ...string) *mcp.ClientSession {
	t.Helper()
	session, end := clientOf(t, NewServer(serverOptions(t, t.TempDir(), caps...)), nil)
	t.Cleanup(end)
	return session
}

// clientOf runs a server and returns a client of it, and a function that awaits its end.
func clientOf(t *testing.T, server interface {
	Run(context.Context, mcp.Transport) error
}, o *mcp.ClientOptions, options ...*mcp.ClientSessionOptions) (session *mcp.ClientSession, end func()) {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), here,
		append(options, nil)[0])
	if err != nil {
		t.Fatal(err)
	}
	return session, func() { session.Close(); <-ended }
}

func listTools(t *testing.T, session *mcp.ClientSession) []*mcp.Tool {
	t.Helper()
	var tools []*mcp.Tool
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool)
	}
	return tools
}

// rawToolList is tools/list as it is sent, with these sets of tools.
func rawToolList(t *testing.T, caps ...string) []json.RawMessage {
	t.Helper()
	server := NewServer(serverOptions(t, t.TempDir(), caps...))
	var sent struct{ Tools []json.RawMessage }
	server.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if encoded, _ := json.Marshal(result); method == "tools/list" {
				err = errors.Join(err, json.Unmarshal(encoded, &sent))
			}
			return result, err
		}
	})
	session, end := clientOf(t, server, nil)
	listTools(t, session)
	end()
	return sent.Tools
}

// launchBrowser launches a real browser, which ends with the test.
func launchBrowser(t *testing.T) *chrome.Browser {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	browser, err := chrome.Launch(t.Context(), chrome.Options{Executable: found, Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := browser.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return browser
}
