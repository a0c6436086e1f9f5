package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// The names of a form's fields shadow the properties of the form, and those of images the
// properties of the document. Elements with an id shadow global names that are free. A page
// with all these names is read and acted on as one with harmless names.
func TestShadowedProperties(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, "<!doctype html>")
	names := pagetest.Shadowable(t, p)
	harmless := make([]string, len(names))
	for i := range names {
		harmless[i] = fmt.Sprintf("field-%d", i)
	}
	want := useForm(t, harmless)
	got := useForm(t, names)
	for step := range want {
		if got[step] != want[step] {
			t.Errorf("%s\n is:   %s\n want: %s", step, got[step], want[step])
		}
	}
}

// useForm reads a page whose form, images and ids have these names, and acts on it. It returns
// what each step gives.
func useForm(t *testing.T, names []string) map[string]string {
	t.Helper()
	var fields, others strings.Builder
	for _, name := range names {
		fmt.Fprintf(&fields, "<input type=hidden name='%s'>", name)
		fmt.Fprintf(&others, "<img hidden name='%s'><i hidden id='%[1]s'></i>", name)
	}
	p, _ := pagetest.Open(t, `<!doctype html><title>Shop</title>
<style>#more { display: none } form { display: block }</style><main><h1>Order</h1>
<form aria-label=Order tabindex=0 onsubmit="return false" class=card title=Sale data-testid=form>`+fields.String()+`
<h2>Items</h2><label>Name <input></label>
<label>Size <select><option>S<option>M</select></label><label><input type=checkbox> Gift</label>
<ul><li>One <button type=button>Buy one</button></li><li>Two <button type=button>Buy two</button></li></ul>
<table><tr><th>A<th>B<tr><td>1<td>2</table><details><summary>More</summary><p>Hidden part</p></details>
<a href=#there>Link</a><p class=status role=status></p><div contenteditable aria-label=Editor>Text</div><x-box></x-box>
<button type=button draggable=true>Drag me</button></form></main>`+others.String()+`
<script>{ const find = (s) => Document.prototype.querySelectorAll.call(document, s),
  on = EventTarget.prototype.addEventListener;
for (const b of find("button")) on.call(b, "click", () => {
  find("[role=status]")[0].textContent += b.textContent + ". "; });
find("x-box")[0].attachShadow({ mode: "open" }).innerHTML = "<button type=button>Inner</button>"; }</script>`)
	steps, ctx := map[string]string{}, t.Context()
	note := func(step string, value any, err error) { steps[step] = fmt.Sprintf("%v %v", value, err) }
	s, err := p.Reader().Snapshot(ctx, snapshot.Options{})
	note("snapshot", s.Text+s.Title, err)
	act := func(step string, action input.Action) {
		t.Helper()
		c, err := p.Act(ctx, action)
		note(step, fmt.Sprintf("%+v %+v", c.Elements, c.Values), err)
	}
	in := p.Input()
	act("click", in.Click(`button "Buy one"`, input.ClickOptions{}))
	act("click in a shadow root", in.Click(`text=Inner`, input.ClickOptions{}))
	act("click the form", in.Click("form", input.ClickOptions{}))
	act("type", in.Type("label=Name", "Ann", input.TypeOptions{}))
	act("type slowly", in.Type("label=Editor", " more", input.TypeOptions{Slowly: true}))
	act("select", in.SelectOption("label=Size", "M"))
	act("hover", in.Hover("form", input.HoverOptions{}))
	act("press", in.PressKeyIn("form", "ArrowDown"))
	act("drag", in.Drag(`button "Drag me"`, "form"))
	act("fill", in.FillForm([]input.Field{{Target: "label=Gift", Type: "checkbox", Value: "true"}}))
	note("changes", p.Look(ctx), nil)
	s, err = p.Reader().Snapshot(ctx, snapshot.Options{Target: "form"})
	note("snapshot of the form", s.Text, err)
	s, err = p.Reader().Markdown(ctx, "")
	note("markdown", s.Text, err)
	s, err = p.Reader().Markdown(ctx, "form")
	note("markdown of the form", s.Text, err)
	found, err := p.Reader().Find(ctx, snapshot.FindOptions{Text: "two"})
	note("find", found.Text, err)
	found, _, err = p.Reader().FindScrolling(ctx, snapshot.FindOptions{Text: "gift"})
	note("find with scrolling", found.Text, err)
	for _, target := range []string{"form", `button "Buy two"`} {
		locator, err := p.Reader().Locator(ctx, target)
		note("locator of "+target, locator, err)
		_, err = p.Screen().Screenshot(ctx, capture.Options{Target: target})
		note("screenshot of "+target, "", err)
	}
	places, err := p.Reader().Places(ctx)
	note("places", len(places), err)
	text, err := p.Reader().HTML(ctx, `button "Buy two"`)
	note("HTML", text, err)
	value, _, err := p.Evaluate(ctx, "(e) => e", "form", page.Bounds{})
	written, _, _ := strings.Cut(string(value), ">")
	note("evaluate", written, err)
	_, err = p.WaitFor(ctx, page.WaitOptions{Text: "Buy one."})
	note("wait for a text", "", err)
	_, err = p.WaitFor(ctx, page.WaitOptions{Target: "form", Text: "Items"})
	note("wait for a target", "", err)
	note("verify", "", p.Reader().VerifyItems(ctx, "form", []string{"Items", "Two"}))
	unnamed := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	for step, value := range steps {
		steps[step] = unnamed.ReplaceAllString(value, "")
	}
	return steps
}

// Scripts of ours read the DOM under symbols, see frame/dom.js: a property that is read by its
// name works, until a page has a field of that name.
func TestScriptsReadTheDOMUnderSymbols(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, "<!doctype html>")
	var names []string
	// Other objects in our scripts have properties of these names too.
	const common = "name|title|text|hidden|attributes|parts|part|contains|append|prepend|before|after|remove|role|" +
		"style|length|normalize|close|open|closed|hint|scroll|title|toString|constructor|click|children|method|target|" +
		"all|find|look|cursor|focus|animate|elements|links|forms|action|submit|reset|write|links|plugins|location|" +
		"URL|domain|cookie|dir|id|lang|slot|hash|origin|host|search|protocol|pathname|href|from|select|toggle|when|" +
		"inert|evaluate|scrollBy|timeline|body"
	found := pagetest.Evaluate(t, p, `[...new Set([HTMLDocument, HTMLFormElement].flatMap((of) => {
		const all = [];
		for (let p = of.prototype; p !== Object.prototype; p = Object.getPrototypeOf(p))
			all.push(...Object.getOwnPropertyNames(p));
		return all; }))]`)
	if err := json.Unmarshal([]byte(found), &names); err != nil {
		t.Fatal(err)
	}
	skip := regexp.MustCompile("^(" + common + "|(add|remove|dispatch)Event(Listener)?)$")
	var plain []string
	for _, name := range names {
		if !skip.MatchString(name) {
			plain = append(plain, regexp.QuoteMeta(name))
		}
	}
	property := regexp.MustCompile(
		`(?:\b(?:[a-z]|document|this|element|target|control|field|owner|root|scope|found|of)|[\])])\??\.(` +
			strings.Join(plain, "|") + `)\b|\bdocument\.[a-z]`)
	var files []string
	for _, pattern := range []string{"*/script/*.js", "script/*.js", "*/*.js", "history/reread.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	// Those run where no symbols are: a page's own objects, a recorder's page. dom.js defines the symbols.
	apart := []string{"frame/dom.js", "component/component.js", "storage/items.js", "video/recorder.js"}
	for _, file := range files {
		if slices.Contains(apart, file) {
			continue
		}
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(script), "\n") {
			if found := property.FindString(line); found != "" && !strings.HasPrefix(strings.TrimSpace(line), "//") {
				t.Errorf("%s:%d reads %q: a page may shadow it, so write .$ in place of the dot", file, i+1, found)
			}
		}
	}
}
