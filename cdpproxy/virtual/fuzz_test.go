package virtual

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
)

// FuzzMessage: what is accepted as a message is one, and is read as encoding/json
// reads it. What is sent about it to the page or the client is JSON again.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"method":"Page.enable","params":{"a":[1,"\ud800"]},"sessionId":"S"}`, `{"id":-9223372036854775808,"method":"x"}`,
		`{"id":1e1,"method":"\u0007\u0000\u2028","sessionId":"\u0007"}`, `{"METHOD":"x","id":2}`, `{"id":1,"id":2}`, `{"id":1,"method":null,"params":null}`,
		"{\"id\":1,\"method\":\"\xff\",\"params\":{\"\xff\":\"\xed\xa0\x80\"}}", `{"method":"A.b","params":{},"result":{},"error":{"code":1,"message":"m"}}`, `[]`, `{"id":1}x`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var said incoming
		_ = jsonv2.Unmarshal(text, &said, lenient) // a page's text must not crash
		var m command
		if jsonv2.Unmarshal(text, &m, lenient) != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q is taken for a message: %v", text, err)
		}
		if utf8.Valid(text) {
			for key, got := range map[string]string{"method": m.Method, "sessionId": m.Session} {
				var s string
				if raw := want[key]; raw != nil && json.Unmarshal(raw, &s) != nil || s != got {
					t.Errorf("%q: the %s is %q", text, key, got)
				}
			}
			if string(m.Params) != string(want["params"]) {
				t.Errorf("%q: params are %s", text, m.Params)
			}
		}
		if isInteger(m.ID) {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(want["id"])), 10, 64); err != nil || string(m.ID) != string(want["id"]) {
				t.Errorf("%q: the id is %s, %d", text, m.ID, n)
			}
			sayable(t, replyMessage(m.ID, m.Session, "result", empty))
		}
		sayable(t, commandMessage(1, m.Method, m.Params))
		sayable(t, eventMessage(m.Session, m.Method, m.Params))
		for _, method := range []string{"Emulation.setSensorOverrideEnabled", "Storage.overrideQuotaForOrigin"} {
			st, _, _ := settingOf(command{Method: method, Params: m.Params})
			sayable(t, commandMessage(1, st.reset, st.params()))
		}
	})
}

func sayable(t *testing.T, message []byte) {
	t.Helper()
	if !json.Valid(message) {
		t.Errorf("not JSON: %q", message)
	}
}
