// Package storage reads and changes the stored data of sites in the browser context of
// one page: cookies, local storage and session storage. It also reads and writes the
// cookies and local storage of all origins as Playwright's storage state.
package storage

import (
	"context"
	_ "embed"
	"log/slog"
	"time"

	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Options of a Storage; all but StateTimeout are required.
type Options struct {
	Run     lifecycle.Run
	Conn    *cdp.Conn    // of the browser
	ID      target.ID    // of the page
	Session *cdp.Session // of the page itself
	Frames  *frame.Tree
	Network *history.Network
	Logger  *slog.Logger
	// StateTimeout bounds reading and restoring a whole storage state.
	StateTimeout time.Duration
}

// Storage is the stored data of the sites in one page's browser context.
type Storage struct{ opts Options }

// New returns the storage of a page.
func New(opts Options) *Storage { return &Storage{opts} }

// itemsFunction works on the storage areas of the document that it runs in.
//
//go:embed items.js
var itemsFunction string

// call calls itemsFunction in the page's main document.
func (s *Storage) call(ctx context.Context, argument map[string]any, result any) error {
	return s.opts.Frames.Run(ctx, s.opts.Frames.Main(), itemsFunction, argument, result)
}
