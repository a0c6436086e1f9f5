package access

import (
	"encoding/json"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/policy"
)

// asException is the refusal of code as the result of code that threw it, for
// clients that do not hear a CDP error there; else nil. Playwright takes any for
// a navigation, tries again until its time is over, and never shows the text.
func asException(c *cdpproxy.Client, o policy.Operation, refused error) json.RawMessage {
	if c.Name != "Playwright" || o.Name != "Runtime.evaluate" && o.Name != "Runtime.callFunctionOn" {
		return nil
	}
	type object map[string]any
	b, err := json.Marshal(object{
		"result": object{"type": "undefined"},
		"exceptionDetails": object{
			"exceptionId": 0, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0,
			"exception": object{
				"type": "object", "subtype": "error", "className": "Error", "description": "Error: " + refused.Error(),
			},
		},
	})
	if err != nil {
		return nil // a map of strings and numbers always has a JSON form
	}
	return b
}
