package pipe

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzCommand: for any message of a client, the browser gets one well-formed
// message with the server's id and session, or none.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"Page.enable"}`,
		`{"sessionId":"A","params":{"id":5,"sessionId":"B"},"method":"X","id":-7}`,
		`{"id":1.0,"method":"\u0058","params":null}`,
		`{"id":1,"method":"X"}` + "\x00" + `{"id":2,"method":"Y"}`,
		`{"id":1,"id":2,"method":"X"}`,
		`{"id":1,"\u0069d":2,"method":"X"}`,
		`{"id":1,"method":"X","sessionId":"\"}"}`,
		`{"id":1e0,"method":"X","params":{"a":"\ud800"}} `,
		`[{"id":1,"method":"X"}]`,
		`{"id":1,"method":"X","params":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, wrong := parseCommand(text)
		if wrong != nil {
			var m map[string]any
			if err := json.Unmarshal(failed(&c, wrong), &m); err != nil {
				t.Fatal(err)
			}
			return
		}
		const id, session = 77, "0123456789ABCDEF0123456789ABCDEF"
		out := appendCommand(nil, id, session, c.method, c.params)
		if bytes.IndexByte(out, 0) != len(out)-1 {
			t.Fatalf("more than one message: %q", out)
		}
		var sent, given map[string]json.RawMessage
		if err := json.Unmarshal(out[:len(out)-1], &sent); err != nil {
			t.Fatalf("%v: %q", err, out)
		}
		if err := json.Unmarshal(text, &given); err != nil {
			t.Fatalf("taken, but not JSON: %v: %q", err, text)
		}
		if string(sent["id"]) != "77" || string(sent["sessionId"]) != `"`+session+`"` || !bytes.Equal(sent["method"], given["method"]) {
			t.Fatalf("%q became %q", text, out)
		}
		if string(given["params"]) == "null" {
			delete(given, "params")
		}
		if !bytes.Equal(sent["params"], given["params"]) {
			t.Fatalf("%q became %q", text, out)
		}
		for name := range sent {
			if !strings.Contains("id method params sessionId", name) {
				t.Fatalf("%q became %q", text, out)
			}
		}
	})
}

// FuzzIncoming: for any message of the browser, the id, the session and the event
// equal those that encoding/json finds. The forwarded message differs in them
// alone.
func FuzzIncoming(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"result":{},"sessionId":"A"}`,
		`{"id":1,"result":{"x":",\"sessionId\":\"B\"}"}}`,
		`{"id":1,"error":{"code":-32001,"message":"no"}}`,
		`{"method":"Target.attachedToTarget","params":{"sessionId":"A"},"sessionId":"B"}`,
		`{"method":"X","params":{"sessionId":"A"}}`,
		`{"sessionId":"A","method":"X","params":{}}`,
		`{"result":{},"sessionId":"A","id":12}`,
		` {"id" : 1 , "result" : {} , "sessionId" : "A" } `,
		`{"method":"X","params":"a,\"sessionId\":\"B\"}"}`,
		`{"id":1,"result":{"a":["b,"]},"sessionId":"\u0041"}`,
		`{"id":-2147483648,"result":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want struct {
			ID      *int32          `json:"id"`
			Session string          `json:"sessionId"`
			Method  string          `json:"method"`
			Result  json.RawMessage `json:"result"`
		}
		keys := map[string]json.RawMessage{}
		exact := json.Unmarshal(text, &keys) == nil && json.Unmarshal(text, &want) == nil
		for name := range keys { // not sent by Chromium, and special to encoding/json
			if !strings.Contains(" id method params result error sessionId ", " "+name+" ") {
				exact = false
			}
		}
		if !exact || bytes.Count(text, []byte("id")) > 4 || want.ID != nil && want.Method != "" {
			return
		}
		buf := append(make([]byte, headroom), text...)
		m, err := parseIncoming(buf)
		if err != nil {
			return
		}
		if m.session != want.Session || m.reply != (want.ID != nil) || m.reply && m.id != *want.ID || !m.reply && string(m.event) != want.Method {
			t.Fatalf("%q is read as id %d, event %q, session %q", text, m.id, m.event, m.session)
		}
		out := m.withoutSession()[headroom:]
		if m.reply {
			out = m.withID(-2147483648, m.session != "")
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q is forwarded as %q: %v", text, out, err)
		}
		if _, has := got["sessionId"]; has && m.session != "" || m.reply && string(got["id"]) != "-2147483648" || !bytes.Equal(got["result"], keys["result"]) || !bytes.Equal(got["params"], keys["params"]) {
			t.Fatalf("%q is forwarded as %q", text, out)
		}
	})
}
