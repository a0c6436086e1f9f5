package virtual_test

import (
	"strings"
	"testing"

	"browser-coordinator/internal/cdptest"
)

// TestCaptures: in the session that all clients share, their captures at the same moment leave the
// page as it was, and so does one whose client leaves.
func TestCaptures(t *testing.T) {
	s := newScene(t)
	first, session := s.client()
	second, others := s.client()
	before := first.Size(session)
	clips := []string{
		`{"clip":{"x":10,"y":10,"width":60,"height":40,"scale":1}}`,
		`{"clip":{"x":0,"y":0,"width":300,"height":200,"scale":0.4}}`,
		`{"captureBeyondViewport":true}`,
	}
	taken := func(m cdptest.Message) {
		t.Helper()
		if m.Error != nil || !strings.Contains(string(m.Result), `"data"`) {
			t.Fatalf("a picture: %+v", m.Error)
		}
	}
	for round := range 20 {
		one := first.Start(session, "Page.captureScreenshot", clips[round%len(clips)])
		another := second.Start(others, "Page.captureScreenshot", clips[(round+1)%len(clips)])
		taken(first.Answer(one))
		taken(second.Answer(another))
		if after := first.Size(session); after != before {
			t.Fatalf("round %d: the page was %s and is %s", round, before, after)
		}
		leaving, in := s.client()
		leaving.Start(in, "Page.captureScreenshot", clips[round%len(clips)])
		leaving.Leave()
		taken(first.Try(session, "Page.captureScreenshot", clips[0]))
		if after := first.Size(session); after != before {
			t.Fatalf("round %d: the page was %s and is %s", round, before, after)
		}
	}
	s.debug.mu.Lock()
	defer s.debug.mu.Unlock()
	if n := s.debug.most["Page.captureScreenshot"]; n != 1 {
		t.Errorf("%d captures at once", n)
	}
}
