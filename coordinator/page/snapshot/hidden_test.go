package snapshot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

// expectShown checks for each way of reading the page whether it finds a text.
func expectShown(t *testing.T, p *page.Page, text string, want bool) {
	t.Helper()
	ctx := t.Context()
	found, err := p.Reader().Find(ctx, snapshot.FindOptions{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	read, err := p.Reader().Markdown(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	_, verified := p.Reader().VerifyText(ctx, text)
	if verified != nil && !errors.As(verified, new(*snapshot.VerifyError)) {
		t.Fatal(verified)
	}
	wait := page.WaitOptions{Gone: text, Timeout: 3 * time.Second}
	if want {
		wait.Text, wait.Gone = text, ""
	}
	_, waited := p.WaitFor(ctx, wait)
	for mode, shown := range map[string]bool{
		"snapshot": strings.Contains(pagetest.Snapshot(t, p), text),
		"find":     found.Matches > 0,
		"markdown": strings.Contains(read.Text, text),
		"verify":   verified == nil,
		"wait":     (waited == nil) == want,
	} {
		if shown != want {
			t.Errorf("%s: %s is shown: %t", mode, text, shown)
		}
	}
}

// What a box of no size clips is hidden for all that reads the page; what is only small, or
// placed elsewhere, is not.
func TestClippedContent(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>.box{overflow:hidden} .row{display:grid;grid-template-rows:0fr} .row>*{overflow:hidden;min-height:0}
.reader{position:absolute;width:1px;height:1px;
  padding:0;margin:-1px;overflow:hidden;clip:rect(0,0,0,0);clip-path:inset(50%);white-space:nowrap;border:0}</style>
<div class=box style="max-height:0"><p>Hidden-maxheight</p></div>
<div class=box style="height:0"><p>Hidden-height</p></div>
<div class=box style="width:0"><p>Hidden-width</p></div>
<div style="overflow-y:auto;height:0">Hidden-auto</div>
<div style="overflow:clip;height:0;border:1px solid"><b>Hidden-border</b></div>
<div class=row><div><p>Hidden-grid</p></div></div>
<div style="clip-path:inset(100%)"><p>Hidden-inset</p></div>
<div style="clip-path:inset(0 0 100%)"><p>Hidden-edge</p></div>
<div style="clip-path:inset(50% round 4px)"><p>Hidden-half</p></div>
<div style="clip-path:circle(0px at 50% 50%)"><p>Hidden-circle</p></div>
<div style="position:absolute;clip:rect(0,0,0,0)"><p>Hidden-rect</p></div>
<div class=box style="height:0;position:relative"><div style="position:absolute">Hidden-within</div></div>
<div class=box style="clip-path:inset(100%)"><div style="position:fixed;top:400px">Hidden-fixed</div></div>
<div hidden=until-found>Hidden-until</div>
<div class=box style="height:0"><slot-host id=h></slot-host></div>
<div class=box style="height:0"><iframe srcdoc="<p>Hidden-frame"></iframe></div>
<iframe style="width:0;height:0;border:0" srcdoc="<p>Hidden-nosize"></iframe>

<p>Shown-text</p><span class=reader>Shown-reader</span>
<div style="height:0">Shown-overflow</div>
<div style="height:0;overflow-x:clip">Shown-axis</div>
<div style="display:contents">Shown-contents</div>
<div class=box style="height:0;padding-top:20px;line-height:1">Shown-padding</div>
<div class=box style="height:0"><div style="position:absolute;top:500px">Shown-absolute</div>
<div style="position:fixed;top:550px">Shown-fixed</div></div>
<div class=box style="height:0;position:relative"><div style="position:fixed;top:600px">Shown-apart</div></div>
<div class=box style="height:0"><dialog id=d><p>Shown-dialog</p></dialog><div id=o popover>Shown-popover</div></div>
<div style="clip-path:inset(10% 0)"><p>Shown-inset</p></div>
<div style="visibility:hidden"><div style="visibility:visible">Shown-again</div></div>
<div style="content-visibility:auto;margin-top:3000px">Shown-below</div>
<script>h.attachShadow({mode:'open'}).innerHTML = '<p>Hidden-shadow</p>'; d.showModal(); o.showPopover()</script>`)
	for _, text := range []string{"maxheight", "height", "width", "auto", "border", "grid", "inset", "edge", "half",
		"circle", "rect", "within", "fixed", "until", "shadow", "frame", "nosize"} {
		expectShown(t, p, "Hidden-"+text, false)
	}
	for _, text := range []string{"text", "reader", "overflow", "axis", "contents", "padding", "absolute", "fixed",
		"apart", "dialog", "popover", "inset", "again", "below"} {
		expectShown(t, p, "Shown-"+text, true)
	}
	if t.Failed() {
		t.Log(pagetest.Snapshot(t, p))
	}
}

// A body without a height does not clip: its overflow is the window's.
func TestBodyWithoutHeight(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{overflow:hidden;height:0;margin:0}</style><div style="position:absolute">Text</div><p>Flow`)
	expectShown(t, p, "Text", true)
	expectShown(t, p, "Flow", true)
}

const accordion = `<!doctype html>
<style>.panel{max-height:0;overflow:hidden;transition:max-height .2s} .open+.panel{max-height:200px}</style>
<h3 id=h><button onclick="h.classList.toggle('open')">Shipping</button></h3>
<div class=panel id=p><p>Costs <b>€ 5</b></p><button>Change</button><label>Code <input id=i></label></div><p>Total`

// What an accordion shows or hides is among the changes, also when an animation does it
// after the change of the class.
func TestAccordion(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, accordion)
	if text := pagetest.Snapshot(t, p); strings.Contains(text, "Costs") || strings.Contains(text, "Change") ||
		strings.Contains(text, "textbox") {
		t.Errorf("collapsed:\n%s", text)
	}
	pagetest.Act(t, p, p.Input().Click(`button "Shipping"`, input.ClickOptions{}))
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Costs € 5"})
	var text string
	must.Await(t, "opened", func() bool { text += p.Look(t.Context()).Text; return strings.Contains(text, "Costs") })
	pagetest.Contains(t, text, `+ `, `button "Change"`, `textbox "Code"`)
	pagetest.Act(t, p, p.Input().Click(`button "Change"`, input.ClickOptions{}))
	pagetest.Act(t, p, p.Input().Click(`button "Shipping"`, input.ClickOptions{}))
	pagetest.WaitFor(t, p, page.WaitOptions{Gone: "Costs € 5"})
	text = ""
	must.Await(t, "closed", func() bool { text += p.Look(t.Context()).Text; return strings.Contains(text, "- - ") })
	pagetest.Contains(t, text, "Costs", `button "Change"`)
}

// What cannot be clicked because it is collapsed names what may show it.
func TestClickInCollapsedPart(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, accordion+`<div role=tablist>
<button role=tab aria-controls=tp aria-selected=false>Reviews</button></div>
<div id=tp hidden><button id=t>Write</button></div>
<details><summary>More</summary><button id=m>Delete</button></details>
<button aria-controls="a" aria-expanded=false>Filters</button><p>…</p>
<div style="height:0;overflow:hidden" id=a><div style="width:0;overflow:hidden"><button id=f>Apply</button></div></div>
<div style="height:0;overflow:hidden"><label for=c>Not seen</label><input
  id=c type=checkbox><button id=n>None</button></div>`)
	for target, want := range map[string]string{
		"#p button": `it is hidden in <div id="p" class="panel"> "Costs € 5 ChangeCode", ` +
			`which is collapsed: button "Shipping" may show it`,
		"#t": `it has no size or is not displayed: tab "Reviews" may show it`,
		"#m": `it has no size or is not displayed: summary "More" may show it`,
		"#f": `it is hidden in <div id="a"> "Apply", which is collapsed: button "Filters" may show it`,
		"#c": `it is hidden in <div> "Not seenNone", which is collapsed`,
		"#n": `which is collapsed`,
	} {
		pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click(target,
			input.ClickOptions{Timeout: 200 * time.Millisecond}), want)
	}
	pagetest.Act(t, p, p.Input().Click(`button "Shipping"`, input.ClickOptions{}))
	pagetest.Act(t, p, p.Input().Click("#p button", input.ClickOptions{}))
}

// Controls that are hidden visually, with something else to be seen in their place.
func TestVisuallyHiddenControls(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>.check{position:absolute;clip:rect(0,0,0,0);pointer-events:none} 
.none{width:0;height:0;overflow:hidden;opacity:0;position:absolute}
.box{display:inline-block;width:0;height:0;overflow:hidden}</style>
<input type=checkbox class=check id=a><label for=a>Bold</label>
<input type=file class=none id=f><label for=f>Upload</label>
<label><span class=box><input type=checkbox id=b></span> Italic</label>
<input type=file class=none id=g aria-label=Picture>`)
	text := pagetest.Snapshot(t, p)
	for _, name := range []string{`checkbox "Bold" [ref=`, `checkbox "Italic" [ref=`, `button "Upload" [ref=`,
		`button "Picture" [ref=`} {
		if strings.Count(text, name) != 1 {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	for _, name := range []string{`"Bold"`, `"Italic"`} {
		pagetest.Act(t, p, p.Input().FillForm([]input.Field{{Target: pagetest.Ref(t, text, name), Type: "checkbox",
			Value: "true"}}))
	}
	pagetest.Expect(t, p, "[a.checked, b.checked]", "[true,true]")
}

// A locator is for Playwright, which does not count what is clipped as hidden.
func TestLocatorBesideClipped(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<div style="height:0;overflow:hidden"><button>Save</button></div><button id=s>Save</button>`)
	if locator, err := p.Reader().Locator(t.Context(), "#s"); err != nil ||
		locator.String() != "getByRole('button', { name: 'Save', exact: true }).nth(1)" {
		t.Errorf("%s %v", locator, err)
	}
	found, err := p.Reader().FindByRole(t.Context(), "button", "Save")
	if err != nil || len(found) != 1 {
		t.Errorf("%v %v", found, err)
	}
}

// A plain element that gets a shadow root later is among the changes, and so is what changes
// in it from then on.
func TestLaterShadowRoot(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><h1>Shop</h1><div id=h><i>light</i></div><p>End`)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, `void (h.attachShadow({mode: 'open'}).innerHTML = '<p id=s>Offer</p><div id=inner></div>')`)
	pagetest.Contains(t, p.Look(t.Context()).Text, "+ - Offer", "- - light")
	pagetest.Evaluate(t, p, `void (h.shadowRoot.getElementById('s').textContent = 'Sold')`)
	pagetest.Contains(t, p.Look(t.Context()).Text, "- - Offer", "+ - Sold")
	pagetest.Evaluate(t, p, `void (h.shadowRoot.getElementById('inner')
  .attachShadow({mode: 'open'}).innerHTML = 'Nested')`)
	pagetest.Contains(t, p.Look(t.Context()).Text, "Nested")
}

// What only hidden elements match is an error that names one, and what may show it.
func TestTargetThatIsHidden(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<button aria-controls=more aria-expanded=false>Details</button><div id=more hidden><p>Secret plan</p>
<button>Delete</button><button>Delete all</button></div>
<label>Plant <select><option>Moss<option>Fern</select></label>
<input role=combobox aria-label=City aria-owns=cities><div><button role=combobox aria-label=Colour>Any</button>
<div role=listbox style="display:none"><div role=option>Blue</div></div></div>
<ul id=cities role=listbox hidden><li role=option>Oslo</ul><script>const plan = "Secret"</script>`)
	for target, want := range map[string]string{
		"text=Secret plan": `matches no element that is shown, ` +
			`only hidden: <p> "Secret plan": button "Details" may show it`,
		"text=Fern":                `only hidden: <option> "Fern": combobox "Plant" may show it`,
		`option "Oslo"`:            `only hidden: <li> "Oslo": combobox "City" may show it`,
		`option "Blue"`:            `only hidden: <div> "Blue": combobox "Colour" may show it`,
		`button "Delete"`:          `only hidden: <button> "Delete": button "Details" may show it`,
		"role=button[name=delete]": `only hidden: <button> "Delete" and 1 more: button`,
		"text=const plan":          "matches no element: take a snapshot",
		"text=Nowhere":             "matches no element: take a snapshot",
	} {
		pagetest.Fails[*frame.TargetError](t, p, p.Input().Click(target, input.ClickOptions{Timeout: 200 * time.Millisecond}),
			want)
	}
}
