package tools_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// marks are in every kind of place of a forbidden document that a recording of its process reads.
const marks = `<!doctype html><title>MARK title</title><style>/* MARK style */ .MARK-class { color: red }</style>
<script>function MARKfunction() { const end = performance.now() + 30; while (performance.now() < end); }
const kept = { MARKkey: "MARK " + "value" }; performance.mark("MARK measure"); setInterval(MARKfunction, 40);
fetch("/MARK-request?token=MARK")</script><p id=MARK-id>MARK text</p>`

// With limits of origins a recording is refused, or has nothing of what another site does in the same browser:
// as a frame, as a popup, as a former document, or by its script in an allowed page.
func TestRecordingsStayWithinOrigins(t *testing.T) {
	t.Parallel()
	server := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		other := "http://" + strings.Replace(r.Host, "127.0.0.1", "localhost", 1)
		switch {
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, "function MARKforeign() { return 'MARK' }\nMARKforeign()")
		case strings.HasPrefix(r.Host, "localhost"):
			io.WriteString(w, marks)
		default:
			io.WriteString(w, `<!doctype html><title>Allowed</title><iframe src="`+other+`/frame"></iframe>
				<script src="`+other+`/foreign.js"></script>
				<script>function own() {} own(); window.open("`+other+`/popup")</script>`)
		}
	})
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	user.Browse(strings.Replace(server, "127.0.0.1", "localhost", 1) + "/former")
	user.Browse(server)
	for name, limits := range map[string][2][]string{
		"allowed": {{"127.0.0.1"}, nil}, "blocked": {nil, {"http://localhost:*"}},
	} {
		agent := w.Start(options{Origins: origins(t, limits[0], limits[1])}, "performance")
		for _, tool := range []string{"performance_start_trace", "performance_start_profile", "performance_heap_snapshot"} {
			agent.Refused(tool, nil, "is not allowed, since the user limits the origins", "DevTools")
		}
		agent.Refused("performance_start_trace", args{"reload": true}, "is not allowed")
		agent.Must("performance_start_coverage", args{"reload": true})
		agent.Expect("performance_stop_coverage", args{"filename": "used-" + name}, "Left out", "sources")
		file := must.Get(filepath.Glob(agent.Saved("used-" + name + "*")))(t)
		text := string(must.Get(os.ReadFile(file[0]))(t))
		if !strings.Contains(text, `"`+server+`/"`) || strings.Contains(text, "MARK") ||
			strings.Contains(text, "localhost:") {
			t.Errorf("%s: the coverage is %.2000s", name, text)
		}
		must.Do(t, agent.Close())
	}
	free := w.Agent("performance")
	free.Must("performance_start_profile", nil)
	free.Must("performance_stop_profile", nil)
}
