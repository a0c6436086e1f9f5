package audit_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

const flawed = `<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><button id=empty></button>
<p id=pale style="color:#aaa;background:#fff">Pale</p><a href="/tea">Tea</a><input id=unlabelled>
<div id=host></div></main>
<script>document.querySelector("#host").attachShadow({mode:"open"}).innerHTML = "<button></button>"</script>`

// The audit finds what axe-core finds when it runs in the page itself.
func TestAuditIsAxe(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, flawed)
	r, err := p.Auditor().Audit(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Expect(t, p, "typeof axe", `"undefined"`)
	var ours []string
	for _, f := range r.Findings {
		ours = append(ours, f.Rule+" "+f.Selector)
	}
	file, err := os.Open("axe/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	axe, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, p, string(axe)+";0")
	var theirs []string
	found := pagetest.Evaluate(t, p, `axe.run().then((r) =>
  r.violations.flatMap((v) => v.nodes.map((n) => v.id + " " + n.target.flat().join(" >>> "))))`)
	if err := json.Unmarshal([]byte(found), &theirs); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if !slices.Equal(ours, theirs) || !slices.Contains(ours, "color-contrast #pale") {
		t.Errorf("the audit finds\n%s\nand axe-core\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
}

// A frame is audited like a part of the page, also one of another origin.
func TestAuditFrames(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<!doctype html><html lang=en><title>Shop</title>
<main><h1>Shop</h1><iframe title=In src="http://localhost:%s/in"></iframe></main>`, port)
			return
		}
		fmt.Fprint(w, `<!doctype html><html lang=en><button>Fine</button><button id=empty></button>`)
	}))
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Fine"})
	r, err := p.Auditor().Audit(t.Context(), "")
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	if f := r.Findings[0]; f.Rule != "button-name" || f.Selector != "#empty" || !strings.HasSuffix(f.Frame, "/in") ||
		!strings.Contains(f.Element, "[ref=") || len(f.Any) == 0 {
		t.Errorf("%+v", f)
	}
}

// An audit that does not end in time is stopped: the page can be used, and audited again.
func TestEndlessAudit(t *testing.T) {
	t.Parallel()
	p := pagetest.NewPage(t, pagetest.ConnectWith(t, &page.Options{CallTimeout: 3 * time.Second}))
	pagetest.Evaluate(t, p, "document.body.innerHTML = '<button></button>' + '<p>x</p>'.repeat(200000); 0")
	_, err := p.Auditor().Audit(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "was stopped") || !strings.Contains(err.Error(), "give target") {
		t.Errorf("the error is %v", err)
	}
	pagetest.Expect(t, p, "document.body.innerHTML = '<button></button>'; 1 + 1", "2")
	r, err := p.Auditor().Audit(t.Context(), "button")
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Rule != "button-name" {
		t.Errorf("afterwards: %+v %v", r, err)
	}
}

// A finding about an element without a line of its own, as <html>, does not name what is in it.
func TestFindingsOfWhatHasNoLine(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><html lang=en><title>Shop</title><div id=box><h2>Tea</h2></div>
<p lang="xx-wrong">Word</p><div id=list role=list><span>Milk</span></div>`)
	r, err := p.Auditor().Audit(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for _, f := range r.Findings {
		lines[f.Selector] = f.Element
	}
	for selector, want := range map[string]string{"html": "", "#box": "", "#list": "list: Milk", "p": "Word"} {
		if line, found := lines[selector]; !found || line != want {
			t.Errorf("%s: %q of %q, want %q", selector, line, lines, want)
		}
	}
}
