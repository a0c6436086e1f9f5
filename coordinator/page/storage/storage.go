// Package storage reads and changes what sites have stored in the browser of one
// page: cookies, local storage and session storage, and the cookies and local storage
// of all origins together, in the form of Playwright's storage state files.
package storage

import (
	"context"
	_ "embed"
	"log/slog"
	"time"

	"browser-coordinator/coordinator/cdp"
)

// Page is what this package needs of a page.
type Page interface {
	ID() string
	URL() string
	// KnownURLs are the addresses that the page and its frames show or have shown.
	KnownURLs() []string
	// Run runs an operation on the page and explains its error; limit 0: that of any call.
	Run(ctx context.Context, doing string, limit time.Duration, do func(context.Context) error) error
	// CallFunction calls a function in our world of the main document, with one
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

// Storage is what the sites of one page's browser context have stored.
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
