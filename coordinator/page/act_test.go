package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
)

func TestClickWaitsAndSaysWhy(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>body{margin:0}#cover{position:fixed;inset:0;display:none}
@keyframes go{to{transform:translateX(300px)}} #mover.go{animation:go 400ms linear}</style>
<button id=ok onclick="hits.push('ok')">OK</button>
<button id=off disabled>Off</button>
<button id=late disabled onclick="hits.push('late')">Late</button>
<button id=none style="visibility:hidden">None</button>
<button id=mover class=go onclick="hits.push('mover')">Mover</button>
<input id=ro readonly>
<div id=cover>an overlay</div>
<div style="height:3000px"></div><button id=far onclick="hits.push('far')">Far</button>
<div style="height:3000px"></div>
<script>hits=[]</script>`)
	click := func(target string) error {
		_, err := p.Act(t.Context(), p.Input().Click(target, input.ClickOptions{Timeout: 700 * time.Millisecond}))
		return err
	}
	if got := eval(t, p, "setTimeout(() => late.disabled = false, 200), 1"); got != "1" {
		t.Fatal(got)
	}
	for _, target := range []string{"#ok", "#late", "#mover", "#far"} {
		if err := click(target); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if got := eval(t, p, "hits.join()"); got != `"ok,late,mover,far"` {
		t.Errorf("clicked: %s", got)
	}
	eval(t, p, "scrollTo(0,0), cover.style.display='block'")
	for _, test := range []struct{ target, reason string }{
		{"#off", "it is disabled"},
		{"#none", "visibility"},
		{"#ok", `covered by <div id="cover"> "an overlay"`},
	} {
		err := click(test.target)
		var unready *input.NotReadyError
		if !errors.As(err, &unready) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: got %v, want the reason %q", test.target, err, test.reason)
		}
	}
	if _, err := p.Act(t.Context(), p.Input().Type("#ro", "x", input.TypeOptions{Timeout: 300 * time.Millisecond})); err == nil || !strings.Contains(err.Error(), "not editable") {
		t.Errorf("typing into a read-only field: %v", err)
	}
	var target *frame.TargetError
	if err := click("button"); !errors.As(err, &target) || !strings.Contains(err.Error(), "matches") {
		t.Errorf("several matches: %v", err)
	}
	if err := click("#nothing"); !errors.As(err, &target) {
		t.Errorf("no match: %v", err)
	}
	if err := click("%%"); !errors.As(err, &target) || !strings.Contains(err.Error(), "CSS") {
		t.Errorf("not a selector: %v", err)
	}
	if got := eval(t, p, "hits.length"); got != "4" {
		t.Errorf("a refused click hit something: %s", got)
	}
}

func TestClickKinds(t *testing.T) {
	p, _ := open(t, `<!doctype html><button id=b>B</button><script>log=[];
for (const n of ['click','dblclick','contextmenu','auxclick']) b.addEventListener(n, e => { e.preventDefault(); log.push([n, e.button, e.shiftKey, e.isTrusted].join(':')) })</script>`)
	for _, opts := range []input.ClickOptions{{Double: true}, {Button: "right"}, {Button: "middle"}, {Modifiers: []string{"Shift"}}} {
		if _, err := p.Act(t.Context(), p.Input().Click("#b", opts)); err != nil {
			t.Fatal(err)
		}
	}
	want := `"click:0:false:true click:0:false:true dblclick:0:false:true contextmenu:2:false:true auxclick:2:false:true auxclick:1:false:true click:0:true:true"`
	if got := eval(t, p, "log.join(' ')"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{Button: "fourth"})); err == nil {
		t.Error("an unknown button is no error")
	}
	if _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{Modifiers: []string{"Hyper"}})); err == nil {
		t.Error("an unknown modifier is no error")
	}
}

// TestTabsByTheUsersKeys: a click on a link may open a tab without the page's script.
func TestTabsByTheUsersKeys(t *testing.T) {
	p, url := open(t, `<!doctype html><title>Start</title><a id=a href=/other>Other</a>`)
	for _, opts := range []input.ClickOptions{{Button: "middle"}, {Modifiers: []string{"ControlOrMeta"}}, {Modifiers: []string{"Shift"}}} {
		c, err := p.Act(t.Context(), p.Input().Click("#a", opts))
		if err != nil || len(c.NewPages) != 1 || c.NewPages[0].URL != url+"/other" || c.Navigated {
			t.Errorf("%+v: %+v, %v", opts, c, err)
		}
		for _, page := range c.NewPages {
			if err := p.browser.ClosePage(t.Context(), page.ID); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestErrorsOfAsyncHandlers: errors are reported as soon as they are known, and never as
// the errors of another action.
func TestErrorsOfAsyncHandlers(t *testing.T) {
	p, _ := open(t, `<!doctype html><button id=throws onclick="(async () => { await 0; throw new Error('in between') })()">Throw</button>
<button id=rejects onclick="Promise.reject(new Error('rejected'))">Reject</button><button id=late onclick="setTimeout(() => { throw new Error('late') }, 50)">Late</button>
<button id=logs onclick="setTimeout(() => console.error('logged'))">Log</button><button id=fine>Fine</button>`)
	for i, test := range []struct{ target, want string }{
		{"#throws", "in between"}, {"#rejects", "rejected"}, {"#late", "late"}, {"#logs", ""},
	} {
		c, err := p.Act(t.Context(), p.Input().Click(test.target, input.ClickOptions{}))
		if err != nil {
			t.Errorf("%s: %+v, %v", test.target, c, err)
		}
		if err := p.await(t.Context(), func() bool { return p.Console().Last() > int64(i) }); err != nil {
			t.Fatal(err)
		}
		next, err := p.Act(t.Context(), p.Input().Click("#fine", input.ClickOptions{}))
		if err != nil || len(next.Console) > 0 {
			t.Errorf("after %s: %+v, %v", test.target, next, err)
		}
		// An error may count as earlier if the watch of the previous action ends late.
		told := append(next.Earlier, c.Earlier...)
		for _, m := range c.Console {
			if m.Source == "exception" {
				told = append(told, m)
			}
		}
		if test.want == "" && len(told) > 0 || test.want != "" && (len(told) != 1 || !strings.Contains(told[0].Text, test.want)) {
			t.Errorf("of %s is told %+v", test.target, told)
		}
	}
}

func TestTypeAndKeys(t *testing.T) {
	p, _ := open(t, `<!doctype html><form onsubmit="event.preventDefault();sent=i.value"><input id=i value=old></form>
<textarea id=a>x</textarea><div id=c contenteditable>rich <b>text</b></div><input type=date id=d><input type=number id=n>
<select id=s multiple><option value=1>One<option value=2>Two<option value=3 disabled>Three</select>
<input type=checkbox id=k><input type=range id=r min=0 max=10><input type=password id=pw>
<script>keys=[];sent='';i.addEventListener('keydown',e=>keys.push(e.key+e.code+e.keyCode))</script>`)
	ctx := t.Context()
	for _, step := range []struct {
		name string
		do   func() error
		js   string
		want string
	}{
		{"fill replaces", func() error {
			_, err := p.Act(ctx, p.Input().Type("#i", "Ä \"new\" 漢字 🎉", input.TypeOptions{}))
			return err
		}, "i.value", `"Ä \"new\" 漢字 🎉"`},
		{"fill clears", func() error { _, err := p.Act(ctx, p.Input().Type("#i", "", input.TypeOptions{})); return err }, "i.value", `""`},
		{"slowly sends keys", func() error {
			_, err := p.Act(ctx, p.Input().Type("#i", "aB1!é", input.TypeOptions{Slowly: true}))
			return err
		}, "i.value + keys.slice(-4)", `"aB1!éaKeyA65,BKeyB66,1Digit149,!Digit149"`},
		{"submit", func() error {
			_, err := p.Act(ctx, p.Input().Type("#i", "go", input.TypeOptions{Submit: true}))
			return err
		}, "sent", `"go"`},
		{"select all and delete", func() error {
			if _, err := p.Act(ctx, p.Input().PressKey("ControlOrMeta+a")); err != nil {
				return err
			}
			_, err := p.Act(ctx, p.Input().PressKey("Backspace"))
			return err
		}, "i.value", `""`},
		{"textarea", func() error {
			_, err := p.Act(ctx, p.Input().Type("#a", "two\nlines", input.TypeOptions{}))
			return err
		}, "a.value", `"two\nlines"`},
		{"contenteditable", func() error { _, err := p.Act(ctx, p.Input().Type("#c", "plain", input.TypeOptions{})); return err }, "c.textContent", `"plain"`},
		{"date", func() error {
			_, err := p.Act(ctx, p.Input().Type("#d", "2026-11-21", input.TypeOptions{}))
			return err
		}, "d.value", `"2026-11-21"`},
		{"select", func() error { _, err := p.Act(ctx, p.Input().SelectOption("#s", "1", "Two")); return err }, "[...s.selectedOptions].map(o=>o.value).join()", `"1,2"`},
		{"form", func() error {
			_, err := p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#k", Type: "checkbox", Value: "true"}, {Target: "#r", Type: "slider", Value: "7"}, {Target: "#pw", Type: "textbox", Value: "geheim"}, {Target: "#n", Type: "textbox", Value: "12"}}))
			return err
		}, "[k.checked, r.value, pw.value, n.value].join()", `"true,7,geheim,12"`},
	} {
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if got := eval(t, p, step.js); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
	text := outline(t, p)
	if strings.Contains(text, "geheim") {
		t.Errorf("a snapshot shows a password:\n%s", text)
	}
	for _, bad := range []func() error{
		func() error { _, err := p.Act(ctx, p.Input().Type("#d", "tomorrow", input.TypeOptions{})); return err },
		func() error { _, err := p.Act(ctx, p.Input().Type("#n", "many", input.TypeOptions{})); return err },
		func() error { _, err := p.Act(ctx, p.Input().SelectOption("#s", "Four")); return err },
		func() error { _, err := p.Act(ctx, p.Input().SelectOption("#s", "3")); return err },
		func() error { _, err := p.Act(ctx, p.Input().PressKey("Hyper+X")); return err },
		func() error {
			_, err := p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#k", Type: "checkbox", Value: "maybe"}}))
			return err
		},
	} {
		if err := bad(); err == nil {
			t.Error("bad input is no error")
		} else {
			t.Log(err)
		}
	}
}

func TestWhatAnActChanged(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>page %s</title><a id=next href="/next">next</a> <a id=hash href="#here">hash</a>
<a id=tab target=_blank href="/tab">tab</a> <button id=err onclick="null.x">err</button>
<a id=file href="data:text/plain,x" download=x.txt>file</a> <button id=quiet>quiet</button>`, r.URL.Path)
	}))
	click := func(target string) Change {
		t.Helper()
		c, err := p.Act(t.Context(), p.Input().Click(target, input.ClickOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := click("#quiet"); c.Navigated || c.Loading || len(c.Console) > 0 || len(c.NewPages) > 0 || c.Dialog != nil {
		t.Errorf("a click without effect: %+v", c)
	}
	if c := click("#hash"); !c.Navigated || c.URL != url+"/#here" {
		t.Errorf("a click on a fragment: %+v", c)
	}
	if c := click("#err"); len(c.Console) != 1 || !strings.Contains(c.Console[0].Text, "TypeError") || c.Console[0].Source != "exception" {
		t.Errorf("a click whose handler throws: %+v", c)
	}
	c := click("#tab")
	if len(c.NewPages) != 1 || c.Navigated {
		t.Fatalf("a click that opens a tab: %+v", c)
	}
	if err := p.browser.ClosePage(t.Context(), c.NewPages[0].ID); err != nil {
		t.Error(err)
	}
	if c := click("#next"); !c.Navigated || c.Loading || c.URL != url+"/next" || c.Title != "page /next" {
		t.Errorf("a click on a link: %+v", c)
	}
	if c, err := p.Back(t.Context()); err != nil || c.URL != url+"/#here" {
		t.Errorf("back: %+v %v", c, err)
	}
	if c, err := p.Forward(t.Context()); err != nil || c.URL != url+"/next" {
		t.Errorf("forward: %+v %v", c, err)
	}
	if c, err := p.Reload(t.Context()); err != nil || !c.Navigated {
		t.Errorf("reload: %+v %v", c, err)
	}
	if _, err := p.Forward(t.Context()); err == nil {
		t.Error("forward at the end is no error")
	}
}

// An action waits for a missing target, also into the next document. If the target never
// appears, the action reports a timeout.
func TestTargetThatComes(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/next" {
			fmt.Fprint(w, `<!doctype html><script>setTimeout(() => document.write('<button id=late onclick="document.title = 1">Late</button>'), 200)</script>`)
			return
		}
		fmt.Fprint(w, `<!doctype html>Here`)
	}))
	eval(t, p, "setTimeout(() => location = '/next', 100)")
	if _, err := p.Act(t.Context(), p.Input().Click("#late", input.ClickOptions{Timeout: 10 * time.Second})); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, p, "document.title"); got != `"1"` || p.URL() != url+"/next" {
		t.Errorf("at %s the title is %s", p.URL(), got)
	}
	start := time.Now()
	var missing *frame.TargetError
	if _, err := p.Act(t.Context(), p.Input().Click("#never", input.ClickOptions{Timeout: 500 * time.Millisecond})); !errors.As(err, &missing) || time.Since(start) < 400*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// A selector matches any current element. An action finds lists that recreate their rows
// during scrolling again, until its timeout.
func TestActOnWhatIsMadeAnew(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>#l{height:300px;overflow:auto;position:relative}.r{position:absolute;height:30px}</style>
<div style="height:600px"></div><div id=l><div id=s style="height:30000px"></div></div><input id=i>
<script>clicked = []
const rows = () => { const a = Math.floor(l.scrollTop / 30); s.innerHTML = ''
  for (let i = a; i < a + 12; i++) { const b = document.createElement('button'); b.className = 'r'; b.style.top = i * 30 + 'px'; b.dataset.row = i; b.textContent = 'row ' + i; b.onclick = () => clicked.push(i); s.append(b) } }
l.onscroll = rows; rows()</script>`)
	if _, err := p.Act(t.Context(), p.Input().Click("[data-row='11']", input.ClickOptions{})); err != nil {
		t.Errorf("a row that scrolling makes anew: %v", err)
	}
	if got := eval(t, p, "clicked"); got != "[11]" {
		t.Errorf("clicked %s", got)
	}
	// The error for an element that never stays must not call it a ref.
	eval(t, p, `l.remove(); again = new MessageChannel(); again.port1.onmessage = () => {
		const b = document.createElement('button'); b.id = 'b'; document.querySelector('#b')?.remove(); document.body.append(b); again.port2.postMessage(0) }; again.port2.postMessage(0)`)
	_, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{Timeout: 300 * time.Millisecond}))
	if err == nil || strings.Contains(err.Error(), "ref") {
		t.Errorf("a button that never stays: %v", err)
	}
	eval(t, p, "again.port1.close()")
	if _, err := p.Act(t.Context(), p.Input().Type("#i", "x", input.TypeOptions{})); err != nil {
		t.Error(err)
	}
}
