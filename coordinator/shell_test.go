package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// servePages serves what the commands of the shell work in.
func servePages(t *testing.T) (url string) {
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			fmt.Fprint(w, `<!doctype html><title>Long</title><main><h1>Long</h1><button
onclick="for (let i = 0; i < 100; i++) rows.insertAdjacentHTML('beforeend', '<p>This is row ' + i + ' of many</p>')"
>Add</button><div id="rows"></div>`)
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

// otherVersionMain is the coordinator of another version.
func otherVersionMain() {
	release = "0.0.9"
	main()
}

// `expect` with nothing to expect fails, also with a time, and a name that is none is followed by those
// that are.
func TestNothingIsGuessed(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"expect"}, "nothing to wait for"},
		{[]string{"expect", "--time", "1"}, "nothing to wait for"},
		{[]string{"mcp", "--attach", "chromee"}, "want one of chrome, chrome-beta"},
	} {
		cmd := command(t.Context(), t, dir, c.args...)
		cmd.Dir = shop
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
	closing := command(t.Context(), t, dir, "close")
	closing.Dir = shop
	must.Do(t, closing.Run())
}

// Another user reaches no session, also with the path of its folder.
func TestOtherUsersSession(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can be another user too")
	}
	dir, err := os.MkdirTemp("", "t") // which others can enter, unlike those of tests
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "coordinator")
	exe, err := os.Executable()
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), exec.Command("cp", exe, program).Run())
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := toolstest.Folder(t, "shop")
	run := func(name string, args ...string) (string, error) {
		cmd := command(t.Context(), t, dir, args...)
		cmd.Path, cmd.Dir = program, folder
		if name == "other" {
			cmd.SysProcAttr, cmd.Dir = asUser(54321), "/"
			cmd.Args = append(cmd.Args, "--session", "mine")
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("own", "tabs", "--session", "mine"); err != nil {
		t.Fatal(err, out)
	}
	defer run("own", "close", "--all")
	for _, command := range []string{"tabs", "close"} {
		out, err := run("other", command)
		if err == nil || !strings.Contains(out, "permission denied") {
			t.Errorf("%s by another user: %v, %s", command, err, out)
		}
	}
	if out, err := run("own", "sessions"); err != nil || !strings.Contains(out, "mine") {
		t.Error(err, out)
	}
}
