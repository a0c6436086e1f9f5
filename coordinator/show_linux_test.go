package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// Without a terminal the user is asked in the page of `coordinator show`, and changes the mode there.
func TestAskInPage(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	w := openWindow(t, dir, shop, "--access", "ask")
	w.stderr.await(t, "There is no terminal to ask you on. Run `coordinator show`")
	agent := host(t, dir, shop)
	agent.Refused("browser_navigate", args{"url": "about:blank"},
		`"ask", but nobody could be asked: no terminal asks, and the page of `+"`coordinator show` is not open. "+
			"The user can open it with `coordinator show`; until then only reading is allowed.")
	cmd, show := startShow(t, dir)
	open := args{"url": "about:blank"}
	show.answer(t, "refuse", func() { agent.Refused("browser_navigate", open, "the user did not allow it") })
	show.answer(t, "once", func() { agent.Must("browser_navigate", open) })
	key := show.await(t, func(w shownWindow) bool { return len(w.Clients) == 1 && w.Clients[0].Last != nil }).Key
	for _, change := range []vscodeipc.AccessChangeArg{{Mode: "view"}, {Stop: "test-host"}, {Resume: "test-host"},
		{Mode: "full"}} {
		show.call(t, key, "access.change", change)
		show.await(t, func(w shownWindow) bool {
			return (change.Mode == "" || w.Mode == string(change.Mode)) && (len(w.Stopped) > 0) == (change.Stop != "")
		})
		if change.Mode != "full" && change.Resume == "" {
			agent.Refused("browser_navigate", open, "")
		}
	}
	agent.Must("browser_navigate", open)
	show.call(t, key, "access.change", vscodeipc.AccessChangeArg{TakenOver: new(true)})
	show.await(t, func(w shownWindow) bool { // also that the last call has ended
		return w.TakenOver && w.Mode == "full" && len(w.Clients) == 1 && len(w.Clients[0].Running) == 0
	})
	agent.Await("[the user has taken over]")
	navigated := make(chan struct{})
	go func() {
		defer close(navigated)
		agent.Expect("browser_navigate", open, "has given it back")
	}()
	waits := show.await(t, func(w shownWindow) bool { return len(w.Clients) == 1 && len(w.Clients[0].Running) == 1 })
	if text := waits.Clients[0].Running[0].Text; text != "browser_navigate about:blank" {
		t.Errorf("what waits in the page is %q", text)
	}
	const listed = "  for you   test-host 1 waits until you give the browser back: browser_navigate about:blank"
	if text := output(t, dir, "status"); !strings.Contains(text, listed) {
		t.Errorf("the status has not what waits: %s", text)
	}
	agent.Must("browser_tabs", args{"action": "list"})
	select {
	case <-navigated:
		t.Error("the agent acts while the user has taken over")
	default:
	}
	show.call(t, key, "access.change", vscodeipc.AccessChangeArg{TakenOver: new(false)})
	<-navigated
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// In its private browser an agent may do everything, until the user chooses otherwise in the page of
// `coordinator show`.
func TestPrivateBrowserInPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent := host(t, dir, t.TempDir())
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<!doctype html><button>Order</button>")
	}))
	t.Cleanup(shop.Close)
	open := args{"url": shop.URL}
	agent.Must("browser_navigate", open)
	_, show := startShow(t, dir)
	key := show.await(t, func(w shownWindow) bool { return w.Mode == "full" && w.Controls && len(w.Clients) == 1 }).Key
	change := func(change vscodeipc.AccessChangeArg) {
		t.Helper()
		show.call(t, key, "access.change", change)
	}
	change(vscodeipc.AccessChangeArg{Mode: "view"})
	agent.Refused("browser_click", args{"target": "button"}, `refused: the access mode is "view"`)
	agent.Expect("browser_snapshot", args{}, "Order")
	change(vscodeipc.AccessChangeArg{Mode: "ask"})
	q := show.answer(t, "refuse", func() {
		agent.Refused("browser_click", args{"target": "button"}, "the user did not allow it")
	})
	if asked := q.Actions[0].Action; asked.Detail != `Click button "Order"` ||
		!strings.HasPrefix(asked.Page.URL, shop.URL) {
		t.Errorf("the question is %+v", asked)
	}
	show.answer(t, "session", func() { agent.Must("browser_click", args{"target": "button"}) })
	agent.Must("browser_click", args{"target": "button"})

	waits := make(chan error)
	go func() {
		_, err := agent.Call("browser_wait_for", args{"text": "never", "time": 60})
		waits <- err
	}()
	show.await(t, func(w shownWindow) bool { return len(w.Clients) == 1 })
	change(vscodeipc.AccessChangeArg{Stop: "test-host"})
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "stopped by the user") {
		t.Errorf("the call under way ended with %v", err)
	}
	show.await(t, func(w shownWindow) bool { return w.Clients[0].Stopped })
	agent.Refused("browser_snapshot", args{}, "stopped by the user, until the user resumes it")
	change(vscodeipc.AccessChangeArg{Resume: "test-host"})
	agent.Expect("browser_snapshot", args{}, "Order")
	text := show.refused(t, key, "access.change", vscodeipc.AccessChangeArg{Mode: "everything"})
	if !strings.Contains(text, "no mode") {
		t.Error(text)
	}
	text = show.refused(t, "another", "access.change", vscodeipc.AccessChangeArg{Mode: "full"})
	if !strings.Contains(text, "has closed") {
		t.Error(text)
	}
}

// texts are the parts of a result that are text, each of one origin.
func texts(result *mcp.CallToolResult) (parts []string) {
	for _, part := range result.Content {
		if text, isText := part.(*mcp.TextContent); isText {
			parts = append(parts, text.Text)
		}
	}
	return parts
}

// What the user writes in the page of `coordinator show` is in the agent's next answer, whether its browser
// is a window's or its own.
func TestNoteInPage(t *testing.T) {
	t.Parallel()
	for name, inWindow := range map[string]bool{"window": true, "private": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, shop := t.TempDir(), t.TempDir()
			if inWindow {
				openWindow(t, dir, shop)
			}
			agent := host(t, dir, shop)
			agent.Must("browser_navigate", args{"url": "about:blank"})
			_, show := startShow(t, dir)
			w := show.await(t, func(w shownWindow) bool { return w.Notes && len(w.Clients) == 1 })
			picture := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 380<<10)...)
			give := vscodeipc.NoteGiveArg{Recipient: w.Clients[0].ID, Note: vscodeipc.Note{Text: "Make it blue.",
				Annotations: []vscodeipc.Annotation{{Element: "h1", Picture: picture,
					Page: vscodeipc.PageName{Title: "Shop", URL: "http://shop.test/"}}}}}
			show.call(t, w.Key, "note.give", give)
			var result *mcp.CallToolResult
			must.Await(t, "the note arrives", func() bool {
				result = must.Get(agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_tabs",
					Arguments: args{"action": "list"}}))(t)
				return slices.ContainsFunc(texts(result), func(text string) bool {
					return strings.Contains(text, "“h1”, in the page “Shop”")
				})
			})
			shown, isPicture := result.Content[len(result.Content)-1].(*mcp.ImageContent)
			if !isPicture || !bytes.Equal(shown.Data, picture) ||
				!slices.Contains(texts(result), "The user's own words:\n  Make it blue.\n") {
				t.Errorf("%q", texts(result))
			}
			if text := agent.Must("browser_tabs", args{"action": "list"}); strings.Contains(text, "blue") {
				t.Errorf("once more: %s", text)
			}
			give.Recipient = "nobody"
			if text := show.refused(t, w.Key, "note.give", give); !strings.Contains(text, "the agent has left") {
				t.Error(text)
			}
			give.Recipient = w.Clients[0].ID
			show.call(t, w.Key, "access.change", vscodeipc.AccessChangeArg{Stop: "test-host"})
			if text := show.refused(t, w.Key, "note.give", give); !strings.Contains(text, "the agent is stopped") {
				t.Error(text)
			}
		})
	}
}

// In a browser that is attached by its address the user can stop an agent too.
func TestAttachedBrowserInPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent := host(t, dir, t.TempDir(), "--attach", toolstest.Browser(t).URL())
	agent.Must("browser_snapshot", args{})
	_, show := startShow(t, dir)
	key := show.await(t, func(w shownWindow) bool { return w.Mode == "" && w.Controls && len(w.Clients) == 1 }).Key
	show.call(t, key, "access.change", vscodeipc.AccessChangeArg{Stop: "test-host"})
	agent.Refused("browser_snapshot", args{}, "stopped by the user")
	show.call(t, key, "access.change", vscodeipc.AccessChangeArg{Resume: "test-host"})
	agent.Must("browser_snapshot", args{})
}

// startShow starts the command, and opens its page.
func startShow(t *testing.T, dir string) (*exec.Cmd, *shownPage) {
	t.Helper()
	cmd := command(context.Background(), t, dir, "show", "--no-open")
	shown, _ := openTerminal(t, cmd, 200)
	shown.await(t, "it works once")
	page := openShown(t, regexp.MustCompile(`http://\S+/#\w+`).FindString(shown.String()))
	page.dir = dir
	return cmd, page
}

// shownWindow is what the page of `coordinator show` has of a window.
type shownWindow struct {
	Key, Mode string
	Own       string
	Controls  bool
	Notes     bool
	Stopped   []string
	TakenOver bool
	Clients   []status.Client
	Questions []vscodeipc.PendingQuestion
}

// shownPage is the page of `coordinator show`, without a web browser.
type shownPage struct {
	root string
	dir  string // for state
}

// openShown opens a link.
func openShown(t *testing.T, link string) *shownPage {
	t.Helper()
	address, code, _ := strings.Cut(link, "/#")
	request := must.Get(http.NewRequest(http.MethodPost, address+"/open", strings.NewReader(code)))(t)
	request.Header.Set("Origin", address)
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	root := must.Get(io.ReadAll(response.Body))(t)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", response.Status, root)
	}
	return &shownPage{root: address + string(root)}
}

// await returns the window when it fits.
func (p *shownPage) await(t *testing.T, fits func(shownWindow) bool) shownWindow {
	t.Helper()
	response := must.Get(http.Get(p.root + "feed"))(t)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	end := time.AfterFunc(time.Minute, func() { response.Body.Close() })
	defer end.Stop()
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var now struct{ Windows []shownWindow }
		if ok && json.Unmarshal([]byte(data), &now) == nil && len(now.Windows) == 1 && fits(now.Windows[0]) {
			return now.Windows[0]
		}
	}
	t.Fatalf("no such window: %v", lines.Err())
	return shownWindow{}
}

// answer answers the question that an action leads to, and returns it.
func (p *shownPage) answer(t *testing.T, choice string, act func()) vscodeipc.PendingQuestion {
	t.Helper()
	p.await(t, func(shownWindow) bool { return true }) // the page is open
	done := make(chan struct{})
	go func() {
		defer close(done)
		act()
	}()
	asked := p.await(t, func(w shownWindow) bool { return len(w.Questions) == 1 })
	if text := output(t, p.dir, "status"); !strings.Contains(text, "  for you   test-host 1 asks: "+asked.Questions[0].Actions[0].Action.Act) {
		t.Errorf("the status has not what is asked: %s", text)
	}
	q := asked.Questions[0]
	p.call(t, asked.Key, "permission.answer", vscodeipc.AnswerArg{Question: q.ID, Choice: choice,
		Last: q.Actions[0].Number})
	<-done
	p.await(t, func(w shownWindow) bool { return len(w.Questions) == 0 })
	return q
}

func (p *shownPage) call(t *testing.T, window, command string, arg any) (response []byte) {
	t.Helper()
	status, text := p.send(t, window, command, arg)
	if status != http.StatusOK {
		t.Errorf("%s: %d %s", command, status, text)
	}
	return []byte(text)
}

// refused is the text of a call that must fail.
func (p *shownPage) refused(t *testing.T, window, command string, arg any) string {
	t.Helper()
	status, text := p.send(t, window, command, arg)
	if status != http.StatusBadRequest {
		t.Errorf("%s: %d", command, status)
	}
	return text
}

func (p *shownPage) send(t *testing.T, window, command string, arg any) (status int, text string) {
	t.Helper()
	body := must.Get(json.Marshal(map[string]any{"window": window, "command": command, "arg": arg}))(t)
	request := must.Get(http.NewRequest(http.MethodPost, p.root+"call", bytes.NewReader(body)))(t)
	request.Header.Set("Origin", "http://"+request.URL.Host)
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	return response.StatusCode, string(must.Get(io.ReadAll(response.Body))(t))
}
