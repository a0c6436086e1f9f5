// Package peer starts MCP servers over stdio for the benchmarks: the coordinator and its
// peers, Playwright MCP and chrome-devtools-mcp, and calls their tools.
package peer

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is an MCP server in a process of its own, with its client.
type Server struct {
	cmd     *exec.Cmd
	session *mcp.ClientSession
}

// Start starts a server and connects to it.
func Start(ctx context.Context, cmd *exec.Cmd) (*Server, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, err
	}
	return &Server{cmd, session}, nil
}

// ListTools requests the tools as a host does.
func (s *Server) ListTools(ctx context.Context) error {
	_, err := s.session.ListTools(ctx, nil)
	return err
}

// ListCharacters is the length of a server's list of tools as it sends it, which an
// agent pays for.
func ListCharacters(cmd *exec.Cmd) (int, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer in.Close()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			return 0, err
		}
	}
	answers := json.NewDecoder(out)
	for {
		var answer struct {
			ID     int
			Result struct{ Tools json.RawMessage }
		}
		if err := answers.Decode(&answer); err != nil {
			return 0, err
		}
		if answer.ID == 2 {
			return len([]rune(string(answer.Result.Tools))), nil
		}
	}
}

// Answer is the result of a call.
type Answer struct {
	Text     string
	Pictures int
	Refused  bool // the tool reports an error
}

// Call calls a tool.
func (s *Server) Call(ctx context.Context, tool string, args map[string]any) (Answer, error) {
	result, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return Answer{}, err
	}
	return AnswerOf(result), nil
}

// AnswerOf is what an agent reads of a result.
func AnswerOf(result *mcp.CallToolResult) Answer {
	a := Answer{Refused: result.IsError}
	var texts []string
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			a.Pictures++
		}
	}
	a.Text = strings.Join(texts, "\n")
	return a
}

// Close ends the server.
func (s *Server) Close() error { return s.session.Close() }

// The kinds of memory in /proc: all pages that a process has mapped now, and its private
// pages. The former include those of its files, which processes share and the system may
// drop.
const (
	Resident = "VmRSS"
	ItsOwn   = "RssAnon"
)

// Memory is that kind of memory of the process and its descendants, in MB; 0 where there
// is no /proc.
func (s *Server) Memory(kind string) float64 {
	parents := map[int]int{}
	sizes := map[int]float64{}
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			fields := strings.Fields(value)
			switch {
			case name == "PPid":
				parents[pid], _ = strconv.Atoi(fields[0])
			case name == kind:
				kilobytes, _ := strconv.ParseFloat(fields[0], 64)
				sizes[pid] = kilobytes / 1024
			}
		}
	}
	var sum float64
	for pid, size := range sizes {
		for p := pid; p > 1; p = parents[p] {
			if p == s.cmd.Process.Pid {
				sum += size
				break
			}
		}
	}
	return sum
}
