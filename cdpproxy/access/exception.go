package access

import (
	"encoding/json"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
)

// asException returns the denial of a script as the result of a script that threw
// it, for clients that ignore a CDP error there; else nil. Playwright takes any
// such error for a navigation, retries until its timeout, and never shows the text.
func asException(c *cdpproxy.Client, m *browser.Message, denied error) []byte {
	if c.Name != "Playwright" || m.Method != "Runtime.evaluate" && m.Method != "Runtime.callFunctionOn" {
		return nil
	}
	type object map[string]any
	b, err := json.Marshal(object{
		"result": object{"type": "undefined"},
		"exceptionDetails": object{
			"exceptionId": 0, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0,
			"exception": object{
				"type": "object", "subtype": "error", "className": "Error", "description": "Error: " + denied.Error(),
			},
		},
	})
	if err != nil {
		return nil // a map of strings and numbers can always be encoded
	}
	return b
}
