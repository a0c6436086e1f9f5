package cdplog_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// TestGap: a recording marks where messages are missing. It can then be read, but not
// replayed.
func TestGap(t *testing.T) {
	sent := func(id string) cdplog.Line { return sent(`{"id":` + id + `,"method":"Page.enable"}`) }
	record := func(lines ...cdplog.Line) *bytes.Reader { return record(t, `{}`, `[]`, lines...) }
	gap := cdplog.Line{Time: time.Unix(1, 0).UTC(), Lost: 2000}
	var read []int
	if err := cdplog.Read(record(sent("1"), gap, sent("2")), func(l cdplog.Line) error {
		read = append(read, l.Lost)
		return nil
	}); err != nil || len(read) != 5 || read[3] != 2000 {
		t.Errorf("read %v, %v", read, err)
	}
	if _, err := cdplog.Open(record(sent("1"), sent("2"))); err != nil {
		t.Errorf("a whole recording: %v", err)
	}
	for name, lines := range map[string][]cdplog.Line{"first": {gap, sent("1")}, "middle": {sent("1"), gap, sent("2")}, "last": {sent("1"), gap}} {
		if _, err := cdplog.Open(record(lines...)); err == nil || !strings.Contains(err.Error(), "messages are missing in this recording") {
			t.Errorf("with a gap (%s): %v", name, err)
		}
	}
}
