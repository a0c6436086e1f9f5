package snapshot_test

import (
	"testing"

	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// BenchmarkSnapshot reads a page of 4,000 elements, and one of two hundred forms with tables.
func BenchmarkSnapshot(b *testing.B) {
	for _, c := range []struct{ name, html string }{
		{"list", `<!doctype html><ul id=d></ul><script>let h='';` +
			`for(let i=0;i<1000;i++)h+='<li><a href=#'+i+'>Item <b>'+i+'</b></a> <button>Add</button></li>';` +
			`d.innerHTML=h</script>`},
		{"forms", `<!doctype html><div id=d></div><script>let h='';for(let i=0;i<200;i++)` +
			`h+='<form><label>Name <input></label><select><option>a<option>b</select>` +
			`<table><tr><th>A<th>B<tr><td>'+i+'<td><button aria-label=Go>` +
			`<svg width=9 height=9><path d="M0 0h9v9"/></svg></button></table></form>';d.innerHTML=h</script>`},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, _ := pagetest.Open(b, c.html)
			for b.Loop() {
				if _, err := p.Reader().Snapshot(b.Context(), snapshot.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
