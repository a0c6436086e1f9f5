package input_test

import (
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// When a drag begins, the page moves or removes the drop target.
func TestDragOntoAMovingTarget(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{margin:0;user-select:none}div{position:absolute;width:100px;height:40px;left:0}</style>
<div id=card style="top:0;background:red">card</div>
<div id=slot style="top:100px;background:lime">slot</div><div id=goes style="top:200px">goes</div>
<script>log = []
card.onmousedown = () => { log.push("down"); slot.style.left = "400px"; goes.remove() }
onmouseup = e => log.push("up on " + e.target.id)</script>`)
	pagetest.Act(t, p, p.Input().Drag("#card", "#slot"))
	pagetest.Expect(t, p, "log.splice(0).join()", `"down,up on slot"`)
	pagetest.Evaluate(t, p, `document.body.insertAdjacentHTML("beforeend", "<div id=goes style='top:200px'>goes</div>")`)
	pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Drag("#card", "#goes"), "")
	// The button does not stay pressed.
	pagetest.Expect(t, p, "new Promise(r => { "+
		"const look = () => log.length > 1 ? r(log.splice(0).join()) : setTimeout(look); look() })", `"down,up on card"`)
}

// The dragged element moves, or something covers it when the mouse moves.
func TestDragOfWhatMoves(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>body{margin:0;user-select:none}
div{position:absolute;width:60px;height:40px}#once,#always{left:0;width:60px;background:#ccc}
@keyframes slide{to{left:500px}}.slides{animation:slide .5s linear forwards}</style>
<div id=card class=slides style="top:0;left:0">card</div><div id=shy style="top:100px">shy</div>
<div id=covered style="top:200px">covered</div><div id=slot style="top:300px;width:200px">slot</div>
<script>log = []
for (const kind of ["mousedown", "mouseup", "click"])
  addEventListener(kind, e => log.push(kind.slice(5) + " " + e.target.id))
shy.onmousemove = e => { if (!e.buttons) shy.style.left = "100px" }
covered.onmousemove = e =>
  document.body.insertAdjacentHTML("beforeend", "<div id=always style='top:200px'>over</div>")</script>`)
	for _, from := range []string{"#card", "#shy"} {
		pagetest.Act(t, p, p.Input().Drag(from, "#slot"))
		pagetest.Expect(t, p, "log.splice(0).slice(0, 2).join()", `"down `+from[1:]+`,up slot"`)
	}
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Drag("#covered", "#slot"), "covered by")
	pagetest.Expect(t, p, "log.join()", `""`)
}

// The distance between the two targets is the length of the page.
func TestDragAcrossALongPage(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>div{width:100px;height:40px;user-select:none}</style>
<div style="height:2000px"></div><div id=card draggable=true>card</div>
<div style="height:450px"></div><div id=slot>slot</div><div style="height:2000px"></div>
<script>log = []
slot.ondragover = e => e.preventDefault()
slot.ondrop = () => log.push("dropped")</script>`)
	for range 2 {
		pagetest.Evaluate(t, p, "scrollTo(0, 0)")
		pagetest.Act(t, p, p.Input().Drag("#card", "#slot"))
		pagetest.Expect(t, p, "new Promise(r => setTimeout(() => r(log.splice(0).join()), 50))", `"dropped"`)
	}
}

// The page gets the same events as for a user's drag and drop: none of the mouse during
// the drag, and mouse events again after it.
func TestEventsOfADragAndDrop(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>div{width:100px;height:40px;user-select:none}</style>
<div id=card draggable=true>card</div><div style="height:40px"></div><div id=slot>slot</div>
<script>log = []
for (const kind of ["mousedown", "dragstart", "drop", "dragend", "mouseup", "pointerup", "click"])
  addEventListener(kind, e => log.push(kind + " " + e.target.id))
slot.ondragover = e => e.preventDefault()</script>`)
	for range 2 {
		pagetest.Act(t, p, p.Input().Drag("#card", "#slot"))
		ended := "new Promise(r => { const look = () => " +
			"log.includes('dragend card') ? setTimeout(() => r(log.splice(0).join()), 50) : setTimeout(look); look() })"
		pagetest.Expect(t, p, ended, `"mousedown card,dragstart card,drop slot,dragend card"`)
		pagetest.Act(t, p, p.Input().Click("#slot", input.ClickOptions{}))
		pagetest.Expect(t, p, "log.splice(0).join()", `"mousedown slot,pointerup slot,mouseup slot,click slot"`)
	}
}

// Sorting by pointer events with capture, as libraries do it, and onto a target that is
// created during the drag.
func TestPointerDrag(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>.card{width:100px;height:30px;border:1px solid;touch-action:none;user-select:none}
#slot{height:60px;border:1px dashed}</style>
<div class=card id=a>A</div><div id=slot>slot</div><input type=range id=r min=0 max=100 value=0 style="width:300px">
<script>log=[];a.onpointerdown=e=>{a.setPointerCapture(e.pointerId);log.push('down')};
a.onpointermove=e=>{if(e.buttons){a.style.transform='translate('+e.movementX+'px)';log.push('move')}};
a.onpointerup=e=>{a.style.pointerEvents='none';
  const under=document.elementFromPoint(e.clientX,e.clientY);log.push('up on '+under.id)}</script>`)
	pagetest.Act(t, p, p.Input().Drag("#a", "#slot"))
	pagetest.Expect(t, p, "log[0] + ',' + (log.filter(l => l === 'move').length > 2) + ',' + log.at(-1)",
		`"down,true,up on slot"`)
}

// Lists that sort: what is under the pointer changes during the drag.
func TestDragInAListThatSorts(t *testing.T) {
	t.Parallel()
	const list = `<!doctype html><style>body{margin:0;user-select:none}#list>*{height:40px;width:200px;outline:1px solid}
.gap{background:#cce}</style>
<div id=list><div id=a draggable=true>A</div><div id=b draggable=true>B</div><div id=c draggable=true>C</div>` +
		`<div id=d draggable=true>D</div></div><div id=out></div>`
	order := "[...list.children].map(e => e.id).join('')"
	for name, test := range map[string]struct{ script, from, to, want string }{
		// Only the placeholder takes the drop.
		"placeholder": {`let dragged, gap = document.createElement("div"); gap.className = "gap";
list.ondragstart = e => { dragged = e.target; e.dataTransfer.setData("text", "x") };
for (const item of list.children) item.ondragover = () => item.before(gap);
gap.ondragover = e => e.preventDefault();
gap.ondrop = () => gap.replaceWith(dragged);
list.ondragend = () => gap.remove()`, "#d", "#b", "adbc"},
		// The placeholder appears in the next frame.
		"later": {`let dragged, gap = document.createElement("div"); gap.className = "gap";
list.ondragstart = e => { dragged = e.target; e.dataTransfer.setData("text", "x") };
for (const item of list.children) item.ondragenter = () => queueMicrotask(() => item.before(gap));
gap.ondragover = e => e.preventDefault();
gap.ondrop = () => gap.replaceWith(dragged);
list.ondragend = () => gap.remove()`, "#d", "#b", "adbc"},
		// An overlay appears over the list.
		"overlay": {`let dragged, over = document.createElement("div");
over.style = "position:fixed;inset:0;width:auto;height:auto";
list.ondragstart = e => { dragged = e.target; e.dataTransfer.setData("text", "x") };
list.ondragenter = () => document.body.append(over);
over.ondragover = e => e.preventDefault();
over.ondrop = () => { over.remove(); list.prepend(dragged) }`, "#d", "#b", "dabc"},
	} {
		p, _ := pagetest.Open(t, list+"<script>"+test.script+"</script>")
		c, err := p.Act(t.Context(), p.Input().Drag(test.from, test.to))
		if err != nil || c.NoDrop {
			t.Errorf("%s: refused: %v, %v", name, c.NoDrop, err)
		}
		if got := pagetest.Evaluate(t, p, order); got != `"`+test.want+`"` {
			t.Errorf("%s: the order is %s, want %s", name, got, test.want)
		}
	}
}

// A board of pointer events that begins only after several movements, and looks for the place
// under the pointer when a frame is drawn, as libraries for sorting do.
func TestDragOnABoardThatSortsByFrames(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>body{margin:0;user-select:none}
div{position:absolute;left:0;width:200px;height:40px;outline:1px solid;touch-action:none}</style>
<div id=card style="top:0">card</div>
<div class=lane id=first style="top:100px">first</div><div class=lane id=second style="top:200px">second</div>
<script>let moves = 0, at = null, over = "none", frame; log = []
card.onpointerdown = e => { card.setPointerCapture(e.pointerId); moves = 0; over = "none" }
card.onpointermove = e => {
  if (!e.buttons || ++moves < 5) return;
  at = e; frame ??= requestAnimationFrame(() => {
    frame = undefined;
    over = document.elementsFromPoint(at.clientX, at.clientY).find(e => e.className === "lane")?.id ?? "none" }) }
card.onpointerup = () => log.push(over)</script>`)
	pagetest.Act(t, p, p.Input().Drag("#card", "#second"))
	pagetest.Act(t, p, p.Input().Vision().Drag(50, 20, 50, 120))
	pagetest.Expect(t, p, "log.join()", `"second,first"`)
}

// A drop that the page does not accept is reported, but is no error: some pages move things
// during the drag already. A text field and a frame accept one without the page's script.
func TestDropThatIsRefused(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><style>body{margin:0}div{height:40px;user-select:none}</style>
<div id=card draggable=true>Card</div><div id=closed>Closed lane</div><div id=lane>Open lane</div>
<input id=field><div id=asks>Asks</div><div id=away>Away</div><iframe id=inner height=60
  srcdoc="<body style='height:50px' ondragover='event.preventDefault()'
    ondrop='parent.log.push(&quot;inner&quot;)'>inner"></iframe>
<script>log = []
card.ondragstart = e => e.dataTransfer.setData("text", "x")
card.ondragend = () => log.push("end")
lane.ondragover = away.ondragover = asks.ondragover = e => e.preventDefault()
lane.ondrop = () => log.push("dropped")
asks.ondrop = () => alert("Sure?")
away.ondrop = () => location = "/next"</script>`)
	ended := "new Promise(r => { " +
		"const look = () => log.includes('end') ? r(log.splice(0).join()) : setTimeout(look); look() })"
	for _, test := range []struct {
		action input.Action
		want   string
		noDrop bool
	}{
		{p.Input().Drag("#card", "#closed"), "end", true},
		{p.Input().Drag("#card", "#lane"), "dropped,end", false},
		{p.Input().Drag("#card", "#field"), "end", false},
		{p.Input().Drag("#card", "#inner"), "inner,end", false},
		{p.Input().Vision().Drag(20, 20, 20, 60), "end", true},
		{p.Input().Vision().Drag(20, 20, 20, 100), "dropped,end", false},
	} {
		c, err := p.Act(t.Context(), test.action)
		if err != nil || c.NoDrop != test.noDrop {
			t.Errorf("%s: %v %v", test.action.Operation, c.NoDrop, err)
		}
		pagetest.Expect(t, p, ended, `"`+test.want+`"`)
	}
	pagetest.Expect(t, p, "field.value", `"x"`)
	if c, err := p.Act(t.Context(), p.Input().Drag("#card", "#asks")); err != nil || c.NoDrop || c.Dialog == nil {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Fatal(err)
	}
	if c, err := p.Act(t.Context(), p.Input().Drag("#card", "#away")); err != nil || c.NoDrop || p.URL() != url+"/next" {
		t.Errorf("%+v %v", c, err)
	}
}

// A drag by an offset begins in the target, or at a position in it, and ends that far away; a
// drag between positions ends at the one in the second target.
func TestDragByAnOffset(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>
body { margin: 0 } #board { position: absolute; left: 100px; top: 50px; width: 300px; height: 200px; background: #eee }
#other { position: absolute; left: 100px; top: 300px; width: 300px; height: 100px; background: #ddd }</style>
<div id=board>Board</div><div id=other>Other</div><script>
let from
addEventListener("pointerdown", (e) => { from = [e.clientX, e.clientY]; e.preventDefault() })
addEventListener("pointerup", (e) => { document.title = from + " to " + [e.clientX, e.clientY] })
</script>`)
	point := &frame.Point{X: 10, Y: 20}
	for _, c := range []struct {
		drag input.Action
		want string
	}{
		{p.Input().DragBy("#board", nil, frame.Point{X: 40, Y: -30}), "250,150 to 290,120"},
		{p.Input().DragBy("#board", point, frame.Point{X: 5, Y: 5}), "110,70 to 115,75"},
		{p.Input().DragTo("#board", point, "#other", &frame.Point{X: 7, Y: 8}), "110,70 to 107,308"},
		{p.Input().DragTo("#board", point, "#other", nil), "110,70 to 250,350"},
	} {
		pagetest.Act(t, p, c.drag)
		if got := pagetest.Evaluate(t, p, "document.title"); got != `"`+c.want+`"` && got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	pagetest.Fails[*frame.TargetError](t, p, p.Input().DragBy("#board", nil, frame.Point{X: -900}),
		"outside of the viewport")
}

// The wheel turns where the mouse hovers: over a target, at a position in it, or at a point of
// the viewport.
func TestHoverAndTurnTheWheel(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>body { margin: 0 }
#map { position: absolute; left: 100px; top: 50px; width: 300px; height: 200px; background: #eee }</style>
<div id=map>Map</div><script>
let at = "", turned = ""
addEventListener("mousemove", (e) => { at = [e.clientX, e.clientY] }) // the browser may repeat it
addEventListener("wheel", (e) => { turned += " wheel " + [e.clientX, e.clientY, e.deltaX, e.deltaY] })
function log() { const all = at + turned; turned = ""; return all }
</script>`)
	for _, c := range []struct {
		target string
		opts   input.HoverOptions
		want   string
	}{
		{"#map", input.HoverOptions{DY: 120}, "250,150 wheel 250,150,0,120"},
		{"#map", input.HoverOptions{Position: &frame.Point{X: 10, Y: 20}, DX: -30}, "110,70 wheel 110,70,-30,0"},
		{"", input.HoverOptions{Position: &frame.Point{X: 130, Y: 60}}, "130,60"},
		{"", input.HoverOptions{Position: &frame.Point{X: 140, Y: 60}, DY: 50}, "140,60 wheel 140,60,0,50"},
	} {
		pagetest.Act(t, p, p.Input().Hover(c.target, c.opts))
		if got := pagetest.Evaluate(t, p, "log()"); got != `"`+c.want+`"` && got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if _, err := p.Act(t.Context(), p.Input().Hover("", input.HoverOptions{})); err == nil ||
		!strings.Contains(err.Error(), "give a target, or a position") {
		t.Error(err)
	}
}

// What the wheel scrolls, and the page does about that, is over when the action is.
func TestWheelHasScrolled(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>div { width: 200px; height: 90px; overflow: auto } p { width: 900px; height: 900px }</style>
<div id=box><p></div><iframe srcdoc="<body style='height: 3000px'>"></iframe><script>
let seen = ""
box.onscroll = () => { seen = [box.scrollLeft, box.scrollTop].join() }
onload = () => { frames[0].onscroll = () => { seen = "frame " + frames[0].scrollY } }
</script>`)
	for _, c := range []struct {
		target string
		opts   input.HoverOptions
		want   string
	}{
		{"#box", input.HoverOptions{DX: 250}, "250,0"},
		{"#box", input.HoverOptions{DY: 120}, "250,120"},
		{"", input.HoverOptions{Position: &frame.Point{X: 40, Y: 40}, DY: -20}, "250,100"},
		{"iframe", input.HoverOptions{DY: 70}, "frame 70"},
	} {
		pagetest.Act(t, p, p.Input().Hover(c.target, c.opts))
		pagetest.Expect(t, p, "seen", `"`+c.want+`"`)
	}
}
