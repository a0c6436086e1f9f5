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

// Tool is all that there is to know of a tool, but for what its calls do with their arguments.
type Tool struct {
	// Name is Playwright MCP's where the same thing exists there.
	Name, Title, Description string
	// Set is the set of tools that it is in, see Caps; empty: it is always there.
	Set string
	// Difference is why Playwright MCP has no such tool; empty: it has one, or cannot.
	Difference string

	Effect Effect
	// Category is the kind of action that the user can allow for a session; empty: none.
	Category string
	// ReadOnly says to a user which calls only read, as in "without `expression`".
	ReadOnly string
	agent.Traits

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

	// Parameters are an object, described by the fields of the arguments.
	Parameters catalog.Parameter

	in reflect.Type // the arguments
	// complete adds what depends on all tools to the parameters; nil: nothing.
	complete func(*catalog.Parameter, []*Tool)
	// bind makes a request of arguments that fit; nil: handle handles the tool's calls itself.
	bind   func(arguments json.RawMessage, descriptions []string) (agent.Request, error)
	handle func(ctx context.Context, a *agent.Agent, arguments json.RawMessage) (*answer.Result, error)
}

// calls are what the calls of a tool do with their arguments. The fields of In are the tool's
// parameters, in the order of the reference and, for those that are required, of a command
// line: see [catalog.Describe]. In embeds inPage or inWindow, by which the tool has a window and a
// tab.
type calls[In any] struct {
	// ReadOnlyIf reports whether a call only reads; nil: none does, unless the tool only reads.
	ReadOnlyIf func(In) bool
	// Opens reports whether a call opens an address, so that a new tab does as well; nil:
	// never.
	Opens func(In) bool
	// Leaves reports whether a call opens or expects another document, of any origin; nil:
	// never.
	Leaves func(In) bool
	// Beyond reports whether a call acts on another site than that of its page, so that what the user
	// allows on that one does not cover it; nil: it does not.
	Beyond func(context.Context, *page.Page, In) bool

	// Aims are the elements that a call acts on or reads; nil: none.
	Aims func(In) []input.Aim
	// Question describes a call to the user, in the imperative. names are those of the
	// elements. Nil or empty: the title with the arguments.
	Question func(in In, names []string) string
	// Subject is what a call is about, in the user's list of what the agent has done. target
	// are the names of the elements that it acts on. Nil: these, or else the arguments that
	// are subjects.
	Subject func(in In, target string) string

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
func define[In any](t Tool, does calls[In]) *Tool {
	t.in = reflect.TypeFor[In]()
	if does.Handle != nil {
		t.handle = func(ctx context.Context, a *agent.Agent, arguments json.RawMessage) (*answer.Result, error) {
			var in In
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, err
			}
			return does.Handle(ctx, a, in)
		}
	} else {
		t.bind = func(arguments json.RawMessage, descriptions []string) (agent.Request, error) {
			return bind(&t, does, arguments, descriptions)
		}
	}
	defined = append(defined, &t)
	return &t
}

// bind makes a request of a tool and the arguments of a call.
func bind[In any](t *Tool, does calls[In], arguments json.RawMessage, descriptions []string) (
	r agent.Request, err error) {
	var in In
	if err := json.Unmarshal(arguments, &in); err != nil {
		return r, err
	}
	r = agent.Request{
		Operation: t.operation(does.ReadOnlyIf != nil && does.ReadOnlyIf(in)), Traits: t.Traits, Structured: t.Data != "",
		Opens: does.Opens != nil && does.Opens(in), Leaves: does.Leaves != nil && does.Leaves(in),
		Descriptions: descriptions, Script: t.script(arguments),
		Do: func(ctx context.Context, c *agent.Call) error { return does.Do(ctx, c, in) },
		Question: func(names []string) (question string) {
			if does.Question != nil {
				question = does.Question(in, names)
			}
			return cmp.Or(question, t.question(arguments))
		},
		Subject: func(target string) string {
			if does.Subject != nil {
				return does.Subject(in, target)
			}
			return cmp.Or(target, t.values(arguments, func(p catalog.Parameter) bool { return p.Is(catalog.Subject) }))
		},
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
	if does.Beyond != nil {
		r.Beyond = func(ctx context.Context, p *page.Page) bool { return does.Beyond(ctx, p, in) }
	}
	if does.Aims != nil {
		r.Aims = does.Aims(in)
	}
	if does.Code != nil {
		r.Code = func(done *agent.Record) export.Step { return does.Code(in, done) }
	}
	if does.Part != nil {
		r.Part = func(failed error) func(*agent.Record) export.Step {
			part := does.Part(in, failed)
			return func(done *agent.Record) export.Step { return does.Code(part, done) }
		}
	}
	return r, nil
}

// operation is what a call does, for the policy.
func (t *Tool) operation(readOnly bool) policy.Operation {
	if t.Effect == Reads || t.Effect == Shows || readOnly {
		return policy.Operation{Name: t.Name, Class: policy.ReadOnly}
	}
	return policy.Operation{Name: t.Name, Class: policy.Mutating, Category: t.Category}
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
	return t.bind(argument, descriptions)
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
