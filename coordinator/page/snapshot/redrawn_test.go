package snapshot_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

const redrawnPage = `<!doctype html>
<title>-</title><div id=app></div><div id=host></div><iframe srcdoc="<ul></ul>"></iframe><script>
const buy = (name, ...more) => '<li><b>' + name +
  '</b> <button onclick="top.document.title = \'' + [name, ...more].join(' ') + '\'">Buy</button></li>'
const list = (...names) => { app.innerHTML = '<ul>' + names.map((name) => buy(name)).join('') + '</ul>' }
const rows = (...names) => {
  app.firstChild ?? (app.innerHTML = '<table></table>');
  app.firstChild.innerHTML = '<tbody>' + names.map((name, i) => '<tr aria-rowindex=' + i + '><td>' + name +
    '<td><button onclick="document.title = \'' + name + '\'">Buy</button>').join('') }
const cards = (...names) => {
  app.innerHTML = names.map((name) => '<div class=card><h3>' + name +
    '</h3><button onclick="document.title = \'' + name + '\'">Buy</button></div>').join('') }
const page = (heading, note, ...names) => {
  app.innerHTML = '<h1>' + heading + '</h1><p>' + note +
    '</p><button onclick="document.title = \'' + heading + '\'">Buy</button><ul>' +
    names.map((name) => buy(name)).join('') + '</ul>' }
const form = (name) => {
  app.innerHTML = '<h2>Edit</h2><label>Name <input></label>' +
    '<button onclick="document.title = \'' + name + '\'">Buy</button>';
  app.querySelector('input').value = name }
let shown
const record = (title) => {
  app.firstChild ?? (app.innerHTML = '<header><h2></h2></header><div></div>');
  app.querySelector('h2').textContent = shown = title;
  app.lastChild.innerHTML = '<button onclick="document.title = shown">Buy</button>' }
const buyShown = '<button onclick="document.title = shown">Buy</button>'
const alike = (note) => {
  app.firstChild ?? (app.innerHTML = '<ul></ul><p></p>');
  app.lastChild.textContent = shown = note;
  app.firstChild.innerHTML = ('<li>Item ' + buyShown + '</li>').repeat(2) }
const mail = (n) => { shown = n; app.innerHTML = '<div>Mail ' + n + '</div><p>From: Ann ' + buyShown + '</p>' }
const tabbed = (n) => {
  shown = n;
  app.firstChild ?? (app.innerHTML = '<div role=tablist><button role=tab>A</button>' +
    '<button role=tab>B</button></div><div role=tabpanel></div>');
  [...app.firstChild.children].forEach((e, i) => e.setAttribute('aria-selected', i === n));
  app.lastChild.innerHTML = '<p>Settings</p>' + buyShown }
const anchors = (note, href) => {
  shown = note;
  app.innerHTML = '<p>' + note + '</p><a href="' + href +
    '" onclick="event.preventDefault(); document.title = shown">Buy</a>' }
const pictured = (name) => {
  shown = name; app.innerHTML = '<img alt=' + name + '><button onclick="document.title = shown">Buy</button>' }
const terms = (name) => {
  app.innerHTML = '<dl><dt>' + name + '<dd><button onclick="document.title = \'' + name + '\'">Buy</button></dl>' }
const one = (...names) => {
  while (app.lastChild) app.lastChild.remove();
  for (const name of names) { app.insertAdjacentHTML('beforeend', buy(name)) } }
const root = host.attachShadow({mode: 'open'})
const shadow = (...names) => { root.innerHTML = '<ul>' + names.map((name) => buy(name)).join('') + '</ul>' }
const inner = (...names) => {
  frames[0].document.querySelector('ul').innerHTML = names.map((name) => buy(name)).join('') }
</script>`

// What a page redraws as it was keeps its ref, and is no change. What may be another element
// gets a new ref, and the old one acts on nothing.
func TestRefsOfWhatIsRedrawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after string
		keeps         []int    // the buttons before whose refs go on
		titles        []string // that these give to the page
		same          bool     // nothing has changed
	}{
		{"list('Tea', 'Cup')", "list('Tea', 'Cup')", []int{0, 1}, []string{"Tea", "Cup"}, true},
		{"rows('Tea', 'Cup', 'Pot')", "rows('Pot', 'Tea', 'Cup')", []int{0, 1, 2}, []string{"Tea", "Cup", "Pot"}, false},
		{"list('Tea', 'Cup', 'Pot')", "list('Cup', 'Pot')", []int{1, 2}, []string{"Cup", "Pot"}, false},
		{"one('Tea', 'Cup', 'Pot')", "one('Cup', 'Pot')", []int{1, 2}, []string{"Cup", "Pot"}, false},
		{"list('Task 1')", "list('Task 2')", nil, nil, false},
		{"list('Tea', 'Tea', 'Cup')", "list('Tea', 'Cup')", []int{2}, []string{"Cup"}, false},
		{"list('Tea', 'Tea', 'Cup')", "list('Tea', 'Tea', 'Cup')", []int{0, 1, 2}, []string{"Tea", "Tea", "Cup"}, true},
		{"cards('Tea', 'Cup', 'Pot')", "cards('Pot', 'Tea')", []int{0, 2}, []string{"Tea", "Pot"}, false},
		{"cards('Tea')", "cards('Cup')", nil, nil, false},
		{"page('Order 1', 'Note', 'Tea')", "page('Order 2', 'Note', 'Tea')", nil, nil, false},
		{"page('Tasks (1)', 'Note', 'Tea')", "page('Tasks (2)', 'Note', 'Tea', 'Cup')", []int{1}, []string{"Tea"}, false},
		{"record('Order 1')", "record('Order 2')", nil, nil, false},
		{"record('Order 1')", "record('Order 1')", []int{0}, []string{"Order 1"}, true},
		{"alike('Page 1')", "alike('Page 2')", nil, nil, false},
		{"alike('Page 1')", "alike('Page 1')", []int{0, 1}, []string{"Page 1", "Page 1"}, true},
		{"mail('1')", "mail('2')", nil, nil, false},
		{"form('Ann')", "form('Bob')", nil, nil, false},
		{"form('Ann')", "form('Ann')", []int{0}, []string{"Ann"}, true},
		{"tabbed(0)", "tabbed(1)", nil, nil, false},
		{"anchors('A note on 1', '#')", "anchors('A note on 2', '#')", nil, nil, false},
		{"anchors('A note on 1', 'javascript:')", "anchors('A note on 2', 'javascript:')", nil, nil, false},
		{"anchors('A note on 1', '#buy')", "anchors('A note on 2', '#buy')", []int{0}, []string{"A note on 2"}, false},
		{"pictured('Ann')", "pictured('Bob')", nil, nil, false},
		{"page('Order 1', 'Note', 'Tea')",
			"page('Order 1', 'Note', 'Tea', 'Cup')", []int{0, 1}, []string{"Order 1", "Tea"}, false},
		{"page('Order', 'Of 1', 'Tea')", "page('Order', 'Of 2', 'Tea')", []int{1}, []string{"Tea"}, false},
		{"terms('Tea')", "terms('Cup')", nil, nil, false},
		{"shadow('Tea', 'Cup')", "shadow('Cup')", []int{1}, []string{"Cup"}, false},
		{"inner('Tea', 'Cup')", "inner('Cup', 'Tea')", []int{0, 1}, []string{"Tea", "Cup"}, false},
		{"list('Tea', 'Cup')", "list('Pot'), list('x'), list('Cup', 'Pot')", []int{1}, []string{"Cup"}, false},
	} {
		for _, looks := range []bool{true, false} {
			p, _ := pagetest.Open(t, redrawnPage)
			pagetest.Evaluate(t, p, "void ("+c.before+")")
			refs := buttons(pagetest.Snapshot(t, p))
			pagetest.Evaluate(t, p, "void ("+c.after+")")
			description := fmt.Sprintf("%s, %s, looks: %v", c.before, c.after, looks)
			if looks {
				if changes := p.Look(t.Context()); (changes.Text == "") != c.same {
					t.Errorf("%s: %s", description, changes.Text)
				}
			}
			kept := 0
			for i, ref := range refs {
				if kept == len(c.keeps) || c.keeps[kept] != i {
					pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Click(ref, input.ClickOptions{}), "its element was removed")
					continue
				}
				pagetest.Act(t, p, p.Input().Click(ref, input.ClickOptions{}))
				pagetest.Expect(t, p, "document.title", fmt.Sprintf("%q", c.titles[kept]))
				kept++
			}
			now := buttons(pagetest.Snapshot(t, p))
			for i, n := range c.keeps {
				if !strings.Contains(strings.Join(now, " ")+" ", refs[n]+" ") {
					t.Errorf("%s: %s is not among %v", description, refs[c.keeps[i]], now)
				}
			}
		}
	}
}

func buttons(text string) []string {
	var refs []string
	for _, found := range regexp.MustCompile(`"Buy"[^|\n]* \[ref=(e\d+)\]`).FindAllStringSubmatch(text, -1) {
		refs = append(refs, found[1])
	}
	return refs
}
