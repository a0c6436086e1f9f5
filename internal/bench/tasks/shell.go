package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/skill"
	"browser-coordinator/internal/bench/peer"
)

// commandLine runs the coordinator's commands in a shell, as an agent without MCP does. It
// plays what the coordinator's tools play, a command for each call.
type commandLine struct {
	programs peer.Programs
	stop     string
}

func (c commandLine) Call(ctx context.Context, tool string, a args) (peer.Answer, error) {
	text, err := c.run(ctx, line(tool, a))
	_, failed := errors.AsType[*exec.ExitError](err)
	if failed {
		err = nil
	}
	return peer.Answer{Text: text, Refused: failed}, err
}

// run runs a line, and returns what an agent sees of it.
func (c commandLine) run(ctx context.Context, line string) (string, error) {
	out, err := c.programs.Shell(ctx, line).CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// learn reads the skill: first its file, which an agent's host reads, then what that points to.
func learn(ctx context.Context, kind string, programs peer.Programs) (figures, error) {
	file, read := skill.Installed("coordinator"), "coordinator skill"
	if of, isPeer := peerShells[kind]; isPeer {
		text, err := os.ReadFile(filepath.Join(programs.Peers, of.skill))
		if err != nil {
			return figures{}, err
		}
		file, read = string(text), of.learn
	}
	learnt := figures{received: len([]rune(file))}
	if read == "" {
		return learnt, nil
	}
	began := time.Now()
	text, err := commandLine{programs: programs}.run(ctx, read)
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w: %s", read, err, text)
	}
	learnt.add(figures{calls: 1, sent: len(read), received: len([]rune(text)), took: time.Since(began)})
	return learnt, nil
}

// Close ends the session.
func (c commandLine) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	text, err := c.run(ctx, c.stop)
	if err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// commandNames are those that are not the tool's.
var commandNames = map[string]string{
	"browser_navigate": "open", "browser_press_key": "press", "browser_wait_for": "wait", "browser_dom": "html",
	"browser_file_upload": "upload", "browser_fill_form": "fill", "browser_take_screenshot": "screenshot",
	"browser_console_messages": "console", "browser_network_requests": "requests", "browser_network_request": "request",
	"browser_mouse_click_xy": "mouse click-xy", "browser_evaluate": "eval",
}

// positional are the arguments that have no flag, by command.
var positional = map[string][]string{
	"open": {"url"}, "press": {"key"}, "wait": {"text"}, "expect": {"text"}, "html": {"target"}, "find": {"text"},
	"upload": {"target", "paths"}, "screenshot": {"filename"}, "request": {"index", "part"},
	"mouse click-xy": {"x", "y"}, "click": {"target"}, "dblclick": {"target"}, "type": {"target", "text"},
	"select": {"target", "values"}, "check": {"target"}, "drag": {"startTarget", "endTarget"},
	"dialog accept": {"promptText"}, "tab": {"index"}, "tab close": {"index"}, "tab new": {"url"},
	"snapshot": {"target"}, "eval": {"function", "target"},
}

// openAndFind opens the application and searches it to its end. An agent with a shell has only the
// last lines printed, in which the text is.
func (p *player) openAndFind(text string, lines int) {
	if p.inShell() {
		p.call(aLine, args{"line": fmt.Sprintf("coordinator open %s >/dev/null && coordinator find %s --scroll | tail -n %d",
			p.url, text, lines)})
		return
	}
	p.open(p.url)
	p.call("browser_find", args{"text": text, "scroll": true})
}

// inShell reports whether the coordinator plays in a shell.
func (p *player) inShell() bool { return p.lines && p.kind == ours }

// aLine is no tool: its call has the line itself.
const aLine = "a line"

// line is the command line of a call; of several steps it is that of all.
func line(tool string, a args) string {
	if tool == aLine {
		return fmt.Sprint(a["line"])
	}
	if tool == "browser_steps" {
		var words []string
		for _, step := range a["steps"].([]args) {
			words = append(words, quote(command(fmt.Sprint(step["action"]), without(step, "action"), `"`)))
		}
		return "coordinator do " + strings.Join(words, " ")
	}
	name, known := commandNames[tool]
	if !known {
		name = strings.TrimPrefix(tool, "browser_")
	}
	if name == "tabs" && a["action"] != "list" {
		name = map[any]string{"select": "tab", "close": "tab close", "new": "tab new"}[a["action"]]
	}
	return "coordinator " + command(name, without(a, "action"), "'")
}

// command is the line of a command.
func command(name string, a args, mark string) string {
	switch {
	case name == "dialog" || name == "handle_dialog":
		name = map[any]string{true: "dialog accept", false: "dialog dismiss"}[a["accept"]]
		a = without(a, "accept")
	case name == "click" && a["doubleClick"] == true:
		name, a = "dblclick", without(a, "doubleClick")
	}
	words := []string{name}
	for _, p := range positional[name] {
		if value, present := a[p]; present {
			words = append(words, word(value, mark)...)
		}
	}
	var flags []string
	for p, value := range a {
		flag := "--" + strings.ToLower(capital.ReplaceAllString(p, "-$0"))
		switch {
		case slices.Contains(positional[name], p), value == false, p == "element":
		case value == true:
			flags = append(flags, flag)
		default:
			flags = append(flags, flag+" "+strings.Join(word(value, mark), " "))
		}
	}
	slices.Sort(flags)
	return strings.Join(append(words, flags...), " ")
}

var (
	capital = regexp.MustCompile(`[A-Z]`)
	plain   = regexp.MustCompile(`^[\w./:+@-]+$`)
)

// word is a value as words of a line.
func word(value any, mark string) (words []string) {
	switch v := value.(type) {
	case []string:
		for _, text := range v {
			words = append(words, word(text, mark)...)
		}
		return words
	case args:
		b, _ := json.Marshal(v) // texts and numbers have no errors
		return word(string(b), mark)
	}
	text := fmt.Sprint(value)
	switch {
	case plain.MatchString(text):
		return []string{text}
	case mark == "'":
		return []string{quote(text)}
	}
	return []string{mark + strings.NewReplacer(`\`, `\\`, mark, `\`+mark).Replace(text) + mark}
}

// quote quotes a text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func without(a args, name string) args {
	rest := args{}
	for n, value := range a {
		if n != name {
			rest[n] = value
		}
	}
	return rest
}
