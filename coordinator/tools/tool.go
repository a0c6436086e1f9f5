package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/catalog"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

// Effect is what a tool does to the page, the window or the world. The policy's class and
// the hints for hosts follow from it.
type Effect int

const (
	// Reads: it changes nothing that the page or the user could notice. It may write a new
	// file in the output folder.
	Reads Effect = iota + 1
	// Shows: it shows the user something.
	Shows
	// Adjusts: it changes only what can be undone, such as the size of the page.
	Adjusts
	// Acts: it may change or send something irrevocably.
	Acts
)

// definition is all that there is to know of a tool, in one value. The fields of In are its
// parameters, in the order of the reference and, for those that are required, of a command
// line: see [catalog.Describe]. In embeds inPage or inWindow, by which the tool has a window and a
// tab.
type definition[In any] struct {
	// Name is Playwright MCP's where the same thing exists there.
	Name, Title, Description string
	// Set is the set of tools that it is in, see Caps; empty: it is always there.
	Set string
	// Difference is why Playwright MCP has no such tool; empty: it has one, or cannot.
	Difference string

	Effect Effect
	// Category is the kind of action that the user can allow for a session; empty: none.
	Category string
	// Beyond reports whether a call acts on another site than that of its page, so that what the user
	// allows on that one does not cover it; nil: it does not.
	Beyond func(context.Context, *page.Page, In) bool
	// AnyFrame: a call may act in any frame of the page, which it does not name.
	AnyFrame bool
	// ReadOnlyIf reports whether a call with these arguments only reads; nil: none does.
	// ReadOnly says that to a user, as in "without `expression`".
	ReadOnlyIf func(In) bool
	ReadOnly   string
	// Local: it works on the window itself, whichever browser the agent uses.
	Local bool

	// Aims are the elements that a call acts on or reads; nil: none.
	Aims func(In) []input.Aim
	// Question describes a call to the user, in the imperative. names are those of the
	// elements. Nil or empty: the title with the arguments.
	Question func(in In, names []string) string
	// Subject is what a call is about, in the user's list of what the agent has done. target
	// are the names of the elements that it acts on. Nil: these, or else the arguments that
	// are subjects.
	Subject func(in In, target string) string

	// Tabless: a call works in no tab, or chooses itself among them.
	Tabless bool
	// Opens reports whether a call opens an address, so that a new tab does as well; nil:
	// never.
	Opens func(In) bool
	// Leaves reports whether a call opens or expects another document, of any origin; nil:
	// never.
	Leaves func(In) bool
	// Waits: what a call waits for may have been there for a while before.
	Waits bool
	// Answers: a call answers a dialog.
	Answers bool

	// Do does what a call asks for, and answers in the call's Out.
	Do func(context.Context, *agent.Call, In) error
	// Handle is in place of Do for a tool whose call needs no permission of its own.
	Handle func(context.Context, *agent.Agent, In) (*answer.Result, error)

	// Code is how a test repeats a call; nil: it cannot. A step without code is no part of
	// the test.
	Code func(In, *agent.Record) export.Step
	// Part are the arguments of the part of a call that was done before it failed; nil: a
	// test has no part.
	Part func(in In, failed error) In

	// Steps are the actions of browser_steps that are a call of the tool.
	Steps []action
	// Shell are the commands of the shell that call the tool; nil: one, which is derived.
	Shell []command
	// Replaces are the tools of Playwright MCP that this one replaces, and how.
	Replaces map[string]string

	// Returns is what the result has, if Description does not say it, and Notes are what else a
	// user of the tool must know, for the reference, in Markdown.
	Returns, Notes string
	// Data are the members of the structured result, for the reference; empty: it has none.
	Data string
	// Example are the arguments of a call, as JSON.
	Example string

	// complete adds what depends on all tools to the parameters; nil: nothing.
	complete func(*catalog.Parameter, []*Tool)
}

// action is one of browser_steps.
type action struct {
	Name string
	// Aliases are other names of it.
	Aliases []string
	// Usage are parameters that the list of tools names after it.
	Usage string
	// Adapt makes the tool's arguments of those of the step; nil: they are the same.
	Adapt func(map[string]any) map[string]any
	// Example are the arguments of a step, as JSON; empty: those of the tool's example.
	Example string
}

// Tool is a tool of the coordinator.
type Tool struct {
	Name, Title, Description string
	// Parameters are an object.
	Parameters                catalog.Parameter
	Set, Difference, Category string
	Effect                    Effect
	ReadOnly                  string
	Returns, Notes, Data      string
	Example                   string
	Replaces                  map[string]string

	local    bool
	steps    []action
	commands []command
	complete func(*catalog.Parameter, []*Tool)
	in       reflect.Type
	// prepare makes a request of arguments that fit; nil: handle handles the tool's calls itself.
	prepare func(t *Tool, arguments json.RawMessage, descriptions []string) (agent.Request, error)
	handle  func(ctx context.Context, a *agent.Agent, arguments json.RawMessage) (*answer.Result, error)
}

// defined are the tools as define has collected them, in any order.
var defined []*Tool

// All are the tools of all sets, by name.
var All = sync.OnceValue(func() []*Tool {
	slices.SortFunc(defined, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range defined {
		t.Parameters = catalog.Describe(t.in)
	}
	for _, t := range defined {
		if t.complete != nil {
			t.complete(&t.Parameters, defined)
		}
	}
	return defined
})

// Named is the tool of that name; nil: none.
func Named(name string) *Tool {
	all := All()
	i, found := slices.BinarySearchFunc(all, name, func(t *Tool, name string) int {
		return strings.Compare(t.Name, name)
	})
	if !found {
		return nil
	}
	return all[i]
}

// define adds a tool to All.
func define[In any](d definition[In]) *Tool {
	t := &Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, Replaces: d.Replaces, local: d.Local,
		Set: d.Set, Difference: d.Difference, Category: d.Category, Effect: d.Effect, ReadOnly: d.ReadOnly,
		Returns: d.Returns, Notes: d.Notes, Data: d.Data, Example: d.Example,
		steps: d.Steps, commands: d.Shell, complete: d.complete, in: reflect.TypeFor[In](),
	}
	if d.Handle != nil {
		t.handle = func(ctx context.Context, a *agent.Agent, arguments json.RawMessage) (*answer.Result, error) {
			var in In
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, err
			}
			return d.Handle(ctx, a, in)
		}
	} else {
		t.prepare = d.prepare
	}
	defined = append(defined, t)
	return t
}

// prepare makes a request of the arguments.
func (d *definition[In]) prepare(t *Tool, arguments json.RawMessage,
	descriptions []string) (r agent.Request, err error) {
	var in In
	if err := json.Unmarshal(arguments, &in); err != nil {
		return r, err
	}
	r = agent.Request{
		Operation: d.operation(in), Local: d.Local, AnyFrame: d.AnyFrame, Structured: d.Data != "", Waits: d.Waits,
		Answers: d.Answers, Tabless: d.Tabless,
		Opens: d.Opens != nil && d.Opens(in), Leaves: d.Leaves != nil && d.Leaves(in), Descriptions: descriptions,
		Do: func(ctx context.Context, c *agent.Call) error { return d.Do(ctx, c, in) },
		Question: func(names []string) (question string) {
			if d.Question != nil {
				question = d.Question(in, names)
			}
			return cmp.Or(question, t.question(arguments))
		},
		Subject: func(target string) string {
			if d.Subject != nil {
				return d.Subject(in, target)
			}
			return cmp.Or(target, t.values(arguments, func(p catalog.Parameter) bool { return p.Is(catalog.Subject) }))
		},
		Script: t.script(arguments),
	}
	if in, ok := any(in).(interface{ window() string }); ok {
		r.Window = in.window()
	}
	if in, ok := any(in).(interface{ tab() *int }); ok {
		r.Tab = in.tab()
	}
	if in, ok := any(in).(interface{ changes() string }); ok {
		r.Changes = in.changes()
	}
	if d.Beyond != nil {
		r.Beyond = func(ctx context.Context, p *page.Page) bool { return d.Beyond(ctx, p, in) }
	}
	if d.Aims != nil {
		r.Aims = d.Aims(in)
	}
	if d.Code != nil {
		r.Code = func(done *agent.Record) export.Step { return d.Code(in, done) }
	}
	if d.Part != nil {
		r.Part = func(failed error) func(*agent.Record) export.Step {
			part := d.Part(in, failed)
			return func(done *agent.Record) export.Step { return d.Code(part, done) }
		}
	}
	return r, nil
}

// operation is what a call does, for the policy.
func (d *definition[In]) operation(in In) policy.Operation {
	if d.Effect == Reads || d.Effect == Shows || d.ReadOnlyIf != nil && d.ReadOnlyIf(in) {
		return policy.Operation{Name: d.Name, Class: policy.ReadOnly}
	}
	return policy.Operation{Name: d.Name, Class: policy.Mutating, Category: d.Category}
}

// Fit brings a call's arguments into the form that the tool takes, see [catalog.Parameter.Fit].
func (t *Tool) Fit(arguments json.RawMessage) (argument json.RawMessage, descriptions []string, err error) {
	return t.Parameters.Fit(t.Name, arguments)
}

// fit makes a request of an agent's arguments.
func (t *Tool) fit(arguments json.RawMessage) (agent.Request, error) {
	argument, descriptions, err := t.Fit(arguments)
	if err != nil {
		return agent.Request{}, err
	}
	return t.prepare(t, argument, descriptions)
}

// Call runs a call of an agent. An error means that it has done nothing.
func (t *Tool) Call(ctx context.Context, a *agent.Agent, arguments json.RawMessage) (*answer.Result, error) {
	if t.handle != nil {
		argument, _, err := t.Fit(arguments)
		if err != nil {
			return nil, fmt.Errorf("%w. For example: %s", err, t.Example)
		}
		return t.handle(ctx, a, argument)
	}
	request, err := t.fit(arguments)
	if err != nil {
		return nil, err
	}
	return a.Answer(ctx, request), nil
}

// general are parameters of many tools, which say where a call works and what its result
// looks like, not what it does.
var general = []string{"window", "tab", "changes", "filename", "page"}

// question is the title of the tool with the arguments.
func (t *Tool) question(arguments json.RawMessage) string {
	if values := t.allValues(arguments, func(p catalog.Parameter) bool {
		return p.Required ||
			!slices.Contains(general, p.Name)
	}); values != "" {
		return t.Title + ": " + values
	}
	return t.Title
}

// longestValues bounds the arguments in a report, in bytes. A question has all of them.
const longestValues = 300

// values lists the arguments of the wanted parameters, for a report.
func (t *Tool) values(arguments json.RawMessage, wanted func(catalog.Parameter) bool) string {
	return policy.Excerpt(t.allValues(arguments, wanted), longestValues)
}

// allValues lists the arguments of the wanted parameters in full.
func (t *Tool) allValues(arguments json.RawMessage, wanted func(catalog.Parameter) bool) string {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &values); err != nil {
		return ""
	}
	var parts []string
	for _, p := range t.Parameters.Members {
		value, ok := values[p.Name]
		if !ok || !wanted(p) {
			continue
		}
		text := string(value)
		if p.Type == "string" {
			json.Unmarshal(value, &text) // it fits
		} else if p.Type != "array" && p.Type != "object" {
			text = p.Name + " " + text
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// script is the script among the arguments; empty: there is none.
func (t *Tool) script(arguments json.RawMessage) (script string) {
	for _, p := range t.Parameters.Members {
		var values map[string]json.RawMessage
		if p.Is(catalog.Script) && json.Unmarshal(arguments, &values) == nil && values[p.Name] != nil {
			json.Unmarshal(values[p.Name], &script) // it fits
		}
	}
	return script
}

// oneOf refuses a value that is not one of the allowed ones.
func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %s", name, value, strings.Join(allowed, ", "))
}

// everySite is Beyond of a tool that acts on all sites.
func everySite[In any](context.Context, *page.Page, In) bool { return true }

// onPage is what a tool does in the agent's page.
func onPage[In any](do func(context.Context, *agent.Call, *page.Page, In) error) func(context.Context, *agent.Call,
	In) error {
	return func(ctx context.Context, c *agent.Call, in In) error {
		p, err := c.Page(ctx)
		if err != nil {
			return err
		}
		return do(ctx, c, p, in)
	}
}

// acting is what a tool does that is an action in the agent's page. do returns the action,
// and what the answer says is done to its elements.
func acting[In any](do func(*input.Input, In) (done string, _ input.Action)) func(context.Context, *agent.Call,
	In) error {
	return onPage(func(ctx context.Context, c *agent.Call, p *page.Page, in In) error {
		done, action := do(p.Input(), in)
		return c.Acted(done, " onto ")(c.Act(ctx, p, action))
	})
}

// inWindow is embedded by the arguments of every tool that works in a window.
type inWindow struct {
	Window string `json:"window,omitempty"`
}

func (in inWindow) window() string { return in.Window }

// inPage is embedded by the arguments of every tool that works in a page.
type inPage struct {
	Tab *int `json:"tab,omitempty"`
	inWindow
}

func (in inPage) tab() *int { return in.Tab }

// targetIn is embedded by the arguments of the tools that work with an element.
type targetIn struct {
	Target string `json:"target" about:"ref or selector" is:"subject"`
}

// pointer is the aim of a tool that uses the mouse there.
func (in targetIn) pointer() []input.Aim { return []input.Aim{{Target: in.Target, Pointer: true}} }

// field is the aim of a tool that reads or sets an element without the mouse.
func (in targetIn) field() []input.Aim { return []input.Aim{{Target: in.Target}} }

// actsIn is inPage for the actions that are used most: there the agent chooses how much the
// answer shows of what has changed.
type actsIn struct {
	Changes string `json:"changes,omitempty" about:"none, short (default) or full" oneof:"none short full"`
	inPage
}

func (in actsIn) changes() string { return in.Changes }
