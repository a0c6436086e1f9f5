package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// textWindow is a window that sends its states as a test writes them: no other reports an
// access mode that does not exist, or none.
type textWindow struct {
	folder string

	mu        sync.Mutex // guards the fields that follow
	seq       int
	state     string // its members, without the revision
	listening []net.Conn
}

func serveText(t *testing.T, folder string) *textWindow {
	t.Helper()
	dir := filepath.Join(toolstest.Env(toolstest.Dir)["XDG_DATA_HOME"], "browser-coordinator-mcp")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "ipc-"+vscodeipc.Hash(folder)+".sock"))
	if err != nil {
		t.Fatal(err)
	}
	w := &textWindow{folder: folder, state: `"debugSessions":[],"browser":null,"pages":[]`}
	var clients sync.WaitGroup
	clients.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { conn.Close() })
			clients.Go(func() { w.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		clients.Wait()
	})
	return w
}

func (w *textWindow) serve(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var request struct {
			ID   json.RawMessage
			Type string
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil {
			return
		}
		w.respond(conn, string(request.ID), request.Type)
	}
}

func (w *textWindow) respond(conn net.Conn, id, kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := fmt.Sprintf(`"seq":%d,"state":{"revision":%[1]d,%s}`, w.seq, w.state)
	payload := ""
	switch kind {
	case "hello":
		payload = fmt.Sprintf(`"version":2,"server":{"name":"x","version":"1","kind":"x"},"session":"s","pid":1,`+
			`"workspace":%q,"folders":[%[1]q],"commands":[],"events":["state"],%s`, w.folder, state)
	case "listen":
		payload = `"session":"s",` + state
		w.listening = append(w.listening, conn)
	}
	fmt.Fprintf(conn, `{"id":%s,"success":true,"payload":{%s}}`+"\n", id, payload)
}

// set sends a state, of which it gets the members.
func (w *textWindow) set(state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq++
	w.state = state
	for _, conn := range w.listening {
		// the client may have left
		fmt.Fprintf(conn, `{"type":"state","seq":%d,"payload":{"revision":%[1]d,%s}}`+"\n", w.seq, state)
	}
}

// A window with a real browser reports an unknown access mode, or none. An agent and a
// client of the endpoint may then read, and change nothing.
func TestUnknownAccessIsView(t *testing.T) {
	t.Parallel()
	browser, page := toolstest.Browser(t), toolstest.ServeSample(t)
	toolstest.Sit(t, browser.URL()).Browse(page)
	shop := toolstest.Folder(t, "shop")
	window := serveText(t, shop)
	agent, serving := host(t, toolstest.Dir, shop), start(t, toolstest.Dir, "serve", "--workspace", shop)
	var client *client
	// push sends a state, and waits until the agent and the endpoint have received whether
	// they may only read.
	push := func(access string, views bool) {
		t.Helper()
		window.set(fmt.Sprintf(`"debugSessions":[],"browser":{"url":%q,"via":"attached"},"pages":[]%s`, browser.URL(),
			access))
		if client == nil {
			client = joinPage(t, serving.first, "test")
		}
		for deadline := time.Now().Add(time.Minute); ; {
			list := agent.Must("window_list", nil)
			_, err := client.call("Page.navigate", `{"url":"`+page+`?acted"}`)
			if err != nil && !strings.Contains(err.Error(), `"view"`) { // the stricter mode has ended the connection
				client = joinPage(t, serving.first, "test")
				_, err = client.call("Page.navigate", `{"url":"`+page+`?acted"}`)
			}
			if err != nil && !strings.Contains(err.Error(), `"view"`) {
				t.Fatalf("%s: Page.navigate through the endpoint: %v", access, err)
			}
			if strings.Contains(list, shop) && strings.Contains(list, "[access: view]") == views && (err != nil) == views {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: window_list: %s; Page.navigate through the endpoint: %v", access, list, err)
			}
		}
	}
	push(`,"access":{"mode":"full","stopped":[]}`, false)
	for _, access := range []string{``, `,"access":null`, `,"access":{}`, `,"access":{"stopped":[]}`,
		`,"access":{"mode":"everything","stopped":[]}`, `,"access":{"mode":"full"}`} {
		push(access, true)
		agent.Must("browser_snapshot", nil)
		agent.Refused("browser_navigate", args{"url": page + "?acted"}, `"view"`)
	}
}
