package snapshot_test

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// closedHosts are elements with closed shadow roots of every kind: without a box, with children that
// slots show or not, in other roots. late attaches roots to elements that were there before.
const closedHosts = `<!doctype html><title>Hosts</title><div id=log></div>
<script>const clicks = [], attach = (host, html) => {
  const root = host.attachShadow({ mode: "closed" })
  root.innerHTML = html
  for (const b of root.querySelectorAll("button")) b.onclick = () => clicks.push(b.textContent)
  return root
}
// <template shadowrootmode="closed"> in a script is none.
</script>
<div id=fixed></div>
<div id=contents style="display:contents"></div>
<section id=slotted><b>Light slotted</b></section>
<p id=text>Light text</p>
<span id=unslotted><i>Light hidden</i></span>
<article id=named><em slot=a>Light named</em></article>
<div><template shadowrootmode=closed><button>In declared</button><slot></slot></template>Light declared</div>
<div id=outer></div><div id=opened></div><div id=plain></div><x-late></x-late>
<div id=late></div><section id=lateSlotted><u>Light late</u></section><my-late></my-late>
<iframe id=frame srcdoc="<h1 id=h>Framed</h1><script>
  h.attachShadow({ mode: 'closed' }).innerHTML = '<button>In frame</button>'</script>"></iframe>
<script>
document.body.insertAdjacentHTML("beforeend", '<div><template shadowrootmode="closed">no root</template></div>')
attach(fixed, "<div style='position:fixed;top:0;left:400px'><button>In fixed</button></div>")
attach(contents, "<button>In contents</button>")
attach(slotted, "<button>In slotted</button><slot></slot>")
attach(text, "<button>In text</button><slot></slot>")
attach(unslotted, "<button>In unslotted</button>")
attach(named, "<slot name=a></slot><button>In named</button>")
attach(attach(outer, "<button>In outer</button><div id=inner></div>").getElementById("inner"), "<button>In inner</button>")
const o = opened.attachShadow({ mode: "open" })
o.innerHTML = "<div><b>Light in open</b></div>"
attach(o.firstChild, "<button>In open</button><slot></slot>")
const attachLate = () => {
  attach(late, "<div style='position:fixed;top:40px;left:400px'><button>In late</button></div>")
  attach(lateSlotted, "<button>In late slotted</button><p>Said late</p><slot></slot>")
  customElements.define("my-late", class extends HTMLElement {
    connectedCallback() { attach(this, "<button>In late custom</button>") } })
}
</script>`

// early and late are the texts in these hosts.
var (
	closedEarly = []string{
		"In fixed", "In contents", "In slotted", "Light slotted", "In text", "Light text", "In unslotted", "In named",
		"Light named", "In declared", "Light declared", "In outer", "In inner", "In open", "Light in open", "In frame",
	}
	closedLate = []string{"In late", "In late slotted", "Light late", "In late custom"}
)

// Every closed shadow root is in every way of reading a page, at the first look and when it was attached
// after that; and what is read is what an action reaches.
func TestEveryClosedShadowRoot(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, closedHosts)
	pagetest.WaitFor(t, p, page.WaitOptions{Idle: true})
	pagetest.Contains(t, pagetest.Snapshot(t, p), closedEarly...)
	if text := pagetest.Snapshot(t, p); strings.Contains(text, "Light hidden") || strings.Contains(text, "no root") {
		t.Error(text)
	}
	pagetest.Evaluate(t, p, "attachLate()")
	pagetest.Contains(t, p.Look(t.Context()).Text, "In late", "In late slotted", "In late custom")
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, append(closedLate, closedEarly...)...)
	want := "["
	for _, name := range []string{
		"In fixed", "In contents", "In slotted", "In text", "In unslotted", "In named", "In outer", "In inner", "In open",
		"In late", "In late slotted", "In late custom",
	} {
		pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, `"`+name+`"`), input.ClickOptions{}))
		want += `"` + name + `",`
	}
	pagetest.Expect(t, p, "clicks", strings.TrimSuffix(want, ",")+"]")
}

// Nothing has to be looked at before: each way of reading finds a root by itself.
func TestClosedShadowRootsByThemselves(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(p *page.Page) bool{
		"find": func(p *page.Page) bool {
			found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: "In late slotted"})
			return err == nil && found.Matches == 1
		},
		"markdown": func(p *page.Page) bool { return strings.Contains(markdown(t, p), "Said late") },
		"HTML": func(p *page.Page) bool {
			html, err := p.Reader().HTML(t.Context(), "")
			return err == nil && strings.Contains(html, `shadowrootmode="closed"><button>In late slotted`)
		},
		"verify": func(p *page.Page) bool {
			_, err := p.Reader().VerifyText(t.Context(), "In late slotted")
			return err == nil
		},
		"selector": func(p *page.Page) bool {
			_, err := p.Act(t.Context(), p.Input().Click("text=In late slotted", input.ClickOptions{}))
			return err == nil
		},
	} {
		p, _ := pagetest.Open(t, closedHosts)
		pagetest.Evaluate(t, p, "attachLate(), document.querySelector('[id=slotted]').remove()") // as many as before
		if !read(p) {
			t.Errorf("%s does not find it", name)
		}
	}
}

// A wait sees a root that is attached meanwhile, to an element that was there.
func TestWaitForClosedShadowRoot(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, closedHosts)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, "void setTimeout(attachLate, 1000)")
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "In late slotted", Timeout: 10 * time.Second})
	p, _ = pagetest.Open(t, closedHosts)
	pagetest.Evaluate(t, p, "void setTimeout(attachLate, 1000)")
	pagetest.WaitFor(t, p, page.WaitOptions{Target: "text=In late slotted", Timeout: 10 * time.Second})
}

// An element that appears with such a root is among what an action has changed.
func TestActionAttachesClosedShadowRoot(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, closedHosts+`<button id=go onclick="attachLate()">Go</button>`)
	pagetest.Snapshot(t, p)
	pagetest.Act(t, p, p.Input().Click("#go", input.ClickOptions{}))
	pagetest.Contains(t, p.Look(t.Context()).Text, `+ - button "In late"`, `button "In late slotted"`)
}
