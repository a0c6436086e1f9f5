//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"
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
		session, pid := a.start(ctx)
		if session == nil {
			continue
		}
		a.set(pid)
		a.result.add("agent starts")
		for a.page(ctx, session) {
		}
		a.set(0)
		session.Close()
	}
}

// start starts a coordinator; nil: it was ended before it was ready.
func (a *agent) start(ctx context.Context) (session *mcp.ClientSession, pid int) {
	cmd := a.window.place.command("mcp")
	cmd.Dir = a.window.workspace
	cmd.Stderr = &stderr{out: a.result.agents, name: a.name}
	client := mcp.NewClient(&mcp.Implementation{Name: a.name, Version: "1"}, nil)
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	session, err := client.Connect(starting, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		if errors.Is(starting.Err(), context.DeadlineExceeded) {
			a.result.fault("hung", "%s: the coordinator does not start: %v", a.name, err)
		}
		return nil, 0
	}
	return session, cmd.Process.Pid
}

// stderr keeps what a coordinator logs, with the time and the name of its agent, beside the errors of its calls.
type stderr struct {
	out  *log.Logger
	name string
}

func (s *stderr) Write(text []byte) (int, error) {
	s.out.Printf("%s: %s", s.name, text)
	return len(text), nil
}

// pass starts and ends coordinators beside the others until ctx ends: one that only begins, one that lists the
// tabs, and one that leaves a tab open, which ends with it.
func (a *agent) pass(ctx context.Context) {
	for ctx.Err() == nil {
		session, _ := a.start(ctx)
		if session == nil {
			continue
		}
		a.result.add("agents that pass")
		switch a.random.IntN(3) {
		case 0:
			_, _ = a.call(ctx, session, "browser_tabs", map[string]any{"action": "list"}) // its browser may have gone
		case 1:
			if mark, err := a.open(ctx, session); err == nil {
				_ = a.ask(ctx, session, mark)
			}
		}
		session.Close()
	}
}

// page opens a page and asks in it. It reports whether the coordinator still runs.
func (a *agent) page(ctx context.Context, session *mcp.ClientSession) bool {
	mark, err := a.open(ctx, session)
	if err != nil {
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
	_, err = a.call(ctx, session, "browser_tabs", map[string]any{"action": "close"})
	return a.goesOn(ctx, err)
}

// open opens a page, which the answer must name as the tab that the agent works in.
func (a *agent) open(ctx context.Context, session *mcp.ClientSession) (mark string, err error) {
	a.count++
	mark = fmt.Sprintf("%s-%s-%d", a.window.name, a.name, a.count)
	a.opened = a.window.changes()
	got, err := a.call(ctx, session, "browser_tabs", map[string]any{"action": "new", "url": a.site.page(mark)})
	if err != nil {
		return mark, err
	}
	var list struct{ Tabs []tab }
	if err := json.Unmarshal(got.structured, &list); err != nil {
		a.result.fault("wrong", "%s: a list of tabs that cannot be read: %.300s", a.name, got.structured)
		return mark, nil
	}
	current := slices.DeleteFunc(list.Tabs, func(t tab) bool { return !t.Current })
	if len(current) != 1 || !current[0].Yours || current[0].URL != a.site.page(mark) {
		return mark, a.elsewhere(mark, "for a new tab", string(got.structured))
	}
	return mark, nil
}

// tab is one of the structured answer of browser_tabs.
type tab struct {
	URL            string
	Current, Yours bool
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
		if strings.Contains(text.String(), "reported more than this program could read") {
			a.result.add("MCP errors by an overflow")
		}
		a.result.agents.Printf("%s: %s: %.500s", a.name, tool, text.String())
		return nil, &refused{tool + ": " + text.String()}
	}
	structured, err := json.Marshal(res.StructuredContent)
	return &answer{text.String(), structured}, err
}
