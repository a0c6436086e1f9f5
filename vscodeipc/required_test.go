//go:build unix

package vscodeipc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

// fullHello is a hello with every member of the schema, for a window without a folder.
const fullHello = `{"version":2,"server":{"name":"x","version":"1","kind":"vscode"},"session":"s","pid":1,
"workspace":null,"folders":["/x"],"commands":["c"],"events":["state"],"seq":0,"state":{"revision":0,
"debugSessions":[{"id":"d","name":"D","type":"pwa-chrome","parent":"p"}],
"browser":{"url":"ws://127.0.0.1:1/x","product":"Chrome","debugSession":"d","via":"injected"},
"pages":[{"debugSession":"d","name":"P","url":"ws://127.0.0.1:2/x"}],
"access":{"mode":"full","stopped":[]},
"editor":{"path":"/x/a","line":1,"column":1,"endLine":1,"endColumn":2,"dirty":true}}}`

// optional are the members of fullHello that the schema does not require.
var optional = []string{
	"/state/debugSessions/0/parent", "/state/browser/product", "/state/browser/debugSession", "/state/editor",
}

// spoilt are the ways in which a member can be missing.
var spoilt = map[string]func(holder map[string]any, name string){
	"missing": func(holder map[string]any, name string) { delete(holder, name) },
	"null":    func(holder map[string]any, name string) { holder[name] = nil },
	"of another type": func(holder map[string]any, name string) {
		if _, isText := holder[name].(string); isText || holder[name] == nil {
			holder[name] = 1
		} else {
			holder[name] = "1"
		}
	},
	"in other case": func(holder map[string]any, name string) {
		holder[strings.ToUpper(name)] = holder[name]
		delete(holder, name)
	},
}

// eachSpoilt calls test with a copy of fullHello for each required member, at its path, and
// each way to spoil it.
func eachSpoilt(t *testing.T, test func(location, mode string, hello map[string]any)) {
	t.Helper()
	var root map[string]any
	must.Do(t, json.Unmarshal([]byte(fullHello), &root))
	var walk func(value any, location string)
	walk = func(value any, location string) {
		switch value := value.(type) {
		case map[string]any:
			whole := maps.Clone(value)
			for name, member := range whole {
				in := location + "/" + name
				for mode, spoil := range spoilt {
					if !slices.Contains(optional, in) {
						spoil(value, name)
						test(in, mode, root)
						clear(value)
						maps.Copy(value, whole)
					}
				}
				walk(member, in)
			}
		case []any:
			for i, item := range value {
				walk(item, fmt.Sprintf("%s/%d", location, i))
			}
		}
	}
	walk(root, "")
}

func isAccess(location string) bool { return strings.HasPrefix(location, "/state/access") }

// dialScript dials a fake window that answers with these lines.
func dialScript(t *testing.T, lines ...string) (*client, error) {
	t.Helper()
	home(t)
	c, err := dial(t.Context(), fake(t, name(t, 0), script(lines...)), DialOptions{})
	if err == nil {
		t.Cleanup(c.close)
	}
	return c, err
}

func success(id int, payload any) string {
	text, _ := json.Marshal(map[string]any{"id": id, "success": true, "payload": payload})
	return string(text) + "\n"
}

// TestHelloWithoutARequiredMember: without any one member that the schema requires, the
// window is incompatible. Only a missing access has a meaning: agents may read.
func TestHelloWithoutARequiredMember(t *testing.T) {
	eachSpoilt(t, func(location, mode string, hello map[string]any) {
		if mode == "null" && (location == "/workspace" || location == "/state/browser") {
			return // it may be null
		}
		t.Run(location+"/"+mode, func(t *testing.T) {
			c, err := dialScript(t, success(1, hello))
			switch {
			case !isAccess(location):
				if !errors.Is(err, errIncompatible) {
					t.Errorf("dial returns %v", err)
				}
			case err != nil:
				t.Error(err)
			case c.hello.State.Access.Mode != AccessView:
				t.Errorf("access is %+v", c.hello.State.Access)
			}
		})
	})
}

// TestStateThatIsSpoilt: after an invalid event, the earlier access is no longer
// allowed.
func TestStateThatIsSpoilt(t *testing.T) {
	var whole struct{ State any }
	must.Do(t, json.Unmarshal([]byte(fullHello), &whole))
	listen := success(2, map[string]any{"session": "s", "seq": 0, "state": whole.State})
	eachSpoilt(t, func(location, mode string, hello map[string]any) {
		if mode != "of another type" || !strings.HasPrefix(location, "/state/") {
			return
		}
		t.Run(location, func(t *testing.T) {
			event, _ := json.Marshal(map[string]any{"type": "state", "seq": 1, "payload": hello["state"]})
			home(t)
			w := Watch(fake(t, name(t, 0), script(success(1, json.RawMessage(fullHello)), listen+string(event)+"\n")),
				DialOptions{})
			defer w.Close()
			for {
				now, changed := w.Snapshot()
				if isAccess(location) && now.Connected && now.State.Access.Mode == AccessView || !isAccess(location) &&
					errors.Is(now.Err, errIncompatible) {
					return
				}
				select {
				case <-changed:
				case <-time.After(30 * time.Second):
					t.Fatalf("the window is %+v", now)
				}
			}
		})
	})
}

// TestUnknownAccess: any unknown mode counts as view.
func TestUnknownAccess(t *testing.T) {
	for _, access := range []string{
		`null`, `{}`, `[]`, `"full"`, `7`, `{"mode":"full"}`, `{"mode":"FULL","stopped":[]}`,
		`{"Mode":"full","stopped":[]}`,
		`{"mode":"everything","stopped":[]}`, `{"mode":["full"],"stopped":[]}`, `{"mode":"full","stopped":"x"}`,
		`{"mode":"full","stopped":[1]}`, `{"mode":"full","stopped":[],"takenOver":"yes"}`,
		`{"mode":"full","stopped":[],"takenOver":null}`,
	} {
		t.Run(access, func(t *testing.T) {
			hello := strings.Replace(fullHello, `{"mode":"full","stopped":[]}`, access, 1)
			c := must.Get(dialScript(t, success(1, json.RawMessage(hello))))(t)
			if got := c.hello.State.Access; got.Mode != AccessView {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

// TestListsOfAStateAreBounded: 1,000 items are accepted. A hello and an event with more are
// not decoded item by item, which takes seconds for 70,000: the window is incompatible. With
// more stopped clients it is not known who is stopped, so that all may only read. The schema
// has the same bounds, and this package's windows keep them.
func TestListsOfAStateAreBounded(t *testing.T) {
	s := must.Get(newServer(ServerOptions{Server: ServerInfo{Name: "test", Kind: "terminal"}}))(t)
	defer s.cancel()
	for name, c := range map[string]struct {
		sessions, pages, stopped int
		usable                   bool
		mode                     AccessMode
	}{
		"full":     {maxItems, maxItems, maxItems, true, AccessFull},
		"sessions": {maxItems + 1, 0, 0, false, ""},
		"pages":    {0, maxItems + 1, 0, false, ""},
		"stopped":  {0, 0, maxItems + 1, true, AccessView},
	} {
		t.Run(name, func(t *testing.T) {
			state := State{
				DebugSessions: slices.Repeat([]DebugSession{{ID: "d", Name: "D", Type: "t"}}, c.sessions),
				Pages: slices.Repeat([]PageEndpoint{{DebugSession: "d", Name: "P",
					URL: "ws://127.0.0.1:2/x"}}, c.pages),
				Access: Access{Mode: AccessFull, Stopped: slices.Repeat([]string{"c"}, c.stopped)},
			}.normal()
			fits := c.mode == AccessFull
			text := must.Get(json.Marshal(state))(t)
			if err := schemaOf(t, "State").Validate(decodeAny(t, text)); fits != (err == nil) {
				t.Errorf("the schema returns %v", err)
			}
			if err := s.SetState(state); fits != (err == nil) {
				t.Errorf("SetState returns %v", err)
			}
			hello := map[string]any{}
			json.Unmarshal([]byte(fullHello), &hello)
			hello["state"] = state
			dialed, err := dialScript(t, success(1, hello))
			if c.usable != (err == nil) || !c.usable && !errors.Is(err, errIncompatible) {
				t.Fatalf("dial returns %v", err)
			}
			if c.usable && dialed.hello.State.Access.Mode != c.mode {
				t.Errorf("access is %s", dialed.hello.State.Access.Mode)
			}
		})
	}
}

// TestIntegersInEveryForm: a client accepts integers in every JSON notation.
func TestIntegersInEveryForm(t *testing.T) {
	hello := strings.NewReplacer(`"version":2`, `"version":2.0`, `"pid":1`, `"pid":10e-1`, `"seq":0`, `"seq":0e0`,
		`"revision":0`, `"revision":-0.0`,
		`"line":1`, `"line":1E0`, `"endColumn":2`, `"endColumn":0.2e1`).Replace(fullHello)
	answer := strings.Replace(success(1, json.RawMessage(hello)), `"id":1,`, `"id":1.0,`, 1)
	result := `{"id":2e0,"success":true,"payload":{"result":{"session":"s","thread":3.0,"state":"paused",` +
		`"frame":{"id":1e1,"name":"f","line":12.0}}}}` + "\n"
	c := must.Get(dialScript(t, answer, result))(t)
	if h := c.hello; h.Version != 2 || h.PID != 1 || h.State.Editor.Line != 1 || h.State.Editor.EndColumn != 2 {
		t.Errorf("the hello is %+v", h)
	}
	var step StepResult
	if err := c.call(t.Context(), "debug.step", StepArg{Action: "over"}, &step); err != nil || *step.Thread != 3 ||
		step.Frame.ID != 10 || step.Frame.Line != 12 {
		t.Errorf("the result is %+v, %v", step, err)
	}
}

// TestEndpointsThatAreNotOnLoopback: no client connects to them.
func TestEndpointsThatAreNotOnLoopback(t *testing.T) {
	for _, url := range []string{
		"ws://192.0.2.1:9222/x", "ws://evil.example:80/x", "ws://127.0.0.1:80@evil.example/x",
		"ws://127.0.0.1.evil.example:80/x", "ws://127.0.0.1/x",
		"wss://127.0.0.1:1/x", "http://127.0.0.1:1/x", "ws://user@127.0.0.1:1/x", "ws://[::ffff:192.0.2.1]:1/x",
		"file:///etc/passwd", "",
	} {
		for _, endpoint := range []string{"ws://127.0.0.1:1/x", "ws://127.0.0.1:2/x"} {
			t.Run(url+" for "+endpoint, func(t *testing.T) {
				hello := strings.Replace(fullHello, endpoint, url, 1)
				if _, err := dialScript(t, success(1, json.RawMessage(hello))); !errors.Is(err, errIncompatible) {
					t.Errorf("dial returns %v", err)
				} else if url != "" && strings.Contains(err.Error(), url) {
					t.Errorf("the error has the secret: %v", err)
				}
			})
		}
	}
}

// TestHelloOfAnotherWorkspace: a window gets only requests for the workspace that its
// address names.
func TestHelloOfAnotherWorkspace(t *testing.T) {
	folder := home(t)
	for name, test := range map[string]struct {
		key, workspace string
		fits           bool
	}{
		"its own":                   {Hash(folder), `"` + folder + `"`, true},
		"another's":                 {Hash(folder), `"/elsewhere"`, false},
		"none":                      {Hash(folder), `null`, false},
		"none, without a folder":    {"pid-7", `null`, true},
		"one, and without a folder": {"pid-7", `"` + folder + `"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			hello := strings.Replace(fullHello, `"workspace":null`, `"workspace":`+test.workspace, 1)
			for _, suffix := range []string{"", "-2"} {
				a := fake(t, socketPath(t, test.key+suffix), script(success(1, json.RawMessage(hello))))
				c, err := dial(t.Context(), a, DialOptions{})
				if err == nil {
					c.close()
				}
				if test.fits != (err == nil) || !test.fits && !errors.Is(err, errIncompatible) {
					t.Errorf("dial returns %v", err)
				}
				os.Remove(string(a))
			}
		})
	}
}
