package snapshot_test

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// What a text in the markup begins with is no part of the block that follows.
func TestChangeOfATextAfterABlank(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, "<!doctype html>\n<h1>T</h1>\n<p>Total <b id=t>10</b> €</p>\n"+
		"<button onclick='t.textContent=+t.textContent+1'>Add</button> "+
		"<button onclick=\"this.parentNode.querySelector('p').hidden=true\">Hide</button>")
	pagetest.Snapshot(t, p)
	pagetest.Act(t, p, p.Input().Click(`button "Add"`, input.ClickOptions{}))
	pagetest.Contains(t, p.Look(t.Context()).Text, "- - Total 10 €", "+ - Total 11 €")
	pagetest.Act(t, p, p.Input().Click(`button "Hide"`, input.ClickOptions{}))
	if text := p.Look(t.Context()).Text; !strings.Contains(text, "- - Total 11 €") || strings.Contains(text, "10") {
		t.Errorf("a hidden text: %s", text)
	}
}

// What a snapshot has shown is not shown again by the next change.
func TestStatusThatASnapshotHasShown(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p role=status id=s></p><button id=b>Ping</button>`)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, "s.textContent = 'Managed'")
	pagetest.Contains(t, pagetest.Snapshot(t, p), "status: Managed")
	pagetest.Act(t, p, p.Input().Click("#b", input.ClickOptions{}))
	if changes := p.Look(t.Context()); len(changes.Again)+len(changes.Notices) > 0 || changes.Text != "" {
		t.Errorf("%+v", changes)
	}
}

// What a handler puts off until the next task is in its action's own answer.
func TestChangeInTheNextTask(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p role=alert id=o></p>
<button id=b onclick="o.textContent='';setTimeout(()=>o.textContent='Choose a city',0)">Check</button>
<button id=c onclick="const m=new MessageChannel;
  m.port1.onmessage=()=>o.textContent='posted';m.port2.postMessage(0)">Post</button>`)
	pagetest.Snapshot(t, p)
	for target, want := range map[string]string{"#b": "+ - alert: Choose a city", "#c": "+ - alert: posted"} {
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
		pagetest.Contains(t, p.Look(t.Context()).Text, want)
	}
}

func TestChangeOfAMultipleSelect(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<select multiple id=s aria-label=Sizes><option selected>a<option selected>b<option>c</select>`)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, "void (s.options[1].selected = false)")
	pagetest.Contains(t, p.Look(t.Context()).Text, "a, b", "+")
}

// An alert is reported in the midst of any number of other changes.
func TestAlertAmongManyChanges(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><main></main>`)
	var changes snapshot.Changes
	for range 10 { // a busy machine may be too slow for one look
		pagetest.Snapshot(t, p)
		pagetest.Evaluate(t, p, `() => {
  document.body.textContent = ""
  for (let i = 0; i < 1200; i++) {
    const p = document.createElement("p"); p.textContent = "Text " + i; document.body.append(p) }
  document.body.insertAdjacentHTML("beforeend", "<p role=alert>Disk full</p>")
}`)
		if changes = p.Look(t.Context()); strings.Join(changes.Shown, "") == "Disk full" {
			return
		}
	}
	t.Errorf("%t %q", changes.Much, changes.Shown)
}

func TestTextsAndAddresses(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<p>Price: € 5<sup>1</sup>, area 10<sup>6</sup> m<sup>2</sup>, on the 1<sup>st</sup></p>
<a href=mailto:ada@b.c>Mail</a>
<a href=tel:+4912>Call</a> <a href="blob:http://127.0.0.1/x">B</a> <a href="#top">Top</a>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, "Price: € 5^1, area 10^6 m^2, on the 1st", "[url=mailto:ada@b.c]", "[url=tel:+4912]",
		"[url=blob:http://127.0.0.1/x]", "[url=#top]")
}

// What is hidden is no text of what holds it.
func TestTextOfHiddenParts(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div style="width:200px;text-align:center">
<ul style="display:none"><li>Cancel order</li></ul><button onclick="o.textContent='PAID'">Pay</button></div><p id=o></p>
<details><summary>More</summary>Delete it</details>`)
	for _, target := range []string{"text=Cancel order", `text="Cancel order"`, "text=Delete it"} {
		pagetest.Fails[*frame.TargetError](t, p, p.Input().Click(target, input.ClickOptions{Timeout: 300 * time.Millisecond}),
			"matches no element")
	}
	pagetest.Expect(t, p, "o.textContent", `""`)
	pagetest.Act(t, p, p.Input().Click("text=pay", input.ClickOptions{}))
	pagetest.Expect(t, p, "o.textContent", `"PAID"`)
}
