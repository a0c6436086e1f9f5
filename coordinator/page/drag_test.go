package page

import (
	"errors"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/input"

	"browser-coordinator/coordinator/page/frame"
)

// When a drag begins, the page moves or removes the drop target.
func TestDragOntoAMovingTarget(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>body{margin:0;user-select:none}div{position:absolute;width:100px;height:40px;left:0}</style>
<div id=card style="top:0;background:red">card</div><div id=slot style="top:100px;background:lime">slot</div><div id=goes style="top:200px">goes</div>
<script>log = []
card.onmousedown = () => { log.push("down"); slot.style.left = "400px"; goes.remove() }
onmouseup = e => log.push("up on " + e.target.id)</script>`)
	if _, err := p.Act(t.Context(), p.Input().Drag("#card", "#slot")); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "log.splice(0).join()"); got != `"down,up on slot"` {
		t.Errorf("the page saw %s", got)
	}
	eval(t, p, `document.body.insertAdjacentHTML("beforeend", "<div id=goes style='top:200px'>goes</div>")`)
	var stale *frame.StaleRefError
	if _, err := p.Act(t.Context(), p.Input().Drag("#card", "#goes")); !errors.As(err, &stale) {
		t.Errorf("onto what goes: %v", err)
	}
	// The button does not stay pressed.
	if got := eval(t, p, "new Promise(r => { const look = () => log.length > 1 ? r(log.splice(0).join()) : setTimeout(look); look() })"); got != `"down,up on card"` {
		t.Errorf("given up, the page saw %s", got)
	}
}

// The dragged element moves, or something covers it when the mouse moves.
func TestDragOfWhatMoves(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>body{margin:0;user-select:none}div{position:absolute;width:60px;height:40px}#once,#always{left:0;width:60px;background:#ccc}
@keyframes slide{to{left:500px}}.slides{animation:slide .5s linear forwards}</style>
<div id=card class=slides style="top:0;left:0">card</div><div id=shy style="top:100px">shy</div><div id=covered style="top:200px">covered</div><div id=slot style="top:300px;width:200px">slot</div>
<script>log = []
for (const kind of ["mousedown", "mouseup", "click"]) addEventListener(kind, e => log.push(kind.slice(5) + " " + e.target.id))
shy.onmousemove = e => { if (!e.buttons) shy.style.left = "100px" }
covered.onmousemove = e => document.body.insertAdjacentHTML("beforeend", "<div id=always style='top:200px'>over</div>")</script>`)
	for _, from := range []string{"#card", "#shy"} {
		if _, err := p.Act(t.Context(), p.Input().Drag(from, "#slot")); err != nil {
			t.Errorf("%s: %v", from, err)
		}
		if got, want := eval(t, p, "log.splice(0).join()"), `"down `+from[1:]+`,up slot"`; !strings.HasPrefix(got, strings.TrimSuffix(want, `"`)) {
			t.Errorf("the page saw %s, want %s", got, want)
		}
	}
	var unready *input.NotReadyError
	if _, err := p.Act(t.Context(), p.Input().Drag("#covered", "#slot")); !errors.As(err, &unready) || !strings.Contains(err.Error(), "covered by") {
		t.Errorf("what is covered: %v", err)
	}
	if got := eval(t, p, "log.join()"); got != `""` {
		t.Errorf("the page saw %s", got)
	}
}

// The distance between the two targets is the length of the page.
func TestDragAcrossALongPage(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>div{width:100px;height:40px;user-select:none}</style><div style="height:2000px"></div><div id=card draggable=true>card</div><div style="height:450px"></div><div id=slot>slot</div><div style="height:2000px"></div>
<script>log = []
slot.ondragover = e => e.preventDefault()
slot.ondrop = () => log.push("dropped")</script>`)
	for range 2 {
		eval(t, p, "scrollTo(0, 0)")
		if _, err := p.Act(t.Context(), p.Input().Drag("#card", "#slot")); err != nil {
			t.Error(err)
		}
		if got := eval(t, p, "new Promise(r => setTimeout(() => r(log.splice(0).join()), 50))"); got != `"dropped"` {
			t.Errorf("the page saw %s", got)
		}
	}
}

// The page gets the same events as for a user's drag and drop: none of the mouse during
// the drag, and mouse events again after it.
func TestEventsOfADragAndDrop(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>div{width:100px;height:40px;user-select:none}</style><div id=card draggable=true>card</div><div style="height:40px"></div><div id=slot>slot</div>
<script>log = []
for (const kind of ["mousedown", "dragstart", "drop", "dragend", "mouseup", "pointerup", "click"]) addEventListener(kind, e => log.push(kind + " " + e.target.id))
slot.ondragover = e => e.preventDefault()</script>`)
	for range 2 {
		if _, err := p.Act(t.Context(), p.Input().Drag("#card", "#slot")); err != nil {
			t.Fatal(err)
		}
		ended := "new Promise(r => { const look = () => log.includes('dragend card') ? setTimeout(() => r(log.splice(0).join()), 50) : setTimeout(look); look() })"
		if got, want := eval(t, p, ended), `"mousedown card,dragstart card,drop slot,dragend card"`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if _, err := p.Act(t.Context(), p.Input().Click("#slot", input.ClickOptions{})); err != nil {
			t.Fatal(err)
		}
		if got, want := eval(t, p, "log.splice(0).join()"), `"mousedown slot,pointerup slot,mouseup slot,click slot"`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
