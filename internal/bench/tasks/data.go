package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// The tasks that find something in much data.

var grid = task{
	name: "data grid",
	goal: "Order 1742 in the grid: report its due date (or none) and when it was shipped, and assign it to Kim.",
	serve: func(s *site) func(string) error {
		s.page("/", "grid.html")
		var orders []map[string]string
		for i := range 2000 {
			pick := func(n int, texts ...string) string { return texts[i*n%len(texts)] }
			orders = append(orders, map[string]string{
				"order": strconv.Itoa(1000 + i), "status": pick(1, "open", "", "closed"),
				"customer": pick(1, "Acme", "Bolt", "Cobalt", "Dunlin", "Ember"),
				"due":      pick(3, "3 Jan", "9 Jan", "", "21 Jan"), "shipped": pick(5, "", "8 Jan", "14 Jan"),
				"assignee": pick(1, "Lee", "Ann", "", "Bo"),
			})
		}
		o, shipped := orders[742], fmt.Sprintf("%d Jan", 10+rand.IntN(20))
		maps.Copy(o, map[string]string{"status": "open", "due": "", "shipped": shipped, "assignee": ""})
		s.api("GET /api/orders", func(*http.Request, map[string]any) (any, error) { return orders, nil })
		changed := 0
		s.api("PUT /api/orders/{order}", func(r *http.Request, body map[string]any) (any, error) {
			changed++
			n, _ := strconv.Atoi(r.PathValue("order"))
			orders[n-1000]["assignee"] = fmt.Sprint(body["assignee"])
			return nil, nil
		})
		return func(report string) error {
			if o["assignee"] != "Kim" || changed != 1 {
				return fmt.Errorf("order 1742 is assigned to %q, by %d changes", o["assignee"], changed)
			}
			return same(report, "none, "+shipped)
		}
	},
	ours: func(p *player) string {
		p.openAndFind("1742", 3)
		row := p.read(`- (1742 .*)`)
		cells := strings.Split(regexp.MustCompile(` *\[ref=\w+\]`).ReplaceAllString(row, ""), "|")
		report := none(strings.TrimSpace(cells[3])) + ", " + none(strings.TrimSpace(cells[4]))
		assignee := regexp.MustCompile(`\[ref=(\w+)\]$`).FindStringSubmatch(row)
		if assignee == nil {
			p.stuck("the last cell of %s has no ref", row)
		}
		p.steps(do("click", "target", assignee[1], "doubleClick", true),
			do("type", "target", `textbox "Assignee"`, "text", "Kim", "submit", true))
		if !strings.Contains(p.last(), "Kim") {
			p.find("1742")
		}
		p.read(`1742.*(Kim)`)
		return report
	},
	peers: func(p *player) string {
		p.open(p.url)
		if p.shell == nil {
			p.look()
			p.await("2000 orders", `(2000 orders)`)
		} else { // a shell shows the beginning
			p.wait("2000 orders")
			p.line(p.name("snapshot", "take_snapshot 1") + " | head -n 40")
		}
		// A model knows of such grids that the rows have one height, and scrolls near to the row.
		scroll := `() => { const s = [...document.querySelectorAll("*")].find(e => ` +
			`e.scrollHeight > e.clientHeight + 1000); s.scrollTop = s.scrollHeight * 740 / 2000 }`
		row := `[...document.querySelectorAll("[role=row]")].find(r => r.firstChild.textContent == "1742")`
		p.script(scroll, "")
		var report string
		switch p.kind {
		case devtools: // its snapshot leaves out empty cells
			p.script(`() => { const row = `+row+`; `+
				`row.children[5].dispatchEvent(new MouseEvent("dblclick", { bubbles: true })); `+
				`return [...row.children].map(c => c.textContent) }`, "")
			report = p.read(`"1742",\s*"\w+",\s*"\w+",\s*("[^"]*",\s*"[^"]*"),`)
			before, after, _ := strings.Cut(report, ",")
			report = none(strings.Trim(before, `" `)) + ", " + strings.Trim(after, "\" \n")
			p.call("type_text", args{"text": "Kim", "submitKey": "Enter"})
		case agentBrowser: // its snapshots are of the whole grid: the shell cuts out the row
			p.line("snapshot -i | grep -A6 '\"1742\"'")
			_, rest, _ := strings.Cut(p.last(), `gridcell "1742"`)
			cells := regexp.MustCompile(`gridcell(?: "(.*?)")? \[ref=(\w+)\]`).FindAllStringSubmatch(rest, 5)
			if len(cells) < 5 {
				p.stuck("no row 1742")
			}
			report = none(cells[2][1]) + ", " + none(cells[3][1])
			p.line("dblclick @"+cells[4][2], "snapshot -i | grep Assignee")
			p.write(p.ref("textbox", "Assignee"), "Kim", true)
		case playwright:
			if p.shell == nil {
				p.call("browser_find", args{"regex": "1742(.*\n){6}"})
				p.call("browser_snapshot", nil)
			} else {
				p.line(`snapshot | grep -A6 '"1742"'`)
			}
			cells := regexp.MustCompile(`gridcell "1742".*\n((?:.*gridcell.*\n){5})`).FindStringSubmatch(p.last())
			if cells == nil {
				p.stuck("no row 1742")
			}
			lines := strings.Split(cells[1], "\n")
			text := regexp.MustCompile(`gridcell(?: "(.*?)")? \[ref=(\w+)\]`)
			due, shipped := text.FindStringSubmatch(lines[2]), text.FindStringSubmatch(lines[3])
			assignee := text.FindStringSubmatch(lines[4])
			report = none(due[1]) + ", " + none(shipped[1])
			p.call("browser_click", args{"target": assignee[2], "element": "cell", "doubleClick": true})
			p.call("browser_snapshot", nil)
			p.write(p.ref("textbox", "Assignee"), "Kim", true)
		}
		if p.shell != nil {
			p.line(p.name("snapshot", "take_snapshot 1") + ` | grep -A14 1742`)
		} else {
			p.look()
		}
		p.read(`(?s)1742.{0,400}?(Kim)`)
		return report
	},
}

// find finds a text, and looks once more if the page has not shown it yet.
func (p *player) find(text string) {
	if p.call("browser_find", args{"text": text}); strings.HasPrefix(p.last(), "Nothing") {
		p.call("browser_find", args{"text": text})
	}
}

// same compares a report.
func same(got, want string) error {
	if got != want {
		return fmt.Errorf("the report is %q and not %q", got, want)
	}
	return nil
}

func none(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

var feed = task{
	name: "infinite feed",
	goal: "Like the post of Mara Voss about the lighthouse, and report how many likes it has then.",
	serve: func(s *site) func(string) error {
		s.page("/", "feed.html")
		type post struct {
			ID     int    `json:"id"`
			Author string `json:"author"`
			When   string `json:"when"`
			Text   string `json:"text"`
			Likes  int    `json:"likes"`
		}
		authors := []string{"Ada Lind", "Tom Reyes", "Mara Voss", "Ines Okafor", "Jon Berg", "Li Wen"}
		topics := []string{
			"The ferry is late again.", "Fresh herring at the market today.", "Fog over the harbour this morning.",
			"Who has found a blue bicycle?", "The new crane is up.",
		}
		posts := make([]post, 80)
		for i := range posts {
			posts[i] = post{i, authors[i%6], fmt.Sprintf("%d hours ago", i+1), topics[i%5], 3 + i*7%40}
		}
		posts[44].Text = "We have climbed up to the lighthouse. What a view!"
		posts[41].Text = "Is the lighthouse open on Sundays?"
		s.api("GET /api/posts", func(r *http.Request, _ map[string]any) (any, error) {
			from, _ := strconv.Atoi(r.FormValue("from"))
			to, next := min(from+8, len(posts)), from+8
			if to == len(posts) {
				next = -1
			}
			return map[string]any{"posts": posts[from:to], "next": next}, nil
		})
		var liked []int
		s.api("POST /api/posts/{id}/like", func(r *http.Request, _ map[string]any) (any, error) {
			id, _ := strconv.Atoi(r.PathValue("id"))
			liked = append(liked, id)
			posts[id].Likes += 2 // somebody else likes it at the same time
			return map[string]any{"likes": posts[id].Likes}, nil
		})
		return func(report string) error {
			if len(liked) != 1 || liked[0] != 44 {
				return fmt.Errorf("liked are the posts %v", liked)
			}
			return same(report, strconv.Itoa(posts[44].Likes))
		}
	},
	ours: func(p *player) string {
		p.openAndFind("lighthouse", 12)
		const post = "climbed up to the lighthouse"
		if !strings.Contains(p.last(), post) {
			p.call("browser_find", args{"text": post, "scroll": true})
		}
		p.click(p.ref("button", "Like", post))
		if !strings.Contains(p.last(), " likes\n+") && !strings.Contains(p.last(), "Liked") {
			p.find(post)
		}
		return p.read(`(?m)^\+? *- (\d+) likes`)
	},
	peers: func(p *player) string {
		p.open(p.url)
		p.look()
		p.script(`async () => { for (let i = 0; i < 25; i++) { const hit = [...document.querySelectorAll("article")]`+
			`.find(a => /Mara Voss[^]*lighthouse/.test(a.innerText)); if (hit) return hit.innerText; `+
			`scrollTo(0, document.body.scrollHeight); await new Promise(r => setTimeout(r, 300)) } }`, "")
		p.want("lighthouse. What a view")
		const post = "climbed up to the lighthouse"
		switch {
		case p.shell != nil && p.kind != playwright:
			p.line(p.name("snapshot", "take_snapshot 1") + ` | grep -A12 "climbed up to the lighthouse"`)
		case p.kind == devtools:
			p.look()
		default:
			p.call("browser_find", args{"text": post})
			if p.kind == playwright && !strings.Contains(p.last(), `button "Like"`) {
				p.look()
			}
		}
		p.click(p.ref("button", "Like", post))
		if p.kind != devtools && p.kind != agentBrowser {
			p.find(post)
			if strings.Contains(p.last(), "likes") {
				return p.read(`(?s)(\d+)"?\n? *-? ?(?:text: )?likes`)
			}
		}
		again := `() => [...document.querySelectorAll("article")].find(a => a.innerText.includes("` + post + `")).innerText`
		p.script(again, "")
		if !strings.Contains(p.last(), "Liked") { // the server has not answered yet
			p.script(again, "")
		}
		return p.read(`(\d+) likes`)
	},
}
