package page

import (
	"context"
	"embed"
	"strings"
	"time"
)

//go:embed extra
var extras embed.FS

// extra is the source of a rarely used function. Each call sends it, so that the library
// of all documents stays small.
func extra(name string) string {
	body, err := extras.ReadFile("extra/" + name + ".js")
	if err != nil {
		panic(err) // the binary embeds them
	}
	return strings.TrimSpace(string(body))
}

// during runs a call that reads or sets something, with a timeout, and explains its error.
func (p *Page) during(ctx context.Context, doing string, timeout time.Duration, do func(context.Context) error) error {
	ctx, end, err := p.begin(ctx, doing, timeout)
	if err != nil {
		return err
	}
	defer end()
	return p.explain(do(ctx), doing)
}
