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
	kind    string // ours, playwright or devtools
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
	text, ok := p.try(tool, a)
	if !ok {
		p.stuck("%s %v: %s", tool, a, text)
	}
	return text
}

// try calls a tool, and reports whether it did not refuse.
func (p *player) try(tool string, a args) (string, bool) {
	if a == nil {
		a = args{}
	}
	if p.kind == devtools && tool != "list_pages" && a["pageId"] == nil {
		a["pageId"] = 1
	}
	b, _ := json.Marshal(a)
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second) // as long as a host waits
	defer cancel()
	began := time.Now()
	answer, err := p.server.Call(ctx, tool, a)
	took := time.Since(began)
	if err != nil {
		answer = peer.Answer{Text: err.Error(), Refused: true}
	}
	p.calls++
	p.took += took
	sent := tool + " " + string(b)
	if _, inShell := p.server.(commandLine); inShell {
		sent = line(tool, a)
	}
	p.sent += len([]rune(sent))
	p.received += len([]rune(answer.Text))
	p.pictures += answer.Pictures
	if answer.Refused {
		p.refused++
	}
	fmt.Fprintf(p.trace, "--> %s\n<-- %v, %d characters, refused: %v\n%s\n\n", sent, took.Round(time.Millisecond), len([]rune(answer.Text)), answer.Refused, answer.Text)
	p.answers = append(p.answers, answer.Text)
	return answer.Text, !answer.Refused
}

// last is the last answer.
func (p *player) last() string { return p.answers[len(p.answers)-1] }

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
		if !regexp.MustCompile(pattern).MatchString(p.last()) {
			p.look()
		}
	}
	return p.read(pattern)
}

// want is a text that the last answer must contain, so that the agent goes on.
func (p *player) want(text string) {
	if !strings.Contains(p.last(), text) {
		p.stuck("%q is not in the answer: %.500s", text, p.last())
	}
}

// think is the time that a model takes before its next call. It counts for no server; it
// matters where a page goes on meanwhile.
func (p *player) think() { time.Sleep(p.thinks) }

// ref is the ref of the element with that role and name in the latest answer that has it;
// with a marker, the first one after that text.
func (p *player) ref(role, name string, marker ...string) string {
	quoted := regexp.QuoteMeta(name)
	pattern := `(?:` + role + ` |[-|] )"` + quoted + `"[^\n|]*?\[ref=(\w+)\]` // a row may leave out the roles
	switch {
	case p.kind == devtools:
		pattern = `uid=(\S+) ` + role + ` "` + quoted + `"`
	case name == "":
		pattern = role + `[^\n"|]*?\[ref=(\w+)\]`
	}
	for _, text := range slices.Backward(p.answers) {
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
	p.stuck("no %s %q in %.2000s", role, name, p.last())
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
	case ref != "" && p.kind == devtools:
		a["args"] = []string{ref}
	case ref != "":
		a["target"], a["element"] = ref, "element"
	}
	return p.call(p.name("browser_evaluate", "evaluate_script"), a)
}

// wait waits for a text.
func (p *player) wait(text string) {
	if p.kind == devtools {
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
		if p.kind == devtools {
			fields = append(fields, args{"uid": ref, "value": e.value})
			continue
		}
		fields = append(fields, args{"target": ref, "name": e.name, "type": e.role, "value": e.value})
	}
	if p.kind == devtools {
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
	shell      = "shell" // the coordinator's commands
)

var titles = map[string]string{ours: "Browser Coordinator", shell: "its commands in a shell", playwright: peer.PlaywrightName, devtools: peer.DevToolsName}

// result is how a task ended for a server.
type result struct {
	figures
	err   error // nil: done, and reported right
	wrong bool  // the agent believes to be done and is not, or reports something wrong
}

// run plays a task.
func run(ctx context.Context, t task, kind string, server caller, dir string, trace io.Writer, thinks time.Duration) result {
	s, err := openSite()
	if err != nil {
		return result{err: err}
	}
	defer s.close()
	check := t.serve(s)
	if kind == shell {
		kind = ours // it plays the same
	}
	p := &player{kind: kind, server: server, url: s.self + "/", dir: dir, ctx: ctx, trace: trace, thinks: thinks}
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
