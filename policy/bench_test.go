package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkCommand: the cost in addition to reading a message. The last message is as
// large as Playwright's scripts for a page.
func BenchmarkCommand(b *testing.B) {
	for name, c := range map[string]struct{ method, params string }{
		"reads":  {"Page.getFrameTree", `{}`},
		"input":  {"Input.dispatchMouseEvent", `{"type":"mouseMoved","x":1,"y":1}`},
		"short":  {"Runtime.evaluate", `{"expression":"1+1","returnByValue":true}`},
		"script": {"Runtime.evaluate", `{"expression":"` + strings.Repeat("f(); ", 20_000) + `","returnByValue":true}`},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			params := json.RawMessage(c.params)
			for b.Loop() {
				Command(c.method, params)
			}
		})
	}
}
