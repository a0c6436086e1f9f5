package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// The items of a tree say whether they are checked, and a change of one is no change of others.
func TestTreeItems(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><ul role=tree aria-label=Files>
<li role=treeitem aria-level=1 aria-expanded=false aria-checked=mixed tabindex=0 id=a><span
  class=twisty onclick="event.stopPropagation(); open_()">▸</span>
<span class=box onclick="event.stopPropagation(); a.ariaChecked = 'true'"></span> Fruit</li>
<li role=treeitem aria-level=1 aria-checked=true tabindex=0>Nuts</li>
<li role=treeitem aria-level=1 aria-checked=false tabindex=0>Wine</li></ul>
<style>.box { display: inline-block; width: 12px; height: 12px; border: 1px solid }</style>
<script>function open_() { a.ariaExpanded = 'true'; a.insertAdjacentHTML('beforeend',
  '<ul role=group><li role=treeitem aria-level=2 tabindex=0>Apple</li></ul>'); }</script>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `treeitem "▸ Fruit" [checked=mixed] [collapsed]`, `treeitem "Nuts" [checked] `,
		`treeitem "Wine" [ref`)
	c := pagetest.Act(t, p, p.Input().Click(".twisty", input.ClickOptions{}))
	if identity := c.Elements[0].Identity.String(); strings.Contains(identity, "treeitem") ||
		!strings.Contains(identity, "▸") {
		t.Errorf("a click on the twisty is reported as one on %s", identity)
	}
	changes := p.Look(t.Context()).Text
	whole, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Diff: true})
	if err != nil || !whole.Diff {
		t.Fatalf("no difference: %+v, %v", whole, err)
	}
	changes += whole.Text
	pagetest.Contains(t, changes, `[expanded]`, `treeitem "Apple"`)
	if strings.Contains(changes, "Nuts") || strings.Contains(changes, "Wine") {
		t.Errorf("the item's siblings have not changed:\n%s", changes)
	}
	c = pagetest.Act(t, p, p.Input().Click(".box", input.ClickOptions{}))
	if identity := c.Elements[0].Identity.String(); identity != "generic [class=box]" {
		t.Errorf("a click on the box is reported as one on %s", identity)
	}
	c = pagetest.Act(t, p, p.Input().Click(`treeitem "Nuts"`, input.ClickOptions{}))
	if identity := c.Elements[0].Identity.String(); identity != `treeitem "Nuts"` {
		t.Errorf("a click on an item is reported as one on %s", identity)
	}
}

// A button is reported as it was called when the click landed.
func TestRenamedWhileHovered(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<button id=b onmouseenter="b.textContent = 'Delete all'" onclick="b.textContent = 'Deleted'">Delete</button>`)
	c := pagetest.Act(t, p, p.Input().Click("#b", input.ClickOptions{}))
	if identity := c.Elements[0].Identity.String(); identity != `button "Delete all"` {
		t.Errorf("the click is reported as one on %s", identity)
	}
}

// The cells of a grid stand in their columns, also where it has only some of them.
func TestColumnsOfGrids(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<div role=grid aria-label=Parts><div role=row><span role=columnheader aria-colindex=1>No</span>
<span role=columnheader aria-colindex=2>Part</span><span role=columnheader aria-colindex=3>Price</span></div>
<div role=row><span role=gridcell aria-colindex=2>Power</span></div>
<div role=row><span role=gridcell aria-colindex=1>3</span>
<span role=gridcell aria-colindex=2>Power</span><span role=gridcell aria-colindex=3>180</span></div></div>
<div role=grid aria-label=Window><div role=row><span role=gridcell aria-colindex=7>G</span>
<span role=gridcell aria-colindex=8>H</span></div></div>`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), "- No | Part | Price\n", "- | Power\n", "- 3 | Power | 180\n",
		"- G | H\n")
	c := pagetest.Act(t, p, p.Input().Click(`row "3 Power 180"`, input.ClickOptions{})) // as the answers call it
	if identity := c.Elements[0].Identity.String(); identity != `row "3 Power 180"` {
		t.Errorf("the click is reported as one on %s", identity)
	}
}

// A search for the name of a list or a dialog shows what is in it.
func TestFindOfNames(t *testing.T) {
	t.Parallel()
	items := ""
	for i := range 30 {
		items += fmt.Sprintf("<li>Item %d <button>Add</button></li>", i)
	}
	p, _ := pagetest.Open(t, `<!doctype html><ul aria-label=Groceries><li>Milk</li><li>Bread</li></ul>
<dialog open aria-label=Confirm><p>Really?</p><button>Yes</button></dialog><ul aria-label=Long>`+items+`</ul>`)
	pagetest.Contains(t, find(t, p, "groceries").Text, "- list \"Groceries\":\n", "Milk", "Bread")
	pagetest.Contains(t, find(t, p, "confirm").Text, `dialog "Confirm"`, "Really?", `button "Yes"`)
	long := find(t, p, "long").Text
	pagetest.Contains(t, long, "Item 0", "Item 19", "  - …\n")
	if strings.Contains(long, "Item 25") {
		t.Errorf("all of a long list is shown:\n%s", long)
	}
}

// What a list, a region that loads, a select and the areas of an image show.
func TestNumbersBusyOptionsAreas(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<ol start=5><li>Five<li>Six</ol><ol reversed><li>Two<li><a href=#>One</a></ol><ol><li>Plain</ol>
<div aria-busy=true><p>Loading rows</p></div><table aria-busy=true aria-label=Prices><tr><th>A<tr><td>1</table>
<select aria-label=Size><option hidden>Choose<option>S<option style="display:none">M<option>L</select>
<map name=m><area href=#north alt=North coords=0,0,40,40></map><img usemap=#m alt=Map
  width=80 height=80 src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='80' height='80'/>">`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, "5. Five", "6. Six", "2. Two", "1.", `table "Prices" [busy]`, "generic [busy]",
		"Loading rows", "options: S | L\n")
	if strings.Contains(text, "1. Plain") {
		t.Errorf("a list that counts from one needs no numbers:\n%s", text)
	}
	pagetest.Act(t, p, p.Input().Click(`link "North"`, input.ClickOptions{}))
	pagetest.Expect(t, p, "location.hash", `"#north"`)
	pagetest.Act(t, p, p.Input().Click(`role=link[name="North"]`, input.ClickOptions{}))
}

// A page without controls has no places to mark.
func TestPlacesWithoutControls(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p>Words only`)
	places, err := p.Reader().Places(t.Context())
	if err != nil || len(places) != 0 {
		t.Errorf("%v, %v", places, err)
	}
}

// What its box has scrolled away has no place, and of what is cut the part that is seen.
func TestPlacesInBoxes(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>body { margin: 0 } button { height: 40px; width: 100px; display: block }
div { width: 200px; height: 100px } .box { overflow: auto }</style>
<div class=box id=box><button>One</button><button>Two</button><button>Three</button><button>Four</button></div>
<div style="overflow:hidden;height:20px"><button>Cut</button><button>Hidden</button></div>
<div style="overflow:clip;height:10px"><button style="position:fixed;top:300px">Fixed</button></div>
<div style="overflow:hidden;height:10px"><button style="position:absolute;top:400px">Absolute</button></div>
<div style="overflow:hidden;height:10px;position:relative">
<button style="position:absolute;top:30px">Inside</button></div>
<div style="height:3000px"></div><button>Below</button>`)
	text := pagetest.Snapshot(t, p)
	height := func(name string) float64 {
		t.Helper()
		places, err := p.Reader().Places(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return places[pagetest.Ref(t, text, `"`+name+`"`)].Height
	}
	for name, want := range map[string]float64{
		"One": 40, "Two": 40, "Three": 20, "Four": 0, "Cut": 20, "Hidden": 0, "Fixed": 40, "Absolute": 40, "Inside": 0,
		"Below": 40,
	} {
		if got := height(name); got != want {
			t.Errorf("%s: %g of it, want %g", name, got, want)
		}
	}
	pagetest.Evaluate(t, p, "box.scrollTop = 60")
	for name, want := range map[string]float64{"One": 0, "Two": 20, "Three": 40, "Four": 40} {
		if got := height(name); got != want {
			t.Errorf("scrolled, %s: %g of it, want %g", name, got, want)
		}
	}
}

// A dropdown that the page itself draws is marked as open.
func TestCustomizableSelect(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>select, ::picker(select) { appearance: base-select }</style>
<label>Plant <select id=s><button><selectedcontent></selectedcontent></button><option>Green<option>Rich</select></label>`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), `combobox "Plant" [ref`)
	pagetest.Act(t, p, p.Input().Click("#s", input.ClickOptions{}))
	pagetest.Contains(t, p.Look(t.Context()).Text, `+ - combobox "Plant" [expanded]`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), `combobox "Plant" [expanded]`)
}
