package snapshot_test

import (
	"testing"
	"time"

	"browser-coordinator/internal/pagetest"
)

// A text that is too long for a reader is in no locator, and is not compared with those of a large page.
func TestLocatorOfALongName(t *testing.T) {
	t.Parallel()
	p := pagetest.NewPage(t, pagetest.Connect(t))
	pagetest.Navigate(t, p, "data:text/html,<title>Long</title>")
	pagetest.Evaluate(t, p, `(document.body.innerHTML = "<button aria-label='" + "long ".repeat(300000) + "'>a</button>" +
		"<button>b</button>".repeat(20000), 1)`)
	start := time.Now()
	locator, err := p.Reader().Locator(t.Context(), "button >> nth=0")
	if text := locator.String(); err != nil || len(text) > 100 || time.Since(start) > 30*time.Second {
		t.Errorf("%.100q (%d bytes) after %v: %v", text, len(text), time.Since(start), err)
	}
}
