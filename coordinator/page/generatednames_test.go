package page_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"browser-coordinator/internal/longtest"
)

// Names are the browser's also where what makes them is combined as nobody would think of. The generator is
// the same in each run. We have more blanks: around all that stands apart on the screen.
func TestGeneratedNamesAreTheBrowsers(t *testing.T) {
	t.Parallel()
	g := generator{random: rand.New(rand.NewPCG(1, 2))}
	snippets := make([]string, longtest.Form(t, 200, 1200))
	for i := range snippets {
		snippets[i] = g.snippet()
	}
	differ := map[int]bool{}
	compared := compareNames(t, snippets, func(n int, difference string) {
		theirs, ours, _ := strings.Cut(difference, " = ")
		if blanksMore(theirs, ours) || deliberately[difference] {
			return
		}
		differ[n] = true
		t.Errorf("%s\n\t~ %s", snippets[n], difference)
	})
	t.Logf("%d snippets, %d elements compared, %d snippets differ", len(snippets), compared, len(differ))
}

// deliberately are differences that we prefer.
var deliberately = map[string]bool{
	`link "" = link "x"`: true, // a line break is no name, so the title is
	`table "Größe 3 3 (new)(new) Größe a & b" = table "Größe 3 3(new) (new) Größe a & b"`: true, // by the layout
}

// blanksMore reports whether a text is another one with more blanks in it.
func blanksMore(text, more string) bool {
	for i := 0; i < len(more); i++ {
		switch {
		case text != "" && more[i] == text[0]:
			text = text[1:]
		case more[i] != ' ':
			return false
		}
	}
	return text == ""
}

// generator makes snippets of HTML.
type generator struct {
	random *rand.Rand
	ids    int
}

func (g *generator) one(of ...string) string { return of[g.random.IntN(len(of))] }

func (g *generator) often(percent int) bool { return g.random.IntN(100) < percent }

func (g *generator) word() string {
	return g.one("Save", "file", "3", "Übersicht", "now", "of", "Qty", "x", "9.50", "Größe", "日本", "a & b", "…", "(new)")
}

// text has blanks at its ends, or not.
func (g *generator) text() string {
	text := g.word()
	if g.often(30) {
		text += " " + g.word()
	}
	return g.one("", " ", "\n") + strings.ReplaceAll(text, "&", "&amp;") + g.one("", " ", "")
}

// inline is content of a line, with parts in it to that depth.
func (g *generator) inline(depth int) string {
	var b strings.Builder
	for range 1 + g.random.IntN(3) {
		b.WriteString(g.part(depth))
	}
	return b.String()
}

func (g *generator) part(depth int) string {
	if depth == 0 || g.often(40) {
		return g.text()
	}
	inner := func() string { return g.inline(depth - 1) }
	switch g.random.IntN(22) {
	case 0:
		return "<br>"
	case 1:
		return fmt.Sprintf(`<img alt="%s" src="data:,">`, g.one("", g.word(), " "))
	case 2:
		return fmt.Sprintf(`<svg width=9 height=9><title>%s</title></svg>`, g.word())
	case 3:
		return fmt.Sprintf(`<span aria-hidden="%s">%s</span>`, g.one("true", "false"), g.text())
	case 4:
		return fmt.Sprintf(`<span %s>%s</span>`, g.one("hidden", `style="display:none"`, `style="visibility:hidden"`,
			`style="content-visibility:hidden;display:block"`), g.text())
	case 5:
		return fmt.Sprintf(`<span style="display:%s">%s</span>`, g.one("block", "inline-block", "flex", "contents",
			"inline-flex", "grid", "inline"), inner())
	case 6:
		return fmt.Sprintf(`<span role="%s" aria-label="%s">%s</span>`, g.one("img", "group", "note"), g.word(), inner())
	case 7:
		return fmt.Sprintf(`<i class="%s">%s</i>`, g.one("leaf", "leafi", "unit", "pic", "said", "quiet"), g.one("", inner()))
	case 8:
		return fmt.Sprintf(`<details%s><summary>%s</summary>%s</details>`, g.one("", " open"), inner(), inner())
	case 9:
		return fmt.Sprintf(`<span><template shadowrootmode="open">%s<slot></slot></template>%s</span>`, g.text(), inner())
	case 10:
		return fmt.Sprintf(`<input type="%s" value="%s">`, g.one("text", "search", "number"), g.one("", "5"))
	case 11:
		return `<select><option>Small<option selected>Large</select>`
	case 12:
		return fmt.Sprintf(`<span role="%s" aria-valuenow="4"%s>x</span>`, g.one("slider", "spinbutton"),
			g.one("", ` aria-valuetext="four"`))
	case 13:
		return "<sup>" + g.word() + "</sup>"
	case 14:
		return "<!-- " + g.word() + " -->"
	case 15:
		return fmt.Sprintf(`<abbr title="%s">%s</abbr>`, g.word(), g.word())
	case 16:
		return "<div>" + inner() + "</div>"
	case 17:
		return "<p>" + g.text() + "</p>"
	case 18:
		return fmt.Sprintf(`<span style="float:left">%s</span>`, inner())
	case 19:
		return fmt.Sprintf(`<span style="position:absolute">%s</span>`, inner())
	}
	tag := g.one("b", "em", "span", "code", "small", "strong", "mark", "u", "time")
	return fmt.Sprintf("<%s>%s</%s>", tag, inner(), tag)
}

// naming are attributes that name an element or describe it.
func (g *generator) naming() string {
	var b strings.Builder
	if g.often(15) {
		fmt.Fprintf(&b, ` aria-label="%s"`, g.one(g.word(), " ", ""))
	}
	if g.often(15) {
		fmt.Fprintf(&b, ` title="%s"`, g.word())
	}
	return b.String()
}

func (g *generator) snippet() string {
	g.ids++
	id := fmt.Sprintf("g%d", g.ids)
	style := "<style>.leaf::before{content:'☘'}.leafi::before{content:'☘';display:inline-block}" +
		".unit::after{content:' kg'}.pic::before{content:url(x.svg)}.said::before{content:'☘'/'Leaf'}" +
		".quiet::before{content:'Quiet'/''}</style>"
	if g.ids > 1 {
		style = ""
	}
	return style + g.element(id)
}

func (g *generator) element(id string) string {
	switch g.random.IntN(14) {
	case 0:
		return fmt.Sprintf(`<button%s>%s</button>`, g.naming(), g.inline(3))
	case 1:
		return fmt.Sprintf(`<a href="#x"%s>%s</a>`, g.naming(), g.inline(3))
	case 2:
		return fmt.Sprintf(`<h2%s>%s</h2>`, g.naming(), g.inline(3))
	case 3:
		return fmt.Sprintf(`<label>%s<input type="%s"%s>%s</label>`, g.inline(2), g.one("text", "checkbox", "radio", "range",
			"date"), g.naming(), g.one("", g.inline(2)))
	case 4:
		return fmt.Sprintf(`<label for="%s">%s</label><input id="%s"%s placeholder="Hint">%s`, id, g.word()+g.inline(2), id, g.naming(),
			g.one("", fmt.Sprintf(`<label for="%s">%s</label>`, id, g.inline(1))))
	case 5:
		return fmt.Sprintf(`<div role="%s" tabindex="0"%s>%s</div>`, g.one("button", "link", "checkbox", "switch",
			"menuitem", "tab", "radio", "heading"), g.naming(), g.inline(3))
	case 6:
		return fmt.Sprintf(`<button aria-labelledby="%s missing"%s>x</button>`, id, g.naming()) +
			g.one(fmt.Sprintf(`<div id="%s"%s>%s</div>`, id, g.one("", ` aria-label="Given"`), g.inline(2)),
				fmt.Sprintf(`<div id="%s"%s>%s</div>`, id, g.one(" hidden", ` style="display:none"`), g.text()))
	case 7:
		return fmt.Sprintf(`<div role="%s" id="%s"%s>x</div><p class="%s">%s</p><script>%s.ariaLabelledByElements = `+
			`[...document.getElementsByClassName("%s")]</script>`, g.one("dialog", "group", "textbox", "img", "listbox", "region",
			"navigation"), id, g.naming(), id, g.word()+g.inline(2), id, id)
	case 8:
		return fmt.Sprintf(`<table><caption>%s</caption><tr><th>%s<th>%s<tr><td>%s<td>%s</table>`, g.inline(2), g.inline(2),
			g.inline(1), g.inline(2), g.inline(1))
	case 9:
		return fmt.Sprintf(`<fieldset%s><legend>%s</legend><input aria-label="In it"></fieldset>`, g.naming(), g.inline(2))
	case 10:
		return fmt.Sprintf(`<select%s><option>%s<option label="%s">%s</select>`, g.naming(), g.text(), g.word(), g.text())
	case 11:
		return fmt.Sprintf(`<details%s><summary%s>%s</summary>%s</details>`, g.one("", " open"), g.naming(), g.inline(2),
			g.inline(2))
	case 12:
		return fmt.Sprintf(`<figure%s><img alt="%s" src="data:,"%s></figure>`, g.naming(), g.word(), g.naming())
	}
	return fmt.Sprintf(`<input type="%s" value="Go"%s>`, g.one("submit", "button", "image", "reset", "text", "checkbox"),
		g.naming())
}
