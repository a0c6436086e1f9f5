package snapshot_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/pagetest"
)

// What style sheets put before and after a content is a text that a user sees, apart from
// decoration.
func TestGeneratedTexts(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			io.WriteString(w, `<!doctype html><link rel=stylesheet href="http://localhost:`+
				r.Host[strings.LastIndex(r.Host, ":")+1:]+`/other.css">`)
			return
		case "/other.css":
			w.Header().Set("Content-Type", "text/css")
			io.WriteString(w, `.far::after { content: " far away" }`)
			return
		}
		io.WriteString(w, `<!doctype html><style>@media screen { .required::after { content: " *" } }
.price { &::before { content: "€ " } }
.icon::before { content: "\f123" } .font::before { content: "home"; font-family: Material Icons }
[data-unit]::after { content: attr(data-unit) }
.tip::after { content: "Tip"; opacity: 0 } .count::before { content: counter(n) "th" }
.arrow::after { content: "→" / "" } .star::before { content: "★" / "Star " }
.bad::after { content: "Must be \"set\"" } .crumb::after { content: "/" }</style>
<label class=required for=n>Name</label><input id=n><button class=star>Rate</button>
<p class=price>90</p><p data-unit=" kg">5</p>
<h2 class="icon font tip count arrow crumb">Plain</h2><p id=state>State: </p>`)
	}))
	pagetest.WaitFor(t, p, page.WaitOptions{Idle: true})
	pagetest.Evaluate(t, p, "void document.body.insertAdjacentHTML('beforeend', '<p class=far>Not so</p>')")
	pagetest.Contains(t, pagetest.Snapshot(t, p), "- Not so far away\n") // a style sheet of another origin
	pagetest.Navigate(t, p, url+"/page")
	pagetest.Contains(t, pagetest.Snapshot(t, p), `textbox "Name *"`, `button "Star Rate"`, "- € 90\n", "- 5 kg\n",
		"- heading \"Plain\" [level=2]\n")
	pagetest.Contains(t, markdown(t, p), "Name \\*", "€ 90", "5 kg", "## Plain\n")
	if found := find(t, p, "€ 90"); found.Matches != 1 {
		t.Errorf("%+v", found)
	}
	pagetest.Evaluate(t, p, "void (state.className = 'bad')")
	pagetest.Contains(t, p.Look(t.Context()).Text, `+ - State: Must be "set"`)
}
