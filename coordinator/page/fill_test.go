package page

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
)

// Fields that accept less than the typed text, or reformat it, report their value.
func TestFieldsThatHoldSomethingElse(t *testing.T) {
	p, _ := open(t, `<!doctype html><input id=ml maxlength=5><input id=mask oninput="this.value = this.value.replace(/\D/g, '').replace(/(\d{3})(?=\d)/g, '$1-')">
<input id=pw type=password maxlength=4><textarea id=a></textarea><input id=plain>
<form action="/sent"><input id=q name=q maxlength=3></form>`)
	ctx := t.Context()
	for _, test := range []struct {
		target, text string
		opts         input.TypeOptions
		want         []input.Held
	}{
		{"#ml", "abcdefgh", input.TypeOptions{}, []input.Held{{Target: "#ml", Value: "abcde"}}},
		{"#mask", "123456", input.TypeOptions{}, []input.Held{{Target: "#mask", Value: "123-456"}}},
		{"#mask", "9", input.TypeOptions{Slowly: true}, nil},
		{"#pw", "secret", input.TypeOptions{}, []input.Held{{Target: "#pw", Value: "••••"}}},
		{"#ml", "sésame", input.TypeOptions{Secret: true}, []input.Held{{Target: "#ml", Value: "•••••", Plain: "sésam"}}},
		{"#a", "two\r\nlines", input.TypeOptions{}, nil},
		{"#plain", "plain", input.TypeOptions{}, nil},
		{"#plain", "er", input.TypeOptions{Slowly: true}, nil},
		{"#q", "quest", input.TypeOptions{Submit: true}, []input.Held{{Target: "#q", Value: "que"}}},
	} {
		c, err := p.Act(ctx, p.Input().Type(test.target, test.text, test.opts))
		if err != nil || len(c.Held)+len(test.want) > 0 && !reflect.DeepEqual(c.Held, test.want) {
			t.Errorf("%s: %+v %v", test.target, c.Held, err)
		}
	}
	contains(t, p.URL(), "/sent?q=que")
}

// A form reports which of its fields have another value, and at which one it failed.
func TestFormsThatFail(t *testing.T) {
	p, _ := open(t, `<!doctype html><input id=ml maxlength=5><input id=plain><input id=d type=date value=2026-01-02 onchange="changed = true"><input id=k type=checkbox><script>changed = false</script>`)
	ctx := t.Context()
	c, err := p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#ml", Type: "textbox", Value: "abcdefgh"}, {Target: "#plain", Type: "textbox", Value: "x"}}))
	if err != nil || !reflect.DeepEqual(c.Held, []input.Held{{Target: "#ml", Value: "abcde"}}) {
		t.Errorf("a form: %+v %v", c, err)
	}
	// An invalid date leaves the value unchanged.
	var target *frame.TargetError
	_, err = p.Act(ctx, p.Input().Type("#d", "31.12.2026", input.TypeOptions{}))
	if !errors.As(err, &target) || !strings.Contains(err.Error(), `holds "2026-01-02" as before: give YYYY-MM-DD`) {
		t.Errorf("no date: %v", err)
	}
	if got := eval(t, p, "[d.value, changed].join()"); got != `"2026-01-02,false"` {
		t.Errorf("after no date: %s", got)
	}
	// A form that fails midway reports the field, and what is done.
	_, err = p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#plain", Type: "textbox", Value: "first"}, {Target: "#d", Type: "textbox", Value: "never"}, {Target: "#k", Type: "checkbox", Value: "true"}}))
	if !errors.As(err, &target) {
		t.Errorf("a form that fails: %v", err)
	} else {
		contains(t, err.Error(), "field 2 of 3 (#d)", "filled before it: 1", `takes no "never"`)
	}
}

func TestAddressThatIsAScript(t *testing.T) {
	p, url := open(t, "<title>x</title>")
	if _, err := p.Navigate(t.Context(), "JavaScript:document.title='y'"); err == nil || !strings.Contains(err.Error(), "is a script") {
		t.Errorf("%v", err)
	}
	if p.URL() != url+"/" {
		t.Errorf("at %s", p.URL())
	}
}

// A form that the browser does not submit reports the reason that the user sees.
func TestFormThatIsNotSent(t *testing.T) {
	p, url := open(t, `<!doctype html><form action=/sent><label>Name <input required id=n></label><input type=email name=mail id=m><button>Send</button><button type=button id=plain>Other</button></form>`)
	c, err := p.Act(t.Context(), p.Input().Click("button:not([type])", input.ClickOptions{}))
	if err != nil || len(c.Unmet) != 1 || !strings.HasPrefix(c.Unmet[0], "Name: ") || len(c.Unmet[0]) < 12 {
		t.Errorf("an empty field: %q %v", c.Unmet, err)
	}
	contains(t, outline(t, p), `textbox "Name" [required] [invalid] [active]`)
	if c, err = p.Act(t.Context(), p.Input().Click("#plain", input.ClickOptions{})); err != nil || len(c.Unmet) > 0 {
		t.Errorf("a button that sends nothing: %q %v", c.Unmet, err)
	}
	if _, err = p.Act(t.Context(), p.Input().Type("#n", "Ada", input.TypeOptions{})); err != nil {
		t.Fatal(err)
	}
	if c, err = p.Act(t.Context(), p.Input().Type("#m", "nobody", input.TypeOptions{Submit: true})); err != nil || len(c.Unmet) != 1 || !strings.HasPrefix(c.Unmet[0], "mail: ") {
		t.Errorf("no address: %q %v", c.Unmet, err)
	}
	if c, err = p.Act(t.Context(), p.Input().Type("#m", "a@b.c", input.TypeOptions{Submit: true})); err != nil || len(c.Unmet) > 0 || c.URL != url+"/sent?mail=a%40b.c" {
		t.Errorf("sent: %+v %v", c, err)
	}
}

// Slowly appends to the current text in any editable element. The letter of a shortcut is
// a key.
func TestSlowlyAndShortcuts(t *testing.T) {
	p, _ := open(t, `<!doctype html><input id=i value=one><textarea id=a>one</textarea><div id=e contenteditable>one</div><input id=n type=number value=1>`)
	for target, want := range map[string]string{"#i": "one two", "#a": "one two", "#e": "one two", "#n": "12"} {
		text := " two"
		if target == "#n" {
			text = "2"
		}
		if c, err := p.Act(t.Context(), p.Input().Type(target, text, input.TypeOptions{Slowly: true})); err != nil || c.Held != nil {
			t.Errorf("%s: %+v %v", target, c, err)
		}
		if got := eval(t, p, "(e => (e.value ?? e.textContent).replace(/\\u00a0/g, ' '))(document.querySelector('"+target+"'))"); got != `"`+want+`"` {
			t.Errorf("%s holds %s", target, got)
		}
	}
	for _, keys := range []string{"Control+A", "Control+a"} {
		if _, err := p.Act(t.Context(), p.Input().Type("#i", "abc", input.TypeOptions{})); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"End", keys, "Delete"} {
			if _, err := p.Act(t.Context(), p.Input().PressKey(key)); err != nil {
				t.Fatal(err)
			}
		}
		if got := eval(t, p, "i.value"); got != `""` {
			t.Errorf("after %s and Delete: %s", keys, got)
		}
	}
	// The handler prevents the browser's own reaction to a key: a zoom would stay for every
	// page of this host.
	eval(t, p, "onkeydown = e => { e.preventDefault(); pressed = [e.key, e.code, e.ctrlKey, e.shiftKey].join() }")
	for key, want := range map[string]string{"Control+K": "k,KeyK,true,false", "Control+Shift+k": "K,KeyK,true,true", "A": "A,KeyA,false,true", "Control++": "+,Equal,true,true"} {
		if _, err := p.Act(t.Context(), p.Input().PressKey(key)); err != nil {
			t.Fatal(err)
		}
		if got := eval(t, p, "pressed"); got != `"`+want+`"` {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// A page gets key events as from a keyboard: modifiers are keys too, and a code identifies
// its key.
func TestKeysOfAKeyboard(t *testing.T) {
	p, _ := open(t, `<!doctype html><input id=i><script>
log = []; for (const kind of ["keydown", "keyup", "click"]) addEventListener(kind, e => { if (e.ctrlKey || e.altKey) e.preventDefault(); log.push([kind, e.code, e.key, e.location, e.ctrlKey && "C", e.shiftKey && "S"].filter(Boolean).join(" ")) })</script>`)
	click := func(modifiers ...string) error {
		_, err := p.Act(t.Context(), p.Input().Click("#i", input.ClickOptions{Modifiers: modifiers}))
		return err
	}
	if err := click(); err != nil {
		t.Fatal(err)
	}
	eval(t, p, "log.length = 0")
	for spec, want := range map[string]string{
		"Control+Shift+k": "keydown ControlLeft Control 1 C,keydown ShiftLeft Shift 1 C S,keydown KeyK K C S,keyup KeyK K C S,keyup ShiftLeft Shift 1 C,keyup ControlLeft Control 1",
		"Shift":           "keydown ShiftLeft Shift 1 S,keyup ShiftLeft Shift 1",
		"ControlRight":    "keydown ControlRight Control 2 C,keyup ControlRight Control 2",
		"KeyA":            "keydown KeyA a,keyup KeyA a",
		"Minus":           "keydown Minus -,keyup Minus -",
		"Numpad7":         "keydown Numpad7 7 3,keyup Numpad7 7 3",
		"NumpadAdd":       "keydown NumpadAdd + 3,keyup NumpadAdd + 3",
		"Shift+Digit1":    "keydown ShiftLeft Shift 1 S,keydown Digit1 ! S,keyup Digit1 ! S,keyup ShiftLeft Shift 1",
		"ContextMenu":     "keydown ContextMenu ContextMenu,keyup ContextMenu ContextMenu",
	} {
		if _, err := p.Act(t.Context(), p.Input().PressKey(spec)); err != nil {
			t.Fatal(err)
		}
		if got := eval(t, p, "log.splice(0).join()"); got != `"`+want+`"` {
			t.Errorf("%s: %s", spec, got)
		}
	}
	if err := click("Shift"); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, p, "log.splice(0).join()"); got != `"keydown ShiftLeft Shift 1 S,click S,keyup ShiftLeft Shift 1"` {
		t.Errorf("a click: %s", got)
	}
	if got := eval(t, p, "i.value"); !strings.Contains(got, "7") || !strings.Contains(got, "!") {
		t.Errorf("typed %s", got)
	}
}
