package tools_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
)

// servePrompts serves a page whose controls make the browser ask its user something. The page
// counts the events that it gets.
func servePrompts(t *testing.T) (url string) {
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if strings.HasPrefix(r.URL.Path, "/private") && (user != "ada" || password != "tea") {
			w.Header().Set("WWW-Authenticate", `Basic realm="Staff"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/private") {
			fmt.Fprint(w, "<title>Private</title>for "+user)
			return
		}
		fmt.Fprint(w, `<!doctype html><title>Prompts</title><style>button, a, input { display: block; margin: 8px }</style>
<button onclick="fetch('/private/data')">Load</button>
<button onclick="document.body.append(Object.assign(document.createElement('iframe'), {src: '/private/frame'}))"
  >Frame</button>
<button onclick="location = '/private/page'">Go</button>
<button onclick="navigator.mediaDevices.getDisplayMedia()">Share</button>
<button onclick="navigator.credentials.get({publicKey: {challenge: new Uint8Array(16)}})">Passkey</button>
<a href="some-app://meeting/7">Join</a>
<input aria-label="Field"><button onclick="clicks++">Count</button><p onmousemove="moved = true">Hover</p>
<script>clicks = keys = 0; addEventListener('keydown', () => keys++)</script>`)
	})
}

// The browser's own prompts keep input from the page, and the response to an event is the same.
// No answer says that something was done which the page has not got, and each says which prompt it
// is and what to do.
func TestPromptsOfTheBrowser(t *testing.T) {
	t.Parallel()
	url := servePrompts(t)
	const prompt = "A prompt of the browser itself is open"
	local := strings.Replace(url, "127.0.0.1", "localhost", 1) // passkeys need a name
	for _, c := range []struct{ opens, names, remedy string }{
		{"Load", "/private/data", "http://USER:PASSWORD@host/"},
		{"Frame", "/private/frame", "http://USER:PASSWORD@host/"},
		{"Share", "a screen to share", "reload"},
		{"Passkey", "a passkey", "reload"},
		{"Join", "some-app://meeting/7", "another site"},
	} {
		t.Run(c.opens, func(t *testing.T) {
			t.Parallel()
			agent := toolstest.OpenWindow(t).Agent("vision")
			agent.Open(local)
			want := []string{"Clicked"}
			switch c.opens {
			case "Load", "Frame":
				want = append(want, prompt, c.names, c.remedy)
			case "Join":
				want = append(want, c.names)
			}
			agent.Expect("browser_click", args{"target": "text=" + c.opens}, want...)
			var err error
			for end := time.Now().Add(30 * time.Second); err == nil && time.Now().Before(end); {
				_, err = agent.Call("browser_click", args{"target": "text=Count"})
			}
			for _, want := range []string{"the page has not got the input", prompt, c.names, c.remedy} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			before := agent.Evaluate("() => [clicks, keys].join()")
			for _, refused := range []struct {
				tool string
				args args
			}{
				{"browser_press_key", args{"key": "a"}}, {"browser_press_key", args{"key": "b", "target": "input"}},
				{"browser_click", args{"target": "text=Count"}}, {"browser_hover", args{"target": "text=Hover"}},
				{"browser_mouse_click_xy", args{"x": 20, "y": 20}},
				{"browser_drag", args{"startTarget": "text=Hover", "endTarget": "text=Count"}},
			} {
				agent.Refused(refused.tool, refused.args, prompt)
			}
			agent.ExpectValue("() => [clicks, keys].join()", before)
			// text is no event, and arrives
			agent.Expect("browser_type", args{"target": "input", "text": "typed"}, "Typed into")
			agent.ExpectValue("() => document.querySelector('input').value", `"typed"`)
			// What the answer advises.
			second := url
			if c.opens != "Join" {
				second = local
			}
			agent.Open(second)
			agent.Expect("browser_click", args{"target": "text=Count"}, `Clicked button "Count".`)
			agent.ExpectValue("() => clicks", "1")
		})
	}
}

// A document that needs a user name and a password is reported at once, whoever opens it, with
// what to do; that works.
func TestDocumentsThatNeedALogin(t *testing.T) {
	t.Parallel()
	url, agent := servePrompts(t), toolstest.OpenWindow(t).Agent()
	start := time.Now()
	agent.Refused("browser_navigate", args{"url": url + "/private/direct"}, "the server wants a user and a password",
		"http://user:password@host/")
	agent.Refused("browser_tabs", args{"action": "new", "url": url + "/private/tab"},
		"the server wants a user and a password")
	agent.Open(url)
	agent.Expect("browser_click", args{"target": "text=Go"}, "/private/page → 401",
		"It asks for a user name and a password for "+url+"/private/page", "http://USER:PASSWORD@host/")
	agent.Refused("browser_press_key", args{"key": "a"},
		"It asks for a user name and a password for "+url+"/private/page")
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	agent.Expect("browser_navigate", args{"url": strings.Replace(url, "://", "://ada:tea@", 1) + "/private/page"},
		"Private")
	agent.Open(url)
	agent.Must("browser_click", args{"target": "text=Load"})
	agent.Expect("browser_click", args{"target": "text=Count"}, `Clicked button "Count".`)
}

// What else the browser keeps from an agent, or from the page, is named with its remedy.
func TestRefusalsOfTheBrowser(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/private" {
			w.Header().Set("WWW-Authenticate", `Basic realm="Staff"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `<!doctype html><title>Refusals</title><style>button, a, canvas { display: block; margin: 8px }</style>
<button onclick="showOpenFilePicker().catch(() => 0)">Open</button>
<button onclick="showSaveFilePicker().catch(() => 0)">Save</button>
<button onclick="showDirectoryPicker().catch(() => 0)">Folder</button>
<canvas id=game width=100 height=50 style="background:red" onclick="game.requestPointerLock()"></canvas>
<button onclick="clicks++">Count</button><a href="tel:+4911">Call</a>
<button onclick="const r = new XMLHttpRequest(); r.open('GET', '/private', false); r.send()">Sync</button>
<script>clicks = 0</script>`)
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	for _, name := range []string{"Open", "Save", "Folder"} {
		agent.Expect("browser_click", args{"target": "text=" + name}, "asks for a file or folder by showOpenFilePicker",
			"ask the user")
	}
	agent.Refused("browser_file_upload", args{"target": "text=Open", "paths": []string{}}, "showOpenFilePicker")
	agent.Must("browser_click", args{"target": "#game"})
	agent.Must("browser_wait_for", args{"expression": "document.pointerLockElement"})
	agent.Refused("browser_click", args{"target": "text=Count"}, `locked the mouse to <canvas id="game">`, "press Escape")
	agent.Must("browser_press_key", args{"key": "Escape"})
	agent.Must("browser_click", args{"target": "text=Count"})
	agent.ExpectValue("() => clicks", "1")
	agent.Refused("browser_click", args{"target": "text=Sync"}, "synchronous request, "+url+"/private",
		"name and a password")
}

// The prompt for another program is named also when the page has gone on.
func TestProgramPromptAfterANavigation(t *testing.T) {
	t.Parallel()
	url := servePrompts(t)
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_click", args{"target": "text=Join"})
	agent.Open(url + "/next")
	var err error
	for end := time.Now().Add(30 * time.Second); err == nil && time.Now().Before(end); {
		_, err = agent.Call("browser_click", args{"target": "text=Count"})
	}
	if err == nil || !strings.Contains(err.Error(), "still asks whether to open some-app://meeting/7") {
		t.Error(err)
	}
}
