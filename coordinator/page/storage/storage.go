// Package storage reads and changes the stored data of sites in the browser context of
// one page: cookies, local storage and session storage. It also reads and writes the
// cookies and local storage of all origins as Playwright's storage state.
package storage

import (
	"context"
	_ "embed"
	"log/slog"
	"time"

	"browser-coordinator/coordinator/cdp"
)

// Page is the part of a page that this package needs.
type Page interface {
	ID() string
	URL() string
	// KnownURLs are the URLs that the page and its frames show or have shown.
	KnownURLs() []string
	// Run runs an operation on the page and explains its error; limit 0: that of any call.
	Run(ctx context.Context, doing string, limit time.Duration, do func(context.Context) error) error
	// CallFunction calls a function in the isolated world of the main document, with one
	// argument, and decodes the JSON text that it returns.
	CallFunction(ctx context.Context, function string, argument, result any) error
}

// Options of a Storage; all but StateTimeout are required.
type Options struct {
	Conn    *cdp.Conn    // of the browser
	Session *cdp.Session // of the page
	Logger  *slog.Logger
	// StateTimeout bounds reading and restoring a whole storage state.
	StateTimeout time.Duration
}

// Storage is the stored data of the sites in one page's browser context.
type Storage struct {
	page Page
	opts Options
}

// New returns the storage of a page.
func New(page Page, opts Options) *Storage { return &Storage{page, opts} }

// itemsFunction works on the storage areas of the document that it runs in.
//
//go:embed items.js
var itemsFunction string
