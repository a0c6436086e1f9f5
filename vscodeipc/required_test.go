//go:build unix

package vscodeipc_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// fullHello is a hello with every member of the schema, for a window without a folder.
const fullHello = `{"version":2,"server":{"name":"x","version":"1","kind":"vscode"},"session":"s","pid":1,"workspace":null,
"folders":["/x"],"commands":["c"],"events":["state"],"seq":0,"state":{"revision":0,
"debugSessions":[{"id":"d","name":"D","type":"pwa-chrome","parent":"p"}],
"browser":{"url":"ws://127.0.0.1:1/x","product":"Chrome","debugSession":"d","via":"injected"},
"pages":[{"debugSession":"d","name":"P","url":"ws://127.0.0.1:2/x"}],
"access":{"mode":"full","stopped":[]},
"editor":{"path":"/x/a","line":1,"column":1,"endLine":1,"endColumn":2,"dirty":true}}}`

// place is the path of a member: names, and indices in lists.
type place []any

func (p place) String() string {
	var b strings.Builder
	for _, step := range p {
		fmt.Fprintf(&b, "/%v", step)
	}
	return b.String()
}

func (p place) isAccess() bool { return strings.HasPrefix(p.String(), "/state/access") }

// change returns a copy of a value with the member replaced or removed.
func (p place) change(t *testing.T, of string, to func(holder map[string]any, name string)) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(of), &root); err != nil {
		t.Fatal(err)
	}
	var at any = root
	for _, step := range p[:len(p)-1] {
		if i, ok := step.(int); ok {
			at = at.([]any)[i]
		} else {
			at = at.(map[string]any)[step.(string)]
		}
	}
	to(at.(map[string]any), p[len(p)-1].(string))
	return root
}

// requiredOf lists what the schema requires of a value, down to its leaves.
func requiredOf(t *testing.T, defs map[string]any, def string, value map[string]any, at place) (places []place) {
	t.Helper()
	schema := defs[def].(map[string]any)
	for _, name := range schema["required"].([]any) {
		places = append(places, append(append(place{}, at...), name))
	}
	for name, property := range schema["properties"].(map[string]any) {
		in := append(append(place{}, at...), name)
		refs := refsOf(property.(map[string]any))
		for _, ref := range refs {
			if ref == "AnyState" {
				ref = "State"
			}
			if _, isObject := defs[ref].(map[string]any)["properties"]; !isObject {
				continue
			}
			switch v := value[name].(type) {
			case map[string]any:
				places = append(places, requiredOf(t, defs, ref, v, in)...)
			case []any:
				places = append(places, requiredOf(t, defs, ref, v[0].(map[string]any), append(in, 0))...)
			default:
				t.Fatalf("the hello of this test has no %v", in)
			}
		}
	}
	return places
}

func refsOf(property map[string]any) (refs []string) {
	if ref, ok := property["$ref"].(string); ok {
		refs = append(refs, strings.TrimPrefix(ref, "#/$defs/"))
	}
	if items, ok := property["items"].(map[string]any); ok {
		refs = append(refs, refsOf(items)...)
	}
	if choices, ok := property["anyOf"].([]any); ok {
		for _, each := range choices {
			refs = append(refs, refsOf(each.(map[string]any))...)
		}
	}
	return refs
}

func requiredOfHello(t *testing.T) []place {
	t.Helper()
	text, err := os.ReadFile("../specs/window-protocol/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]any `json:"$defs"`
	}
	var hello map[string]any
	if err := errors.Join(json.Unmarshal(text, &schema), json.Unmarshal([]byte(fullHello), &hello)); err != nil {
		t.Fatal(err)
	}
	places := requiredOf(t, schema.Defs, "Hello", hello, nil)
	if len(places) < 25 {
		t.Fatalf("the schema requires only %v", places)
	}
	return places
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

// scripted is a window that answers its n-th line with the n-th of lines.
func scripted(t *testing.T, lines ...string) vscodeipc.Address {
	t.Helper()
	home(t)
	l, address := listenAs(t)
	ended := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			speak(conn, lines)
			conn.Close()
		}
	}()
	return address
}

func speak(conn net.Conn, lines []string) {
	heard := bufio.NewScanner(conn)
	for _, line := range lines {
		if !heard.Scan() {
			return
		}
		conn.Write([]byte(line))
	}
	heard.Scan() // until the client disconnects
}

func success(id int, payload any) string {
	text, _ := json.Marshal(map[string]any{"id": id, "success": true, "payload": payload})
	return string(text) + "\n"
}

// TestHelloWithoutARequiredMember: without any one member that the schema requires, the
// window is incompatible. Only a missing access has a meaning: agents may read.
func TestHelloWithoutARequiredMember(t *testing.T) {
	for _, member := range requiredOfHello(t) {
		for how, spoil := range spoilt {
			mayBeNull := member.String() == "/workspace" || member.String() == "/state/browser"
			if how == "null" && mayBeNull {
				continue
			}
			t.Run(member.String()+"/"+how, func(t *testing.T) {
				c, err := vscodeipc.Dial(t.Context(), scripted(t, success(1, member.change(t, fullHello, spoil))), nil)
				if err == nil {
					defer c.Close()
				}
				switch {
				case !member.isAccess():
					if !errors.Is(err, vscodeipc.ErrIncompatible) {
						t.Errorf("Dial returns %v", err)
					}
				case err != nil:
					t.Error(err)
				case c.Hello().State.Access.Mode != vscodeipc.AccessView:
					t.Errorf("access is %+v", c.Hello().State.Access)
				}
			})
		}
	}
}

// TestStateThatIsSpoilt: after an invalid event, the earlier access is no longer
// allowed.
func TestStateThatIsSpoilt(t *testing.T) {
	for _, member := range requiredOfHello(t) {
		if member[0] != "state" || len(member) == 1 {
			continue
		}
		t.Run(member.String(), func(t *testing.T) {
			var whole struct{ State any }
			if err := json.Unmarshal([]byte(fullHello), &whole); err != nil {
				t.Fatal(err)
			}
			event, _ := json.Marshal(map[string]any{"type": "state", "seq": 1, "payload": member.change(t, fullHello, spoilt["of another type"])["state"]})
			listen := success(2, map[string]any{"session": "s", "seq": 0, "resumed": false, "state": whole.State})
			w := vscodeipc.Watch(scripted(t, success(1, json.RawMessage(fullHello)), listen+string(event)+"\n"), nil)
			defer w.Close()
			for {
				now, changed := w.Snapshot()
				if member.isAccess() && now.Connected && now.State.Access.Mode == vscodeipc.AccessView {
					return
				}
				if !member.isAccess() && errors.Is(now.Err, vscodeipc.ErrIncompatible) {
					return
				}
				select {
				case <-changed:
				case <-time.After(20 * time.Second):
					t.Fatalf("the window is %+v", now)
				}
			}
		})
	}
}

// TestUnknownAccess: any unknown mode counts as view.
func TestUnknownAccess(t *testing.T) {
	for _, access := range []string{
		`null`, `{}`, `[]`, `"full"`, `7`, `{"mode":"full"}`, `{"mode":"FULL","stopped":[]}`, `{"Mode":"full","stopped":[]}`,
		`{"mode":"everything","stopped":[]}`, `{"mode":["full"],"stopped":[]}`, `{"mode":"full","stopped":"x"}`, `{"mode":"full","stopped":[1]}`,
	} {
		t.Run(access, func(t *testing.T) {
			hello := strings.Replace(fullHello, `{"mode":"full","stopped":[]}`, access, 1)
			c, err := vscodeipc.Dial(t.Context(), scripted(t, success(1, json.RawMessage(hello))), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := c.Hello().State.Access; got.Mode != vscodeipc.AccessView {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

// TestIntegersInEveryForm: a client accepts integers in every JSON notation.
func TestIntegersInEveryForm(t *testing.T) {
	hello := strings.NewReplacer(`"version":2`, `"version":2.0`, `"pid":1`, `"pid":10e-1`, `"seq":0`, `"seq":0e0`, `"revision":0`, `"revision":-0.0`,
		`"line":1`, `"line":1E0`, `"endColumn":2`, `"endColumn":0.2e1`).Replace(fullHello)
	answer := strings.Replace(success(1, json.RawMessage(hello)), `"id":1,`, `"id":1.0,`, 1)
	result := `{"id":2e0,"success":true,"payload":{"result":{"session":"s","thread":3.0,"state":"paused","frame":{"id":1e1,"name":"f","line":12.0}}}}` + "\n"
	c, err := vscodeipc.Dial(t.Context(), scripted(t, answer, result), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if h := c.Hello(); h.Version != 2 || h.PID != 1 || h.State.Editor.Line != 1 || h.State.Editor.EndColumn != 2 {
		t.Errorf("the hello is %+v", h)
	}
	var step vscodeipc.StepResult
	if err := c.Call(t.Context(), "debug.step", vscodeipc.StepArg{Action: "over"}, &step); err != nil || *step.Thread != 3 || step.Frame.ID != 10 || step.Frame.Line != 12 {
		t.Errorf("the result is %+v, %v", step, err)
	}
}

// TestEndpointsThatAreNotOnLoopback: no client connects to them.
func TestEndpointsThatAreNotOnLoopback(t *testing.T) {
	for _, url := range []string{
		"ws://192.0.2.1:9222/x", "ws://evil.example:80/x", "ws://127.0.0.1:80@evil.example/x", "ws://127.0.0.1.evil.example:80/x", "ws://127.0.0.1/x",
		"wss://127.0.0.1:1/x", "http://127.0.0.1:1/x", "ws://user@127.0.0.1:1/x", "ws://[::ffff:192.0.2.1]:1/x", "file:///etc/passwd", "",
	} {
		for _, own := range []string{"ws://127.0.0.1:1/x", "ws://127.0.0.1:2/x"} {
			t.Run(url+" for "+own, func(t *testing.T) {
				hello := strings.Replace(fullHello, own, url, 1)
				if _, err := vscodeipc.Dial(t.Context(), scripted(t, success(1, json.RawMessage(hello))), nil); !errors.Is(err, vscodeipc.ErrIncompatible) {
					t.Errorf("Dial returns %v", err)
				} else if url != "" && strings.Contains(err.Error(), url) {
					t.Errorf("the error tells the secret: %v", err)
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
		"its own":                   {vscodeipc.Hash(folder), `"` + folder + `"`, true},
		"another's":                 {vscodeipc.Hash(folder), `"/elsewhere"`, false},
		"none":                      {vscodeipc.Hash(folder), `null`, false},
		"none, without a folder":    {"pid-7", `null`, true},
		"one, and without a folder": {"pid-7", `"` + folder + `"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			hello := strings.Replace(fullHello, `"workspace":null`, `"workspace":`+test.workspace, 1)
			for _, suffix := range []string{"", "-2"} {
				answer := success(1, json.RawMessage(hello))
				path := strings.Replace(socketPath(t, folder), vscodeipc.Hash(folder), test.key+suffix, 1)
				answering(t, path, func([]byte) []byte { return []byte(answer) })
				c, err := vscodeipc.Dial(t.Context(), vscodeipc.Address(path), nil)
				if err == nil {
					c.Close()
				}
				if test.fits != (err == nil) || !test.fits && !errors.Is(err, vscodeipc.ErrIncompatible) {
					t.Errorf("Dial returns %v", err)
				}
				os.Remove(path)
			}
		})
	}
}
