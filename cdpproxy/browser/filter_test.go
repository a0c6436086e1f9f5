package browser

import (
	"fmt"
	"testing"
)

// A filter includes the types that Chromium's would. Chromium takes an empty type for no target's,
// and a missing one for each.
func TestFilter(t *testing.T) {
	for params, want := range map[string]string{
		``:                              "page",
		`{"filter":[]}`:                 "",
		`{"filter":[{}]}`:               "page tab",
		`{"filter":[{"type":""}]}`:      "",
		`{"filter":[{"type":"tab"}]}`:   "tab",
		`{"filter":[{"Type":"tab"}]}`:   "page tab", // of an unknown name
		`{"filter":[{"exclude":true}]}`: "",
		`{"filter":[{"type":"","exclude":true},{}]}`:     "page tab",
		`{"filter":[{"type":"page","exclude":true},{}]}`: "tab",
	} {
		var p struct {
			Filter Filter `json:"filter"`
		}
		if err := DecodeParams([]byte(params), &p); err != nil {
			t.Fatal(params, err)
		}
		var got []string
		for _, kind := range []string{"page", "tab"} {
			if p.Filter.OrDefault().Matches(kind) {
				got = append(got, kind)
			}
		}
		if fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("%s includes %q, want %s", params, got, want)
		}
	}
}
