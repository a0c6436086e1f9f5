package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/shell"
	"browser-coordinator/coordinator/skill"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/catalog"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// orderPage is a page with what the texts of the skill name.
const orderPage = `<!doctype html><title>Tea shop</title><link rel="icon" href="data:,">
<h1>Tea shop</h1><a href="/">Shop</a> <a href="/about">About</a>
<form id="form">
<label>Name <input id="who"></label>
<label>Size <select><option>Small<option>Large</select></label>
<label><input type="checkbox"> News</label>
<label>Delivery <input type="date"></label>
<label>Receipt <input type="file"></label>
<button>Order</button></form>
<p role="status" id="status"></p>
<button onclick="status.textContent = confirm('Delete all orders?') ? 'Deleted' : ''">Delete all</button>
<div id="list" aria-label="Orders" tabindex="0" style="height: 200px; overflow: auto"></div>
<script>
const status = document.getElementById("status"), who = document.getElementById("who");
form.onsubmit = async event => {
	event.preventDefault();
	const headers = {"Content-Type": "application/json"}, body = JSON.stringify({name: who.value});
	const response = await fetch("/api/orders", {method: "POST", headers, body});
	if (response.ok) return status.textContent = "Thank you, " + who.value;
	throw new Error((await response.json()).error);
};
let rows = 0;
const more = () => { for (const end = rows + 20; rows < end && rows < 200; rows++)
	list.insertAdjacentHTML("beforeend", "<p>Order " + rows + "</p>") };
list.onscroll = () => list.scrollTop + 300 > list.scrollHeight && more();
more();
</script>`

// serveOrders serves orderPage, and its interface.
func serveOrders(t *testing.T) (url string) {
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/orders" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, orderPage)
			return
		}
		var order struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil && r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Header().Set("Content-Type", "application/json")
		if order.Name == "Mallory" {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"error": "no credit"}`)
			return
		}
		fmt.Fprint(w, `{"id": 1}`)
	})
}

// debugged makes a window answer as one whose program is paused.
func debugged(w *toolstest.Window) {
	frame := vscodeipc.StackFrame{ID: 1, Name: "add", Path: filepath.Join(w.Folder, "src", "cart.ts"), Line: 12}
	for command, result := range map[string]any{
		vscodeipc.CommandDebugStart: vscodeipc.DebugStartResult{Session: "s1", Name: "Launch shop"},
		vscodeipc.CommandDebugState: vscodeipc.DebugStateResult{Sessions: []vscodeipc.DebugSessionState{
			{ID: "s1", Name: "Launch shop", Type: "pwa-chrome", State: "paused", Frames: []vscodeipc.StackFrame{frame}}}},
		vscodeipc.CommandDebugBreakpoints: vscodeipc.BreakpointsResult{Breakpoints: []vscodeipc.Breakpoint{
			{Path: frame.Path, Line: 12, Enabled: true}}},
		vscodeipc.CommandDebugStep:     vscodeipc.StepResult{Session: "s1", State: "running"},
		vscodeipc.CommandDebugEvaluate: vscodeipc.DebugEvaluateResult{Result: "4", Type: "number"},
	} {
		w.Handle(command, func(vscodeipc.Call) (any, error) { return result, nil })
	}
}

var (
	// fence matches a block of commands.
	fence = regexp.MustCompile("(?s)```sh\n(.*?)```")
	// inline matches code within a line.
	inline = regexp.MustCompile("`([^`\n]+)`")
	// ref matches a ref in a command, shownRef one in a result.
	ref      = regexp.MustCompile(`\be[0-9]+\b`)
	shownRef = regexp.MustCompile(`\[ref=e([0-9]+)\]`)
)

// skillTexts are the texts by the names of their pages.
func skillTexts() map[string]string {
	texts := map[string]string{"": skill.Main()}
	for _, page := range skill.Pages() {
		texts[page.Name] = page.Text
	}
	return texts
}

// TestSkillCommands runs each block of each text as an agent would, in one folder from top to
// bottom.
func TestSkillCommands(t *testing.T) {
	t.Parallel()
	for name, text := range skillTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := toolstest.OpenWindow(t)
			debugged(w)
			for file, content := range map[string]string{"bill.txt": "12", "src/cart.ts": strings.Repeat("count++\n", 20)} {
				if err := os.WriteFile(filepath.Join(w.Folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			shell := shellIn(t, w.Folder)
			t.Cleanup(func() { shell("coordinator close") })
			blocks := fence.FindAllStringSubmatch(text, -1)
			if len(blocks) == 0 {
				t.Error("the text has no commands")
			}
			address := serveOrders(t)
			before := 0
			for _, block := range blocks {
				commands := strings.ReplaceAll(block[1], "http://localhost:3000", address)
				// An agent takes the refs that it has read: higher ones, where a busy page's first answer was lost.
				commands = ref.ReplaceAllStringFunc(commands, func(r string) string {
					n, _ := strconv.Atoi(r[1:])
					return "e" + strconv.Itoa(n+before)
				})
				out, err := shell(commands)
				if first := shownRef.FindStringSubmatch(out); first != nil && before == 0 {
					n, _ := strconv.Atoi(first[1])
					before = n / 100_000 * 100_000
				}
				if err != nil {
					t.Fatalf("%v:\n%s%s", err, block[1], out)
				}
				t.Logf("%s%s", block[1], out)
			}
		})
	}
}

// shellIn runs scripts in a folder, in which the coordinator is found.
func shellIn(t *testing.T, folder string) func(script string) (string, error) {
	bin := filepath.Dir(named(t, "coordinator"))
	return func(script string) (string, error) {
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), environment(toolstest.Dir)...)
		cmd.Env = append(cmd.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// TestSkillNamesRealCommands: what the texts name in passing exists.
func TestSkillNamesRealCommands(t *testing.T) {
	known := map[string]bool{"help": true}
	for _, c := range (&program{}).root().Commands() {
		known[c.Name()] = true
	}
	for name, text := range skillTexts() {
		for _, found := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			words := strings.Fields(strings.TrimPrefix(found[1], "coordinator "))
			command := tools.CommandNamed(strings.Join(words[:min(2, len(words))], " "))
			if command == nil {
				command = tools.CommandNamed(words[0])
			}
			if command == nil && strings.HasPrefix(found[1], "coordinator ") && !known[words[0]] {
				t.Errorf("%s: there is no command %s", name, found[1])
			}
			if command == nil {
				continue
			}
			for _, word := range words {
				flag, isFlag := strings.CutPrefix(word, "--")
				if isFlag && !hasFlag(command, flag) {
					t.Errorf("%s: %s: there is no flag --%s", name, found[1], flag)
				}
			}
		}
	}
}

func hasFlag(c *tools.Command, name string) bool {
	for _, f := range c.Flags {
		if tools.Words(f.Name, "-") == name {
			return true
		}
	}
	return false
}

// TestSkillIsShort: an agent pays for each character.
func TestSkillIsShort(t *testing.T) {
	if n := len(skill.Main()); n > 3500 {
		t.Errorf("the first text has %d characters", n)
	}
	for _, page := range skill.Pages() {
		if n := len(page.Text); n > 2000 || !strings.Contains(skill.Main(), "`"+page.Name+"`") {
			t.Errorf("%s has %d characters, or is not named in the first text", page.Name, n)
		}
	}
}

// allows reports whether a host that honours the head of a skill runs a line without a question.
// It takes a pattern for what is allowed in the widest sense.
func allows(t *testing.T, text, line string) bool {
	t.Helper()
	_, list, _ := strings.Cut(text, "\nallowed-tools: ")
	list, _, _ = strings.Cut(list, "\n")
	patterns := regexp.MustCompile(`Bash\(([^)]*)\)`).FindAllStringSubmatch(list, -1)
	if len(patterns) == 0 {
		t.Fatalf("the skill allows %q", list)
	}
	return slices.ContainsFunc(patterns, func(found []string) bool {
		prefix, isPrefix := strings.CutSuffix(found[1], "*")
		return line == prefix || isPrefix && strings.HasPrefix(line, strings.TrimSuffix(prefix, ":"))
	})
}

// TestSkillAllowsNoProgram tries each command of the program against what an installed skill
// allows without a question: only reading, and acting in the browser.
func TestSkillAllowsNoProgram(t *testing.T) {
	t.Parallel()
	texts := []string{skill.Main(), skill.Installed("coordinator")}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		harmless := slices.Contains([]string{"do", "skill", "help"}, cmd.Name()) // see below
		for _, arguments := range []string{"", " x", " --help", " --executable ./e.sh"} {
			for _, text := range texts {
				if line := cmd.CommandPath() + arguments; allows(t, text, line) != harmless && (!harmless || arguments != "") {
					t.Errorf("%q is allowed: %v", line, !harmless)
				}
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	p := &program{}
	root := p.root()
	for _, cmd := range root.Commands() {
		visit(cmd)
	}
	do, _, err := root.Find([]string{"do"})
	if err != nil {
		t.Fatal(err)
	}
	p.addFlags(do)
	do.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"all", "help", "json", "verbose"}, f.Name) {
			t.Errorf("do has the flag --%s", f.Name)
		}
	})

	for _, tool := range tools.All() {
		line := []string{"call", tool.Name, "{}"}
		editor := strings.HasPrefix(tool.Name, "debug_") || tool.Name == "reveal_source" || tool.Name == "present_review"
		_, err := shell.ParseArguments(line)
		if allowed := err == nil; allowed != (!editor || tool.Name == "debug_state") {
			t.Errorf("do %v is allowed: %v (%v)", line, allowed, err)
		}
	}
	for _, command := range tools.Commands() {
		words := strings.Fields(command.Name)
		for _, arg := range command.Args {
			if arg.Required {
				words = append(words, "1")
			}
		}
		for _, flags := range [][]string{{"--file", "x"}, {"--session", "x"}, {"--workspace", "/"}, {"--name", "x"}} {
			if command.Tool.Parameters.Member(flags[0][2:]) != nil {
				continue
			}
			if _, err := shell.ParseArguments(append(slices.Clone(words), flags...)); err == nil {
				t.Errorf("do %v %v is allowed", words, flags)
			}
		}
		if slices.ContainsFunc(append(slices.Clone(command.Flags), parameters(command.Args)...), isSaved) {
			for _, name := range []string{"../x", "/tmp/x", `..\x`} {
				lines, err := shell.ParseArguments(append(slices.Clone(words), "--filename", name))
				if err == nil && !lines[0].Tool.Parameters.Member("filename").Is(catalog.File) {
					t.Errorf("do %v saves %s", words, name)
				}
			}
		}
	}
}

func parameters(args []tools.Arg) (all []catalog.Parameter) {
	for _, a := range args {
		all = append(all, a.Parameter)
	}
	return all
}

func isSaved(p catalog.Parameter) bool { return p.Name == "filename" }
