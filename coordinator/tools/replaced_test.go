package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// replacedDuring is how an answer reports that a document was replaced under its action.
const replacedDuring = "The document was replaced during this, by a reload for example"

// An action whose document is replaced says so, and what became of what it typed or chose.
func TestDocumentThatIsReplacedUnderAnAction(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sent" {
			io.WriteString(w, "<!doctype html>Sent")
			return
		}
		if in := r.URL.Query().Get("in"); in != "" {
			fmt.Fprintf(w, `<!doctype html><iframe title=In src=%q></iframe>`, "/form?"+in)
			return
		}
		fmt.Fprint(w, `<!doctype html><form action=/sent><label>A <input id=a></label><label>B <input id=b></label>
<label>C <select id=c><option>x<option>y</select></label><label>D <input id=d type=checkbox></label>
<button>Send</button></form><script>
const kept = sessionStorage.a
if (kept) a.value = kept
const field = location.search.slice(1)
const hot = field && document.getElementById(field[0])
if (hot) hot.oninput = () => {
  if (hot.type !== "checkbox" && hot.value === hot.defaultValue) return
  if (field[1] === "k") sessionStorage.a = a.value
  if (!sessionStorage.done) { sessionStorage.done = 1; location.reload() }
}
</script>`)
	})
	two := args{"fields": []args{{"target": "#a", "value": "one"}, {"target": "#b", "value": "two"}}}
	for _, c := range []struct {
		path, tool string
		args       args
		want       string
	}{
		{"/form?b", "browser_fill_form", two, replacedDuring + `: textbox "A" is empty; textbox "B" is empty.`},
		{"/form?bk", "browser_fill_form", two, replacedDuring + `: textbox "B" is empty.`},
		{"/form?ak", "browser_type", args{"target": "#a", "text": "one"}, replacedDuring + "."},
		{"/form?a", "browser_type", args{"target": "#a", "text": "one"}, replacedDuring + `: textbox "A" is empty.`},
		{"/form?a", "browser_type", args{"target": "#a", "text": strings.Repeat("long ", 80), "slowly": true},
			replacedDuring + `: textbox "A" is empty.`},
		{"/form?c", "browser_select_option", args{"target": "#c", "values": []string{"y"}},
			replacedDuring + `: combobox "C" now holds "x".`},
		{"/form?d", "browser_fill_form", args{"fields": []args{{"target": "#d", "value": "true"}}},
			replacedDuring + `: checkbox "D" is unchecked.`},
		{"/form?in=b", "browser_fill_form", args{"fields": []args{{"target": "iframe >> internal:control=enter-frame >> #b",
			"value": "two"}}}, replacedDuring},
		{"/form", "browser_type", args{"target": "#a", "text": "one", "submit": true}, "/sent"},
	} {
		agent := openPage(t, "<!doctype html>")
		agent.Open(url + c.path)
		if c.args["target"] == nil && strings.Contains(c.path, "in=") {
			snapshot := agent.Must("browser_snapshot", nil)
			c.args["fields"].([]args)[0]["target"] = toolstest.Ref(t, snapshot, "textbox", "B")
		}
		text, err := agent.Call(c.tool, c.args)
		if all := fmt.Sprint(text, err); !strings.Contains(all, c.want) {
			t.Errorf("%s %s %v: %s, want %s", c.path, c.tool, c.args, all, c.want)
		} else if c.path == "/form" && strings.Contains(all, "replaced") {
			t.Errorf("a form that was sent: %s", all)
		}
	}
	// The rest of a form is for the document in which it began.
	agent := openPage(t, "<!doctype html>")
	agent.Open(url + "/form?a")
	text, err := agent.Call("browser_fill_form", two)
	if all := fmt.Sprint(text, err); !strings.Contains(all, replacedDuring+`: textbox "A" is empty`) {
		t.Error(all)
	}
	agent.ExpectValue("() => a.value + b.value", `""`)
}

// What an answer shows is of the document whose address stands above it, however often the page goes on.
func TestAddressOfWhatIsShown(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, wait := 0, 0
		if _, err := fmt.Sscanf(r.URL.Path, "/%d/%d", &n, &wait); err != nil {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<!doctype html><title>Page %[1]d</title><h1>Page %[1]d</h1><button>Stay</button>", n)
		if n < 9 {
			fmt.Fprintf(w, `<script>setTimeout(() => location.replace("/%d/%d"), %d)</script>`, n+1, wait, wait)
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	shown := regexp.MustCompile(`(?:Page: (?:Page (\d))?\n)?URL: \S+/(\d)/\d+\n(?:(?:The|Another|It|\[error\]) .*\n)*` +
		`- heading "Page (\d)"`)
	for _, wait := range []int{5, 15, 30, 60, 100} {
		for _, c := range []struct {
			tool string
			args args
		}{
			{"browser_navigate", args{"url": fmt.Sprintf("%s/0/%d", url, wait)}},
			{"browser_click", args{"target": "button"}},
			{"browser_snapshot", nil},
			{"browser_press_key", args{"key": "a"}},
			{"browser_snapshot", nil},
		} {
			text, err := agent.Call(c.tool, c.args)
			all := fmt.Sprint(text, err)
			match := shown.FindStringSubmatch(all)
			if strings.Contains(all, "\n- heading") && match == nil ||
				match != nil && (match[2] != match[3] || match[1] != "" && match[1] != match[2]) {
				t.Errorf("%s after %d ms: %s", c.tool, wait, all)
			}
		}
	}
}
