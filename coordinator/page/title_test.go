package page

import (
	"fmt"
	"net/http"
	"testing"

	"browser-coordinator/coordinator/page/input"
)

// The title is the document's title after its load, however late a script has set it, and
// also if the document did not change.
func TestTitleOfWhatWasOpened(t *testing.T) {
	const long = `<ul id=l></ul><script>for (let n=0;n<2000;n++) l.insertAdjacentHTML('beforeend','<li>Item '+n)</script>`
	bodies := map[string]string{
		"/plain":  `<!doctype html><title>plain</title>` + long,
		"/blanks": "<!doctype html><title>  in \n  words </title>" + long,
		"/none":   `<!doctype html><p>none` + long,
		"/script": `<!doctype html><title>before</title>` + long + `<script>document.title = 'by the last script'</script>`,
		"/load":   `<!doctype html><title>before</title>` + long + `<script>onload = () => document.title = 'by onload'</script>`,
		"/parsed": `<!doctype html><title>before</title>` + long + `<script>document.addEventListener('DOMContentLoaded', () => document.title = 'by ready')</script>`,
		"/push":   `<!doctype html><title>before</title>` + long + `<button onclick="history.pushState(0, '', '/pushed'); document.title = 'pushed'">Push</button>`,
	}
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, bodies[r.URL.Path])
	}))
	for range 3 {
		for path, title := range map[string]string{
			"/plain": "plain", "/blanks": "in words", "/none": "", "/script": "by the last script", "/load": "by onload", "/parsed": "by ready", "/push": "before",
		} {
			if c, err := p.Navigate(t.Context(), url+path); err != nil || c.Title != title {
				t.Errorf("%s: title %q, want %q (%v)", path, c.Title, title, err)
			}
		}
		if _, err := p.Navigate(t.Context(), url+"/push"); err != nil {
			t.Fatal(err)
		}
		if c, err := p.Act(t.Context(), p.Input().Click("button", input.ClickOptions{})); err != nil || !c.Navigated || c.Title != "pushed" {
			t.Errorf("pushed: %+v %v", c, err)
		}
		if c, err := p.Back(t.Context()); err != nil || c.Title != "pushed" { // no script resets it
			t.Errorf("back: %+v %v", c, err)
		}
		if c, err := p.Reload(t.Context()); err != nil || c.Title != "before" {
			t.Errorf("reloaded: %+v %v", c, err)
		}
	}
}
