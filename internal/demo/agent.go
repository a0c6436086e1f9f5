package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is the demo's AI agent: an MCP client of the coordinator.
type agent struct {
	session *mcp.ClientSession
	stderr  *bytes.Buffer
}

// startAgent starts the coordinator as an MCP host does: over stdio, in the workspace's
// folder, without any configuration.
func startAgent(ctx context.Context, coordinator, workspace string, env []string) (*agent, error) {
	a := &agent{stderr: new(bytes.Buffer)}
	cmd := exec.Command(coordinator, "mcp")
	cmd.Dir = workspace
	cmd.Env = env
	cmd.Stderr = a.stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("start the coordinator over stdio: %w\n%s", err, a.stderr)
	}
	a.session = session
	return a, nil
}

func (a *agent) stop() error {
	if err := a.session.Close(); err != nil {
		return fmt.Errorf("end the coordinator: %w\n%s", err, a.stderr)
	}
	return nil
}

// call calls one tool and returns the text of its result.
func (a *agent) call(ctx context.Context, tool string, args map[string]any) (string, error) {
	res, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", tool, err, a.stderr)
	}
	var text []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text = append(text, t.Text)
		}
	}
	answer := strings.Join(text, "\n")
	if res.IsError {
		return "", fmt.Errorf("%s: %s", tool, answer)
	}
	return answer, nil
}

// refOf finds the ref of the element with this role and name in a snapshot.
func refOf(snapshot, role, name string) (string, error) {
	pattern := regexp.MustCompile(regexp.QuoteMeta(role) + ` "` + regexp.QuoteMeta(name) + `".*?\[ref=([^\]]+)\]`)
	if m := pattern.FindStringSubmatch(snapshot); m != nil {
		return m[1], nil
	}
	return "", fmt.Errorf("the snapshot has no %s %q:\n%s", role, name, snapshot)
}
