package tools_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// An answer shows the beginning of the page in a tab that the action has opened, with refs that
// work there, and mentions a popup that has closed itself meanwhile.
func TestAnswersShowOpenedTabs(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/offer":
			io.WriteString(w, `<!doctype html><title>Offer</title><h1>Tea for two</h1>
<button onclick="this.textContent='Taken'">Take it</button>`)
		case "/brief":
			io.WriteString(w, `<!doctype html><title>Brief</title>
<script>opener.postMessage('done', '*'); window.close()</script>`)
		default:
			io.WriteString(w, `<!doctype html><title>Shop</title><a href=/offer target=_blank>Offer</a><button
  onclick="window.open('/offer')">Popup</button>
<button onclick="window.open('/brief')">Sign in</button><button
  onclick="window.open('', '', 'width=200').close()">Blink</button>
<p>signed out</p>
<script>addEventListener('message', () => { document.querySelector('p').textContent = 'signed in' })</script>`)
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	for _, opens := range []string{"Offer", "Popup"} {
		text := agent.Expect("browser_click", args{"target": "text=" + opens}, "A new tab opened: ", url+"/offer (tab ",
			`heading "Tea for two"`, `button "Take it"`)
		_, tab, _ := strings.Cut(text, "(tab ")
		index := int(tab[0] - '0')
		agent.Expect("browser_click", args{"target": toolstest.Ref(t, text, "button", "Take it"), "tab": index},
			`Clicked button "Take it"`)
	}
	text := agent.Expect("browser_click", args{"target": "text=Sign in"}, "A new tab opened")
	if !strings.Contains(text, "has closed again") { // a slow machine has it closed after the answer
		agent.Expect("browser_wait_for", args{"text": "signed in"})
	}
	agent.Expect("browser_click", args{"target": "text=Blink"}, "A new tab opened, and has closed again: about:blank")

	agent.Expect("browser_tabs", args{"action": "new", "url": url + "/offer"}, "Opened a tab; you work in it now.",
		"Offer", `heading "Tea for two"`, `button "Take it"`)
}
