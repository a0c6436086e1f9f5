package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"browser-coordinator/internal/toolstest"
)

// servePages serves what the commands of the shell work in.
func servePages(t *testing.T) (url string) {
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			fmt.Fprint(w, "<!doctype html><title>Long</title><main><h1>Long</h1>")
			for i := range 2000 {
				fmt.Fprintf(w, "<p>This is the line %d of a long text.</p>", i)
			}
		case "/missing":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, `<!doctype html><title>Tea</title><h1>Tea shop</h1>
<form onsubmit="event.preventDefault(); said.textContent = 'Thank you, ' + who.value">
<label>Name <input id="who"></label><label><input type="checkbox" id="news"> News</label>
<label>Size <select><option>Small<option>Large</select></label><button>Order</button></form>
<button ondblclick="said.textContent = 'Twice'">Double</button>
<button onclick="said.textContent = 'Answer: ' + confirm('Sure?')">Ask</button>
<input type="file" aria-label="Receipt" onchange="said.textContent = 'Got ' + files[0].name">
<a href="/?second">Second</a><p id="said"></p>
<script>console.error('cold'); fetch('/missing')</script>`)
		}
	})
}

// endSessions ends the sessions of a script.
func endSessions(env *testscript.Env) {
	exe, err := os.Executable()
	if err != nil {
		env.T().Fatal(err)
	}
	end := exec.Command(exe)
	end.Args, end.Env, end.Dir = []string{"coordinator", "close", "--all"}, env.Vars, env.WorkDir
	if out, err := end.CombinedOutput(); err != nil {
		env.T().Fatal("coordinator close --all:", err, string(out))
	}
}
