package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/catalog"
)

// stepIn lists the arguments that most steps need. A step takes all of its tool's.
type stepIn struct {
	Action string   `json:"action"`
	Target string   `json:"target,omitempty"`
	Text   string   `json:"text,omitempty" about:"to type, wait for or expect within 5 s"`
	Submit bool     `json:"submit,omitempty"`
	Key    string   `json:"key,omitempty"`
	Values []string `json:"values,omitempty"`
	To     string   `json:"to,omitempty"`
	URL    string   `json:"url,omitempty"`

	arguments map[string]any
}

// Open implements [catalog.Open].
func (*stepIn) Open() {}

func (in *stepIn) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &in.arguments) }

type stepsIn struct {
	Steps []stepIn `json:"steps"`
	inPage
}

var _ = define(Tool{
	Name: "browser_steps", Title: "Steps",
	Description: "Do several actions, each with its tool's arguments. Stops at an error or surprise (a dialog, " +
		"another origin) and says what was not done",
	Difference: "theirs run code of their own for it",
	Effect:     Acts,
	complete: func(parameters *catalog.Parameter, all []*Tool) {
		var names []string
		for _, t := range all {
			for _, step := range t.Steps {
				name := step.Name
				if step.Usage != "" {
					name += " (" + step.Usage + ")"
				}
				names = append(names, name)
			}
		}
		parameters.Member("steps").Items.Member("action").Description = strings.Join(names, ", ")
	},
	Returns: "a line for each step, then what the last one changed",
	Notes: "Each step is a call of its tool, with the same permission, limits and secrets. All are checked before " +
		"the first one is done. `check` and `uncheck` are `browser_fill_form` with one field. `expect`, and the " +
		"dialog of `dialog`, have 5 s, or `time`.\n\n" +
		"A step is the last if it\n\n" +
		"- fails: the result is an error,\n" +
		"- opens a dialog that the next step does not answer, a file chooser, or a pause in the debugger,\n" +
		"- has its navigation refused, or its form not sent, or\n" +
		"- leads to another origin, unless it is `navigate`, `back`, `forward` or `reload`, or it or the next has a `url` to wait for.\n\n" +
		"An error of the page's own scripts is shown, and ends nothing: most are not the step's.",
	Example: `{"steps": [{"action": "click", "target": "button \"Order\""}, ` +
		`{"action": "type", "target": "textbox \"Coupon\"", "text": "TEA10", "submit": true}, ` +
		`{"action": "expect", "text": "Thank you"}]}`,
}, calls[stepsIn]{
	Handle: func(ctx context.Context, a *agent.Agent, in stepsIn) (*answer.Result, error) {
		steps := make([]agent.Request, len(in.Steps))
		for i, given := range in.Steps {
			var err error
			if steps[i], err = step(given.arguments, in); err != nil {
				return nil, fmt.Errorf("step %d: %w. Nothing was done", i+1, err)
			}
		}
		if len(steps) == 0 {
			return nil, errors.New("steps: give at least one, such as {\"action\": \"click\", \"target\": \"e1\"}")
		}
		return a.Steps(ctx, steps), nil
	},
})

// actionNamed is the action of that name, and its tool; nil: there is none. A tool's own name
// is one too, with or without browser_.
func actionNamed(name string) (*Tool, action) {
	name = strings.TrimPrefix(name, "browser_")
	for _, t := range All() {
		for _, a := range t.Steps {
			if a.Name == name || slices.Contains(a.Aliases, name) || a.Adapt == nil && t.Name == "browser_"+name {
				return t, a
			}
		}
	}
	return nil, action{}
}

// example is a step of the action, as JSON.
func (a action) example(t *Tool) string {
	arguments := strings.TrimPrefix(cmp.Or(a.Example, t.Example), "{")
	return fmt.Sprintf(`{"action": %q, %s`, a.Name, arguments)
}

// step makes a request of a step: of the same tool that an agent could call itself.
func step(values map[string]any, in stepsIn) (step agent.Request, err error) {
	word, _ := values["action"].(string)
	tool, action := actionNamed(word)
	if tool == nil {
		var known []string
		for _, t := range All() {
			for _, action := range t.Steps {
				known = append(known, action.Name)
			}
		}
		slices.Sort(known)
		return step, oneOf("action", word, known...)
	}
	arguments := map[string]any{}
	if in.Window != "" {
		arguments["window"] = in.Window
	}
	if in.Tab != nil {
		arguments["tab"] = in.Tab
	}
	maps.Copy(arguments, values)
	delete(arguments, "action")
	name := action.Name
	for _, key := range []string{"target", "text", "key", "url"} {
		if value, ok := arguments[key].(string); ok {
			name += " " + agent.Quoted(value)
			break
		}
	}
	if action.Adapt != nil {
		arguments = action.Adapt(arguments)
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return step, err
	}
	if step, err = tool.fit(encoded); err != nil {
		return step, fmt.Errorf("%w. For example: %s", err, action.example(tool))
	}
	step.Name = name
	return step, nil
}
