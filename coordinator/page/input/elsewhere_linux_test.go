package input_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/internal/pagetest"
)

// A browser on another machine takes any path, and would give the page an empty file.
func TestUploadElsewhere(t *testing.T) {
	files := writeFiles(t, "a.txt", "b.json")
	folder := filepath.Dir(files[0])
	large := filepath.Join(folder, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 51<<20); err != nil {
		t.Fatal(err)
	}
	pagetest.Elsewhere(t, folder, func(t *testing.T) {
		p, _ := pagetest.Open(t, `<!doctype html><input type=file id=many multiple>
<button id=opener onclick="const made=document.createElement('input');
  made.type='file';made.onchange=show;made.click()">Upload</button>
<p id=zone style="height:100px" ondragover="event.preventDefault()" ondrop="event.preventDefault()">Drop</p>
<script>got={}; async function show(e) {
  const told=[]; for (const f of e.target.files) told.push(f.name, f.type, await f.text()); got[e.type]=told.join() }
many.oninput=many.onchange=show
taken = (...kinds) => new Promise((done) => { const look = () =>
  kinds.every((k) => got[k]) ? done(kinds.map((k) => got[k]).join(' then ')) : setTimeout(look); look() })</script>`)
		pagetest.Act(t, p, p.Input().Upload("#many", files...))
		const both = "a.txt,text/plain,the contents of a.txt,b.json,application/json,the contents of b.json"
		pagetest.Expect(t, p, "taken('input', 'change')", `"`+both+" then "+both+`"`)
		pagetest.Expect(t, p, "Object.keys(got = {}).length", "0")
		pagetest.Act(t, p, p.Input().Upload("#opener", files[0]))
		pagetest.Expect(t, p, "taken('change')", `"`+strings.Split(both, ",b")[0]+`"`)
		pagetest.Fails[*frame.TargetError](t, p, p.Input().Upload("#many", large), "together 50 MB")
		pagetest.Fails[*frame.TargetError](t, p, p.Input().Drop("#zone", files, nil), "on another machine")
	})
}
