// Package webmcp lists and calls the tools that a page offers to agents, by WebMCP
// (https://webmachinelearning.github.io/webmcp/). Names, descriptions and results are the page's own
// words, and so is a hint that a tool only reads: nothing here relies on them.
package webmcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webmcp"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Options of Tools. All are required.
type Options struct {
	Lifecycle *lifecycle.Lifecycle // who logs an event of the page wakes it
	Frames    *frame.Tree
	// Script runs a script that may compute for long: [lifecycle.ErrEndless].
	Script func(ctx context.Context, s *cdp.Session, run func(context.Context) error) error
}

// Tools are the tools that a page offers.
type Tools struct {
	opts Options

	mu       sync.Mutex // guards what the browser has reported
	tools    map[key]Tool
	waiting  int                       // calls
	replaced map[protocol.FrameID]bool // another document, while a call waits
	invoked  map[string]bool
	outcomes map[string]*webmcp.EventToolResponded
}

type key struct {
	frame protocol.FrameID
	name  string
}

// New returns the tools of a page.
func New(opts Options) *Tools {
	return &Tools{
		opts: opts, tools: map[key]Tool{}, replaced: map[protocol.FrameID]bool{}, invoked: map[string]bool{},
		outcomes: map[string]*webmcp.EventToolResponded{},
	}
}

// A page with more tools, or with more text about them, wastes memory: the rest is ignored.
const (
	maxTools = 500
	maxText  = 1_000_000 // bytes of all names, descriptions and schemas
)

// Tool is a tool that a document offers.
type Tool struct {
	Name, Description string
	// Input is the JSON schema of its arguments; nil: none is given.
	Input json.RawMessage
	// Parameters are the names of the arguments in the order of the alphabet; "?" follows those that
	// may be left out. They are empty if the schema has none or is not one of an object.
	Parameters string
	// Fills: it fills a form, which the user, or a click, then submits.
	Fills bool

	frame   protocol.FrameID
	session *cdp.Session
}

func (t Tool) size() int { return len(t.Name) + len(t.Description) + len(t.Input) }

// parameters are the [Tool.Parameters] of a schema.
func parameters(input []byte) string {
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if json.Unmarshal(input, &schema) != nil {
		return ""
	}
	required := map[string]bool{}
	for _, name := range schema.Required {
		required[name] = true
	}
	var names []string
	for name := range schema.Properties {
		if !required[name] {
			name += "?"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Enable asks a session to report its tools. A browser that has no WebMCP refuses it, and then no
// tool is reported.
func Enable(ctx context.Context, s *cdp.Session) error {
	_, err := s.Start(ctx, webmcp.CommandEnable, nil)
	return err
}

// Added takes tools that a session reports.
func (t *Tools) Added(s *cdp.Session, e *webmcp.EventToolsAdded) {
	t.mu.Lock()
	defer t.mu.Unlock()
	size := 0
	for _, tool := range t.tools {
		size += tool.size()
	}
	for _, tool := range e.Tools {
		submits := tool.Annotations != nil && tool.Annotations.Autosubmit
		added := Tool{
			Name: tool.Name, Description: tool.Description, Input: json.RawMessage(tool.InputSchema),
			Fills: tool.BackendNodeID != 0 && !submits, frame: tool.FrameID, session: s,
		}
		k := key{tool.FrameID, tool.Name}
		grown := size - t.tools[k].size() + added.size()
		if len(t.tools) >= maxTools || grown > maxText {
			continue
		}
		added.Parameters = parameters(added.Input)
		t.tools[k], size = added, grown
	}
}

// Removed takes away tools.
func (t *Tools) Removed(e *webmcp.EventToolsRemoved) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tool := range e.Tools {
		delete(t.tools, key{tool.FrameID, tool.Name})
	}
}

// Committed takes away the tools of a frame whose document was replaced: the browser does not report
// that they went. It reports the tools of a new document by itself, and of a restored one when asked.
func (t *Tools) Committed(ctx context.Context, s *cdp.Session, id protocol.FrameID, restored bool) {
	t.mu.Lock()
	maps.DeleteFunc(t.tools, func(k key, _ Tool) bool { return k.frame == id })
	if t.waiting > 0 {
		t.replaced[id] = true
	}
	t.mu.Unlock()
	if restored {
		_ = Enable(ctx, s) // it fails only with the connection
	}
}

// Invoked takes the report that a call has begun.
func (t *Tools) Invoked(e *webmcp.EventToolInvoked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting > 0 { // else another client has called
		t.invoked[e.InvocationID] = true
	}
}

// Responded takes the outcome of a call.
func (t *Tools) Responded(e *webmcp.EventToolResponded) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting > 0 {
		t.outcomes[e.InvocationID] = e
	}
}

// List returns the tools of the page and its frames, by name.
func (t *Tools) List() []Tool {
	t.opts.Frames.Flush()
	t.mu.Lock()
	defer t.mu.Unlock()
	tools := slices.Collect(maps.Values(t.tools))
	tools = slices.DeleteFunc(tools, func(tool Tool) bool { return !t.opts.Frames.IsReachable(tool.frame) })
	slices.SortFunc(tools, func(a, b Tool) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.frame), string(b.frame)))
	})
	return tools
}

// Outcome is what a call has led to.
type Outcome struct {
	// Filled: the tool has filled its form.
	Filled bool
	// Output is what the tool has returned; nil: it has not, because another document replaced the
	// page's first, or it fills a form.
	Output json.RawMessage
}

// Call calls a tool of that name with arguments, a JSON object or nothing, and waits for its outcome. Of a tool
// that fills a form there is none: it returns when the form is filled.
func (t *Tools) Call(ctx context.Context, name string, arguments json.RawMessage) (Outcome, error) {
	tool, err := t.find(name)
	if err != nil {
		return Outcome{}, err
	}
	t.mu.Lock()
	t.waiting++
	t.mu.Unlock()
	defer t.endCall()
	documents := t.opts.Lifecycle.Documents()
	outcome := Outcome{Filled: tool.Fills}
	err = t.opts.Script(ctx, tool.session, func(ctx context.Context) error {
		r, err := protocol.Call(ctx, tool.session, webmcp.InvokeTool, webmcp.InvokeToolParams{
			FrameID: tool.frame, ToolName: tool.Name, Input: []byte(cmp.Or(string(arguments), "{}")),
		})
		if err != nil {
			return err
		}
		responded, err := t.await(ctx, tool, r.InvocationID, documents)
		if responded == nil {
			return err
		}
		outcome.Output, err = output(name, responded)
		return err
	})
	return outcome, err
}

// await waits for the outcome of a call, which is nil if another document comes first, or if the tool
// fills a form: then it waits for the beginning. It cancels a call that nobody waits for.
func (t *Tools) await(
	ctx context.Context, tool Tool, id string, documents int,
) (responded *webmcp.EventToolResponded, err error) {
	err = t.opts.Lifecycle.Await(ctx, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		responded = t.outcomes[id]
		if t.replaced[tool.frame] || t.opts.Lifecycle.Documents() != documents {
			responded = nil // then the browser reports an empty list
			return true
		}
		return responded != nil || tool.Fills && t.invoked[id]
	})
	if err != nil {
		_, _ = tool.session.Start(context.WithoutCancel(ctx), webmcp.CommandCancelInvocation,
			webmcp.CancelInvocationParams{InvocationID: id})
	}
	return responded, err
}

func output(name string, e *webmcp.EventToolResponded) (json.RawMessage, error) {
	if e.Status == webmcp.InvocationStatusCompleted {
		return json.RawMessage(e.Output), nil
	}
	text := e.ErrorText
	if e.Exception != nil {
		text, _, _ = strings.Cut(cmp.Or(e.Exception.Description, text), "\n")
	}
	if text == "" && e.Status == webmcp.InvocationStatusCanceled {
		text = "it was cancelled"
	}
	return nil, fmt.Errorf("the page's tool %q failed: %s", name, cmp.Or(text, "it gives no reason"))
}

// endCall forgets outcomes when no call waits for one.
func (t *Tools) endCall() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	if t.waiting == 0 {
		clear(t.replaced)
		clear(t.invoked)
		clear(t.outcomes)
	}
}

func (t *Tools) find(name string) (Tool, error) {
	all := t.List()
	var names []string
	var fitting []Tool
	for _, tool := range all {
		names = append(names, tool.Name)
		if tool.Name == name {
			fitting = append(fitting, tool)
		}
	}
	switch {
	case len(all) == 0:
		return Tool{}, errors.New("the page offers no tools by WebMCP")
	case len(fitting) == 0:
		return Tool{}, fmt.Errorf("the page offers no tool %q; it offers %s", name, strings.Join(names, ", "))
	case len(fitting) > 1:
		return Tool{}, fmt.Errorf("%d documents of the page offer a tool %q, and nothing says which is meant: act on "+
			"the page's elements instead", len(fitting), name)
	}
	return fitting[0], nil
}
