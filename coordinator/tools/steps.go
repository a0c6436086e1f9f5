package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/catalog"
)

type stepsIn struct {
	// Steps have the member action. The others are the arguments of its tool.
	Steps []map[string]any `json:"steps"`
	inPage
}

// makeStep makes a step of a tool's arguments, and of the agent's claims in them.
type makeStep func(a *agent.Agent, arguments json.RawMessage, claims []string) (agent.Step, error)

// stepsSchema lists the arguments that most steps need. A step takes all of its tool's.
const stepsSchema = `{"type":"object","properties":{"steps":{"type":"array","items":{"type":"object","properties":{` +
	`"action":{"type":"string","description":"click, type, press, select, check, uncheck, hover, drag (target, to), wait, navigate, expect, dialog (accept, promptText)"},` +
	`"target":{"type":"string"},"text":{"type":"string","description":"to type, to wait for, or to expect within 5 s"},` +
	`"submit":{"type":"boolean"},"key":{"type":"string"},"values":{"type":"array","items":{"type":"string"}},"to":{"type":"string"},"url":{"type":"string"}},` +
	`"required":["action"],"additionalProperties":true}},"tab":{"type":"integer"},"window":{"type":"string"}},"required":["steps"],"additionalProperties":false}`

// stepAction is what a step's action stands for: a tool, and what its arguments are then.
type stepAction struct {
	tool  string
	adapt func(arguments map[string]any) map[string]any // nil: they are the tool's
}

var stepActions = map[string]stepAction{
	"click": {tool: "browser_click"}, "type": {tool: "browser_type"}, "press": {tool: "browser_press_key"},
	"select": {tool: "browser_select_option"}, "hover": {tool: "browser_hover"}, "drag": {tool: "browser_drag"},
	"navigate": {tool: "browser_navigate"}, "wait": {tool: "browser_wait_for"},
	"check": {"browser_fill_form", checkTo("true")}, "uncheck": {"browser_fill_form", checkTo("false")},
	"expect": {"browser_wait_for", inTime}, "dialog": {"browser_handle_dialog", inTime},
}

// stepAliases are other words for actions.
var stepAliases = map[string]string{"fill": "type", "goto": "navigate", "assert": "expect"}

// expectedWithin is how many seconds may pass until what a step expects is so.
const expectedWithin = 5

func inTime(arguments map[string]any) map[string]any {
	if arguments["time"] == nil && arguments["timeout"] == nil {
		arguments["time"] = expectedWithin
	}
	return arguments
}

func checkTo(value string) func(map[string]any) map[string]any {
	return func(arguments map[string]any) map[string]any {
		form := map[string]any{}
		for _, shared := range []string{"tab", "window"} {
			if given, ok := arguments[shared]; ok {
				form[shared] = given
				delete(arguments, shared)
			}
		}
		arguments["type"], arguments["value"] = "checkbox", value
		form["fields"] = []any{arguments}
		return form
	}
}

func (s *Server) addSteps() {
	tool := mutates("browser_steps", "Steps", "Do several actions, each with the arguments of its tool. Stops at an error or surprise (an unanswered dialog, another origin) and says what was not done")
	tool.InputSchema = json.RawMessage(stepsSchema)
	handle(s, tool, func(ctx context.Context, a *agent.Agent, in stepsIn) (*mcp.CallToolResult, any, error) {
		steps := make([]agent.Step, len(in.Steps))
		for i, given := range in.Steps {
			var err error
			if steps[i], err = s.step(a, given, in); err != nil {
				return nil, nil, fmt.Errorf("step %d: %w; nothing was done", i+1, err)
			}
		}
		if len(steps) == 0 {
			return nil, nil, errors.New("steps: give at least one, such as {\"action\": \"click\", \"target\": \"e1\"}")
		}
		return a.Steps(ctx, tool, steps), nil, nil
	})
}

// step makes a call of a step: of the same tool that an agent could call itself.
func (s *Server) step(a *agent.Agent, given map[string]any, in stepsIn) (step agent.Step, err error) {
	action, _ := given["action"].(string)
	action = cmp.Or(stepAliases[action], action)
	to, known := stepActions[action]
	for name, each := range stepActions {
		if !known && (each.adapt == nil || name == "dialog") && (action == each.tool || "browser_"+action == each.tool) {
			action, to, known = name, each, true
		}
	}
	if !known {
		return step, oneOf("action", action, slices.Sorted(maps.Keys(stepActions))...)
	}
	arguments := map[string]any{}
	if in.Window != "" {
		arguments["window"] = in.Window
	}
	if in.Tab != nil {
		arguments["tab"] = in.Tab
	}
	maps.Copy(arguments, given)
	delete(arguments, "action")
	name := action
	for _, key := range []string{"target", "text", "key", "url"} {
		if value, ok := arguments[key].(string); ok && name == action {
			name += " " + agent.Quoted(value)
		}
	}
	leaves := to.tool == "browser_navigate" || to.tool == "browser_wait_for" && arguments["url"] != nil
	if text, ok := arguments["text"]; ok && to.tool == "browser_select_option" && arguments["values"] == nil {
		arguments["values"] = text
		delete(arguments, "text")
	}
	if to.adapt != nil {
		arguments = to.adapt(arguments)
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return step, err
	}
	fitted, claims, err := catalog.Fitted(to.tool, encoded)
	if err == nil {
		step, err = s.steps[to.tool](a, fitted, claims)
	}
	step.Name, step.Leaves, step.Answers = name, leaves, to.tool == "browser_handle_dialog"
	return step, err
}
