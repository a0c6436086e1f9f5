package main

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// TestGapInJSONLines: what programs read stays JSON where messages are missing,
// which cannot be brought about at will.
func TestGapInJSONLines(t *testing.T) {
	var out strings.Builder
	v := newTrafficView(&out, logFlags{json: true})
	if err := v.show(cdplog.Line{Time: time.Unix(1, 0).UTC(), Lost: 3}); err != nil || out.String() != `{"time":"1970-01-01T00:00:01Z","lost":3}`+"\n" {
		t.Errorf("%s, %v", out.String(), err)
	}
}
