package snapshot_test

import (
	"testing"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// A custom element may give its role, name and states to the browser alone.
func TestElementInternals(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p id=l>Labelled from outside</p><x-check>Extra cheese</x-check>
<x-check>Olives</x-check><x-named></x-named><x-by></x-by><label for=f>Amount</label><x-field id=f></x-field>
<x-plain><button>In a plain one</button></x-plain><x-off>Sold out</x-off>
<label for=i>Width</label><x-inner id=i></x-inner><label>Height <x-inner></x-inner> cm</label>
<label for=r>Depth</label><x-bare id=r role=textbox tabindex=0></x-bare><x-check role=link tabindex=0>Explicit</x-check>
<script>
const define = (name, use, formAssociated) => customElements.define(name, class extends HTMLElement {
	static formAssociated = formAssociated;
	constructor() { super(); this.internals = this.attachInternals(); this.internals.role; use(this.internals, this); }
});
define("x-check", (i, e) => { i.role = "checkbox"; i.ariaChecked = "false";
  e.addEventListener("click", () => { i.ariaChecked = i.ariaChecked === "true" ? "false" : "true"; }); });
define("x-named", (i) => { i.role = "button"; i.ariaLabel = "Named inside"; i.ariaExpanded = "false"; });
define("x-by", (i) => { i.role = "img"; i.ariaLabelledByElements = [l]; });
define("x-field", (i, e) => { i.role = "textbox"; }, true);
define("x-plain", () => {});
define("x-off", (i) => { i.role = "button"; i.ariaDisabled = "true"; });
define("x-inner", (i, e) => { e.attachShadow({ mode: "closed", delegatesFocus: true }).innerHTML = "<input>"; }, true);
define("x-bare", () => {}, true);
</script>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `checkbox "Extra cheese" [ref`, `checkbox "Olives" [ref`,
		`button "Named inside" [collapsed]`, `img "Labelled from outside"`, `textbox "Amount"`, `button "In a plain one"`,
		`link "Explicit"`, `button "Sold out" [disabled]`, "- Width\n", "- Height\n", "- cm\n", `textbox "Depth"`)
	c := pagetest.Act(t, p, p.Input().Click(`checkbox "Olives"`, input.ClickOptions{}))
	if identity := c.Elements[0].Identity.String(); identity != `checkbox "Olives"` {
		t.Errorf("the click is reported as one on %s", identity)
	}
	pagetest.Contains(t, p.Look(t.Context()).Text, `+ - checkbox "Olives" [checked]`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), `checkbox "Extra cheese" [ref`, `checkbox "Olives" [checked]`)
}
