package input_test

import (
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

func TestTypeAndKeys(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<form onsubmit="event.preventDefault();sent=i.value"><input id=i value=old></form>
<textarea id=a>x</textarea><div id=c contenteditable>rich <b>text</b></div>
<input type=date id=d><input type=number id=n>
<select id=s multiple><option value=1>One<option value=2>Two<option value=3 disabled>Three</select>
<div id=e contenteditable><p>old <b>bold</b> text</p></div><div id=m contenteditable=plaintext-only>x</div>
<input type=checkbox id=k><input type=range id=r min=0 max=10><input type=password id=pw>
<script>types=[];e.addEventListener('beforeinput',e=>types.push(e.inputType));
keys=[];sent='';i.addEventListener('keydown',e=>keys.push(e.key+e.code+e.keyCode))</script>`)
	for _, step := range []struct {
		action   input.Action
		js, want string
	}{
		{p.Input().Type("#i", "Ä \"new\" 漢字 🎉", input.TypeOptions{}), "i.value", `"Ä \"new\" 漢字 🎉"`},
		{p.Input().Type("#i", "", input.TypeOptions{}), "i.value", `""`},
		{p.Input().Type("#i", "aB1!é", input.TypeOptions{Slowly: true}),
			"i.value + keys.slice(-4)", `"aB1!éaKeyA65,BKeyB66,1Digit149,!Digit149"`},
		{p.Input().Type("#i", "go", input.TypeOptions{Submit: true}), "sent", `"go"`},
		{p.Input().PressKey("ControlOrMeta+a"), "i.selectionEnd", "2"},
		{p.Input().PressKey("left"), "i.selectionEnd", "0"},
		{p.Input().PressKey("mod+A"), "i.selectionEnd", "2"},
		{p.Input().PressKey("Backspace"), "i.value", `""`},
		{p.Input().Type("#a", "two\nlines", input.TypeOptions{}), "a.value", `"two\nlines"`},
		{p.Input().Type("#c", "plain", input.TypeOptions{}), "c.textContent", `"plain"`},
		{p.Input().Type("#e", "new text", input.TypeOptions{}), "e.innerText.trim()", `"new text"`},
		{p.Input().Type("#e", "one\ntwo", input.TypeOptions{Slowly: true}),
			"e.innerText.includes('one') && e.innerText.includes('\\ntwo') && types.includes('insertParagraph')", "true"},
		{p.Input().Type("#e", "", input.TypeOptions{}), "e.innerText.trim()", `""`},
		{p.Input().Type("#m", "plain", input.TypeOptions{}), "m.textContent", `"plain"`},
		{p.Input().Type("#d", "2026-11-21", input.TypeOptions{}), "d.value", `"2026-11-21"`},
		{p.Input().SelectOption("#s", "1", "Two"), "[...s.selectedOptions].map(o=>o.value).join()", `"1,2"`},
		{p.Input().FillForm([]input.Field{
			{Target: "#k", Type: "checkbox", Value: "true"},
			{Target: "#r", Type: "slider", Value: "7"},
			{Target: "#pw", Type: "textbox", Value: "geheim"},
			{Target: "#n", Type: "textbox", Value: "12"},
		}), "[k.checked, r.value, pw.value, n.value].join()", `"true,7,geheim,12"`},
	} {
		pagetest.Act(t, p, step.action)
		pagetest.Expect(t, p, step.js, step.want)
	}
	text := pagetest.Snapshot(t, p)
	if strings.Contains(text, "geheim") {
		t.Errorf("a snapshot shows a password:\n%s", text)
	}
	for _, bad := range []input.Action{
		p.Input().Type("#d", "tomorrow", input.TypeOptions{}),
		p.Input().Type("#n", "many", input.TypeOptions{}),
		p.Input().SelectOption("#s", "Four"),
		p.Input().SelectOption("#s", "3"),
		p.Input().PressKey("Hyper+X"),
		p.Input().FillForm([]input.Field{{Target: "#k", Type: "checkbox", Value: "maybe"}}),
	} {
		pagetest.Fails[error](t, p, bad, "")
	}
}

// Slowly appends to the current text in any editable element. The letter of a shortcut is
// a key.
func TestSlowlyAndShortcuts(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<input id=i value=one><textarea id=a>one</textarea><div id=e contenteditable>one</div><input id=n type=number value=1>`)
	for target, want := range map[string]string{"#i": "one two", "#a": "one two", "#e": "one two", "#n": "12"} {
		text := " two"
		if target == "#n" {
			text = "2"
		}
		c, err := p.Act(t.Context(), p.Input().Type(target, text, input.TypeOptions{Slowly: true}))
		if err != nil || c.Values != nil {
			t.Errorf("%s: %+v %v", target, c, err)
		}
		got := pagetest.Evaluate(t, p, "(e => (e.value ?? e.textContent).replace(/\\u00a0/g, ' '))"+
			"(document.querySelector('"+target+"'))")
		if got != `"`+want+`"` {
			t.Errorf("%s holds %s", target, got)
		}
	}
	// Also where the text is selected.
	pagetest.Act(t, p, p.Input().Click("#e", input.ClickOptions{}))
	pagetest.Act(t, p, p.Input().PressKey("Control+A"))
	pagetest.Act(t, p, p.Input().Type("#e", "!", input.TypeOptions{Slowly: true}))
	pagetest.Contains(t, pagetest.Evaluate(t, p, "e.textContent"), "two!")
	for _, keys := range []string{"Control+A", "Control+a"} {
		pagetest.Act(t, p, p.Input().Type("#i", "abc", input.TypeOptions{}))
		for _, key := range []string{"End", keys, "Delete"} {
			pagetest.Act(t, p, p.Input().PressKey(key))
		}
		if got := pagetest.Evaluate(t, p, "i.value"); got != `""` {
			t.Errorf("after %s and Delete: %s", keys, got)
		}
	}
	// The handler prevents the browser's own reaction to a key: a zoom would stay for every
	// page of this host.
	pagetest.Evaluate(t, p, "onkeydown = e => { "+
		"e.preventDefault(); pressed = [e.key, e.code, e.ctrlKey, e.shiftKey].join() }")
	for key, want := range map[string]string{
		"Control+K": "k,KeyK,true,false", "Control+Shift+k": "K,KeyK,true,true",
		"A": "A,KeyA,false,true", "Control++": "+,Equal,true,true",
	} {
		pagetest.Act(t, p, p.Input().PressKey(key))
		if got := pagetest.Evaluate(t, p, "pressed"); got != `"`+want+`"` {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// A page gets key events as from a keyboard: modifiers are keys too, and a code identifies
// its key.
func TestKeysOfAKeyboard(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input id=i><script>
log = []
for (const kind of ["keydown", "keyup", "click"]) addEventListener(kind, e => {
  if (e.ctrlKey || e.altKey) e.preventDefault()
  log.push([kind, e.code, e.key, e.location, e.ctrlKey && "C", e.shiftKey && "S"]
    .filter(Boolean).join(" ")) })</script>`)
	pagetest.Act(t, p, p.Input().Click("#i", input.ClickOptions{}))
	pagetest.Evaluate(t, p, "log.length = 0")
	for spec, want := range map[string]string{
		"Control+Shift+k": "keydown ControlLeft Control 1 C,keydown ShiftLeft Shift 1 C S,keydown KeyK K C S," +
			"keyup KeyK K C S,keyup ShiftLeft Shift 1 C,keyup ControlLeft Control 1",
		"Shift":        "keydown ShiftLeft Shift 1 S,keyup ShiftLeft Shift 1",
		"ControlRight": "keydown ControlRight Control 2 C,keyup ControlRight Control 2",
		"KeyA":         "keydown KeyA a,keyup KeyA a",
		"Minus":        "keydown Minus -,keyup Minus -",
		"Numpad7":      "keydown Numpad7 7 3,keyup Numpad7 7 3",
		"NumpadAdd":    "keydown NumpadAdd + 3,keyup NumpadAdd + 3",
		"Shift+Digit1": "keydown ShiftLeft Shift 1 S,keydown Digit1 ! S,keyup Digit1 ! S,keyup ShiftLeft Shift 1",
		"ContextMenu":  "keydown ContextMenu ContextMenu,keyup ContextMenu ContextMenu",
	} {
		pagetest.Act(t, p, p.Input().PressKey(spec))
		if got := pagetest.Evaluate(t, p, "log.splice(0).join()"); got != `"`+want+`"` {
			t.Errorf("%s: %s", spec, got)
		}
	}
	pagetest.Act(t, p, p.Input().Click("#i", input.ClickOptions{Modifiers: []string{"Shift"}}))
	pagetest.Expect(t, p, "log.splice(0).join()", `"keydown ShiftLeft Shift 1 S,click S,keyup ShiftLeft Shift 1"`)
	if got := pagetest.Evaluate(t, p, "i.value"); !strings.Contains(got, "7") || !strings.Contains(got, "!") {
		t.Errorf("typed %s", got)
	}
}

// TestCharacter: a key that types a character does so under each of its names.
func TestCharacter(t *testing.T) {
	for key, want := range map[string]string{
		"q": "q", "Q": "Q", "ß": "ß", "+": "+", "Shift+q": "Q",
		"KeyV": "v", "Shift+KeyV": "V", "Digit7": "7", "Shift+Digit7": "&", "Numpad5": "5", "Space": " ", " ": " ",
		"Enter": "", "Tab": "", "ArrowLeft": "", "F5": "", "Control+a": "", "Alt+Shift+q": "", "Shift": "", "no key": "",
	} {
		if got := input.Character(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
