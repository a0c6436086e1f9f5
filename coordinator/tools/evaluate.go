package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type evaluateIn struct {
	Function string `json:"function" jsonschema:"() => {…}; (element) => {…} with target"`
	Target   string `json:"target,omitempty" jsonschema:"ref or selector"`
	answer.Paged
	inPage
}

func (s *Server) addEvaluateTools() {
	add(s, withData(mutates("browser_evaluate", "Evaluate", "Run JavaScript in the page and return its value as JSON")), evaluate)
}

func evaluate(ctx context.Context, c *agent.Call, in evaluateIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.JSON)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("result of %s %s in %s", in.Function, in.Target, p.ID())
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	if in.Page > 1 { // the script is not run again
		return errors.New("there is no such part of a result: call without page first")
	}
	value, change, err := p.Evaluate(ctx, in.Function, in.Target)
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
		err = c.Out.Data(in.Paged, file, what, text, "value", value)
	case change.Dialog != nil || change.Paused != nil:
		c.Out.Addf("The script has not ended.")
	default:
		c.Out.Addf("The page went on to another document before the script had ended.")
	}
	c.Changed(change)
	return err
}
