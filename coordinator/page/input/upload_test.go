package input_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func writeFiles(t *testing.T, names ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("the contents of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// Users seldom click file inputs themselves: these hide behind labels and buttons, or are
// created by the click.
func TestUpload(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>.hidden{display:none}</style>
<input type=file id=plain><input type=file id=many multiple class=hidden><input type=file id=off disabled>
<label for=many id=label>Choose</label>
<button id=opener onclick="made=document.createElement('input');
  made.type='file';made.onchange=()=>got.push('made:'+made.files[0].name);made.click()">Upload</button>
<button id=lost onclick="const i=document.createElement('input');
  i.type='file';i.onchange=()=>got.push('lost:'+i.files[0].name);i.click()">Upload</button>
<button id=later onclick="setTimeout(()=>plain.click(),300)">Later</button>
<button id=nothing>Nothing</button>
<script>got=[];
for (const i of [plain, many]) i.onchange=async()=>{
  const f=[...i.files]; got.push(i.id+':'+f.map(f=>f.name)+':'+await f[0]?.text())}</script>`)
	ctx, files := t.Context(), writeFiles(t, "a.txt", "b.txt")
	for _, step := range []struct {
		want, target string
		files        []string
	}{
		{"plain:a.txt:the contents of a.txt", "#plain", files[:1]},
		{"many:a.txt,b.txt:the contents of a.txt", "#many", files},
		{"many:b.txt:the contents of b.txt", "#label", files[1:]},
		{"made:a.txt", "#opener", files[:1]},
		{"plain:b.txt:the contents of b.txt", "#later", files[1:]},
	} {
		pagetest.Act(t, p, p.Input().Upload(step.target, step.files...))
		pagetest.Expect(t, p, "new Promise(r => { const look = () => got.length ? r(got.pop()) : setTimeout(look); look() })",
			`"`+step.want+`"`)
	}

	// A click that opens a chooser reports it, and the next upload provides its files.
	c, err := p.Act(ctx, p.Input().Click("#label", input.ClickOptions{}))
	if err != nil || c.Chooser == nil || !c.Chooser.Multiple {
		t.Errorf("a click that opens a file chooser: %+v %v", c, err)
	}
	if c, err := p.Act(ctx, p.Input().Click("#nothing", input.ClickOptions{})); err != nil || c.Chooser != nil {
		t.Errorf("a click that opens none: %+v %v", c, err)
	}
	pagetest.Act(t, p, p.Input().Upload("", files...))
	pagetest.Expect(t, p, "many.files.length", "2")
	pagetest.Fails[error](t, p, p.Input().Upload("", files...), "no file chooser is open")
	// Also into an input that nothing in the page refers to.
	pagetest.Act(t, p, p.Input().Click("#lost", input.ClickOptions{}))
	must.Do(t, p.Session().Call(ctx, "HeapProfiler.collectGarbage", nil, nil))
	pagetest.Act(t, p, p.Input().Upload("", files[:1]...))
	pagetest.Expect(t, p, "new Promise(r => { "+
		"const look = () => got.includes('lost:a.txt') ? r(true) : setTimeout(look); "+
		"look() })", "true")
	pagetest.Act(t, p, p.Input().Upload("#plain")) // takes out what was in it
	pagetest.Expect(t, p, "plain.files.length", "0")

	for _, bad := range []struct {
		target, reason string
		files          []string
	}{
		{"#plain", "takes one file", files},
		{"#off", "is disabled", files[:1]},
		{"#nothing", "opens no file chooser", files[:1]},
	} {
		pagetest.Fails[*frame.TargetError](t, p, p.Input().Upload(bad.target, bad.files...), bad.reason)
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	testDrop(t)
}

func testDrop(t *testing.T) {
	p, _ := pagetest.Open(t, `<!doctype html><div id=zone style="height:100px">Drop here</div>
<div id=wall style="height:100px">Not here</div><textarea id=text></textarea><div id=rich contenteditable>r</div>
<script>got=[];zone.ondragover=e=>e.preventDefault();
zone.ondrop=async e=>{
  e.preventDefault();const d=e.dataTransfer,f=[...d.files];
  got.push([e.isTrusted,d.getData('text/plain'),d.getData('text/uri-list'),
    f.map(f=>f.name),f[0]?await f[0].text():''].join('|'))}</script>`)
	files := writeFiles(t, "a.txt")
	pagetest.Act(t, p, p.Input().Drop("#zone", files, nil))
	pagetest.Act(t, p, p.Input().Drop("#zone", nil, map[string]string{"text/plain": "hello",
		"text/uri-list": "https://example.com/"}))
	pagetest.Expect(t, p, "new Promise(r => { "+
		"const look = () => got.length > 1 ? r(got.sort().join(';')) : setTimeout(look); look() })",
		`"true|hello|https://example.com/||;true|||a.txt|the contents of a.txt"`)
	// What nobody takes, the browser would open in a tab.
	c, err := p.Act(t.Context(), p.Input().Drop("#wall", files, nil))
	if err == nil || !strings.Contains(err.Error(), "did not accept") || len(c.Tabs.Open) > 0 {
		t.Errorf("%+v %v", c, err)
	}
	c, err = p.Act(t.Context(), p.Input().Drop("#text", files, nil))
	if err == nil || !strings.Contains(err.Error(), "did not accept") || len(c.Tabs.Open) > 0 {
		t.Errorf("a field of text: %+v %v", c, err)
	}
	pagetest.Evaluate(t, p, "rich.ondrop = e => { e.preventDefault(); got = e.dataTransfer.files[0].name }")
	pagetest.Act(t, p, p.Input().Drop("#rich", files, nil))
	pagetest.Expect(t, p, "got", `"a.txt"`)
	pagetest.Act(t, p, p.Input().Drop("#text", nil, map[string]string{"text/plain": "hello"}))
	pagetest.Expect(t, p, "text.value", `"hello"`)
	pagetest.Fails[error](t, p, p.Input().Drop("#zone", nil, nil), "")
}

func TestMouseByCoordinates(t *testing.T) {
	t.Parallel()
	testMouseByCoordinates(t)
}

// Positions are in CSS pixels, whatever the zoom of the site and the density of the screen.
func TestZoomed(t *testing.T) {
	pagetest.Zoomed(t, func(t *testing.T) {
		testMouseByCoordinates(t)
		testDrop(t)
	})
}

func testMouseByCoordinates(t *testing.T) {
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{margin:0;height:3000px}#a,#b{position:absolute;left:100px;width:100px;height:50px}#b{top:200px}</style>
<div id=a draggable=true>a</div>
<div id=b>b</div><canvas id=c width=300 height=100 style="position:absolute;left:300px;top:0"></canvas>
<script>log=[];for(const n of ['click','dblclick','contextmenu']) document.addEventListener(n,e=>{
  e.preventDefault();log.push(n+':'+(e.target.id||e.target.nodeName)+':'+e.clientX+','+e.clientY)});
path=[];for(const n of ['pointerdown','pointermove','pointerup'])
  c.addEventListener(n,e=>path.push(n.slice(7)+e.buttons));
b.ondragover=e=>e.preventDefault();
b.ondrop=e=>log.push('drop');addEventListener('wheel',e=>log.push('wheel:'+e.deltaY))</script>`)
	for _, step := range []struct {
		action input.Action
		want   string
	}{
		{p.Input().Vision().Click(150, 20, "", 1, 0), `"click:a:150,20"`},
		{p.Input().Vision().Click(150, 220, "left", 2, 5e6), `"click:b:150,220 click:b:150,220 dblclick:b:150,220"`},
		{p.Input().Vision().Click(400, 50, "right", 1, 0), `"contextmenu:c:400,50"`},
		{p.Input().Vision().Drag(150, 20, 150, 220), `"drop"`},
		{p.Input().Vision().Wheel(0, 120), `"wheel:120"`},
	} {
		pagetest.Act(t, p, step.action)
		pagetest.Expect(t, p, "new Promise(r => requestAnimationFrame(() => r(log.splice(0).join(' '))))", step.want)
	}
	pagetest.Evaluate(t, p, "scrollTo(0,0),path=[]")
	// Each action begins where the mouse is when it is made.
	for _, action := range []func() input.Action{
		func() input.Action { return p.Input().Vision().Move(310, 10) },
		func() input.Action { return p.Input().Vision().Button("left", true) },
		func() input.Action { return p.Input().Vision().Move(350, 40) },
		func() input.Action { return p.Input().Vision().Button("left", false) },
		func() input.Action { return p.Input().Vision().Move(360, 40) },
	} {
		pagetest.Act(t, p, action())
	}
	pagetest.Expect(t, p, "path.join()", `"move0,down1,move1,up0,move0"`)
	pagetest.Fails[error](t, p, p.Input().Vision().Click(-1, 5, "", 1, 0), "")
}
