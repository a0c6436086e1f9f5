package page_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"browser-coordinator/internal/pagetest"
)

// A router that asks for its content late: navigating waits for that as a click does, to another
// document, within one, and back.
func TestNavigateWaitsForContent(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api" {
			time.Sleep(100 * time.Millisecond) // a server that is slow
			io.WriteString(w, "Content of "+r.URL.Query().Get("of"))
			return
		}
		io.WriteString(w, `<!doctype html><title>App</title><h1 id=h>Loading</h1><script>
const route = async () => {
  h.textContent = "Loading"
  const response = await fetch("/api?of=" + location.pathname.slice(1) + location.hash.slice(1))
  h.textContent = await response.text()
}
addEventListener("load", () => setTimeout(route))
addEventListener("hashchange", () => setTimeout(route))
</script>`)
	}))
	for _, c := range []struct{ to, want string }{{"/one", "Content of one"}, {"/one#two", "Content of onetwo"}} {
		if _, err := p.Navigate(t.Context(), url+c.to); err != nil {
			t.Fatal(err)
		}
		pagetest.Expect(t, p, "h.textContent", `"`+c.want+`"`)
	}
	if _, err := p.Traverse(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	pagetest.Expect(t, p, "h.textContent", `"Content of one"`)
	if _, err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	pagetest.Expect(t, p, "h.textContent", `"Content of one"`)
}
