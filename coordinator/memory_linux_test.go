package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A host starts its servers with itself and keeps them, most of them without a
// call: what they have resident then is what they cost. The smaller peer has
// 115 MB.
func TestMemoryAtRest(t *testing.T) {
	const most = 11_500 // kB
	dir := t.TempDir()
	cmd := exec.Command(shipped(t, dir), "mcp")
	cmd.Dir, cmd.Env = folder(t, "shop"), append(os.Environ(), privateDirs(dir)...)
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !settled(func() bool { return kilobytes(t, cmd.Process, "VmRSS") <= most }) {
		t.Errorf("%d kB at rest, want at the most %d", kilobytes(t, cmd.Process, "VmRSS"), most)
	}
	t.Logf("%d kB at rest", kilobytes(t, cmd.Process, "VmRSS"))
	// What was unmapped is there again when it is needed.
	if tools, err := agent.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
		t.Errorf("the tools after the rest: %v %v", tools, err)
	}
	if answer := mustTool(t, agent, "window_list", nil); answer == "" {
		t.Error("window_list says nothing")
	}
}
