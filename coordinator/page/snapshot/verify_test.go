package snapshot_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

const verifiedPage = `<!doctype html><title>t</title>
<h1>Your order</h1>
<ul id=list><li>Green <b>tea</b></li><li>Coffee</li><li hidden>Secret</li></ul>
<table><tr><th>Item</th><td>Seven</td></tr></table>
<button>Save</button><button>Save all</button><button style="display:none">Hidden</button>
<button data-testid=buy>Buy</button><button>Twice</button><button>Twice</button><div id=odd><i></i></div>
<label>Name <input id=name value=Ada></label><input type=submit value="Send it">
<label>News <input type=checkbox id=news checked></label>
<select id=colour aria-label=Colour><option value=r>Red</option><option value=b selected>Blue</option></select>
<div role=slider aria-label=Volume aria-valuenow=7 tabindex=0 id=volume>7</div>
<p style="visibility:hidden">nobody sees this</p>
<my-box></my-box><label>Day <input type=date></label><input type=color title=Paint>
<details><summary>More</summary></details><canvas></canvas>
<script>document.querySelector("my-box").attachShadow({mode: "open"})
  .innerHTML = "<p>in a shadow</p><button>Shadow button</button>"</script>`

func verified(t *testing.T) *page.Page {
	t.Helper()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/inner" {
			io.WriteString(w, `<p>inner words</p><button>Inner button</button>`)
			return
		}
		fmt.Fprintf(w, `%s<iframe name=inner src="http://%s/inner"></iframe>`, verifiedPage,
			strings.Replace(r.Host, "127.0.0.1", "localhost", 1))
	}))
	return p
}

func TestVerify(t *testing.T) {
	t.Parallel()
	p := verified(t)
	for _, c := range []struct {
		role, name string
		want       int
	}{
		{"heading", "Your order", 1}, {"heading", "your  ORDER", 1}, {"heading", "My order", 0},
		{"button", "Save", 2}, {"button", "Hidden", 0}, {"button", "Inner button", 1}, {"button", "Shadow", 1},
		{"cell", "Seven", 1}, {"rowheader", "Item", 1}, {"row", "Item Seven", 1}, {"listitem", "", 2},
		{"textbox", "Name", 1}, {"checkbox", "News", 1}, {"combobox", "Colour", 1}, {"slider", "Volume", 1},
	} {
		found, err := p.Reader().FindByRole(t.Context(), c.role, c.name)
		if len(found) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s %q: %v %v; want %d", c.role, c.name, found, err, c.want)
		}
	}
	found, err := p.Reader().FindByRole(t.Context(), "button", "Buy")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	pagetest.Act(t, p, p.Input().Click(found[0].Ref, input.ClickOptions{}))

	for _, text := range []string{"Your order", "green TEA", "Green\n tea", "in a shadow", "inner words", "Send it"} {
		if _, err := p.Reader().VerifyText(t.Context(), text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	var unlike *snapshot.VerifyError
	for _, text := range []string{"Secret", "nobody sees this", "attachShadow", "absent"} {
		if _, err := p.Reader().VerifyText(t.Context(), text); !errors.As(err, &unlike) ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := p.Reader().VerifyItems(t.Context(), "#list", []string{"Coffee", "green tea"}); err != nil {
		t.Error(err)
	}
	err = p.Reader().VerifyItems(t.Context(), "#list", []string{"Coffee", "Secret", "Seven"})
	if !errors.As(err, &unlike) || err.Error() != `#list does not show ["Secret" "Seven"]` {
		t.Errorf("%v", err)
	}
	for _, c := range []struct{ target, kind, value string }{
		{"#name", "textbox", "Ada"}, {"#news", "checkbox", "true"}, {"#colour", "combobox", "b"},
		{"#colour", "combobox", "Blue"}, {"#volume", "slider", "7"},
	} {
		if err := p.Reader().VerifyValue(t.Context(), c.target, c.kind, c.value); err != nil {
			t.Errorf("%s: %v", c.target, err)
		}
		if err := p.Reader().VerifyValue(t.Context(), c.target, c.kind, "else"); !errors.As(err, &unlike) ||
			!strings.Contains(err.Error(), `not "else"`) {
			t.Errorf("%s: %v", c.target, err)
		}
	}
	var none *frame.TargetError
	if err := p.Reader().VerifyValue(t.Context(), "h1", "textbox", "x"); !errors.As(err, &none) {
		t.Errorf("a heading: %v", err)
	}
}

// What is in the accessibility tree and cannot be seen is not visible: a toast that has
// faded, a text for screen readers. A checkbox that lies on what is drawn for it is.
func TestVerifyWhatNobodySees(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<title>t</title><style>.away { position: absolute; left: -9999px }</style><body style="height:3000px">
<div role=status style="opacity:0">Faded toast</div><div style="opacity:0"><p>Inner text <button>Fade</button></div>
<p style="transform:scale(0)">Scaled text <button>Scale</button></p>
<p style="font-size:0">Tiny text</p><h2 class=away>Away heading</h2><a class=away href=#m>Skip link</a>
<p style="position:absolute;top:-500px">Above text</p>
<label style="position:relative"><input type=checkbox aria-label=Agree
  style="opacity:0;position:absolute;width:20px;height:20px"><i>box</i></label>
<ul id=list style="height:50px;overflow:auto"><li>One seen</li>`+
		strings.Repeat("<li>Row</li>", 50)+`<li style="opacity:0">Two faded</li></ul>
<span style="display:contents"><b>Held text</b></span><p style="margin-top:2500px">Below text</p>
<button style="display:inline"><span style="float:left">Floating</span></button>
<div style="height:60px;overflow:auto;display:flex;flex-direction:column-reverse">`+
		strings.Repeat("<p>Line</p>", 20)+`<p>First of the chat</p></div>
<img usemap=#m width=50 height=50 src="data:,"><map name=m><area href=/n alt=North shape=rect coords=0,0,9,9></map>
<select aria-label=Land><option>Ghana<option>Zimbabwe</select>
<script>list.scrollTop = 500; scrollTo(0, 900)</script>`)
	var unlike *snapshot.VerifyError
	fails := func(description string, err error, reason string) {
		t.Helper()
		if !errors.As(err, &unlike) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", description, err)
		}
	}
	for _, text := range []string{"Faded toast", "Inner text", "Scaled text", "Tiny text", "Away heading", "Skip link",
		"Above text", "Two faded"} {
		_, err := p.Reader().VerifyText(t.Context(), text)
		fails(text, err, fmt.Sprintf("the text %q is in the page, but no user sees it", text))
	}
	for _, text := range []string{"One seen", "First of the chat", "Held text", "Below text", "Floating"} {
		if _, err := p.Reader().VerifyText(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for role, name := range map[string]string{"status": "", "button": "Fade", "heading": "Away heading",
		"link": "Skip link"} {
		_, err := p.Reader().FindByRole(t.Context(), role, name)
		fails(role, err, "is in the page, but no user sees it")
	}
	_, err := p.Reader().FindByRole(t.Context(), "button", "Scale")
	fails("a scaled button", err, "no user sees it")
	_, err = p.Reader().VerifyText(t.Context(), "Zimbabwe")
	fails("an option", err, "is in a closed list")
	for role, name := range map[string]string{"checkbox": "Agree", "button": "Floating", "link": "North"} {
		if _, err := p.Reader().FindByRole(t.Context(), role, name); err != nil {
			t.Error(err)
		}
	}
	fails("a list", p.Reader().VerifyItems(t.Context(), "#list", []string{"One seen", "Two faded"}),
		`#list does not show ["Two faded"]; ["Two faded"] is in the page`)
}

func TestLocator(t *testing.T) {
	t.Parallel()
	p := verified(t)
	text := pagetest.Snapshot(t, p)
	for target, want := range map[string]string{
		"[data-testid=buy]":                     `getByTestId('buy')`,
		"h1":                                    `getByRole('heading', { name: 'Your order' })`,
		pagetest.Ref(t, text, `"Save all"`):     `getByRole('button', { name: 'Save all' })`,
		pagetest.Ref(t, text, `"Save"`):         `getByRole('button', { name: 'Save', exact: true })`,
		"#name":                                 `getByRole('textbox', { name: 'Name' })`,
		"#odd > i":                              `locator('#odd > i')`,
		"button:nth-of-type(6)":                 `getByRole('button', { name: 'Twice', exact: true }).nth(1)`,
		pagetest.Ref(t, text, `"Shadow button`): `getByRole('button', { name: 'Shadow button' })`,
		pagetest.Ref(t, text,
			`"Inner button`): `locator('body > iframe').contentFrame().getByRole('button', { name: 'Inner button' })`,
		// Playwright does not know the roles that only snapshots have.
		"[type=date]":  `getByLabel('Day', { exact: true })`,
		"[type=color]": `getByTitle('Paint', { exact: true })`,
		"summary":      `locator('body > details > summary')`,
		"canvas":       `locator('body > canvas')`,
	} {
		if got, err := p.Reader().Locator(t.Context(), target); err != nil || got.String() != want {
			t.Errorf("%s: %s %v; want %s", target, got, err, want)
		}
	}
}
