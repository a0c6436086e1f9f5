package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// FuzzCommand: what is accepted is read as encoding/json reads it, and what is sent
// about it is one JSON message without the terminator of a pipe.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"Page.enable","params":{"a":[1,"\ud800"]},"sessionId":"S"}`,
		`{"sessionId":"A","params":{"id":5,"sessionId":"B"},"method":"X","id":-7}`,
		`{"id":1.0,"method":"\u0058","params":null}`, `{"id":1e1,"method":"\u0007\u0000\u2028","sessionId":"\u0007"}`,
		`{"id":1,"method":"X"}` + "\x00" + `{"id":2,"method":"Y"}`, "{\"id\":1,\"method\":\"\xff\"}",
		`{"id":1,"id":2,"method":"X"}`, `{"id":1,"\u0069d":2,"method":"X"}`, `{"METHOD":"x","id":2}`,
		`{"Id":"","method":"X","id":7}`, `{"id":1,"method":"X","sessionId":"\"}"}`,
		`[{"id":1,"method":"X"}]`, `{"id":1,"method":"X","params":[]}`, `{"id":1}x`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseCommand(text)
		if err == nil {
			err = m.Normalize()
		}
		if err != nil {
			return
		}
		// Into a map: the names of a struct's fields would also match in other case.
		var arguments map[string]json.RawMessage
		if err := json.Unmarshal(text, &arguments); err != nil {
			t.Fatalf("%q is taken for a message: %v", text, err)
		}
		read := func(key string, result any) {
			if value := arguments[key]; value != nil && json.Unmarshal(value, result) != nil {
				t.Fatalf("%q is taken for a message, with %s as %s", text, value, key)
			}
		}
		var id float64
		var method, session string
		read("id", &id)
		read("method", &method)
		read("sessionId", &session)
		params := string(arguments["params"])
		if params == "null" {
			params = ""
		}
		if string(m.ID) != fmt.Sprint(int64(id)) || m.Method != method || m.Session != session ||
			string(m.Params) != params {
			t.Fatalf("%q is read as %+v", text, m)
		}
		var sent Message
		if out := m.Encode(); strings.Contains(string(out), "\x00") || !json.Valid(out) ||
			json.Unmarshal(out, &sent) != nil || sent.Method != m.Method || sent.Session != m.Session ||
			string(sent.Params) != string(m.Params) {
			t.Fatalf("%q is sent as %q", text, out)
		}
	})
}
