package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMembers: text is a JSON object here exactly if it is one for encoding/json,
// except for duplicate keys and limits.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+7,0,true,false,null,{"b":{}}],"c":"\u00e4\"\n0123456789abcdef"}`, ` { } `, `{"a":01}`, `{"a":1.}`,
		`{"a":1e}`, `{"a":-}`, `{ "a" : [ 1 , { "b" : [ ] , "c" : { } , "d" : 2 } , "e" ] , "f" : { "g" : 1 } }`,
		`{"a":"0123456789` + "\n" + `"}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":tru}`, `{"a":1,}`, `{"a" 1}`, `{,}`,
		`{"a":[1,]}`, `{"a":[`, `{"a":"`, `{"a":1}{}`,
		`{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, `{"a":` +
			strings.Repeat(`[`, maxDepth-1) + strings.Repeat("]", maxDepth-1) + `}`,
		"{\"a\":\"\xff\x80\x1f\"}", "{\"a\":\"\x7f\u2028\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !utf8.Valid(b) {
			return // encoding/json repairs keys; no known key needs that
		}
		got := map[string]json.RawMessage{}
		err := Members(b, func(key string, value []byte) error { got[key] = value; return nil })
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(b, &want)
		if wantErr == nil && want == nil {
			wantErr = errors.New("null")
		}
		limit := err != nil && (strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "members") ||
			bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) > maxDepth)
		if (err == nil) != (wantErr == nil) && !limit {
			t.Fatalf("%q: %v, encoding/json: %v", b, err, wantErr)
		}
		if err != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d members, want %d", b, len(got), len(want))
		}
		for key, value := range want {
			if string(got[key]) != string(value) {
				t.Errorf("%q: %q is %q, want %q", b, key, got[key], value)
			}
		}
	})
}
