package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// hostile ends strings, templates, comments, lines and scripts, and calls pwned wherever it
// gets out of a literal.
const hostile = "'\"`);pwned()//*/pwned()\r\n;pwned()\u2028;pwned()\u2029${pwned()}</script>\u202e\\"

// hostileSite is what a page does to write code into a test of a session in it. With
// a secret that it was given, it chooses what else is hidden: the texts in made, one after the other.
func hostileSite(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.URL.Path != "/" {
		io.WriteString(w, "<!doctype html><title>Other</title><h1>Other</h1><button onclick=\"document.title = "+
			"'hit'\">Hit</button>")
		return
	}
	text, _ := json.Marshal(hostile)
	fmt.Fprintf(w, `<!doctype html><meta charset=utf-8><body><input id=token><input id=echo><div id=all></div>
<output role=status id=out></output>
<script>
const typed = %s, hostile = typed + "\0\ud800";
document.title = hostile;
const made = ["nXY", "Sure?", "');", "\\'", "'", "' + ", "await ", "page.", ");\n", "u2028", "\\", "expect(", "test"];
token.oninput = () => { echo.value = "'" + token.value + hostile; token.value = made.shift() ?? token.value; };
const add = (tag, id, set) => all.append(Object.assign(document.createElement(tag), { id }, set));
add("button", "press", {
  textContent: "Press " + hostile,
  onclick: () => { out.textContent = "now " + "</" + "script>" + "'); pwned(); ('" },
});
add("button", "ask", {
  textContent: "Ask",
  onclick: () => { confirm("Sure?\nXY);pwned()//"); alert(hostile); prompt("it is '" + echo.value); },
});
add("input", "note", { ariaLabel: "Note " + hostile });
add("input", "tag'\\\u2028", { title: "Title " + hostile });
add("input", "fake", { placeholder: "<secret>TOKEN</secret>" });
add("input", "photo", { type: "file", ariaLabel: "Photo " + hostile });
add("select", "kind", { ariaLabel: "Kind" });
for (const label of ["one", "two " + typed]) kind.append(new Option(label, label));
add("div", "zone", { textContent: "Zone", ondragover: (e) => e.preventDefault(), ondrop: (e) => e.preventDefault() });
all.insertAdjacentHTML("beforeend", "<details><summary></summary></details>");
document.querySelector("summary").textContent = hostile;
add("a", "go", { textContent: "Go", href: "/to'); pwned(); ('/$%%7Bpwned()%%7D?x'#\u2028" });
add("a", "popup", { textContent: "Popup", target: "_blank", href: "/popup');pwned()//?t='" });
add("iframe", "f'\\);pwned()//", { name: hostile, srcdoc: "<button>Inside</button>" });
</script>`, text)
}

// called are the members and functions that a test of a session may use.
var called = regexp.MustCompile(`^(import|test|expect|from|async|await|const|page\d*|process|env|TOKEN|TYPED_PASSWORD` +
	`|(dialog|step|opened|chooser|route)\d*|true|false|undefined|new|RegExp|element|script|eval|context|request|headers` +
	`|position|x|y|name|exact|visible|timeout|times|status|body|contentType|files|data|checked|hasText` +
	`|goto|goBack|click|fill|pressSequentially|press|keyboard|selectOption|setInputFiles|setFiles|drop|evaluate` +
	`|waitForEvent|waitForTimeout|waitForFunction|message|accept|dismiss|newPage|route|fulfill|locator|contentFrame` +
	`|getBy(Role|Text|Label|Title|TestId|Placeholder|AltText)|first|nth|filter` +
	`|toBe|toBeVisible|toBeChecked|toHaveText|toHaveURL|toHaveValue|toHaveCount)$`)

// A page and an agent that it has misled put code into all texts of a session. The exported
// test is good TypeScript, and calls only what the session did.
func TestHostileExport(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, hostileSite)
	const secret = "s3cret'`\\${pw}"
	window := toolstest.OpenWindow(t)
	file := "photo';pwned()//`${pwned()}\u2028\n.txt"
	writeFiles(t, map[string]string{filepath.Join(window.Folder, file): "a photo"})
	agent := window.Start(options{Secrets: loadSecrets(t, "TOKEN="+secret+"\n")}, "testing", "network")
	agent.Open(url + "/?'`" + "${pwned()}//*/")
	for range 13 {
		agent.Must("browser_type", args{"target": "#token", "text": "TOKEN"})
	}
	agent.Must("browser_click", args{"target": "#press"})
	agent.Must("browser_click", args{"target": "#ask"})
	agent.Must("browser_handle_dialog", args{"accept": true})
	agent.Must("browser_handle_dialog", args{"accept": true})
	agent.Must("browser_handle_dialog", args{"accept": true, "promptText": hostile})
	agent.Must("browser_type", args{"target": "#note", "text": hostile})
	agent.Must("browser_type", args{"target": "[id^=tag]", "text": hostile, "slowly": true})
	agent.Must("browser_fill_form", args{"fields": []args{{"target": "#fake", "value": "<secret>TOKEN</secret>" +
		hostile}}})
	agent.Must("browser_file_upload", args{"target": "#photo", "paths": []string{file}})
	agent.Must("browser_select_option", args{"target": "#kind", "values": []string{"two " + hostile}})
	agent.Must("browser_drop", args{"target": "#zone",
		"data": args{"text/plain": hostile, "__proto__": hostile, "a/" + hostile: "x"}})
	agent.Must("browser_evaluate", args{"function": "() => `" + `'\"*/ //` + "`"})
	agent.Must("browser_route", args{"pattern": "**/x'`)" + hostile, "status": 200, "body": hostile,
		"contentType": "text/plain'"})
	agent.Must("browser_wait_for", args{"text": "Zone"})
	agent.Must("browser_verify_element_visible", args{"role": "summary", "accessibleName": hostile})
	agent.Must("browser_verify_text_visible", args{"text": "Inside"})
	agent.Must("browser_verify_value", args{"target": "#note", "type": "textbox",
		"value": strings.ReplaceAll(hostile, "\r\n", " ")})
	agent.Refused("browser_fill_form", args{"fields": []args{{"target": "#note", "value": "'1"},
		{"target": "#kind", "value": hostile}}})
	agent.Must("browser_click", args{"target": "#popup"})
	agent.Must("browser_click", args{"target": "#go"})
	agent.SelectTab(func(line string) bool { return strings.Contains(line, "popup") })
	agent.Must("browser_click", args{"target": "button"})

	answer := agent.Must("browser_export", args{"filename": "session"})
	path := regexp.MustCompile(`Saved the \S+ to (\S+)`).FindStringSubmatch(answer)
	if path == nil {
		t.Fatal(answer)
	}
	data, err := os.ReadFile(path[1])
	if err != nil {
		t.Fatal(err)
	}
	source := string(data)
	parsed := toolstest.ParseTest(t, source)
	if len(parsed.Errors) > 0 {
		t.Errorf("it is no TypeScript: %q", parsed.Errors)
	}
	if strings.Contains(source, secret) ||
		slices.ContainsFunc(parsed.Texts, func(text string) bool { return strings.Contains(text, secret) }) {
		t.Error("the secret is in it")
	}
	code := regexp.MustCompile(`'[^']*'|"[^"]*"|\d+`).ReplaceAllString(parsed.Shape, "")
	for _, name := range regexp.MustCompile(`[\p{L}\p{N}_$]+`).FindAllString(code, -1) {
		if !called.MatchString(name) {
			t.Errorf("the session has no %q", name)
		}
	}
	// What the session did, as often as it did that.
	calls := map[string]int{}
	for _, call := range regexp.MustCompile(`\.(\w+)\(`).FindAllStringSubmatch(parsed.Shape, -1) {
		calls[call[1]]++
	}
	want := map[string]int{
		"goto": 1, "click": 5, "fill": 13 + 3, "pressSequentially": 1, "press": 1, "accept": 3, "setInputFiles": 1,
		"selectOption": 1, "drop": 1, "evaluate": 1, "route": 1, "fulfill": 1,
		"waitForEvent": 4, "dismiss": 0, "eval": 0, "setFiles": 0, "newPage": 0,
	}
	for call, n := range want {
		if calls[call] != n {
			t.Errorf("%s is called %d times, want %d", call, calls[call], n)
		}
	}
	for _, text := range []string{hostile, file, "<secret>TOKEN</secret>" + hostile, "two " + hostile, "a/" + hostile,
		"Sure?\nXY);pwned()//"} {
		if !slices.Contains(parsed.Texts, text) {
			t.Errorf("no literal is %q", text)
		}
	}
	for _, comment := range parsed.Comments {
		if !strings.HasPrefix(comment, "// ") || strings.ContainsAny(comment, "\r\n\u2028\u2029\u202e") {
			t.Errorf("a comment is %q", comment)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%v", source, slices.Sorted(maps.Keys(calls)))
	}
}

// Code that looks like a secret stays code: it is in a file, where nothing is hidden in it.
func TestExportWithCodeLikeASecret(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, "<!doctype html><title>Here</title><button>Save</button>")
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t, "WORD=page.goto\n")}, "testing")
	agent.Open(url)
	agent.Must("browser_click", args{"target": "button"})
	path := regexp.MustCompile(`Saved the test to (\S+)`).FindStringSubmatch(agent.Must("browser_export", nil))
	if path == nil {
		t.Fatal("the code is in the answer")
	}
	data, err := os.ReadFile(path[1])
	if err != nil || !strings.Contains(string(data), "await page.goto('"+url) {
		t.Errorf("%s %v", data, err)
	}
}
