package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The tasks with parts that a snapshot shows badly, and with files.

var shadow = task{
	name: "shadow DOM",
	goal: "Put two pairs of size 43 into the cart, and report the cart's total.",
	serve: func(s *site) func(string) error {
		s.page("/", "shadow.html")
		var size, total string
		var quantity float64
		s.api("POST /api/cart", func(_ *http.Request, body map[string]any) (any, error) {
			size, quantity = fmt.Sprint(body["size"]), body["quantity"].(float64)
			total = fmt.Sprintf("%.2f", 119*quantity-float64(rand.IntN(2000))/100) // a discount that only the server knows
			return map[string]any{"items": quantity, "total": total}, nil
		})
		return func(report string) error {
			return errors.Join(same(fmt.Sprint(size, " ", quantity), "43 2"), same(report, total))
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		p.steps(do("click", "target", p.ref("option", "43")), do("click", "target", p.ref("button", "More")),
			do("click", "target", p.ref("button", "Add to cart")), do("expect", "text", "Cart: 2 items"))
		return p.read(`Cart: 2 items, total € ([\d.]+\d)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.click(p.ref("option", "43"))
		p.click(p.ref("button", "More"))
		p.click(p.ref("button", "Add to cart"))
		return p.lookFor("Cart: 2 items", `Cart: 2 items, total € ([\d.]+\d)`)
	},
}

var board = task{
	name: "drag and drop",
	goal: `On the board, move "Fix the login" to Done, right below "Set up CI", ` +
		`and "Update the logo" right below "Write tests". Report the cards of To do in their order.`,
	serve: func(s *site) func(string) error {
		s.page("/", "board.html")
		now := `[["To do",["Update the logo","Fix the login","Write tests"]],["Doing",["New search"]],` +
			`["Done",["Set up CI","Choose a font"]]]`
		s.mux.HandleFunc("GET /api/board", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, now) })
		s.mux.HandleFunc("PUT /api/board", func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			s.Lock()
			now = string(b)
			s.Unlock()
		})
		return func(report string) error {
			return errors.Join(same(now, `[["To do",["Write tests","Update the logo"]],["Doing",["New search"]],`+
				`["Done",["Set up CI","Fix the login","Choose a font"]]]`),
				same(report, "Write tests, Update the logo"))
		}
	},
	ours: func(p *player) string {
		p.open(p.url)
		p.lookOn()
		card := func(name string) string { return p.read(`\[ref=(\w+)\]: ` + name) }
		p.steps(do("drag", "startTarget", card("Fix the login"), "endTarget", card("Set up CI")),
			do("drag", "startTarget", card("Update the logo"), "endTarget", card("Write tests")))
		moved := regexp.MustCompile(`(?s)To do.*\+ [^\n]*Write tests\n[^\n]*Update the logo\n` +
			`.*Done.*Set up CI\n\+ [^\n]*Fix the login\n[^\n]*Choose a font`)
		if !moved.MatchString(p.last()) { // in the answer, what is there now
			p.look()
			p.read(`(?s)Done.*Set up CI.*(Fix the login).*Choose a font`)
		}
		return p.read(`(?s)To do.*(Write tests).*Update the logo`) + ", " +
			p.read(`(?s)To do.*Write tests.*(Update the logo)`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.lookAtText()
		if p.kind == agentBrowser { // the cards have no refs: find selectors for them
			p.script(`document.body.innerHTML`, "")
			p.flush()
			p.line("drag '.column:nth-child(1) .card:nth-of-type(2)' '.column:nth-child(3) .card:nth-of-type(1)'",
				"drag '.column:nth-child(1) .card:nth-of-type(1)' '.column:nth-child(1) .card:nth-of-type(2)'")
			p.lookAtText()
			p.read(`(?s)Done.*Set up CI.*(Fix the login).*Choose a font`)
			return p.read(`(?s)To do.*(Write tests).*Update the logo.*Doing`) + ", " +
				p.read(`(?s)To do.*Write tests.*(Update the logo).*Doing`)
		}
		card := func(name string) string {
			switch p.kind {
			case devtools:
				return p.read(`uid=(\S+) (?:\w+ )?"` + name)
			case playwright:
				return p.read(`\[ref=(\w+)\][^\n]*: ` + name)
			}
			return p.read(`\[ref=(\w+)\]: ` + name)
		}
		login, done, tests, logo := card("Fix the login"), card("Set up CI"), card("Write tests"), card("Update the logo")
		drag := func(from, to string) {
			if p.kind == devtools {
				p.call("drag", args{"from_uid": from, "to_uid": to})
				return
			}
			p.call("browser_drag", args{"startTarget": from, "startElement": "card", "endTarget": to, "endElement": "card"})
		}
		drag(login, done)
		drag(logo, tests)
		p.look()
		p.read(`(?s)Done.*Set up CI.*(Fix the login).*Choose a font`)
		return p.read(`(?s)To do.*(Write tests).*Update the logo.*Doing`) + ", " +
			p.read(`(?s)To do.*Write tests.*(Update the logo).*Doing`)
	},
}

var files = task{
	name: "files",
	goal: "Import hours.csv, download the report and report the sum in its last line.",
	serve: func(s *site) func(string) error {
		s.page("/", "files.html")
		got, sum := "", ""
		s.api("POST /api/import", func(r *http.Request, _ map[string]any) (any, error) {
			file, _, err := r.FormFile("file")
			if err != nil {
				return nil, err
			}
			b, _ := io.ReadAll(file)
			got = string(b)
			return map[string]any{"rows": strings.Count(got, "\n") - 1}, nil
		})
		s.mux.HandleFunc("/report.csv", func(w http.ResponseWriter, _ *http.Request) {
			sum = strings.TrimPrefix(code("x"), "x-")
			w.Header().Set("Content-Type", "text/csv")
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			fmt.Fprintf(w, "name,hours\nada,12\nsum,%s\n", sum)
		})
		return func(report string) error { return errors.Join(same(got, hours), same(report, sum)) }
	},
	peers: func(p *player) string {
		file := filepath.Join(p.dir, "hours.csv")
		if err := os.WriteFile(file, []byte(hours), 0o600); err != nil {
			p.stuck("%v", err)
		}
		p.open(p.url)
		p.lookOn()
		if p.kind == devtools {
			p.call("upload_file", args{"uid": p.ref("button", "Choose file"), "filePaths": []string{file}})
		} else if p.kind == agentBrowser {
			if !p.tryLine("upload @" + p.ref("button", "Choose file") + " " + file) { // it is no file input
				p.line("upload 'input[type=file]' " + file)
			}
		} else if p.kind == ours {
			p.call("browser_file_upload", args{"target": p.ref("button", "Choose file"), "paths": []string{file}})
		} else {
			p.click(p.ref("button", "Choose file"))
			p.call("browser_file_upload", args{"paths": []string{file}})
		}
		if p.kind == agentBrowser {
			p.lookFor("2 rows imported", `(2 rows imported)`)
			p.line("download @" + p.ref("link", "Download the report") + " report.csv")
			p.flush()
			return p.readFile(filepath.Join(p.dir, "report.csv"), `sum,(\d+)`)
		}
		p.lookOn()
		p.await("2 rows imported", `(2 rows imported)`)
		if p.kind == devtools { // it has no tool for downloads
			p.script(`async () => (await fetch("/report.csv")).text()`, "")
			return p.read(`sum,(\d+)`)
		}
		p.click(p.ref("link", "Download the report"))
		// The agent reads the file with its host's tool, at the place that the answer gives.
		name := p.read(`Downloaded (/\S+)|Downloaded [^\n]* to "([^"]+)"`)
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.dir, name)
		}
		return p.readFile(name, `sum,(\d+)`)
	},
}

// readFile reads a file with the tool of the agent's host.
func (p *player) readFile(name, pattern string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		p.stuck("%v", err)
	}
	p.answers = append(p.answers, string(b))
	return p.read(pattern)
}

const hours = "name,hours\nada,7\nben,5\n"

var seats = task{
	name: "canvas",
	goal: "Book seat C7 on the seat map, and report the ticket.",
	serve: func(s *site) func(string) error {
		s.page("/", "seats.html")
		s.api("GET /api/seats", func(*http.Request, map[string]any) (any, error) {
			return []string{"A1", "A2", "C5", "C6", "D7"}, nil
		})
		seat, ticket := "", ""
		s.api("POST /api/book", func(_ *http.Request, body map[string]any) (any, error) {
			seat, ticket = fmt.Sprint(body["seat"]), code("T")
			return map[string]any{"ticket": ticket}, nil
		})
		return func(report string) error { return errors.Join(same(seat, "C7"), same(report, ticket)) }
	},
	peers: func(p *player) string {
		if p.inShell() { // the command is there without --caps
			p.call(aLine, args{"line": "coordinator open " + p.url + " && coordinator screenshot"})
			p.steps(do("mouse click-xy", "x", 160+380, "y", 128+170), do("click", "target", `button "Book"`),
				do("expect", "text", "Your ticket"))
			return p.read(`(T-\d+)`)
		}
		p.open(p.url)
		p.lookOn()
		// No server's default tools click at a place. In the picture C7 is at 380,170 of the canvas.
		var canvas string
		if p.kind == devtools {
			canvas = p.ref("[Cc]anvas", "Seat map")
			p.call("take_screenshot", args{"uid": canvas})
		} else {
			canvas = p.ref("(?:[Cc]anvas|img|generic)", "Seat map")
			p.call("browser_take_screenshot", args{"target": canvas, "element": "Seat map"})
		}
		if p.kind == agentBrowser {
			p.line("get box @" + canvas)
			x, y := number(p.read(`x:\s+(\d+)`)), number(p.read(`y:\s+(\d+)`))
			p.line(fmt.Sprintf("mouse move %d %d", x+380, y+170), "mouse down", "mouse up")
			p.click(p.ref("button", "Book"))
			return p.lookFor("Your ticket", `(T-\d+)`)
		}
		p.script(`(canvas) => { const box = canvas.getBoundingClientRect(); `+
			`for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) `+
			`canvas.dispatchEvent(new (type[0] == "p" ? PointerEvent : MouseEvent)(type, `+
			`{ bubbles: true, clientX: box.x + 380, clientY: box.y + 170 })) }`, canvas)
		p.lookOn()
		if p.kind == ours {
			p.steps(do("click", "target", p.ref("button", "Book")), do("expect", "text", "Your ticket"))
			return p.read(`(T-\d+)`)
		}
		p.click(p.ref("button", "Book"))
		p.lookOn()
		return p.await("Your ticket", `(T-\d+)`)
	},
}
