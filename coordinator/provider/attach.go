package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"browser-coordinator/coordinator/cdp"
)

// attach is the source for the browser at a CDP address: ws or wss, or http or https, whose
// /json/version names the browser. The browser is not ended, only left.
func attach(a Address, log *slog.Logger) *source {
	return &source{
		name:    "the browser at " + a.Place(),
		open:    func(ctx context.Context) (*connection, error) { return a.attach(ctx, log) },
		release: func() error { return nil },
	}
}

func (a Address) attach(ctx context.Context, log *slog.Logger) (*connection, error) {
	target, err := cdp.Resolve(ctx, a.options(), a.url.String())
	if err != nil {
		return nil, a.failure(nil, err)
	}
	c, err := connect(ctx, a, target, nil, log)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Status == http.StatusNotFound &&
		strings.HasPrefix(a.url.Scheme, "ws") {
		err = fmt.Errorf("%w. A browser's own debugging port is given with http, not ws: it is asked for the path", err)
	}
	return c, err
}
