package show

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/usersocket"
	"browser-coordinator/vscodeipc"
)

// ownBrowserOf is a program that shares a connection to the user's own browser, with two tabs. The real one
// is in TestTabsOfTerminalWindow.
type ownBrowserOf struct {
	mu   sync.Mutex
	tabs []userchrome.Tab
}

func (o *ownBrowserOf) set(id string, handedOver bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.tabs {
		if o.tabs[i].ID == id {
			o.tabs[i].HandedOver = handedOver
		}
	}
}

func shareBrowser(t *testing.T, url string) *ownBrowserOf {
	t.Helper()
	o := &ownBrowserOf{tabs: []userchrome.Tab{
		{ID: "N", Title: hostile, Origin: "https://news.example"},
		{ID: "B", Title: "My bank", Origin: "https://bank.example"},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("/browser", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"pid":1,"profile":"/profile","browser":"your own Chrome","url":%q}`, url)
	})
	mux.HandleFunc("/tabs", func(w http.ResponseWriter, _ *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		_ = json.NewEncoder(w).Encode(o.tabs)
	})
	for path, handedOver := range map[string]bool{"/hand-over": true, "/take-back": false} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			o.set(r.FormValue("id"), handedOver)
			fmt.Fprint(w, `""`)
		})
	}
	socket := filepath.Join(must.Get(statedir.Make())(t), "chrome-0000000000000000.sock")
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	ln := must.Get(usersocket.Listen(socket))(t)
	go server.Serve(ln)
	t.Cleanup(func() { server.Close() })
	return o
}

// In the page the user finds a tab by its title or site, hands it over, takes it back, and answers an
// agent that asks for one.
func TestTabs(t *testing.T) {
	s := start(t)
	browser := cdptest.Launch(t).URL()
	own, w := shareBrowser(t, browser), openWindow(t, browser)
	w.mu.Lock()
	w.questions = nil
	w.mu.Unlock()
	v := openViewer(t, "")
	v.open(s.Link())
	// A click in the first half second after a tab has appeared has no effect.
	click := func(button string, done func() bool) {
		t.Helper()
		must.Await(t, "the click on "+button, func() bool {
			v.evaluate(`[...document.querySelectorAll("button, summary")].find((each) =>
				each.checkVisibility() && each.textContent.includes("` + button + `"))?.click(); 0`)
			return done()
		})
	}
	handedOver := func() (ids string) {
		own.mu.Lock()
		defer own.mu.Unlock()
		for _, tab := range own.tabs {
			if tab.HandedOver {
				ids += tab.ID
			}
		}
		return ids
	}
	const list = `document.querySelector("section > .hand > .tabs")`
	v.await("the button", `[...document.querySelectorAll("button, summary")].some((each) =>
		each.checkVisibility() && each.textContent.includes("Hand a Tab"))`)
	v.evaluate(`[...document.querySelectorAll("button, summary")].find((each) =>
		each.textContent.includes("Hand a Tab")).click(); 0`)
	v.await("the tabs, as text", list+`.checkVisibility() && `+list+`.textContent.includes("<img src=x") &&
		!`+list+`.querySelector("img")`)
	v.await("the search has the focus", list+`.contains(document.activeElement)`)
	v.Call(v.page, "Input.insertText", `{"text":"BANK.ex"}`, nil)
	v.await("the tab that was sought", list+`.querySelectorAll("li").length === 1`)
	v.axeFinds("the tabs")
	v.evaluate(list + `.querySelector("li button").click(); ` + list + `.querySelector("li button").click(); 0`)
	click("My bank", func() bool { return handedOver() == "B" })
	v.await("the page shows that", list+`.textContent.includes("take it back")`)
	click("My bank", func() bool { return handedOver() == "" })
	click("Hand a Tab", func() bool { return strings.Contains(v.evaluate("String("+list+".checkVisibility())"), "false") })

	w.mu.Lock()
	w.questions = []vscodeipc.PendingQuestion{{ID: "q", Client: client, Choices: []string{"once", "refuse"},
		Actions: []vscodeipc.PendingAction{{Number: 5, Action: vscodeipc.AskArg{Client: client,
			Act: vscodeipc.CommandTabRequest, Detail: "use a tab that you choose"}}}}}
	w.mu.Unlock()
	v.await("the question, without an answer for no tab", `document.querySelector(".question .tabs li") &&
		document.querySelector(".question .answers").textContent === "Refuse"`)
	if got := v.evaluate(`document.querySelector(".question p").textContent`); !strings.Contains(got,
		"wants to use a tab that you choose.") || strings.Contains(got, "act") {
		t.Errorf("the question is %s", got)
	}
	if lists := v.evaluate(`String([...document.querySelectorAll(".hand, .tabs")].filter((each) =>
		each.checkVisibility()).length)`); !strings.Contains(lists, "1") {
		t.Errorf("%s lists of tabs", lists)
	}
	if n := v.evaluate(`String([...document.querySelectorAll(".caption .tool")].filter((each) =>
		each.checkVisibility()).length)`); !strings.Contains(n, "0") {
		t.Errorf("%s of the user's own browser's tabs can be closed", n)
	}
	click("My bank", func() bool { return w.answered() > 0 })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answers[0] != (vscodeipc.AnswerArg{Question: "q", Choice: "once", Last: 5, Tab: "B"}) {
		t.Errorf("the answer %+v", w.answers)
	}
}

// A browser that no longer is there has no tabs.
func TestNoTabs(t *testing.T) {
	start(t)
	for _, command := range []string{"tab.list", "tab.handOver", "tab.takeBack", "tab.other"} {
		if _, err := changeTabs(context.Background(), command, "/profile", "B"); err == nil {
			t.Errorf("%s without a connection", command)
		}
	}
	shareBrowser(t, "ws://127.0.0.1:1/own")
	if _, err := changeTabs(context.Background(), "tab.other", "/profile", "B"); err == nil {
		t.Error("an unknown command")
	}
}
