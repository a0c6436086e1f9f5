package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// meanwhile does something, and returns a channel that is closed when it is done.
func meanwhile(do func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	return done
}

// Two agents and a CDP client share one connection to the user's own browser, of which they see
// their own tabs only. The user is asked once, and again when the program that had the
// connection is gone and somebody needs it.
func TestUsersOwnBrowser(t *testing.T) {
	longtest.Require(t)
	sample, dir := toolstest.ServeSample(t), t.TempDir()
	screen := desktoptest.Start(t)
	profile := filepath.Join(t.TempDir(), "profile")
	screen.Browser(profile, true, sample+"/?the-users")
	agent := func(extra ...string) (*toolstest.Agent, func() error) {
		cmd := command(context.Background(), t, dir, append([]string{"mcp", "--attach", profile}, extra...)...)
		cmd.Dir = toolstest.Folder(t, "shop")
		must.Do(t, os.WriteFile(filepath.Join(cmd.Dir, "report.pdf"), []byte("a report"), 0o600))
		return startHost(t, cmd), func() error { return cmd.Process.Kill() }
	}
	first, kill := agent("--access", "full")
	second, _ := agent("--access", "full")
	careful, _ := agent()

	screen.Press(desktoptest.Allow, meanwhile(func() { first.Open(sample + "/?first") }))
	second.Open(sample + "/?second")
	served := start(t, dir, "serve", "--attach", profile, "--access", "full", "--workspace", toolstest.Folder(t, "other"))
	client := dialEndpoint(t, served.first)
	var targets struct{ TargetInfos []struct{ URL string } }
	client.Call("", "Target.getTargets", "", &targets)
	if len(targets.TargetInfos) != 2 {
		t.Errorf("the client sees %+v", targets)
	}
	if tabs := second.Must("browser_tabs", args{"action": "list"}); strings.Contains(tabs, "the-users") ||
		!strings.Contains(tabs, "?second") {
		t.Errorf("an agent sees %s", tabs)
	}
	second.Evaluate(`() => document.body.innerHTML = '<input type=file>'`)
	second.Refused("browser_file_upload", args{"target": "[type=file]", "paths": []string{"report.pdf"}},
		"Ask the user to choose the file in the tab")
	careful.Refused("browser_navigate", args{"url": sample}, "its user cannot be asked here")
	if screen.HasQuestion() {
		t.Error("the user is asked again")
	}
	if text := output(t, dir, "status"); !strings.Contains(text, "is connected (process ") ||
		!strings.Contains(text, profile) || strings.Contains(text, "the-users") {
		t.Errorf("the status: %s", text)
	}
	// Nothing of the user's tabs is in a log or another file.
	must.Do(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(path, profile) {
			return nil // it has gone meanwhile
		}
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "the-users") {
			t.Errorf("%s names the user's tab", path)
		}
		return nil
	}))
	// The connection outlives the program that asked first.
	must.Do(t, kill())
	second.Must("browser_navigate", args{"url": sample + "/?on"})
	client.Call("", "Browser.getVersion", "", nil)
	if screen.HasQuestion() {
		t.Error("the user is asked again")
	}
	// It ends with the process that has it, of which all are told.
	connections := must.Get(exec.Command("pgrep", "-f", userchrome.OwnerCommand+" "+profile).Output())(t)
	owner := must.Get(strconv.Atoi(strings.TrimSpace(string(connections))))(t)
	must.Do(t, syscall.Kill(owner, syscall.SIGKILL))
	screen.Press(desktoptest.Allow, meanwhile(func() {
		// The agent is told first what has happened, and gives up the wait of a call on a busy machine.
		for range 10 {
			_, err := second.Call("browser_navigate", args{"url": sample + "/?again"})
			if err == nil {
				return
			}
			t.Log(err)
		}
	}))
	second.Expect("browser_tabs", args{"action": "list"}, "?again")
}

// `coordinator close` ends a session of a shell that has asked first, and neither a window nor an
// `attach` that joined it. The window outlives the browser, too: an agent has it connected again.
func TestOwnBrowserOutlivesSession(t *testing.T) {
	longtest.Require(t)
	sample, dir, shop, other := toolstest.ServeSample(t), t.TempDir(), toolstest.Folder(t, "shop"),
		toolstest.Folder(t, "other")
	screen := desktoptest.Start(t)
	profile := filepath.Join(t.TempDir(), "profile")
	browser := screen.Browser(profile, true)
	shell := func(args ...string) *exec.Cmd {
		cmd := command(t.Context(), t, dir, args...)
		cmd.Dir = shop
		return cmd
	}
	var out []byte
	screen.Press(desktoptest.Allow, meanwhile(func() {
		must.Do(t, shell("start", "--attach", profile, "--access", "full").Run())
		for range 10 { // a call does not wait for the user for long
			var err error
			if out, err = shell("open", sample+"/?session").CombinedOutput(); err == nil {
				return
			}
		}
	}))
	if !strings.Contains(string(out), "?session") {
		t.Fatalf("the session: %s", out)
	}
	attached, _ := openTerminal(t, command(context.Background(), t, dir, "attach", profile), wide)
	attached.await(t, "is connected. Programs with --attach join")
	window, _ := openTerminal(t, command(context.Background(), t, dir, "window", "--attach", profile, "--access", "full",
		"--workspace", other), wide)
	window.await(t, "is ready; press Ctrl+C to end.")
	must.Do(t, shell("close").Run())
	agent := host(t, dir, other)
	agent.Must("browser_navigate", args{"url": sample + "/?window"})
	if screen.HasQuestion() || strings.Contains(attached.String()+window.String(), "has ended") {
		t.Errorf("after the session: asked: %v\n%s\n%s", screen.HasQuestion(), attached, window)
	}

	browser.End()
	window.await(t, "the browser has ended")
	agent.Refused("browser_navigate", args{"url": sample}, "debug_start")
	screen.Browser(profile, true)
	if screen.HasQuestion() {
		t.Error("the browser asks, and nobody needs it")
	}
	screen.Press(desktoptest.Allow, meanwhile(func() { agent.Must("debug_start", nil) }))
	agent.Expect("browser_navigate", args{"url": sample + "/?again"}, "?again")
}

// In a window on a terminal an agent asks for one of the user's tabs, also in the mode full. The
// user chooses it on the terminal or in the page of `coordinator show`, where the user also hands
// tabs over, and takes them back.
func TestTabsOfTerminalWindow(t *testing.T) {
	longtest.Require(t)
	sample, dir, shop := toolstest.ServeSample(t), t.TempDir(), toolstest.Folder(t, "shop")
	screen := desktoptest.Start(t)
	profile := filepath.Join(t.TempDir(), "profile")
	screen.Browser(profile, true, sample+"/?the-users", "data:text/html,<title>elsewhere</title>")
	cmd := command(context.Background(), t, dir, "window", "--attach", profile, "--access", "full", "--workspace", shop)
	display, keys := openTerminal(t, cmd, wide)
	screen.Press(desktoptest.Allow, meanwhile(func() { display.await(t, "is ready; press Ctrl+C to end.") }))
	agent := host(t, dir, shop)
	request := args{"action": "request", "url": sample}
	list := args{"action": "list"}

	asked := meanwhile(func() {
		agent.Expect("browser_tabs", request, "The user handed over a tab", "?the-users (current)")
	})
	display.await(t, "wants to use a tab that you choose, if possible one of 127.0.0.1:",
		"Its number, or n (none)")
	if text := display.String(); strings.Index(text, sample) > strings.Index(text, "elsewhere  data:") {
		t.Errorf("the tab of the site is not the first: %s", text)
	}
	fmt.Fprintln(keys, "1")
	<-asked

	shown, _ := openTerminal(t, command(context.Background(), t, dir, "show", "--no-open"), wide)
	shown.await(t, "it works once")
	show := openShown(t, regexp.MustCompile(`http://\S+/#\w+`).FindString(shown.String()))
	window := show.await(t, func(w shownWindow) bool { return w.Own != "" })
	tabs := func(command, tab string) (all []userchrome.Tab) {
		t.Helper()
		must.Do(t, json.Unmarshal(show.call(t, window.Key, command, args{"own": window.Own, "tab": tab}), &all))
		return all
	}
	all := tabs("tab.list", "")
	if len(all) != 2 || !all[0].HandedOver || all[0].Origin != sample || all[1].HandedOver {
		t.Fatalf("the tabs: %+v", all)
	}
	if left := tabs("tab.takeBack", all[0].ID); left[0].HandedOver || left[1].HandedOver {
		t.Errorf("taken back: %+v", left)
	}
	if text := agent.Must("browser_tabs", list); strings.Contains(text, "the-users") {
		t.Errorf("a tab that was taken back: %s", text)
	}
	asked = meanwhile(func() { agent.Expect("browser_tabs", args{"action": "request"}, "elsewhere") })
	question := show.await(t, func(w shownWindow) bool { return len(w.Questions) == 1 }).Questions[0]
	show.call(t, window.Key, "permission.answer", vscodeipc.AnswerArg{Question: question.ID, Choice: "once",
		Last: question.Actions[0].Number, Tab: all[1].ID})
	<-asked
	tabs("tab.handOver", all[0].ID)
	agent.Expect("browser_tabs", list, "?the-users", "elsewhere")

	agent.Refused("browser_tabs", request, "no tab that could be handed over")
	chosen, choice := openTerminal(t, command(context.Background(), t, dir, "hand-over"), wide)
	chosen.await(t, "  1  ", "(agents may use it)", "Its number, or nothing: ")
	fmt.Fprintln(choice, "1")
	chosen.await(t, "can no longer use the tab")
	if screen.HasQuestion() {
		t.Error("the browser asks again")
	}
}

// TestOwnChromeRunsOn: when the program that has the connection to the user's own browser is stopped or killed during
// a call, no answer says that the browser or its tabs ended, or that a page is at fault, to an agent, in a window and in
// the shell. Each says what to do next, and that works.
func TestOwnChromeRunsOn(t *testing.T) {
	longtest.Require(t)
	began := make(chan string, 10)
	site := toolstest.Serve(t, func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/began" {
			began <- r.URL.RawQuery
		}
		out.Header().Set("Content-Type", "text/html")
		fmt.Fprint(out, "<title>Runs on</title>")
	})
	dir, alone, shop, other := t.TempDir(), toolstest.Folder(t, "alone"), toolstest.Folder(t, "shop"),
		toolstest.Folder(t, "other")
	screen := desktoptest.Start(t)
	profile := filepath.Join(t.TempDir(), "profile")
	screen.Browser(profile, true)
	agent := host(t, dir, alone, "--attach", profile, "--access", "full")
	screen.Press(desktoptest.Allow, meanwhile(func() { agent.Open(site + "/?agent") }))
	start(t, dir, "window", "--attach", profile, "--access", "full", "--workspace", other)
	inWindow := host(t, dir, other)
	inWindow.Open(site + "/?window")
	shell := func(args ...string) (string, error) {
		cmd := command(t.Context(), t, dir, args...)
		cmd.Dir = shop
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{"start", "--attach", profile, "--access", "full"}, {"open", site + "/?shell"}} {
		if out, err := shell(args...); err != nil {
			t.Fatal(args, err, out)
		}
	}
	const script = "() => { fetch('/began' + location.search); return new Promise(() => {}) }"
	calls := map[string]func() (string, error){
		"agent":  func() (string, error) { return agent.Call("browser_evaluate", args{"function": script}) },
		"window": func() (string, error) { return inWindow.Call("browser_evaluate", args{"function": script}) },
		"shell": func() (string, error) {
			out, err := shell("eval", script)
			if err != nil {
				err = errors.New(out)
			}
			return out, err
		},
	}
	// during has each call under way when the owner gets a signal, and returns the errors.
	during := func(signal syscall.Signal) (owner int, failed map[string]string) {
		t.Helper()
		type outcome struct{ who, text string }
		outcomes := make(chan outcome)
		for who, call := range calls {
			go func() {
				text, err := call()
				if err != nil {
					text = err.Error()
				}
				outcomes <- outcome{who, text}
			}()
		}
		for range calls {
			<-began
		}
		found := must.Get(exec.Command("pgrep", "-f", userchrome.OwnerCommand+" "+profile).Output())(t)
		owner = must.Get(strconv.Atoi(strings.TrimSpace(string(found))))(t)
		must.Do(t, syscall.Kill(owner, signal))
		failed = map[string]string{}
		for range calls {
			o := <-outcomes
			failed[o.who] = o.text
		}
		return owner, failed
	}
	expect := func(failed map[string]string, want func(who string) []string) {
		t.Helper()
		for who, text := range failed {
			for _, each := range want(who) {
				if !strings.Contains(text, each) {
					t.Errorf("%s: %q is not in %s", who, each, text)
				}
			}
			for _, wrong := range []string{"logins", "script", "lives on", "debug session", "has gone"} {
				if strings.Contains(text, wrong) {
					t.Errorf("%s: %q is in %s", who, wrong, text)
				}
			}
		}
	}

	owner, failed := during(syscall.SIGSTOP)
	expect(failed, func(string) []string {
		return []string{"does not respond", "Chrome itself runs on, with its tabs", "coordinator status", "call again"}
	})
	if text := output(t, dir, "status"); !strings.Contains(text, fmt.Sprintf("(process %d) does not respond", owner)) {
		t.Errorf("the status: %s", text)
	}
	agent.Refused("browser_tabs", args{"action": "list"}, "Chrome itself runs on, with its tabs")
	must.Do(t, syscall.Kill(owner, syscall.SIGCONT))
	const title = "() => document.title + location.search"
	agent.ExpectValue(title, `"Runs on?agent"`)
	inWindow.ExpectValue(title, `"Runs on?window"`)
	if out, err := shell("eval", title); err != nil || !strings.Contains(out, "Runs on?shell") {
		t.Error("the shell:", err, out)
	}

	_, failed = during(syscall.SIGKILL)
	expect(failed, func(who string) []string {
		next := "The next call connects again"
		if who == "window" {
			next = "Connect again with debug_start"
		}
		return []string{"ends neither Chrome nor its tabs", next, "Then open a tab"}
	})
	screen.Press(desktoptest.Allow, meanwhile(func() { inWindow.Must("debug_start", nil) }))
	inWindow.Must("browser_navigate", args{"url": site + "/?again"})
	agent.Must("browser_navigate", args{"url": site + "/?again"})
	if out, err := shell("open", site+"/?again"); err != nil {
		t.Error("the shell:", err, out)
	}
	if out, err := shell("close"); err != nil {
		t.Error("the shell:", err, out)
	}
}
