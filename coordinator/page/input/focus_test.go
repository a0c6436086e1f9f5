package input_test

import (
	"errors"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

// editContexts are an element and a canvas whose text the page itself keeps and draws.
const editContexts = `<!doctype html>
<div id=editor tabindex=0 role=textbox aria-label=Code style="width:200px;height:40px;border:1px solid"></div>
<canvas id=drawn tabindex=0 width=200 height=40></canvas><script>
texts = {};
for (const e of [editor, drawn]) {
  const context = e.editContext = new EditContext();
  context.addEventListener("textupdate", (u) => {
    const t = texts[e.id] ?? ""; texts[e.id] = t.slice(0, u.updateRangeStart) + u.text + t.slice(u.updateRangeEnd); });
}
</script>`

// An EditContext is what editors of today take their text from.
func TestTypeIntoAnEditContext(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, editContexts)
	for _, id := range []string{"editor", "drawn"} {
		pagetest.Act(t, p, p.Input().Type("#"+id, "first", input.TypeOptions{}))
		pagetest.Act(t, p, p.Input().Type("#"+id, "second", input.TypeOptions{}))
		pagetest.Expect(t, p, "texts."+id, `"second"`)
		pagetest.Act(t, p, p.Input().Type("#"+id, " third", input.TypeOptions{Slowly: true}))
		pagetest.Expect(t, p, "texts."+id, `"second third"`)
		pagetest.Act(t, p, p.Input().TypeAtFocus(" fourth", input.TypeOptions{}))
		pagetest.Expect(t, p, "texts."+id, `"second third fourth"`)
		pagetest.Act(t, p, p.Input().Type("#"+id, "", input.TypeOptions{}))
		pagetest.Expect(t, p, "texts."+id, `""`)
	}
}

// A document in design mode is a field, in a frame too.
func TestTypeIntoADocumentInDesignMode(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><iframe id=inner height=80 srcdoc="<p>Hello"></iframe>
<script>inner.onload = () => { inner.contentDocument.designMode = "on" }</script>`)
	must.Await(t, "the design mode",
		func() bool { return pagetest.Evaluate(t, p, "inner.contentDocument.designMode") == `"on"` })
	ref := pagetest.Ref(t, pagetest.Snapshot(t, p), "textbox")
	pagetest.Act(t, p, p.Input().Type(ref, "Dear", input.TypeOptions{}))
	pagetest.Expect(t, p, "inner.contentDocument.body.innerText.trim()", `"Dear"`)
	pagetest.Act(t, p, p.Input().Type(ref, " Ada", input.TypeOptions{Slowly: true}))
	pagetest.Act(t, p, p.Input().TypeAtFocus(", hello", input.TypeOptions{}))
	pagetest.Expect(t, p, "inner.contentDocument.body.innerText.trim()", `"Dear Ada, hello"`)
}

// Text without a target goes to the caret of what has the focus.
func TestTypeAtTheFocus(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<body><input id=field value=abcd><textarea id=fixed readonly>old</textarea><button id=button>Press</button><script>
keys = ""; addEventListener("keydown", e => keys += e.key);
sent = 0; field.addEventListener("keydown", e => { if (e.key === "Enter") sent++ });
</script>`)
	refused := func(words string) {
		t.Helper()
		_, err := p.Act(t.Context(), p.Input().TypeAtFocus("x", input.TypeOptions{}))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	refused("nothing has the focus")
	pagetest.Evaluate(t, p, "button.focus()")
	refused(`button "Press" has the focus, which takes no text`)
	pagetest.Evaluate(t, p, "fixed.focus()")
	refused("takes no text")
	pagetest.Expect(t, p, "keys", `""`)

	pagetest.Evaluate(t, p, "field.focus(), field.setSelectionRange(1, 3)")
	pagetest.Act(t, p, p.Input().TypeAtFocus("-", input.TypeOptions{Submit: true}))
	pagetest.Expect(t, p, "field.value + sent", `"a-d1"`)
	pagetest.Evaluate(t, p, "field.blur(), keys = ''")
	pagetest.Act(t, p, p.Input().TypeAtFocus("go", input.TypeOptions{Slowly: true})) // as in a game
	pagetest.Expect(t, p, "keys", `"go"`)

	var target *frame.TargetError
	if _, err := p.Act(t.Context(), p.Input().Type("#button", "x", input.TypeOptions{})); !errors.As(err, &target) {
		t.Errorf("typing into a button: %v", err)
	}
}
