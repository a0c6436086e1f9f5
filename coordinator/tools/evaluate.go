package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

type evaluateIn struct {
	Function string `json:"function" about:"() => {…}; (element) => {…} with target" is:"script"`
	Target   string `json:"target,omitempty" about:"ref or selector" is:"subject"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_evaluate", Title: "Evaluate", Description: "Run JavaScript in the page and return its value as JSON",
	Effect: Acts, Category: policy.Script,
	Shell:    []command{{Name: "eval", Args: "function [target]"}},
	Replaces: map[string]string{"browser_run_code_unsafe": "with function"},
	Returns:  "the value, then what changed",
	Notes: "`function` may also be an expression, statements, or a body with `return`. `page` is of the result " +
		"before: the script does not run again.\n\n" +
		"What JSON lacks becomes text: dates, errors, nodes (`<p id=\"x\">text`), `[cycle]`, `10n`. A `Map` with " +
		"strings as keys becomes an object, a `Set` a list.",
	Data:    "`value`",
	Example: `{"function": "() => document.title"}`,
}, calls[evaluateIn]{
	Aims: func(in evaluateIn) []input.Aim { return optional(in.Target) },
	Question: func(in evaluateIn, names []string) string {
		if len(names) == 0 {
			return ""
		}
		return "Run a script on " + names[0] + ": " + in.Function
	},
	Do: evaluate,
	Code: func(in evaluateIn, d *agent.Record) export.Step {
		if in.Target == "" {
			return code(javascript.Format("$.evaluate($)", d.Page,
				called(in.Function, "(async () => {\n"+in.Function+"\n})()")))
		}
		script := "async (element) => {\n" + in.Function + "\n}"
		if page.LooksLikeFunction(in.Function) {
			script = in.Function
		}
		return code(javascript.Format("$.evaluate((element, script) => (0, eval)(script)(element), $)", d.Elements[0],
			"("+script+")"))
	},
})

// optional is the aim of a tool that also works without a target.
func optional(target string) []input.Aim {
	if target == "" {
		return nil
	}
	return []input.Aim{{Target: target}}
}

func evaluate(ctx context.Context, c *agent.Call, in evaluateIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.JSON)
	if err != nil {
		return err
	}
	description := fmt.Sprintf("result of %s %s in %s", in.Function, in.Target, p.ID())
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	if in.Page > 1 { // the script is not run again
		return errors.New("there is no such part of a result: call without page first")
	}
	value, change, err := p.Evaluate(ctx, in.Function, in.Target, c.Bounds(ctx, p))
	if err != nil {
		return err
	}
	text := string(value)
	if text == string(page.Undefined) {
		value = json.RawMessage("null")
		if in.Filename != "" { // a JSON file
			text = "null"
		}
	}
	switch {
	case value != nil:
		err = c.Out.Data(in.Paged, file, description, text, "value", value)
	case change.Dialog != nil || change.Paused != nil:
		c.Out.Addf("The script has not ended.")
	default:
		c.Out.Addf("The page went on to another document before the script had ended.")
	}
	c.Changed(change)
	return err
}
