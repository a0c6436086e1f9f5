//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent drives one page of its own by MCP, through a coordinator that it starts as a
// host does, in the window's folder.
type agent struct {
	target
	window *window
	site   *site
	result *result
	random *rand.Rand
	count  int
	opened int // the window's changes when the page was opened
}

// run starts a coordinator and asks it, and starts another when that one ends, until ctx
// ends.
func (a *agent) run(ctx context.Context) {
	for ctx.Err() == nil {
		cmd := a.window.place.command("mcp")
		cmd.Dir = a.window.workspace
		client := mcp.NewClient(&mcp.Implementation{Name: a.name, Version: "1"}, nil)
		starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		session, err := client.Connect(starting, &mcp.CommandTransport{Command: cmd}, nil)
		late := errors.Is(starting.Err(), context.DeadlineExceeded)
		cancel()
		if err != nil {
			if late {
				a.result.fault("hung", "%s: the coordinator does not start: %v", a.name, err)
			}
			continue
		}
		a.set(cmd.Process.Pid)
		a.result.add("agent starts")
		for a.page(ctx, session) {
		}
		a.set(0)
		session.Close()
	}
}

// page opens a page and asks in it. It reports whether the coordinator still runs.
func (a *agent) page(ctx context.Context, session *mcp.ClientSession) bool {
	a.count++
	mark := fmt.Sprintf("%s-%s-%d", a.window.name, a.name, a.count)
	a.opened = a.window.changes()
	arguments := map[string]any{"action": "new", "url": a.site.page(mark)}
	if _, err := a.call(ctx, session, "browser_tabs", arguments); err != nil {
		return a.goesOn(ctx, err)
	}
	for range 20 + a.random.IntN(100) {
		if ctx.Err() != nil {
			return false
		}
		if err := a.ask(ctx, session, mark); err != nil {
			return a.goesOn(ctx, err)
		}
	}
	// Close the opened tab; if that fails, the browser has gone.
	_, err := a.call(ctx, session, "browser_tabs", map[string]any{"action": "close"})
	return a.goesOn(ctx, err)
}

// refused is a tool's own error: the coordinator still runs.
type refused struct{ text string }

func (e *refused) Error() string { return e.text }

// goesOn waits a moment after a tool's error, as an agent does.
func (a *agent) goesOn(ctx context.Context, err error) bool {
	if err == nil {
		return ctx.Err() == nil
	}
	if _, ok := err.(*refused); !ok {
		return false
	}
	select {
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// ask sends one question to the page, or runs an action in it.
func (a *agent) ask(ctx context.Context, session *mcp.ClientSession, mark string) error {
	a.count++
	id := fmt.Sprintf("%s-%d", a.name, a.count)
	switch a.random.IntN(4) {
	case 0: // a click
		function := fmt.Sprintf("() => { location.hash = %q; return {mark, id: %q} }", id, id)
		if _, err := a.evaluate(ctx, session, function, mark, id, false); err != nil {
			return err
		}
		a.result.action(id, unknown)
		if _, err := a.call(ctx, session, "browser_click", map[string]any{"target": "#act-" + mark}); err != nil {
			return err
		}
		a.result.action(id, done)
	case 1: // an action by code
		a.result.action(id, unknown)
		if _, err := a.evaluate(ctx, session, fmt.Sprintf("() => act(%q)", id), mark, id, true); err != nil {
			return err
		}
		a.result.action(id, done)
	case 2: // what the page shows
		text, err := a.call(ctx, session, "browser_markdown", nil)
		if err != nil {
			return err
		}
		if !strings.Contains(text.text, "This page is "+mark+".") {
			return a.elsewhere(mark, "what the page shows", text.text)
		}
	default:
		_, err := a.evaluate(ctx, session, fmt.Sprintf("() => ({mark, id: %q})", id), mark, id, false)
		return err
	}
	return nil
}

func (a *agent) evaluate(
	ctx context.Context, session *mcp.ClientSession, function, mark, id string, acts bool,
) (*answer, error) {
	got, err := a.call(ctx, session, "browser_evaluate", map[string]any{"function": function})
	if err != nil {
		return nil, err
	}
	var structured struct{ Value json.RawMessage }
	if err := json.Unmarshal(got.structured, &structured); err != nil {
		a.result.fault("wrong", "%s: a response without a value: %.300s", a.name, got.text)
		return got, nil
	}
	var from response
	if json.Unmarshal(structured.Value, &from); from.Mark != mark && from.ID == id &&
		strings.HasPrefix(from.Mark, a.window.name) {
		return nil, a.elsewhere(mark, id, from.Mark+": "+got.text)
	}
	a.result.check(a.name, mark, id, structured.Value, acts)
	return got, nil
}

// elsewhere handles a response of another page of the window. That is correct if the
// window's browser has ended since this page was opened: an unsent call continues in the
// next browser, where the agent then opens a page.
func (a *agent) elsewhere(mark, question, got string) error {
	if a.window.changes() == a.opened {
		a.result.fault("wrong", "%s asked %s in %s, and got %.300s", a.name, question, mark, got)
	} else {
		a.result.add("MCP calls in the next browser")
	}
	return &refused{"this is another page"}
}

type answer struct {
	text       string
	structured json.RawMessage
}

// call calls a tool. Every call must end with a result, an error, or the end of the
// coordinator.
func (a *agent) call(
	ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any,
) (*answer, error) {
	if arguments == nil {
		arguments = map[string]any{}
	}
	a.result.add("MCP calls")
	// A call in flight gets its response, even at the end of the run.
	calling, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	res, err := session.CallTool(calling, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if errors.Is(calling.Err(), context.DeadlineExceeded) {
		a.result.fault("hung", "%s: %s has no response", a.name, tool)
	}
	if err != nil {
		a.result.add("MCP calls without a coordinator")
		return nil, err
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if res.IsError {
		a.result.add("MCP errors")
		return nil, &refused{tool + ": " + text.String()}
	}
	structured, err := json.Marshal(res.StructuredContent)
	return &answer{text.String(), structured}, err
}
