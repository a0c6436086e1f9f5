package access

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy"
)

// BenchmarkClassify: what is added to reading a message; the last is as large as
// what Playwright puts into a page.
func BenchmarkClassify(b *testing.B) {
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
				Classify(c.method, params)
			}
		})
	}
}

// anybody lets clients do everything.
type anybody struct{ never chan struct{} }

func (a anybody) Access() (State, <-chan struct{})              { return State{Mode: Full}, a.never }
func (a anybody) Ask(context.Context, Question) (Answer, error) { return Answer{Allow: true}, nil }

// BenchmarkJudge reads and judges one act, and tells of it.
func BenchmarkJudge(b *testing.B) {
	r := NewRule(anybody{make(chan struct{})}, &RuleOptions{Activity: func(Entry) {}})
	defer r.Close()
	text := []byte(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1","returnByValue":true}}`)
	c := &cdpproxy.Client{}
	b.ReportAllocs()
	for b.Loop() {
		m, err := cdpproxy.ParseCommand(text)
		if err != nil {
			b.Fatal(err)
		}
		m.Client = c
		r.Judge(m)
	}
}
