package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
)

// The tasks that fill something in.

var form = task{
	name: "controlled form",
	goal: "Open an account: Nordwind GmbH, info@nordwind.example, phone 0664 1234567 (an Austrian number), " +
		"Austria, 12 employees, plan Team, terms accepted. Report the account number.",
	serve: func(s *site) func(string) error {
		s.page("/", "form.html")
		var account string
		var values map[string]any
		s.api("POST /api/accounts", func(_ *http.Request, body map[string]any) (any, error) {
			values, account = body, code("AC")
			return map[string]any{"account": account}, nil
		})
		return func(report string) error {
			want := "Nordwind GmbH info@nordwind.example +43 664 1234567 Austria 12 Team true"
			got := fmt.Sprint(values["company"], " ", values["email"], " ", values["phone"], " ", values["country"], " ",
				values["employees"], " ", values["plan"], " ", values["terms"])
			return errors.Join(same(got, want), same(report, account))
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		field := func(name, text string) args { return do("type", "target", p.ref("textbox", name), "text", text) }
		p.steps(field("Company name", "Nordwind GmbH"), field("E-mail", "info@nordwind.example"),
			field("Phone", "0664 1234567"),
			do("select", "target", p.ref("combobox", "Country"), "values", []string{"Austria"}), field("Employees", "12"),
			do("click", "target", p.ref("radio", "Team")), do("check", "target", p.ref("checkbox", "I accept the terms")),
			do("click", "target", p.ref("button", "Open account")))
		p.lookOn()
		p.want("international form")
		p.steps(do("type", "target", p.ref("textbox", "Phone"), "text", "+43 664 1234567", "submit", true),
			do("expect", "text", "account number"))
		return p.read(`(AC-\d+)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.fill(entry{"textbox", "Company name", "Nordwind GmbH"}, entry{"textbox", "E-mail", "info@nordwind.example"},
			entry{"textbox", "Phone", "0664 1234567"}, entry{"combobox", "Country", "Austria"},
			entry{"textbox", "Employees", "12"}, entry{"radio", "Team", "true"},
			entry{"checkbox", "I accept the terms", "true"})
		p.click(p.ref("button", "Open account"))
		p.lookAtText()
		p.want("international form")
		if strings.Contains(p.last(), "Choose a country") { // agent-browser's select has sent no input event
			p.line("focus @"+p.ref("combobox", "Country"), "press ArrowDown")
		}
		p.write(p.ref("textbox", "Phone"), "+43 664 1234567", true)
		return p.lookFor("account number", `(AC-\d+)`)
	},
}

var payment = task{
	name: "payment frames",
	goal: "Pay with the card 4242 4242 4242 4242, 12/30, 123. The bank's code is 90817. Report the order number.",
	serve: func(s *site) func(string) error {
		s.page("/", "checkout.html")
		for _, name := range []string{"pay", "field", "bank"} {
			s.page("/"+name, name+".html")
		}
		var token, order string
		s.api("POST /api/pay", func(_ *http.Request, body map[string]any) (any, error) {
			if got := fmt.Sprint(body["number"], body["expiry"], body["cvc"]); got != "4242 4242 4242 424212/30123" {
				return map[string]any{"error": "Check the card's data."}, errors.New(got)
			}
			return map[string]any{"challenge": true}, nil
		})
		s.api("POST /api/confirm", func(_ *http.Request, body map[string]any) (any, error) {
			if body["code"] == "90817" {
				token = code("tok")
			}
			return map[string]any{"token": token}, nil
		})
		s.api("POST /api/orders", func(_ *http.Request, body map[string]any) (any, error) {
			if token != "" && body["token"] == token {
				order = code("ORD")
			}
			return map[string]any{"number": order}, nil
		})
		return func(report string) error {
			if order == "" {
				return errors.New("nothing is paid")
			}
			return same(report, order)
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		p.steps(do("type", "target", p.ref("textbox", "Card number"), "text", "4242424242424242"),
			do("type", "target", p.ref("textbox", "MM/YY"), "text", "1230"),
			do("type", "target", p.ref("textbox", "CVC"), "text", "123"),
			do("click", "target", p.ref("button", "Pay € 53.80")))
		p.lookOn()
		p.await("One-time code", `(textbox "One-time code")`)
		p.steps(do("type", "target", p.ref("textbox", "One-time code"), "text", "90817", "submit", true),
			do("expect", "text", "order number"))
		return p.read(`(ORD-\d+)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		if p.kind == agentBrowser { // its snapshots do not show the inner frames: type at the focus, unseen
			into := func(frame, text string) { p.line("click @"+p.ref("Iframe", frame), "keyboard type "+text) }
			into("Card number", "4242424242424242")
			into("Expiry", "1230")
			into("Security code", "123")
			p.click(p.ref("button", "Pay € 53.80"))
			p.lookFor("Your bank asks", `(Your bank asks)`)
			into("Bank confirmation", "90817")
			p.key("Enter")
			return p.lookFor("order number", `(ORD-\d+)`)
		}
		for i := 0; i < 4 && p.kind == devtools && !strings.Contains(p.last(), `textbox "CVC"`); i++ {
			p.think() // its first snapshots may lack the inner frames
			p.look()
		}
		p.fill(entry{"textbox", "Card number", "4242424242424242"}, entry{"textbox", "MM/YY", "1230"},
			entry{"textbox", "CVC", "123"})
		p.click(p.ref("button", "Pay € 53.80"))
		p.look()
		p.await("One-time code", `(textbox "One-time code")`)
		p.write(p.ref("textbox", "One-time code"), "90817", true)
		return p.lookFor("order number", `(ORD-\d+)`)
	},
}

var trip = task{
	name: "trip, date pickers",
	goal: "Two adults, from Vienna to Lisbon, 14 to 21 March 2027. Report the lowest price.",
	serve: func(s *site) func(string) error {
		s.page("/", "trip.html")
		lowest := 0
		s.api("POST /api/offers", func(_ *http.Request, body map[string]any) (any, error) {
			want := "Vienna Lisbon 14 March 2027 21 March 2027 2"
			got := fmt.Sprint(body["from"], " ", body["to"], " ", body["departure"], " ", body["return"], " ", body["adults"])
			if got != want {
				return map[string]any{"error": "No flights."}, errors.New(got)
			}
			lowest = 200 + rand.IntN(100)
			offer := func(time string, more int) any { return map[string]any{"time": time, "price": lowest + more} }
			return []any{offer("06:40", 48), offer("11:05", 0), offer("18:20", 17)}, nil
		})
		return func(report string) error { return same(report, fmt.Sprint(lowest)) }
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		named := func(name string) args { return do("click", "target", `button "`+name+`"`) }
		calendar := []args{
			do("select", "target", p.ref("combobox", "To"), "values", []string{"Lisbon"}),
			do("click", "target", p.ref("button", "Departure")),
		}
		if p.inShell() { // its beginning shows how the days are named
			p.call(aLine, args{"line": line("browser_steps", args{"steps": calendar}) + " | head -n 12"})
		} else {
			p.steps(calendar...)
		}
		p.want("January 2027")
		p.steps(named("Next month"), named("Next month"), named("14 March 2027"), named("Return"), named("21 March 2027"),
			named("More"), named("Search"), do("expect", "text", "Flights found"))
		return p.lowest()
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.fill(entry{"combobox", "To", "Lisbon"})
		p.click(p.ref("button", "Departure"))
		p.lookAtPart(30)
		p.want("January 2027")
		for _, name := range []string{"Next month", "Next month", "14 March 2027", "Return", "21 March 2027"} {
			p.clickNamed(name)
		}
		p.click(p.ref("button", "More"))
		p.click(p.ref("button", "Search"))
		p.lookFor("Flights found", `(Flights found)`)
		return p.lowest()
	},
}

// lowest is the lowest price in the last answer.
func (p *player) lowest() string {
	lowest := 0
	for _, found := range regexp.MustCompile(`€ (\d+)`).FindAllStringSubmatch(p.last(), -1) {
		if price := number(found[1]); lowest == 0 || price < lowest {
			lowest = price
		}
	}
	return fmt.Sprint(lowest)
}

var login = task{
	name: "login",
	goal: "Report the number of the unpaid invoice. Sign in as ada@nordwind.example with the password correct-horse.",
	serve: func(s *site) func(string) error {
		unpaid := code("INV")
		rows := ""
		for i := range 12 {
			number, paid := code("INV"), fmt.Sprintf("%d Feb 2026", i+1)
			if i == 7 {
				number, paid = unpaid, ""
			}
			rows += fmt.Sprintf("<tr><td><a href='/account/invoices/%d'>%s</a></td><td>%d Jan 2026</td>"+
				"<td>%s</td><td>€ %d.00</td></tr>", i, number, i+1, paid, 100+i)
		}
		in := func(r *http.Request) bool { c, err := r.Cookie("session"); return err == nil && c.Value == "ok" }
		s.mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/account/invoices", http.StatusFound)
		})
		opened := false
		s.mux.HandleFunc("/account/invoices", func(w http.ResponseWriter, r *http.Request) {
			if !in(r) {
				http.Redirect(w, r, "/login?next=/account/invoices", http.StatusFound)
				return
			}
			opened = true
			s.write(w, "account.html", "{{rows}}", rows)
		})
		s.mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
			s.write(w, "login.html", "{{next}}", "/account/invoices", "{{error}}", "")
		})
		s.mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("user") != "ada@nordwind.example" || r.FormValue("password") != "correct-horse" {
				s.write(w, "login.html", "{{next}}", r.FormValue("next"), "{{error}}", "E-mail or password is wrong.")
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "ok", Path: "/", HttpOnly: true})
			http.Redirect(w, r, "/signing", http.StatusSeeOther)
		})
		s.page("/signing", "signing.html", "{{next}}", "/account/invoices")
		return func(report string) error {
			if !opened {
				return errors.New("nobody is signed in")
			}
			return same(report, unpaid)
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		p.want("next=/account/invoices")
		p.steps(do("type", "target", p.ref("textbox", "E-mail"), "text", "ada@nordwind.example"),
			do("type", "target", p.ref("textbox", "Password"), "text", "correct-horse", "submit", true),
			do("wait", "url", "/account/invoices"))
		p.lookOn()
		return p.read(`(INV-\d+)" \[[^|]*\| \d+ Jan 2026 \| \|`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.fill(entry{"textbox", "E-mail", "ada@nordwind.example"}, entry{"textbox", "Password", "correct-horse"})
		p.click(p.ref("button", "Sign in"))
		p.lookFor("Invoices of Nordwind", `(INV-\d+)`)
		if p.kind == agentBrowser {
			return p.read(`link "(INV-\d+)"[^\n]*\n(?:[^\n]*StaticText[^\n]*\n)?` +
				`[^\n]*"\d+ Jan 2026"[^\n]*\n(?:[^\n]*StaticText[^\n]*\n)?[^\n]*cell \[`)
		}
		if p.kind == playwright {
			return p.read(`(?s)link "(INV-\d+)"[^\n]*\n[^\n]*\n[^\n]*cell "[^"]*" \[ref=\w+\]\n[^\n]*cell \[`)
		}
		return p.read(`link "(INV-\d+)"[^\n]*\n(?:[^\n]*StaticText[^\n]*\n)?` +
			`[^\n]*"\d+ Jan 2026"\s*\n(?:[^\n]*StaticText[^\n]*\n)?[^\n]*"€`)
	},
}

var editor = task{
	name: "rich-text editor",
	goal: `Replace the text by a heading "Release 2.1", a paragraph "Faster and smaller." with Faster in bold, ` +
		"and a list of two items: New search, Fewer clicks. Publish it and report under what number.",
	serve: func(s *site) func(string) error {
		s.page("/", "editor.html")
		var html, id string
		s.api("POST /api/notes", func(_ *http.Request, body map[string]any) (any, error) {
			html, id = fmt.Sprint(body["html"]), code("RN")
			return map[string]any{"id": id}, nil
		})
		return func(report string) error {
			clean := strings.NewReplacer("<strong>", "<b>", "</strong>", "</b>", "&nbsp;", " ", "<br>", "",
				"<p></p>", "", "\u00a0", " ", `<p><ul>`, `<ul>`, `</ul></p>`, `</ul>`).Replace(html)
			return errors.Join(same(clean, "<h2>Release 2.1</h2><p><b>Faster</b> and smaller.</p>"+
				"<ul><li>New search</li><li>Fewer clicks</li></ul>"), same(report, id))
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		text := p.ref("textbox", "Text")
		button := func(name string) args { return do("click", "target", p.ref("button", name)) }
		typed := func(s string) args { return do("type", "target", text, "text", s, "slowly", true) }
		key := func(s string) args { return do("press", "key", s) }
		p.steps(do("click", "target", text), key("Control+a"), key("Delete"),
			button("Heading"), typed("Release 2.1"), key("Enter"),
			button("Paragraph"), key("Control+b"), typed("Faster"), key("Control+b"), typed(" and smaller."), key("Enter"),
			button("Bullet list"), typed("New search"), key("Enter"), typed("Fewer clicks"))
		p.call("browser_dom", args{"target": text}) // whether it looks as it should
		p.want("<li>Fewer clicks</li>")
		p.steps(button("Publish"), do("expect", "text", "Published as"))
		return p.read(`(RN-\d+)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		button := func(name string) { p.click(p.ref("button", name)) }
		text := p.ref("textbox", "Text")
		typed := func(s string) {
			if p.kind == devtools {
				p.call("type_text", args{"text": s})
				return
			}
			p.call("browser_type", args{"target": text, "element": "editor", "text": s, "slowly": true})
		}
		p.click(text)
		p.key("Control+a")
		p.key("Delete")
		button("Heading")
		typed("Release 2.1")
		p.key("Enter")
		button("Paragraph")
		p.key("Control+b")
		typed("Faster")
		p.key("Control+b")
		typed(" and smaller.")
		p.key("Enter")
		button("Bullet list")
		typed("New search")
		p.key("Enter")
		typed("Fewer clicks")
		button("Publish")
		return p.lookFor("Published as", `(RN-\d+)`)
	},
}
