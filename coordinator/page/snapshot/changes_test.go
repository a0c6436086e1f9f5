package snapshot_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

const changingPage = `<!doctype html><style>.off .hint, .off .part { display: none }
.dim .menu { visibility: hidden } body.soon .later { visibility: visible } .later { visibility: hidden }</style>
<main><h1>Cart <span id=badge>3</span></h1><button id=buy>Buy <i id=now>now</i></button>
<ul id=list><li id=row>Tea <button id=remove>Remove</button></li><li>Cups <b class=part>blue</b></li></ul>
<p id=price>Total <b id=sum>5</b></p><p id=news><b id=new>New:</b> Sale ends</p><p class=hint>Hint text</p>
<div id=lane1 role=list aria-label=One><div role=listitem id=card>Card <button>Open</button></div></div>
<div id=lane2 role=list aria-label=Two></div>
<a id=link href="/x">Link</a><form id=form><input name=host hidden>Form text</form>
<ul class=later><li>Later <a href="/l">one</a></ul>
<p class=menu-item>Menu item</p><my-late id=late></my-late><div id=host></div></main><section id=rest></section>
<script>host.attachShadow({mode: 'open'}).innerHTML = '<div aria-label=Shadow role=group>Inside<slot></slot></div>'
rest.innerHTML = '<div></div>'
rest.firstChild.attachShadow({mode: 'open'}).innerHTML = '<h5>Deep</h5><h5>Down</h5>'
for (let i = 0; i < 60; i++) rest.insertAdjacentHTML('beforeend', '<h2>Filler ' + i + '</h2><p>Words ' + i)</script>`

// A list of thousands of lines is compared in a time that grows with what has changed.
func TestChangesInALongList(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<main id=m></main><script>for (let i = 0; i < 2400; i++) m.insertAdjacentHTML('beforeend', '<li>Row ' + i)</script>`)
	pagetest.Snapshot(t, p)
	for _, c := range []struct{ script, want string }{
		{"m.insertAdjacentHTML('beforeend', '<li>New'.repeat(60))", "+   - New\n"},
		{"m.insertAdjacentHTML('afterbegin', '<li>First'.repeat(60))", "+   - First\n"},
		{"[...m.children].filter((e) => e.textContent.startsWith('Row'))" +
			".filter((e, i) => i % 40 == 0).forEach((e) => e.append('!'))", "+   - Row"},
	} {
		// A busy machine may be too slow for one comparison, and not for all.
		found, tries := 0, 0
		for ; found < 60 && tries < 10; tries++ {
			pagetest.Evaluate(t, p, "void ("+c.script+")")
			found = strings.Count(p.Look(t.Context()).Text, c.want)
		}
		if found < 60 {
			t.Errorf("%s: %d lines, in %d tries", c.script, found, tries)
		}
	}
}

// Rows that have come and gone, as those of a list that is scrolled, are not counted.
func TestChangesOfAListThatIsScrolled(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><ul id=rows><li>Row <button>0</button></ul><section>`+
		strings.Repeat("<h2>Filler</h2>", 120)+`</section>`)
	pagetest.Snapshot(t, p)
	// A busy machine may be too slow for one comparison, and not for all.
	must.Await(t, "the last rows", func() bool {
		pagetest.Evaluate(t, p, `async () => {
  for (let i = 1; i <= 100; i++) {
    document.querySelector("#rows").innerHTML = ("<li>Row <button>" + i + "</button>").repeat(20)
    await new Promise((done) => setTimeout(done))
  }
}`)
		changes := p.Look(t.Context())
		return !changes.Much && strings.Count(changes.Text, `+   - Row | button "100"`) == 20
	})
}

// A toast is noticed wherever it is, and as often as it is shown.
func TestNoToastIsMissed(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<div id=saying role=status></div><div id=host role=status></div><main id=main></main>
<script>host.attachShadow({mode: 'open'}).innerHTML = '<p></p>'
const gone = () => new Promise((done) => setTimeout(done))</script>`)
	pagetest.Snapshot(t, p)
	for _, c := range []struct{ what, script string }{
		{"Saved 1", "saying.textContent = 'Saved 1'; await gone(); saying.textContent = ''"},
		{"Saved 1", "saying.textContent = 'Saved 1'; await gone(); saying.textContent = ''"},
		{"In shadow", "host.shadowRoot.firstChild.textContent = 'In shadow'; " +
			"await gone(); host.shadowRoot.firstChild.textContent = ''"},
		{"Second", "const t = document.createElement('div'); t.className = 'toast'; t.textContent = 'Second'; " +
			"document.body.append(document.createElement('hr'), t); await gone(); t.remove()"},
		{"Among many", "main.innerHTML = '<p>x</p>'.repeat(300); saying.textContent = 'Among many'; " +
			"await gone(); saying.textContent = ''; main.innerHTML = ''"},
	} {
		pagetest.Evaluate(t, p, "async () => { "+c.script+"; await gone() }")
		if changes := p.Look(t.Context()); len(changes.Notices) != 1 || changes.Notices[0] != c.what {
			t.Errorf("%s: %+v", c.script, changes)
		}
	}
}

// Whatever changes is found, however the page does it, and nothing else is outlined again.
func TestNoChangeIsMissed(t *testing.T) {
	t.Parallel()
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	for _, c := range []struct{ what, script, want string }{
		{"a part of a heading has gone", "badge.remove()", `  - main:
-   - heading "Cart 3" [level=1]
+   - heading "Cart" [level=1]
`},
		{"a part of a button has gone", "now.remove()", `  - main:
-   - button "Buy now" #
+   - button "Buy" #
`},
		{"a part of a row has gone", "remove.remove()", `  - main:
    - list:
-     - Tea | button "Remove" #
+     - Tea
`},
		{"the end of a text has gone", "sum.remove()", `  - main:
-   - Total 5
+   - Total
`},
		{"the beginning of a text has gone", "document.getElementById('new').remove()", `  - main:
-   - New: Sale ends
+   - Sale ends
`},
		{"a card has moved", "lane2.append(card)", `  - main:
-   - list "One":
+   - list "One"
+   - list "Two":
-     - Card | button "Open" #
+     - Card | button "Open" #
-   - list "Two"
`},
		{"the text of a link", "link.textContent = 'Other'", `  - main:
-   - link "Link" # [url=/x]
+   - link "Other" # [url=/x]
`},
		{"the text of a form with a field named host", "form.append('more')", `  - main:
-   - Form text
+   - Form textmore
`},
		{"texts are hidden by a class far above", "document.body.className = 'off'", `  - main:
    - list:
-     - Cups blue
+     - Cups
-   - Hint text
`},
		{"something gets visible by a class far above", "document.body.className = 'soon'", `  - main:
+   - list:
+     - Later | link "one" # [url=/l]
`},
		{"a component is defined late", "customElements.define('my-late', class extends HTMLElement { " +
			"constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<h3>Upgraded</h3>' } })", `  - main:
+   - heading "Upgraded" [level=3]
`},
		{"a host hides its shadow from readers", "host.setAttribute('aria-hidden', true)", `  - main:
-   - group "Shadow": Inside
`},
		{"something new beside what has several lines",
			"host.insertAdjacentHTML('afterend', '<div><h4>One</h4><h4>Two</h4></div>'), " +
				"host.nextElementSibling.insertAdjacentHTML('afterend', '<h4>Three</h4>')", `  - main:
+   - heading "One" [level=4]
+   - heading "Two" [level=4]
+   - heading "Three" [level=4]
`},
		{"a script inserts a rule", "document.styleSheets[0].insertRule('.menu-item { display: none }')", `  - main:
-   - Menu item
`},
		{"what is large is hidden from readers, with a shadow in it", "rest.setAttribute('aria-hidden', true)", ""},
		{"content of a slot", "host.textContent = ' and slotted'", `  - main:
-   - group "Shadow": Inside
+   - group "Shadow": Inside and slotted
`},
	} {
		p, _ := pagetest.Open(t, changingPage)
		pagetest.Snapshot(t, p)
		pagetest.Evaluate(t, p, "void ("+c.script+")")
		changes := p.Look(t.Context())
		// A busy machine is too slow for it now and then.
		for tries := 1; tries < 5 && (changes.Much || changes.Text == ""); tries++ {
			p, _ = pagetest.Open(t, changingPage)
			pagetest.Snapshot(t, p)
			pagetest.Evaluate(t, p, "void ("+c.script+")")
			changes = p.Look(t.Context())
		}
		got := refs.ReplaceAllString(changes.Text, " #")
		if c.want == "" {
			if strings.Count(got, "-   - heading") != 62 && strings.Count(got, "- - heading") != 62 ||
				strings.Contains(got, "+") {
				t.Errorf("%s: %+v", c.what, changes)
			}
		} else if got != c.want || changes.Much {
			t.Errorf("%s: %+v\n%s\nwant\n%s", c.what, changes, got, c.want)
		}
		// The watcher knows what a snapshot shows.
		whole := strings.Split(pagetest.Snapshot(t, p), "\n")
		if again := p.Look(t.Context()); again.Text != "" {
			t.Errorf("%s: again %s\nin %s", c.what, again.Text, strings.Join(whole, "\n"))
		}
	}
}

// What appears in a frame that was not there before is among the changes, once, and from then
// on what changes in it. A frame that nobody sees is not.
func TestFramesThatAppear(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			io.WriteString(w, `<!doctype html><h1>Shop</h1><iframe id=there src=/there></iframe><div id=box></div>`)
		case "/there":
			io.WriteString(w, "<!doctype html>Old")
		default:
			fmt.Fprintf(w, `<!doctype html><p id=said>This is %s</p><button onclick="said.textContent = 'Paid'">Pay</button>`,
				r.URL.Path)
		}
	}))
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	look := func(description, want string) {
		t.Helper()
		changes := p.Look(t.Context())
		if got := refs.ReplaceAllString(changes.Text, " #"); got != want {
			t.Errorf("%s: %+v\n%s\nwant\n%s", description, changes, got, want)
		}
	}
	load := func(change string) {
		t.Helper()
		pagetest.Evaluate(t, p, "async () => { const box = document.querySelector('#box'); "+change+
			"; await new Promise((done) => box.querySelector('iframe').onload = done) }")
	}
	p.Look(t.Context()) // its beginning
	look("nothing has happened", "")
	elsewhere := strings.Replace(url, "127.0.0.1", "localhost", 1) // in another process
	load("box.innerHTML = '<iframe name=pay src=" + elsewhere + "/pay></iframe>'")
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "This is /pay"})
	look("a frame appears", `+ - iframe:
+ - iframe `+elsewhere+`/pay:
+   - This is /pay
+   - button "Pay" #
`)
	look("nothing more", "")
	pagetest.Act(t, p, p.Input().Click(`button "Pay"`, input.ClickOptions{}))
	look("a change in it", `  - iframe `+elsewhere+`/pay:
-   - This is /pay
+   - Paid
`)
	load("box.firstChild.src = '/next'")
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "This is /next"})
	look("another document in it", `+ - iframe `+url+`/next:
+   - This is /next
+   - button "Pay" #
`)
	load("box.innerHTML = '<iframe src=/hidden style=display:none></iframe>'")
	look("a frame that is not to be seen", "- - iframe:\n")
	pagetest.Evaluate(t, p, "void (document.querySelector('#box iframe').style.display = '')")
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "This is /hidden"})
	look("now it is", `+ - iframe:
+ - iframe `+url+`/hidden:
+   - This is /hidden
+   - button "Pay" #
`)
}

// What is as it was is not among the changes, whatever changes around it.
func TestWhatIsAsItWas(t *testing.T) {
	t.Parallel()
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	fields := ""
	for _, name := range []string{"A", "B", "C"} {
		fields += "<select id=" + name + " aria-label=" + name + "><option>S<option>M<option>L</select>"
	}
	for script, want := range map[string]string{
		"A.value = 'M', B.value = 'L'": `  - main:
-   - combobox "A" #: S
+   - combobox "A" #: M
-   - combobox "B" #: S
+   - combobox "B" #: L
`,
		"cart.setAttribute('aria-label', 'Cart (2)'), " +
			"cart.insertAdjacentHTML('beforebegin', '<div role=alert>Added</div>')": `  - main:
-   - group "Cart (1)": Tea
+   - alert: Added
+   - group "Cart (2)": Tea
`,
	} {
		p, _ := pagetest.Open(t, "<!doctype html><main>"+fields+
			"<div role=group id=cart aria-label='Cart (1)'><p>Tea</p><button>Edit</button><h2>Total</h2></div></main>")
		pagetest.Snapshot(t, p)
		pagetest.Evaluate(t, p, "void ("+script+")")
		if got := refs.ReplaceAllString(p.Look(t.Context()).Text, " #"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", script, got, want)
		}
	}
}

// A text that was there before its region changed was not shown for a while.
func TestOldTextIsNoToast(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<div id=s role=status>Three items</div><div id=t class=toast>Old <b>news</b></div>`)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, "async () => { s.className = t.title = 'x'; "+
		"await new Promise((done) => setTimeout(done)); s.textContent = 'None'; document.querySelector('.toast').remove() }")
	if changes := p.Look(t.Context()); len(changes.Notices) != 0 ||
		!strings.Contains(changes.Text, "- - status: Three items") {
		t.Errorf("%+v", changes)
	}
}

// Only what is gone was shown for a while: no line of a log that is still there, nor a toast beside
// another, nor the whole of a dialog. What is left out is counted.
func TestOnlyWhatIsGoneWasShownForAWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, want string
		missed       int
	}{
		{"for (let i = 1; i < 6; i++) { log.insertAdjacentHTML('beforeend', '<p>Line ' + i); await rest() }", "", 0},
		{"for (let i = 1; i < 8; i++) { s.textContent = 'Part ' + i; await rest() }", "Part 4|Part 5|Part 6", 3},
		{"t.innerHTML = '<p class=toast>A is done'; await rest(); t.innerHTML += '<p class=toast>B is done'; " +
			"await rest(); t.firstChild.remove()", "A is done", 0},
		{"d.hidden = false; await rest(); e.textContent = 'Enter why'; await rest(); e.textContent = ''", "Enter why", 0},
		{"d.hidden = false; await rest(); d.hidden = true", "Delete it? (a dialog)", 0},
		{"s.textContent = 'Saving'; await rest(); s.textContent = 'Saving 1 of 2'", "", 0},
		{"document.body.append(...Array.from({ length: 1200 }, (_, i) => document.createElement('hr'))); " +
			"s.textContent = 'One'; await rest(); s.textContent = 'Two'", "One", 0},
	} {
		p, _ := pagetest.Open(t, `<!doctype html><main></main><div id=log role=log></div><p id=s role=status></p>
<div id=t class=toast-list></div><div id=d role=dialog aria-label="Delete it?" hidden><h2>Delete it?</h2><p>Are you
sure?</p><button>Yes</button><p id=e></p></div><script>
const rest = () => new Promise((done) => setTimeout(done))</script>`)
		pagetest.Snapshot(t, p)
		pagetest.Evaluate(t, p, "async () => { "+c.script+"; await rest() }")
		changes := p.Look(t.Context())
		if got := strings.Join(changes.Notices, "|"); got != c.want || changes.Missed != c.missed {
			t.Errorf("%s: %q, %d before: %+v", c.script, got, changes.Missed, changes)
		}
		if changes.Much != (len(changes.Shown) > 0) || changes.Much && changes.Shown[0] != "Two" {
			t.Errorf("%s: much %t, shown %q", c.script, changes.Much, changes.Shown)
		}
		if again := p.Look(t.Context()); !again.Empty() {
			t.Errorf("%s: again %+v", c.script, again)
		}
	}
}

// A beginning that ends in a row shows that the row goes on.
func TestBeginningThatEndsInARow(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><table>`+strings.Repeat("<tr><td>a<td>b<td>c<td>d<td>e<td>f", 30)+`</table>`)
	changes := p.Look(t.Context())
	last := changes.Text[strings.LastIndex(strings.TrimSpace(changes.Text), "\n")+1:]
	if !changes.Much || !strings.HasSuffix(last, "…\n") {
		t.Errorf("%+v", changes)
	}
}

// A busy page may number elements when nobody waits for that any longer.
func TestRefsOfAResultThatIsLate(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><main id=m><button>First</button></main>`)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, `void setTimeout(() => {
  m.insertAdjacentHTML("beforeend", '<button onclick="document.title = 1">Second</button>')
  for (const end = Date.now() + 3000; Date.now() < end;) ;
})`)
	p.Look(t.Context())
	pagetest.Evaluate(t, p, `m.insertAdjacentHTML("afterbegin", "<button>Third</button>")`)
	text := pagetest.Snapshot(t, p)
	refs := map[string]bool{}
	for _, name := range []string{"First", "Second", "Third"} {
		refs[pagetest.Ref(t, text, name)] = true
	}
	if len(refs) != 3 {
		t.Errorf("a ref of two elements: %s", text)
	}
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "Second"), input.ClickOptions{}))
	pagetest.Expect(t, p, "document.title", `"1"`)
}

// A frame that does not answer when it appears is said to be more, and is among the next changes.
func TestBusyFrameThatAppears(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			io.WriteString(w, `<!doctype html><h1>Shop</h1><div id=box></div>`)
			return
		}
		io.WriteString(w, `<!doctype html><button>Pay</button><script>
onload = () => parent.postMessage('there', '*')
onmessage = () => { for (const end = Date.now() + 5000; Date.now() < end;); }</script>`)
	}))
	p.Look(t.Context()) // its beginning
	pagetest.Evaluate(t, p, `async () => {
  const there = new Promise((done) => onmessage = done)
  box.innerHTML = '<iframe src=`+strings.Replace(url, "127.0.0.1", "localhost", 1)+`/pay></iframe>'
  await there
  box.firstChild.contentWindow.postMessage('work', '*')
}`)
	if c := p.Look(t.Context()); !c.Unknown || c.Text != "+ - iframe:\n" {
		t.Errorf("while it is busy: %+v", c)
	}
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Pay", Timeout: time.Minute})
	pagetest.Contains(t, p.Look(t.Context()).Text, `+   - button "Pay"`)
}

// A page that a dialog makes inert does not hide what has changed.
func TestDialogThatMakesThePageInert(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div id=page><button>Undo</button></div><div id=box></div>`)
	pagetest.Snapshot(t, p)
	refs := regexp.MustCompile(`e\d+`)
	pagetest.Evaluate(t, p,
		`page.inert = true, box.innerHTML = "<div role=dialog aria-label=Sure><button>Yes</button></div>"`)
	if got, want := refs.ReplaceAllString(p.Look(t.Context()).Text, "#"), `+ - dialog "Sure":
+   - button "Yes" [ref=#]
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	pagetest.Contains(t, pagetest.Snapshot(t, p), `"Undo" [inert]`)
}

// The first look at a document has the frames at its beginning, also those of another site,
// unless they do not respond. What changes afterwards is known of them and of the rest.
func TestFirstLookAtFrames(t *testing.T) {
	t.Parallel()
	// A busy machine has a share of a long call.
	p, url := pagetest.ServeIn(t, pagetest.ConnectWith(t, &page.Options{CallTimeout: time.Minute}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			elsewhere := "http://" + strings.Replace(r.Host, "127.0.0.1", "localhost", 1)
			switch r.URL.Path {
			case "/card":
				io.WriteString(w, `<!doctype html>
<iframe title=Card srcdoc="<button onclick='this.textContent = 1'>Pay</button>"></iframe>`)
			case "/long":
				io.WriteString(w, `<!doctype html><iframe title=App src=/app></iframe>`)
			case "/app":
				io.WriteString(w, `<!doctype html><button onclick="n.textContent = 1">Add</button><p id=n>0</p>`+
					strings.Repeat(`<button>More</button>`, 300))
			case "/busy":
				fmt.Fprintf(w, `<!doctype html><h1>Checkout</h1>
<iframe title=Ad src=%s/loop></iframe><iframe title=Card srcdoc="<button>Pay</button>"></iframe>`, elsewhere)
			case "/loop":
				io.WriteString(w, `<!doctype html><button>Buy</button>
<script>onload = () => setTimeout(() => { for (const end = Date.now() + 20000; Date.now() < end;); })</script>`)
			default:
				fmt.Fprintf(w, `<!doctype html><h1>Checkout</h1><iframe title=Payment src=%s/card></iframe>`, elsewhere)
			}
		}))
	look := func(path string) string {
		pagetest.Navigate(t, p, url+path)
		return p.Look(t.Context()).Text
	}
	click := func(ref string) string {
		pagetest.Act(t, p, p.Input().Click(ref, input.ClickOptions{}))
		return p.Look(t.Context()).Text
	}
	text := look("/")
	pay := pagetest.Ref(t, text, "Pay")
	want := fmt.Sprintf("- heading \"Checkout\" [level=1]\n"+
		"- iframe \"Payment\":\n  - iframe \"Card\":\n    - button \"Pay\" [ref=%s]\n", pay)
	if text != want {
		t.Errorf("a page with frames: %s", text)
	}
	pagetest.Contains(t, click(pay), `button "1"`)

	add := pagetest.Ref(t, look("/long"), "Add")
	pagetest.Evaluate(t, p, "void document.body.append('Since then')")
	pagetest.Contains(t, click(add), "Since then", "+   - 1\n")

	pagetest.Contains(t, look("/busy"), `heading "Checkout"`, `  - button "Pay"`)
}

// What is in a closed shadow root that appears is among the changes at once, and from then on
// what changes in it, also in a document that no snapshot has shown.
func TestClosedRootsThatAppear(t *testing.T) {
	t.Parallel()
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	for _, visible := range []bool{true, false} {
		p, _ := pagetest.Open(t, `<!doctype html><main id=m><h1>Shop</h1><my-box></my-box></main><script>
let say
customElements.define('my-box', class extends HTMLElement {
  constructor() { super(); const s = this.attachShadow({ mode: 'closed' }); s.innerHTML = '<h2>Box</h2>' } })
customElements.define('my-inner', class extends HTMLElement { constructor() {
  super(); const s = this.attachShadow({ mode: 'closed' }); s.innerHTML = '<p>Inner</p>'
  say = (text) => s.firstChild.textContent = text } })
customElements.define('my-outer', class extends HTMLElement { constructor() {
  super(); this.attachShadow({ mode: 'closed' }).innerHTML = '<button>Pay</button><my-inner></my-inner>' } })
</script>`)
		if visible {
			pagetest.Snapshot(t, p)
		} else {
			p.Look(t.Context())
			p.Look(t.Context())
		}
		look := func(script, want string) {
			t.Helper()
			pagetest.Evaluate(t, p, "void ("+script+")")
			if got := refs.ReplaceAllString(p.Look(t.Context()).Text, " #"); got != want {
				t.Errorf("%s: %s\nwant\n%s", script, got, want)
			}
		}
		look("m.insertAdjacentHTML('beforeend', '<my-outer></my-outer>')", `  - main:
+   - button "Pay" #
+   - Inner
`)
		look("say('Paid')", `  - main:
-   - Inner
+   - Paid
`)
		look("m.lastChild.remove()", `  - main:
-   - button "Pay" #
-   - Paid
`)
	}
}
