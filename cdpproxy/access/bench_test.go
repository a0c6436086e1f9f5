package access

import (
	"context"
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/policy"
)

// anybody allows clients everything.
type anybody struct{ never chan struct{} }

func (a anybody) Access() (policy.State, <-chan struct{}) {
	return policy.State{Mode: policy.ModeFull}, a.never
}
func (a anybody) Ask(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{Allow: true}, nil
}

// BenchmarkJudge decodes and judges one mutating command, and reports it.
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
