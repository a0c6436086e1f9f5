package main

import (
	"bufio"
	"context"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagelock"
	"browser-coordinator/internal/toolstest"
)

// picturedPage is so long that a picture of it takes a while, and reports when its size changes.
const picturedPage = `<!doctype html><title>Shop</title><body style="margin:0">
<main style="height:12000px;background:linear-gradient(red,blue)">long</main>`

// pictured is a page whose pictures are ended in the middle.
type pictured struct {
	t               *testing.T
	window          *toolstest.Window
	watcher         *cdptest.Client // directly at the browser
	session, target string
	size            string // of the page, before
}

// newPictured opens the page, in the browser of a window.
func newPictured(t *testing.T) *pictured {
	t.Helper()
	p := &pictured{t: t}
	address := toolstest.ServeHTML(t, picturedPage)
	browser := must.Get(chrome.Launch(t.Context(), chrome.Options{
		Executable: must.Get(chrome.Find(chrome.FindOptions{}))(t), Headless: true, URL: address, DebuggingPort: new(0),
		Args: []string{"--disable-gpu"},
	}))(t)
	t.Cleanup(func() { must.Do(t, browser.Close(context.Background())) })
	p.window = toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	p.watcher = cdptest.Dial(t, browser.URL())
	var targets struct {
		All []struct{ TargetID, Type string } `json:"targetInfos"`
	}
	p.watcher.Call("", "Target.getTargets", "", &targets)
	for _, each := range targets.All {
		if each.Type == "page" {
			p.target = each.TargetID
		}
	}
	p.session = p.watcher.Attach(p.target)
	for p.watcher.Evaluate(p.session, "document.title + document.readyState") != "Shopcomplete" {
		continue
	}
	p.watcher.Call(p.session, "Runtime.enable", "", nil)
	p.watcher.Call(p.session, "Runtime.addBinding", `{"name":"resized"}`, nil)
	p.watcher.Evaluate(p.session, "addEventListener('resize', () => resized('')), 0")
	p.size = p.watcher.Size(p.session)
	return p
}

// settle returns when the page has drawn two frames.
func (p *pictured) settle() {
	p.t.Helper()
	p.watcher.Evaluate(p.session, "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
}

// agent starts a coordinator as an MCP host does.
func (p *pictured) agent() (*toolstest.Agent, *exec.Cmd) {
	cmd := command(context.Background(), p.t, toolstest.Dir, "mcp", "--no-launch")
	cmd.Dir = p.window.Folder
	return startHost(p.t, cmd), cmd
}

// killDuring kills a process in the middle of the picture that begins with take.
func (p *pictured) killDuring(process *os.Process, take func()) {
	p.t.Helper()
	p.settle() // the picture before
	var taking sync.WaitGroup
	before := p.watcher.Count(p.session, "Runtime.bindingCalled", "resized")
	taking.Go(take)
	p.watcher.EventN(p.session, "Runtime.bindingCalled", "resized", before+1)
	must.Do(p.t, process.Kill())
	taking.Wait()
}

// killClient kills a client's process in the middle of a picture as Playwright takes it of a full page.
func (p *pictured) killClient(address string, process *os.Process) {
	p.t.Helper()
	client := cdptest.Dial(p.t, address)
	session := client.Attach(p.target)
	p.killDuring(process, func() {
		client.Start(session, "Page.captureScreenshot",
			`{"clip":{"x":0,"y":0,"width":700,"height":12000,"scale":1},"captureBeyondViewport":true}`)
	})
}

// forward starts a process by which a client connects.
func (p *pictured) forward(address string) (through string, process *os.Process) {
	p.t.Helper()
	u := must.Get(url.Parse(address))(p.t)
	cmd := exec.Command(named(p.t, "forwarder"), u.Host)
	stdout := must.Get(cmd.StdoutPipe())(p.t)
	must.Do(p.t, cmd.Start())
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill() // unless the test has
		_ = cmd.Wait()
	})
	u.Host = strings.TrimSpace(must.Get(bufio.NewReader(stdout).ReadString('\n'))(p.t))
	return u.String(), cmd.Process
}

// serve starts a command that serves an endpoint, and returns the address of its browser.
func (p *pictured) serve(args ...string) (address string, owner *running) {
	p.t.Helper()
	owner = start(p.t, toolstest.Dir, args...)
	return strings.Replace(owner.first, "http", "ws", 1) + "/devtools/browser/x", owner
}

// killOwner kills the command that serves an endpoint, in the middle of the picture of its client.
func (p *pictured) killOwner(other func(), args ...string) {
	p.t.Helper()
	address, owner := p.serve(args...)
	other()
	p.killClient(address, owner.cmd.Process)
	_ = owner.cmd.Wait() // it was killed
}

// A party of a picture that changes the page's size is killed while that is taken. The next call of an agent
// that runs, and the first one of an agent that starts then, leaves the page as it was.
func TestKilledDuringAPicture(t *testing.T) {
	agentTakes := func(a args) func(p *pictured, other func()) {
		return func(p *pictured, other func()) {
			agent, cmd := p.agent()
			agent.Must("browser_take_screenshot", a) // the page is this agent's then
			other()
			p.killDuring(cmd.Process, func() {
				_, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_take_screenshot", Arguments: a})
				if err == nil {
					p.t.Error("the agent was killed after its picture")
				}
			})
		}
	}
	for name, kill := range map[string]func(p *pictured, other func()){
		"agent, full page": agentTakes(args{"fullPage": true, "filename": "full.png"}),
		"agent, element":   agentTakes(args{"target": "main", "filename": "main.png"}),
		"owner of the endpoint": func(p *pictured, other func()) {
			p.killOwner(other, "serve", "--workspace", p.window.Folder)
		},
		// A browser that it launches ends with it.
		"window of an attached browser": func(p *pictured, other func()) {
			folder := toolstest.Folder(p.t, "other")
			p.killOwner(other, "window", "--attach", p.window.Browser(), "--workspace", folder)
		},
		"client of the endpoint": func(p *pictured, other func()) {
			address, _ := p.serve("serve", "--workspace", p.window.Folder)
			other()
			p.killClient(p.forward(address))
		},
		"client of the browser": func(p *pictured, other func()) {
			other()
			p.killClient(p.forward(p.window.Browser()))
		},
	} {
		for when, survives := range map[string]bool{"an agent runs": true, "an agent starts then": false} {
			t.Run(name+", "+when, func(t *testing.T) {
				p := newPictured(t)
				var agent *toolstest.Agent
				kill(p, func() {
					if survives {
						agent, _ = p.agent()
						agent.Must("browser_snapshot", nil)
					}
				})
				if !survives {
					agent, _ = p.agent()
				}
				size, answer := "", ""
				for end := time.Now().Add(time.Minute); size != p.size; size = p.watcher.Size(p.session) {
					if time.Now().After(end) {
						t.Fatalf("the page is %s, was %s\n%s", size, p.size, answer)
					}
					answer = agent.Must("browser_snapshot", nil) // on a busy machine it may be for a later one
					release := must.Get(pagelock.Capture.Acquire(t.Context(), p.target))(t)
					p.settle() // no picture of ours is under way
					must.Do(t, release())
				}
			})
		}
	}
}
