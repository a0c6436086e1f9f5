package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
)

type navigateIn struct {
	URL    string `json:"url,omitempty"`
	Action string `json:"action,omitempty" jsonschema:"instead: back, forward or reload"`
	inWindow
}

type backIn struct{ inWindow }

type clickIn struct {
	Element     string   `json:"element,omitempty"`
	Target      string   `json:"target" jsonschema:"ref or CSS selector"`
	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty" jsonschema:"left, right or middle"`
	Modifiers   []string `json:"modifiers,omitempty" jsonschema:"Alt, Control, ControlOrMeta, Meta, Shift"`
	inWindow
}

type typeIn struct {
	Element string `json:"element,omitempty"`
	Target  string `json:"target" jsonschema:"ref or CSS selector"`
	Text    string `json:"text"`
	Submit  bool   `json:"submit,omitempty" jsonschema:"then press Enter"`
	Slowly  bool   `json:"slowly,omitempty" jsonschema:"key by key"`
	inWindow
}

type evaluateIn struct {
	Function string `json:"function" jsonschema:"() => {…}; (element) => {…} with target"`
	Element  string `json:"element,omitempty"`
	Target   string `json:"target,omitempty" jsonschema:"ref or CSS selector"`
	partIn
	inWindow
}

func (s *Server) addActTools() {
	add(s, &mcp.Tool{
		Name:        "browser_navigate",
		Description: "Open a URL in the tab, or go through its history",
		Annotations: acts("Navigate"),
	}, navigate)
	add(s, &mcp.Tool{
		Name:        "browser_navigate_back",
		Description: "Go back in the tab's history",
		Annotations: acts("Go back"),
	}, navigateBack)
	add(s, &mcp.Tool{
		Name:        "browser_click",
		Description: "Click an element",
		Annotations: acts("Click"),
	}, click)
	add(s, &mcp.Tool{
		Name:        "browser_type",
		Description: "Fill a field with text",
		Annotations: acts("Type"),
	}, typeText)
	add(s, &mcp.Tool{
		Name:        "browser_evaluate",
		Description: "Run JavaScript in the page and return its value as JSON",
		Annotations: acts("Evaluate"), OutputSchema: objectOf("value"),
	}, evaluate)
}

func navigate(ctx context.Context, a *agent, in navigateIn) (*answer, error) {
	if err := oneOf("action", in.Action, "", "back", "forward", "reload"); err != nil {
		return nil, err
	}
	if (in.URL == "") == (in.Action == "") {
		return nil, errors.New("give a url, or the action back, forward or reload")
	}
	p, err := a.anyPage(ctx, in.Window)
	if err == nil {
		err = a.mayShow(ctx, p.Folders(), in.URL)
	}
	if err == nil {
		err = a.bind(ctx, p, in.URL)
	}
	if err != nil {
		return nil, err
	}
	var change page.Change
	switch in.Action {
	case "back":
		change, err = p.Back(ctx)
	case "forward":
		change, err = p.Forward(ctx)
	case "reload":
		change, err = p.Reload(ctx)
	default:
		change, err = p.Navigate(ctx, in.URL)
	}
	if err != nil {
		return nil, err
	}
	return a.arrived(change), nil
}

func navigateBack(ctx context.Context, a *agent, in backIn) (*answer, error) {
	return navigate(ctx, a, navigateIn{Action: "back", inWindow: in.inWindow})
}

// arrived is the answer to a navigation. It always names the page, also where the
// document stayed the same: for example after a download or a dialog.
func (a *agent) arrived(change page.Change) *answer {
	change.Navigated = true
	out := a.begin()
	out.changed(change)
	return out
}

func click(ctx context.Context, a *agent, in clickIn) (*answer, error) {
	if err := oneOf("button", in.Button, "", "left", "right", "middle"); err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := a.did(fmt.Sprintf("Clicked %s.", named(in.Element, in.Target)))
	return did(p.Act(ctx, p.Input().Click(in.Target, input.ClickOptions{Button: in.Button, Double: in.DoubleClick, Modifiers: in.Modifiers})))
}

func typeText(ctx context.Context, a *agent, in typeIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := a.did(fmt.Sprintf("Typed into %s.", named(in.Element, in.Target)))
	text := a.server.options.Secrets.Value(in.Text)
	change, err := p.Act(ctx, p.Input().Type(in.Target, text, input.TypeOptions{Slowly: in.Slowly, Submit: in.Submit, Secret: text != in.Text}))
	for _, h := range change.Held {
		a.server.options.Secrets.Learn(in.Text, h.Plain)
	}
	return did(change, err)
}

func evaluate(ctx context.Context, a *agent, in evaluateIn) (*answer, error) {
	file, err := a.outputFile(ctx, in.Filename, output.JSON)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("result of %s %s in %s", in.Function, in.Target, p.ID())
	if rest, further := a.restOf(what, in.partIn); further {
		out := a.begin()
		return out, a.part(out, in.partIn, nil, what, rest)
	}
	if in.Page > 1 { // the script is not run again
		return nil, errors.New("there is no such part of a result: call without page first")
	}
	value, change, err := p.Evaluate(ctx, in.Function, in.Target)
	if err != nil {
		return nil, err
	}
	a.adopt(change.NewPages)
	out := a.begin()
	switch {
	case value != nil:
		err = a.data(out, in.partIn, file, what, string(value), "value", value)
	case change.Dialog != nil || change.Paused != nil:
		out.addf("The script has not ended.")
	default:
		out.addf("The page went on to another document before the script had ended.")
	}
	out.changed(change)
	return out, err
}

// named is a target's name in an answer.
func named(element, target string) string {
	if element == "" {
		return target
	}
	return element
}
