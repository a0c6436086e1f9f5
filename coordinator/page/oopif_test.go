package page

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// What is scrolled to where a frame of another site was drawn a moment ago: the
// browser still sends there what is meant for it.
func TestClickWhereAFrameWas(t *testing.T) {
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<!doctype html><style>body{margin:0}iframe{display:block;border:0;width:100%%;height:700px}</style><script>clicks = [], strays = 0; onmessage = () => strays++</script>
<iframe src="http://localhost:%s/other"></iframe><button onclick="clicks.push('button')">Button</button><iframe srcdoc="<button onclick=&quot;parent.clicks.push('inner')&quot;>Inner</button>"></iframe><div style="height:900px"></div>`, port)
			return
		}
		fmt.Fprint(w, `<!doctype html><body style="height:700px" onclick="parent.postMessage('stray', '*')">another site`)
	}))
	text := snapshot(t, p)
	if err := p.emulateFocus(t.Context()); err != nil { // else a tab in the background has no frames
		t.Fatal(err)
	}
	for range 15 {
		for _, name := range []string{"Button", "Inner"} {
			eval(t, p, "new Promise(r => { scrollTo(0, 0); requestAnimationFrame(() => requestAnimationFrame(r)) })")
			if _, err := p.Click(t.Context(), ref(t, text, name), ClickOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := eval(t, p, "clicks.splice(0).join() + strays"); got != `"`+strings.ToLower(name)+`0"` {
				t.Fatalf("%s: the page has heard %s", name, got)
			}
		}
	}
}
