package snapshot_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// The documents of <object> and <embed>, of any site, are in their places as those of frames are.
func TestEmbeddedDocuments(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere := "http://" + strings.Replace(r.Host, "127.0.0.1", "localhost", 1)
		switch r.URL.Path {
		case "/in":
			fmt.Fprintf(w, `<!doctype html><button onclick="this.textContent = 'Done %[1]s'">In %[1]s</button>`, r.URL.RawQuery)
		case "/paper.pdf":
			w.Header().Set("Content-Type", "application/pdf")
			io.WriteString(w, "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"+
				"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"+
				"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>")
		case "/missing":
			http.NotFound(w, r)
		case "/papers":
			io.WriteString(w, `<!doctype html><object title=Paper data=/paper.pdf type=application/pdf></object>
<embed title=Sheet src=/paper.pdf type=application/pdf>`)
		default:
			fmt.Fprintf(w, `<!doctype html><h1>Parts</h1><object title=Own data="/in?object">Not shown</object>
<embed title=Plug src="/in?embed"><object title=Far data="%[1]s/in?farobject"></object>
<embed title=Away src="%[1]s/in?farembed"><object data=/missing>Instead</object>
<embed src="data:image/svg+xml,%%3Csvg xmlns='http://www.w3.org/2000/svg'/%%3E" type=image/svg+xml>`, elsewhere)
		}
	}))
	pagetest.WaitFor(t, p, page.WaitOptions{Idle: true})
	text := pagetest.Snapshot(t, p)
	names := []string{"object", "embed", "farobject", "farembed"}
	for i, title := range []string{"Own", "Plug", "Far", "Away"} {
		pagetest.Contains(t, text, fmt.Sprintf("- iframe %q:\n  - button \"In %s\"", title, names[i]))
		if found := find(t, p, "In "+names[i]); found.Matches != 1 {
			t.Errorf("%s: %+v", names[i], found)
		}
		pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, `"In `+names[i]+`"`), input.ClickOptions{}))
		pagetest.Contains(t, p.Look(t.Context()).Text, "Done "+names[i])
	}
	pagetest.Contains(t, text, "Instead")
	if strings.Contains(text, "Not shown") {
		t.Error(text)
	}
	pagetest.Contains(t, markdown(t, p), "[frame: Own]("+url+"/in?object)", "[frame: Plug]("+url+"/in?embed)", "Instead")
	pagetest.Navigate(t, p, url+"/papers")
	text = pagetest.Snapshot(t, p)
	if strings.Count(text, "a PDF") != 2 {
		t.Error(text)
	}
}
