package page

import (
	"context"
	"embed"
	"strings"
	"time"
)

//go:embed extra
var extras embed.FS

// extra is the text of a function that few sessions need: it is sent with each
// call, so that the library of all documents stays small.
func extra(name string) string {
	body, err := extras.ReadFile("extra/" + name + ".js")
	if err != nil {
		panic(err) // they are in the binary
	}
	return strings.TrimSpace(string(body))
}

// during bounds a call that reads or sets something, and explains its error.
func (p *Page) during(ctx context.Context, doing string, timeout time.Duration, do func(context.Context) error) error {
	ctx, end, err := p.begin(ctx, doing, timeout)
	if err != nil {
		return err
	}
	defer end()
	return p.explain(do(ctx), doing)
}
