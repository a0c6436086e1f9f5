package multiplex

import (
	"encoding/json"
	"fmt"
	"testing"
)

// FuzzIncoming: whatever a message of the browser contains, its id, its event and its
// session are found, and what is forwarded differs in them alone.
func FuzzIncoming(f *testing.F) {
	for _, value := range []string{
		`{}`, `",\"sessionId\":\"B\"}"`, `{"sessionId":"B"}`, `["b,"]`, `{"code":-32001,"message":"no"}`, `"\\"`, `1`,
		`{"x":"` + "\u2028" + `"}`, `{"a":{"sessionId":"C"}}`, `"{\"id\":5,"`,
	} {
		f.Add([]byte(value), int32(-2147483648))
		f.Add([]byte(value), int32(7))
	}
	f.Fuzz(func(t *testing.T, value []byte, id int32) {
		if !json.Valid(value) {
			return
		}
		for _, session := range []string{"", `,"sessionId":"0123456789ABCDEF"`} {
			response := fmt.Sprintf(`{"id":%d,"result":%s%s}`, id, value, session)
			m, err := parse([]byte(response))
			if err != nil || !m.reply || m.id != id || (m.session == "") != (session == "") {
				t.Fatalf("%s is read as %+v, %v", response, m, err)
			}
			for _, keeps := range []bool{true, false} {
				want := fmt.Sprintf(`{"id":12,"result":%s}`, value)
				if keeps {
					want = fmt.Sprintf(`{"id":12,"result":%s%s}`, value, session)
				}
				if got := string(m.withID([]byte("12"), keeps)); got != want {
					t.Fatalf("%s is forwarded as %s", response, got)
				}
			}
			event := fmt.Sprintf(`{"method":"A.b","params":%s%s}`, value, session)
			m, err = parse([]byte(event))
			if err != nil || m.reply || m.event != "A.b" || (m.session == "") != (session == "") {
				t.Fatalf("%s is read as %+v, %v", event, m, err)
			}
			if got, want := string(m.withoutSession()), fmt.Sprintf(`{"method":"A.b","params":%s}`,
				value); got != want {
				t.Fatalf("%s is forwarded as %s", event, got)
			}
		}
	})
}

// TestNoMessage: what Chromium does not send is an error.
func TestNoMessage(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", `{"id":1}`, `{"id":x,"result":{}}`, `{"method":"A`,
		` {"id":1,"result":{}}`} {
		if m, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
}
