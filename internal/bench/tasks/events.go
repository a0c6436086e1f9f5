package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// The tasks in which something happens beside the page's content.

// thrown finds the script error of the broken page.
const thrown = `(Cannot read properties[^\n"]*?\(reading 'time'\))`

var broken = task{
	name: "broken page",
	goal: "“Save settings” does nothing. Report the failing request with its status, the server's reason, " +
		"and the script error with its place.",
	serve: func(s *site) func(string) error {
		s.page("/", "broken.html")
		s.page("/settings.js", "settings.js")
		s.api("GET /api/profile", func(*http.Request, map[string]any) (any, error) {
			return map[string]any{"name": "Ada"}, nil
		})
		reason, saved := code("quota exceeded for tenant"), 0
		s.mux.HandleFunc("POST /api/settings", func(w http.ResponseWriter, _ *http.Request) {
			s.Lock()
			saved++
			s.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintf(w, `{"error":%q}`, reason)
		})
		return func(report string) error {
			if saved == 0 {
				return errors.New("nothing was tried")
			}
			return same(report, "POST /api/settings 503, "+reason+
				", Cannot read properties of undefined (reading 'time') at settings.js:7")
		}
	},
	ours: func(p *player) string {
		if p.inShell() { // the user has named the button
			click := line("browser_click", args{"target": `button "Save settings"`})
			p.call(aLine, args{"line": "coordinator open " + p.url + " && " + click})
		} else {
			p.open(p.url)
			p.lookOn()
			p.click(p.ref("button", "Save settings"))
		}
		index, status := p.read(`Request (\d+) failed: POST /api/settings`), p.read(`POST /api/settings → (\d+)`)
		if !strings.Contains(p.last(), "Cannot read") {
			p.call("browser_console_messages", args{"level": "error"})
		}
		failure := p.read(thrown) + " at " + p.read(`(?s)Cannot read.*?(settings\.js:7)`)
		p.call("browser_network_request", args{"index": number(index), "part": "response-body"})
		return "POST /api/settings " + status + ", " + p.read(`"error":"([^"]*)"`) + ", " + failure
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.clickNamed("Save settings")
		var failure string
		if p.kind == agentBrowser {
			p.call("browser_console_messages", nil)
			p.call("browser_network_requests", args{"filter": "api/settings"})
			request := p.read(`\[([\d.]+)\] POST`)
			line := "POST /api/settings " + p.read(`POST [^\n]*api/settings[^\n]*?(\d{3})`)
			p.line("network request " + request + " --json") // without, it prints only the address
			reason := p.read(`error\W+(quota[^"\\]*)`)
			// The error has no text: have the page report it.
			p.script(`window.reasons = []; addEventListener("unhandledrejection", e => reasons.push(e.reason.stack))`, "")
			p.clickNamed("Save settings")
			p.line("wait --fn reasons.length")
			p.script(`reasons`, "")
			return line + ", " + reason + ", " + p.read(thrown) + " at " + p.read(`(settings\.js:7)`)
		}
		if p.kind == devtools {
			p.call("list_console_messages", args{"types": []string{"error"}})
			p.call("get_console_message", args{"msgid": number(p.read(`msgid=(\d+)[^\n]*Uncaught`))})
			place := p.read(`(settings\.js:7)`)
			// The message has no text: have the page report it.
			p.script(`() => { window.reasons = []; `+
				`addEventListener("unhandledrejection", e => reasons.push(String(e.reason))) }`, "")
			p.click(p.ref("button", "Save settings"))
			p.script(`() => reasons`, "")
			failure = p.read(thrown) + " at " + place
			p.call("list_network_requests", args{"resourceTypes": []string{"fetch", "xhr"}})
			request := p.read(`reqid=(\d+) POST [^\n]*api/settings`)
			line := "POST /api/settings " + p.read(`POST [^\n]*api/settings[^\n]*?(\d{3})`)
			p.call("get_network_request", args{"reqid": number(request)})
			return line + ", " + p.read(`"error":"([^"]*)"`) + ", " + failure
		}
		p.call("browser_console_messages", args{"level": "error"})
		if !strings.Contains(p.last(), "Cannot read") { // the user's “nothing happens” makes one look again
			p.call("browser_console_messages", args{"level": "error"})
		}
		failure = p.read(thrown) + " at " + p.read(`(?s)Cannot read.*?(settings\.js:7)`)
		p.call("browser_network_requests", nil)
		index := p.read(`(\d+)\. [^\n]*POST[^\n]*api/settings`)
		line := "POST /api/settings " + p.read(`POST[^\n]*api/settings\D*?(\d{3})`)
		a := args{"index": number(index)}
		if p.kind == playwright {
			a["part"] = "response-body"
		}
		p.call("browser_network_request", a)
		return line + ", " + p.read(`"error":"([^"]*)"`) + ", " + failure
	},
}

func number(text string) (n int) {
	fmt.Sscan(text, &n)
	return n
}

var projects = task{
	name: "dialogs",
	goal: `Delete the project Borealis, with the reason "merged into Atlas". ` +
		"Report the receipt, then go Home; no other changes are to be kept.",
	serve: func(s *site) func(string) error {
		s.page("/", "projects.html")
		var deleted, receipt string
		home := false
		s.api("POST /api/delete", func(_ *http.Request, body map[string]any) (any, error) {
			deleted += fmt.Sprint(body["name"], ": ", body["reason"], ";")
			receipt = code("DEL")
			return map[string]any{"receipt": receipt}, nil
		})
		s.mux.HandleFunc("/home", func(w http.ResponseWriter, _ *http.Request) {
			s.Lock()
			home = true
			s.Unlock()
			io.WriteString(w, "<!doctype html><title>Home</title><h1>Home</h1>")
		})
		return func(report string) error {
			if !home {
				return errors.New("the agent is not at home")
			}
			return errors.Join(same(deleted, "Borealis: merged into Atlas;"), same(report, receipt))
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		p.steps(do("click", "target", p.ref("button", "Delete", `"Borealis"`)), do("dialog", "accept", true),
			do("dialog", "accept", true, "promptText", "merged into Atlas"))
		p.want("Delete the project Borealis")
		p.want("Why do you delete it?")
		if !strings.Contains(p.last(), "DEL-") { // the alert comes later: the refusal has its text
			p.try("browser_snapshot", nil)
		}
		receipt := p.read(`(DEL-\d+)`)
		p.steps(do("dialog", "accept", true), do("click", "target", p.ref("link", "Home")))
		p.read(`(beforeunload|leave)`)
		p.dialog("")
		p.await("Home", `(heading "Home")`)
		return receipt
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.click(p.ref("button", "Delete", `"Borealis"`))
		if p.kind == agentBrowser {
			p.line("dialog status")
		}
		p.want("Delete the project Borealis")
		p.dialog("")
		if p.kind == agentBrowser {
			p.line("dialog status")
		}
		p.want("Why do you delete it?")
		p.dialog("merged into Atlas")
		if p.kind == agentBrowser {
			p.lookAtText() // it has accepted the alert, and shows its text nowhere
		}
		for i := 0; i < 3 && !strings.Contains(p.last(), "DEL-"); i++ {
			p.try(p.name("browser_snapshot", "take_snapshot"), nil)
		}
		receipt := p.read(`(DEL-\d+)`)
		p.dialog("")
		p.click(p.ref("link", "Home"))
		p.read(`(?i)(beforeunload|leave)`)
		p.dialog("")
		p.look()
		p.await("Home", `(heading "Home")`)
		return receipt
	},
}

var popup = task{
	name: "OAuth popup",
	goal: "Sign in with Example ID as ada@nordwind.example, and report the member number.",
	serve: func(s *site) func(string) error {
		s.page("/", "signin.html")
		s.page("/authorize", "authorize.html")
		grant, member, email := "", "", ""
		s.api("POST /api/allow", func(_ *http.Request, body map[string]any) (any, error) {
			grant, email = code("G"), fmt.Sprint(body["email"])
			return map[string]any{"code": grant}, nil
		})
		s.api("POST /api/session", func(_ *http.Request, body map[string]any) (any, error) {
			if grant == "" || body["code"] != grant {
				return nil, errors.New("no grant")
			}
			member = code("M")
			return map[string]any{"email": email, "member": member}, nil
		})
		return func(report string) error {
			return errors.Join(same(email, "ada@nordwind.example"), same(report, member))
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		p.click(p.ref("button", "Continue with Example ID"))
		if !strings.Contains(p.last(), "(tab ") {
			return inPopup(p)
		}
		tab := number(p.read(`authorize\S* \(tab (\d+)\)`))
		if !strings.Contains(p.last(), "[ref=") { // else the answer shows the new tab
			p.call("browser_snapshot", args{"tab": tab})
		}
		p.steps(do("type", "target", p.ref("textbox", "E-mail"), "text", "ada@nordwind.example", "tab", tab),
			do("click", "target", p.ref("button", "Allow"), "tab", tab), do("expect", "text", "Signed in as", "tab", 0))
		if !strings.Contains(p.last(), "Member number") {
			p.find("Member number")
		}
		return p.read(`(M-\d+)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.click(p.ref("button", "Continue with Example ID"))
		if p.kind == devtools {
			p.call("list_pages", nil)
			page := number(p.read(`(\d+): [^\n]*authorize`))
			p.call("take_snapshot", args{"pageId": page})
			p.call("fill", args{"pageId": page, "uid": p.ref("textbox", "E-mail"), "value": "ada@nordwind.example"})
			p.call("click", args{"pageId": page, "uid": p.ref("button", "Allow")})
			p.look()
			return p.await("Member number", `(M-\d+)`)
		}
		if p.kind == agentBrowser {
			p.line("tab")
			p.look() // it has selected the new tab
			p.write(p.ref("textbox", "E-mail"), "ada@nordwind.example", false)
			p.click(p.ref("button", "Allow"))
			p.line("tab t1")
			return p.lookFor("Member number", `(M-\d+)`)
		}
		return inPopup(p)
	},
}

// inPopup signs in, in a tab that must be selected first.
func inPopup(p *player) string {
	p.call("browser_tabs", args{"action": "select", "index": 1})
	p.look()
	p.write(p.ref("textbox", "E-mail"), "ada@nordwind.example", false)
	p.try("browser_click", args{"target": p.ref("button", "Allow")})
	if _, ok := p.try("browser_snapshot", nil); !ok { // it has closed itself
		p.call("browser_tabs", args{"action": "select", "index": 0})
		p.look()
	}
	return p.await("Member number", `(M-\d+)`)
}

var slow = task{
	name: "slow page, toasts",
	goal: "Export the invoices, and report the number of the export.",
	serve: func(s *site) func(string) error {
		s.page("/", "slow.html")
		s.mux.HandleFunc("GET /api/sets", func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(1500 * time.Millisecond) // the page is slow
			io.WriteString(w, `["Customers","Invoices","Orders"]`)
		})
		set, export := "", ""
		s.mux.HandleFunc("POST /api/export", func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			time.Sleep(2500 * time.Millisecond)
			s.Lock()
			defer s.Unlock()
			set, export = string(b), code("EXP")
			fmt.Fprintf(w, `{"number":%q}`, export)
		})
		return func(report string) error {
			if !strings.Contains(set, "Invoices") {
				return errors.New("nothing is exported")
			}
			return same(report, export)
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.think()
		p.lookOn()
		p.await("Invoices", `button "(Export Invoices)"|(Export Invoices)" \[ref`)
		p.think()
		p.steps(do("click", "target", p.ref("button", "Export Invoices")), do("wait", "text", "is ready"))
		return p.read(`(EXP-\d+)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.think()
		p.look()
		p.click(p.ref("button", "Export Invoices"))
		if p.shell != nil { // in the same line
			p.wait("is ready")
			p.lookAtText()
			return p.read(`(EXP-\d+)`)
		}
		p.think()
		p.wait("is ready")
		if p.kind == playwright {
			p.think()
			p.look()
			if !strings.Contains(p.last(), "EXP-") { // gone: export once more, and read the toast in the same call
				p.script(`async () => { document.querySelector("[aria-label='Export Invoices']").click(); `+
					`for (let i = 0; i < 100; i++) { const toast = document.querySelector("#toasts").innerText; `+
					`if (/EXP/.test(toast)) return toast; await new Promise(r => setTimeout(r, 100)) } }`, "")
			}
		}
		return p.read(`(EXP-\d+)`)
	},
}
