package main

import (
	"context"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/bench/peer"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/toolstest"
)

func TestMain(m *testing.M) { os.Exit(toolstest.Main(m)) }

type inProcess struct{ *toolstest.Agent }

func (i inProcess) Call(ctx context.Context, tool string, a args) (peer.Answer, error) {
	result, err := i.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		return peer.Answer{}, err
	}
	return peer.AnswerOf(result), nil
}

// TestTasks: the coordinator's tools do every task.
func TestTasks(t *testing.T) {
	longtest.Require(t)
	onDemand := launch.New(&launch.Chrome{
		Find:    func() (string, error) { return chrome.Find(chrome.FindOptions{}) },
		Options: chrome.Options{Headless: true, Viewport: "1280x800", Args: []string{"--disable-gpu"}},
	})
	t.Cleanup(func() { _ = onDemand.End() })
	for _, task := range tasks {
		t.Run(task.name, func(t *testing.T) {
			dir := t.TempDir()
			server := inProcess{toolstest.Start(t, agent.Options{Dir: dir, Launcher: onDemand})}
			server.Must("browser_navigate", args{"url": "about:blank"})
			r := run(t.Context(), task, ours, server, dir, t.Output(), 0)
			if r.err != nil || r.refused > 1 { // on a busy machine, one that finds a dialog open
				t.Errorf("%v; %d calls were refused", r.err, r.refused)
			}
		})
	}
}
