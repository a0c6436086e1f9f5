package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"browser-coordinator/internal/bench/peer"
)

type args = map[string]any

// caller is a server of tools.
type caller interface {
	Call(ctx context.Context, tool string, args map[string]any) (peer.Answer, error)
}

// player plays the agent. It knows the server's list of tools, the goal, and what the
// server has answered so far.
type player struct {
	kind    string     // ours, playwright, devtools or agentBrowser
	lines   bool       // its calls are lines of a shell
	shell   *peerShell // nil: a server's tools, or the coordinator's commands
	queue   []string   // commands of the line that the agent writes
	server  caller
	url     string // of the application
	dir     string // of the agent's files
	ctx     context.Context
	trace   io.Writer
	thinks  time.Duration
	answers []string // the latest last
	figures
}

// figures are what a task has cost.
type figures struct {
	calls, refused, pictures int
	sent, received           int // characters
	took                     time.Duration
}

func (f *figures) add(g figures) {
	f.calls, f.refused, f.pictures = f.calls+g.calls, f.refused+g.refused, f.pictures+g.pictures
	f.sent, f.received, f.took = f.sent+g.sent, f.received+g.received, f.took+g.took
}

// stuck ends a play-through: the agent does not know how to go on.
type stuck struct{ reason string }

func (p *player) stuck(format string, a ...any) { panic(stuck{fmt.Sprintf(format, a...)}) }

// play runs a play-through. The error is why it has not ended.
func (p *player) play(do func(*player) string) (report string, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stuck:
			err = fmt.Errorf("stuck: %s", r.reason)
		default:
			panic(r)
		}
	}()
	return do(p), nil
}

// call calls a tool, which must not refuse.
func (p *player) call(tool string, a args) string {
	if p.shell != nil {
		p.queue = append(p.queue, p.shell.commands(p, tool, p.complete(tool, a))...)
		return ""
	}
	text, ok := p.try(tool, a)
	if !ok {
		p.stuck("%s %v: %s", tool, a, text)
	}
	return text
}

// flush runs the line that the agent has written.
func (p *player) flush() {
	if len(p.queue) == 0 {
		return
	}
	line := p.shell.line(p.shell.program, p.queue)
	p.queue = nil
	if text, ok := p.send(aLine, args{"line": line}); !ok {
		p.stuck("%s: %s", line, text)
	}
}

// complete adds the page to arguments that need it.
func (p *player) complete(tool string, a args) args {
	if a == nil {
		a = args{}
	}
	if p.kind == devtools && tool != "list_pages" && a["pageId"] == nil {
		a["pageId"] = 1
	}
	return a
}

// try calls a tool, and reports whether it did not refuse.
func (p *player) try(tool string, a args) (string, bool) {
	p.flush()
	a = p.complete(tool, a)
	if p.shell != nil {
		tool, a = aLine, args{"line": p.shell.line(p.shell.program, p.shell.commands(p, tool, a))}
	}
	return p.send(tool, a)
}

func (p *player) send(tool string, a args) (string, bool) {
	b, _ := json.Marshal(a)
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute) // as long as a host waits for a command
	defer cancel()
	startTime := time.Now()
	answer, err := p.server.Call(ctx, tool, a)
	took := time.Since(startTime)
	if err != nil {
		answer = peer.Answer{Text: err.Error(), Refused: true}
	}
	p.calls++
	p.took += took
	message := tool + " " + string(b)
	if p.lines {
		message = line(tool, a)
	}
	p.sent += len([]rune(message))
	p.received += len([]rune(answer.Text))
	p.pictures += answer.Pictures
	if answer.Refused {
		p.refused++
	}
	fmt.Fprintf(p.trace, "--> %s\n<-- %v, %d characters, refused: %v\n%s\n\n", message,
		took.Round(time.Millisecond), len([]rune(answer.Text)), answer.Refused, answer.Text)
	p.answers = append(p.answers, answer.Text)
	return answer.Text, !answer.Refused
}

// last is the last answer.
func (p *player) last() string {
	p.flush()
	return p.answers[len(p.answers)-1]
}

// read reads the report, or a part of it, from the last answer.
func (p *player) read(pattern string) string {
	found := regexp.MustCompile(pattern).FindStringSubmatch(p.last())
	if found == nil {
		p.stuck("%s is not in the answer: %.300s", pattern, p.last())
	}
	return cmp.Or(found[1:]...)
}

// await is read, but if the text is not there yet, the agent waits for it.
func (p *player) await(text, pattern string) string {
	if !regexp.MustCompile(pattern).MatchString(p.last()) {
		p.wait(text)
		if p.shell != nil || !regexp.MustCompile(pattern).MatchString(p.last()) {
			p.lookAtText()
		}
	}
	return p.read(pattern)
}

// lookFor looks at the page in which a text appears. In a shell, the agent can wait for it in the same line.
func (p *player) lookFor(text, pattern string) string {
	if p.shell != nil && p.kind == playwright { // the others cannot wait for texts in shadow trees and frames
		p.wait(text)
	}
	p.lookAtText()
	return p.await(text, pattern)
}

// want is a text that the last answer must contain, so that the agent goes on.
func (p *player) want(text string) {
	if !strings.Contains(p.last(), text) {
		p.stuck("%q is not in the answer: %.500s", text, p.last())
	}
}

// think is the time that a model takes before its next call. It counts for no server; it
// matters where a page goes on meanwhile.
func (p *player) think() {
	p.flush()
	time.Sleep(p.thinks)
}

// ref is the ref of the element with that role and name in the latest answer that has it;
// with a marker, the first one after that text.
func (p *player) ref(role, name string, marker ...string) string {
	for range 2 { // first, before the line that the agent writes has an answer
		if ref := p.refIn(p.answers, role, name, marker...); ref != "" {
			return ref
		}
		p.flush()
	}
	p.stuck("no %s %q in %.2000s", role, name, p.last())
	return ""
}

func (p *player) refIn(answers []string, role, name string, marker ...string) string {
	quoted := regexp.QuoteMeta(name)
	pattern := `(?:` + role + ` |[-|] )"` + quoted + `"[^\n|]*?[\[ ]ref=(\w+)\]` // a row may leave out the roles
	switch {
	case p.kind == devtools:
		pattern = `uid=(\S+) ` + role + ` "` + quoted + `"`
	case name == "":
		pattern = role + `[^\n"|]*?\[ref=(\w+)\]`
	}
	for _, text := range slices.Backward(answers) {
		if len(marker) > 0 {
			_, after, ok := strings.Cut(text, marker[0])
			if !ok {
				continue
			}
			text = after
		}
		if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found != nil {
			return found[1]
		}
	}
	return ""
}

// What follows names the same step of each server.

func (p *player) open(url string) {
	if p.kind == devtools {
		p.call("navigate_page", args{"type": "url", "url": url})
		return
	}
	p.call("browser_navigate", args{"url": url})
}

func (p *player) look() { p.call(p.name("browser_snapshot", "take_snapshot"), nil) }

// lookAtText looks at all of the page. agent-browser has a shorter snapshot for the controls.
func (p *player) lookAtText() {
	if p.kind == agentBrowser {
		p.call("page text", nil)
		return
	}
	p.look()
}

// lookOn looks, unless the coordinator's last answer shows the page, or how it has changed.
func (p *player) lookOn() {
	shows := p.kind == ours && (strings.Contains(p.last(), "Page: ") || strings.Contains(p.last(), "Changes:\n"))
	if !shows || strings.Contains(p.last(), "more: browser_snapshot") {
		p.look()
	}
}

func (p *player) name(ours, devtoolsName string) string {
	if p.kind == devtools {
		return devtoolsName
	}
	return ours
}

func (p *player) click(ref string) {
	p.call(p.name("browser_click", "click"), args{p.name("target", "uid"): ref})
}

func (p *player) key(key string) { p.call(p.name("browser_press_key", "press_key"), args{"key": key}) }

// script runs JavaScript in the page, with the element if ref is not empty.
func (p *player) script(function, ref string) string {
	a := args{"function": function}
	switch {
	case p.kind == agentBrowser && (strings.HasPrefix(function, "async") ||
		strings.HasPrefix(function, "(") && strings.Contains(function, "=>")):
		a["function"] = "(" + function + ")()"
	case ref != "" && p.kind == devtools:
		a["args"] = []string{ref}
	case ref != "":
		a["target"], a["element"] = ref, "element"
	}
	return p.call(p.name("browser_evaluate", "evaluate_script"), a)
}

// clickNamed clicks a button whose name the agent knows: by the name where a shell's commands take it.
func (p *player) clickNamed(name string) {
	switch {
	case p.kind == agentBrowser:
		p.line("find role button click --name " + quote(name))
	case p.shell != nil && p.kind == playwright:
		p.line(fmt.Sprintf(`click "getByRole('button', { name: '%s' })"`, name))
	default:
		p.look() // refs of before the last click may be stale
		if p.shell != nil {
			p.queue[len(p.queue)-1] += " | grep " + quote(name)
		}
		p.flush()
		p.click(p.ref("button", name))
	}
}

// lookAtPart looks at the first lines of a snapshot, if a shell can cut it.
func (p *player) lookAtPart(lines int) {
	p.look()
	if p.shell != nil {
		p.queue[len(p.queue)-1] += fmt.Sprintf(" | head -n %d", lines)
	}
}

// tryLine runs a command in a line of its own, and reports whether it has succeeded.
func (p *player) tryLine(command string) bool {
	p.flush()
	_, done := p.send(aLine, args{"line": p.shell.line(p.shell.program, []string{command})})
	return done
}

// line writes commands that no other contender has.
func (p *player) line(commands ...string) { p.queue = append(p.queue, commands...) }

// wait waits for a text.
func (p *player) wait(text string) {
	switch {
	case p.shell != nil && p.kind == devtools:
		p.script(fmt.Sprintf("async () => { for (let i = 0; i < 300 && !document.body.innerText.includes(%q); i++) "+
			"await new Promise(r => setTimeout(r, 50)) }", text), "")
		return
	case p.shell != nil && p.kind == playwright:
		function := fmt.Sprintf("async page => { await page.getByText(%q).first().waitFor() }", text)
		p.call("browser_wait_for", args{"function": function})
		return
	case p.kind == devtools:
		p.call("wait_for", args{"text": []string{text}, "timeout": 15000})
		return
	}
	p.call("browser_wait_for", args{"text": text})
}

// dialog answers a JavaScript dialog.
func (p *player) dialog(text string) {
	a := args{"accept": true}
	if p.kind == devtools {
		a = args{"action": "accept"}
	}
	if text != "" {
		a["promptText"] = text
	}
	p.call(p.name("browser_handle_dialog", "handle_dialog"), a)
}

// entry is a field of a form and what is filled in.
type entry struct{ role, name, value string }

func (p *player) fill(entries ...entry) {
	var fields []args
	for _, e := range entries {
		ref := p.ref(e.role, e.name)
		if p.shell != nil {
			p.call(e.role, args{p.name("target", "uid"): ref, "value": e.value})
			continue
		}
		if p.kind == devtools {
			fields = append(fields, args{"uid": ref, "value": e.value})
			continue
		}
		fields = append(fields, args{"target": ref, "name": e.name, "type": e.role, "value": e.value})
	}
	switch {
	case p.shell != nil:
		return
	case p.kind == devtools:
		p.call("fill_form", args{"elements": fields})
		return
	}
	p.call("browser_fill_form", args{"fields": fields})
}

// write fills one field, and submits it with Enter if that is asked.
func (p *player) write(ref, text string, submit bool) {
	if p.kind != devtools {
		p.call("browser_type", args{"target": ref, "text": text, "submit": submit})
		return
	}
	p.call("fill", args{"uid": ref, "value": text})
	if submit {
		p.key("Enter")
	}
}

// steps does several actions in one call of the coordinator; do makes one of them.
func (p *player) steps(steps ...args) string { return p.call("browser_steps", args{"steps": steps}) }

func do(action string, pairs ...any) args {
	step := args{"action": action}
	for i := 0; i < len(pairs); i += 2 {
		step[pairs[i].(string)] = pairs[i+1]
	}
	return step
}

// The servers.
const (
	ours       = "ours"
	playwright = "playwright"
	devtools   = "devtools"
)

var titles = map[string]string{
	ours: "Browser Coordinator", playwright: peer.PlaywrightName, devtools: peer.DevToolsName,
	shell: "coordinator", playwrightCLI: peer.PlaywrightCLIName, agentBrowser: peer.AgentBrowserName,
	devtoolsCLI: "chrome-devtools 1.11",
}

// result is how a task ended for a server.
type result struct {
	figures
	err   error // nil: done, and reported right
	wrong bool  // the agent believes to be done and is not, or reports something wrong
}

// run plays a task.
func run(
	ctx context.Context, t task, kind string, server caller, dir string, trace io.Writer, thinks time.Duration,
) result {
	s, err := openSite()
	if err != nil {
		return result{err: err}
	}
	defer s.close()
	check := t.serve(s)
	lines := inShell(kind)
	var line *peerShell
	if of, isPeer := peerShells[kind]; isPeer {
		line, kind = &of, of.kind
	} else if kind == shell {
		kind = ours // it plays the same
	}
	p := &player{
		kind: kind, lines: lines, shell: line, server: server, url: s.self + "/", dir: dir,
		ctx: ctx, trace: trace, thinks: thinks,
	}
	script := t.peers
	if kind == ours && t.ours != nil {
		script = t.ours
	}
	report, err := p.play(script)
	if err != nil {
		return result{figures: p.figures, err: err}
	}
	s.Lock()
	defer s.Unlock()
	err = check(report)
	return result{figures: p.figures, err: err, wrong: err != nil}
}
