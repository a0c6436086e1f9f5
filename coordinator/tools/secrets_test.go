package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/toolstest"
)

const secretForm = `<!doctype html><title>Login</title>
<form onsubmit="event.preventDefault(); console.error('sent ' + pw.value);
  fetch('/login?pw=' + encodeURIComponent(pw.value)); document.title = 'Hello ' + user.value;
  history.replaceState(0, '', '?pw=' + encodeURIComponent(pw.value)); out.textContent = pw.value">
<label>User <input id=user></label><label>Password <input id=pw></label><button>Log in</button></form>
<output id=out></output>`

// An agent types secrets by name. It sees only their names wherever the page shows the
// values.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const password, user = `p4 "ß&<x>`, "ada.lovelace"
	got := make(chan string, 10)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			got <- r.URL.Query().Get("pw")
			return
		}
		io.WriteString(w, secretForm)
	})
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t,
		"# for the shop\nSHOP_PASSWORD='"+password+"'\nSHOP_USER="+user+"\n")})
	var answers []string
	for _, c := range []toolCall{
		{"browser_navigate", args{"url": url}, nil},
		{"browser_type", args{"target": "#pw", "text": "SHOP_PASSWORD"}, nil},
		{"browser_fill_form", args{"fields": []args{{"target": "#user", "type": "textbox", "value": "SHOP_USER"}}},
			nil},
		{"browser_click", args{"target": "button"}, nil},
		{"browser_snapshot", nil, nil},
		{"browser_evaluate", args{"function": "() => [user.value, pw.value]"}, nil},
		{"browser_console_messages", nil, nil},
		{"browser_network_requests", nil, nil},
		{"browser_tabs", args{"action": "list"}, nil},
		{"browser_snapshot", args{"filename": "page.md"}, nil},
	} {
		answers = append(answers, agent.Must(c.tool, c.args))
	}
	if message := <-got; message != password {
		t.Errorf("the page sent %q", message)
	}
	_, err := agent.Call("browser_evaluate", args{"function": "() => { throw new Error(pw.value) }"})
	if err == nil {
		t.Fatal("no error")
	}
	saved, readErr := os.ReadFile(agent.Saved("page.md"))
	if readErr != nil {
		t.Fatal(readErr)
	}
	answers = append(answers, err.Error(), string(saved))
	for i, text := range answers {
		for _, form := range []string{password, user, `p4 \"`, "p4%20", "p4+"} {
			if strings.Contains(text, form) {
				t.Errorf("answer %d holds %q:\n%s", i, form, text)
			}
		}
	}
	if all := strings.Join(answers, "\n"); strings.Count(all, "<secret>SHOP_PASSWORD</secret>") < 6 ||
		!strings.Contains(all, "<secret>SHOP_USER</secret>") {
		t.Errorf("the names are not where the values were:\n%s", all)
	}
}

// A secret also does not appear in Markdown or HTML, which have escapes of their own,
// nor in fetched content, truncated or not, nor in resources.
func TestSecretsInOtherForms(t *testing.T) {
	t.Parallel()
	const password = `p4_"ß'&<x>*[y]` + "\u00a0z"
	encoded, _ := json.Marshal(password)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			io.WriteString(w, password)
		case "/json":
			json.NewEncoder(w).Encode(map[string]string{"password": password}) // escapes & as \u0026
		case "/long": // its first part ends within the secret
			io.WriteString(w, strings.Repeat("x", 20_000-8)+password+strings.Repeat("y", 100))
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><title>Account</title><main><h1>Account</h1>
<p>Your password is <b id=word></b>.</p><a id=link>reset</a><pre id=pre></pre></main>
<script>
const pw = %s;
word.textContent = pre.textContent = pw;
link.title = pw;
link.href = '/reset?pw=' + encodeURIComponent(pw);
console.log('it is ' + pw);
fetch('/text?pw=' + encodeURIComponent(pw));
</script>`, encoded)
		}
	})
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t,
		`PASSWORD="`+strings.ReplaceAll(password, `"`, `\"`)+"\"\n")})
	agent.Open(url)
	agent.Must("browser_wait_for", args{"networkIdle": true})
	hidden := func(description, text string) {
		t.Helper()
		if !strings.Contains(text, "<secret>PASSWORD</secret>") {
			t.Errorf("%s does not name the secret:\n%s", description, text)
		}
		for _, part := range []string{"p4_", `p4\_`, "ß", "%C3%9F", "[y]"} {
			if strings.Contains(text, part) {
				t.Errorf("%s holds %q of the secret:\n%.2000s", description, part, text)
			}
		}
	}
	for _, c := range []toolCall{
		{"browser_markdown", args{}, nil},
		{"browser_dom", args{}, nil},
		{"browser_snapshot", args{}, nil},
		{"browser_console_messages", args{}, nil},
		{"browser_network_requests", args{"filter": "/text"}, nil},
		{"browser_find", args{"text": "Your password"}, nil},
		{"browser_fetch", args{"url": "/text"}, nil},
		{"browser_fetch", args{"url": "/json"}, nil},
	} {
		hidden(fmt.Sprint(c.tool, c.args), agent.Must(c.tool, c.args))
	}
	if text := agent.Must("browser_fetch", args{"url": "/long"}); strings.Contains(text, "p4_") {
		t.Errorf("what is cut holds the secret's beginning: …%s", text[len(text)-200:])
	}
	for name, a := range map[string]args{
		"browser_fetch": {"url": "/text", "filename": "fetched.txt"}, "browser_markdown": {"filename": "page.md"},
		"browser_dom": {"filename": "page.html"},
	} {
		agent.Must(name, a)
		saved, err := os.ReadFile(agent.Saved(a["filename"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		hidden("the file of "+name, string(saved))
	}
	for _, uri := range []string{"browser://console", "browser://network"} {
		read, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		hidden(uri, read.Contents[0].Text)
	}
}

const edgesPage = `<!doctype html><title>Edges</title><main></main>
<form><input id=short maxlength=9><input id=mask oninput="this.value = this.value.toUpperCase()"
  ><output id=out></output></form>
<script>
const pw = %s, pad = (n) => "x".repeat(n) + pw + "y".repeat(500);
document.cookie = "edge=" + encodeURIComponent(pad(195 - 3));
localStorage.setItem("edge", pad(195));
sessionStorage.setItem("edge", pad(188));
const main = document.querySelector("main");
for (let n = 180; n < 200; n++) {
  const b = document.createElement("button");
  b.title = pad(n);
  b.textContent = pad(n);
  main.append(b);
}
for (let n = 980; n < 1000; n += 3) {
  const p = document.createElement("p");
  p.textContent = pad(n) + " needle";
  main.append(p);
}
for (const n of [280, 285]) {
  const s = document.createElement("select");
  s.append(new Option("one"), new Option(pad(n)));
  main.append(s);
}
const d = document.createElement("button");
d.disabled = true;
d.id = "disabled";
d.textContent = pad(20);
main.append(d);
console.log({ nested: pad(40), more: pw + "z".repeat(300) }); console.error(pad(490));
short.oninput = mask.onchange = () => { out.textContent = "it has " + short.value + " and " + mask.value; };
fetch("/auth", { headers: { Authorization: "Basic " + btoa("ada:" + pw) } });
</script>`

// Where the page's own fields, our scripts or a result truncate a text of the page, no
// part of a secret remains at the edge.
func TestSecretsAtCutEdges(t *testing.T) {
	t.Parallel()
	const password = "Hx7-quartz/92&<lamp>"
	encoded, _ := json.Marshal(password)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/large": // its 4 MiB end within the secret
			io.WriteString(w, strings.Repeat("x", 4<<20-8)+password+strings.Repeat("y", 100))
		case "/auth":
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		default:
			fmt.Fprintf(w, edgesPage, encoded)
		}
	})
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t, "PASSWORD='"+password+"'\n")}, "storage")
	agent.Open(url)
	agent.Must("browser_wait_for", args{"networkIdle": true})
	hidden := func(description, text string) {
		t.Helper()
		for _, part := range []string{"Hx7", "HX7", "SHg3", "uartz", "lamp", "LAMP"} {
			if index := strings.Index(text, part); index >= 0 {
				t.Errorf("%s holds %q of the secret: …%s…", description, part, text[max(0, index-60):min(len(text), index+60)])
			}
		}
	}
	use := func(name string, a args, want ...string) string {
		t.Helper()
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: a})
		if err != nil {
			t.Fatal(err)
		}
		all, _ := json.Marshal(res)
		text := unescape.Replace(string(all))
		hidden(fmt.Sprint(name, a), text)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q: %.3000s", name, w, text)
			}
		}
		return text
	}
	for _, name := range []string{"browser_snapshot", "browser_console_messages", "browser_markdown", "browser_dom"} {
		use(name, nil, "<secret>PASSWORD</secret>")
	}
	for _, name := range []string{"browser_cookie_list", "browser_localstorage_list", "browser_sessionstorage_list"} {
		use(name, nil, "edge", "characters)")
	}
	use("browser_find", args{"text": "needle"})
	use("browser_evaluate", args{"function": "() => document.querySelectorAll('button')[3]"})
	use("browser_find", args{"regex": "x.{30}"})
	use("browser_find", args{"text": "quartz"}, "Nothing in the page matches") // a part of a secret
	use("browser_click", args{"target": "#disabled"})
	for i := 1; i <= 2; i++ {
		use("browser_network_request", args{"index": i})
	}
	use("browser_fetch", args{"url": "/large"})
	agent.Must("browser_fetch", args{"url": "/large", "filename": "large"})
	if saved, err := os.ReadFile(agent.Saved("large.html")); err != nil || len(saved) < 4<<20-100 {
		t.Errorf("%d bytes, %v", len(saved), err)
	} else {
		hidden("a file", string(saved))
	}

	// A value that a field derives from a secret is a secret too.
	use("browser_type", args{"target": "#short", "text": "PASSWORD"})
	use("browser_fill_form", args{"fields": []args{{"target": "#mask", "type": "textbox", "value": "PASSWORD"}}})
	if text := use("browser_snapshot", nil); strings.Count(text, "<secret>PASSWORD</secret>") < 4 {
		t.Errorf("the fields: %s", text)
	}
	use("browser_evaluate", args{"function": "() => short.value + ' ' + mask.value"})
}

// What a field has made of a secret stays hidden when the page has changed the field again,
// at once, when it is left, or at a later field.
func TestSecretThatAFieldHeldForAWhile(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html>
<input id=pw oninput="this.value = this.value.toUpperCase(); seen.append(this.value, ' ')"
  onblur="this.value = this.value.split('').reverse().join(''); seen.append(this.value, ' ')">
<input id=user><select id=kind onchange="pw.value = pw.value.slice(3); seen.append(pw.value, ' ')"
  ><option>a<option>b</select><input id=last oninput="pw.value = ''"><output id=seen></output>`)
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t, "PASSWORD=quartz-lamp\n")})
	agent.Open(url)
	texts := []string{agent.Must("browser_fill_form",
		args{"fields": []args{{"target": "#pw", "value": "PASSWORD"}, {"target": "#user", "value": "ada"},
			{"target": "#kind", "value": "b"}, {"target": "#last", "value": "x"}}})}
	if !strings.Contains(texts[0], "#pw is empty again") {
		t.Error(texts[0])
	}
	texts = append(texts, agent.Must("browser_snapshot", nil),
		agent.Must("browser_evaluate", args{"function": "() => seen.textContent"}))
	for _, text := range texts {
		for _, part := range []string{"QUARTZ", "PMAL", "TRAUQ"} {
			if strings.Contains(text, part) {
				t.Errorf("it holds %q:\n%s", part, text)
			}
		}
	}
	if !strings.Contains(texts[2], "<secret>PASSWORD</secret> <secret>PASSWORD</secret> <secret>PASSWORD</secret>") {
		t.Error(texts[2])
	}
}

// A secret that the page has split by markup, or by characters that nobody sees, is hidden in
// each form in which an agent reads a page.
func TestSecretsThatAreSplit(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>hunt&shy;er22</title><h1>head hunt<i>er</i>22</h1>
<p>it is hunt<b>er22</b>, soft hunt&shy;er22, zero hunt&#8203;er22, joined h&zwj;u&#8288;nter22</p>
<p>hunt<b>er</b><i>22</i></p>
<button>hunt<span>er22</span></button><a href="/x">hunt<em>er</em>22</a>
<div><span>hunt</span><span>er22</span></div>
<table><tr><td>hunt<b>er22</b></table>
<ul><li>hunt<wbr>er22 <li>hunt<!-- c -->er22</ul>
<code>hunt<mark class="a>b">er</mark>22</code><input aria-label="hunt&shy;er22" value="hunt&#8203;er22">`)
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t, "PASSWORD=hunter22\n")})
	texts := map[string]string{"navigate": agent.Open(url)}
	for _, c := range []toolCall{
		{"browser_snapshot", nil, nil}, {"browser_markdown", nil, nil}, {"browser_dom", nil, nil},
		{"browser_find", args{"text": "soft"}, nil}, {"browser_tabs", args{"action": "list"}, nil},
		{"browser_evaluate", args{"function": "() => document.body.innerHTML"}, nil},
		{"browser_evaluate", args{"function": "() => document.body.innerText"}, nil},
		{"browser_fetch", args{"url": url}, nil},
	} {
		texts[fmt.Sprint(c.tool, c.args)] = agent.Must(c.tool, c.args)
	}
	for name, text := range texts {
		text = strings.ReplaceAll(text, url, "") // its port may be part of the value
		if found := regexp.MustCompile(`.{0,30}(hun?t|er\d?2|22).{0,30}`).FindString(text); found != "" ||
			!strings.Contains(text, "<secret>PASSWORD</secret>") {
			t.Errorf("%s: %q in %s", name, found, text)
		}
	}
}
