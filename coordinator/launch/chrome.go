package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

const (
	// endTimeout bounds the end of a browser on this machine.
	endTimeout = 2 * time.Second
	// saveTimeout is that of one that saves its profile, on a busy machine too: killed before, it loses logins.
	saveTimeout = 10 * time.Second
)

// Chrome launches browsers on this machine.
type Chrome struct {
	Find    func() (string, error) // the browser's executable
	Options chrome.Options
	// NoDisplayAdvice is the next step for the user if there is no display for the
	// browser's window.
	NoDisplayAdvice string
	// AcceptCertificate reports whether an address needs no certificate that the browser trusts; nil: each needs one.
	AcceptCertificate func(url string) bool

	browser      *chrome.Browser
	certificates *certificates // nil: AcceptCertificate is, or no browser was opened
}

// Open implements Source.
func (c *Chrome) Open(ctx context.Context) (Browser, error) {
	executable, err := c.Find()
	if err != nil {
		return nil, err
	}
	options := c.Options
	options.Executable = executable
	if c.AcceptCertificate != nil {
		options.URL = "" // until its certificate can be accepted
	}
	browser, err := chrome.Launch(ctx, options)
	if errors.Is(err, chrome.ErrNoDisplay) {
		return nil, fmt.Errorf("%w: %s", err, c.NoDisplayAdvice)
	}
	if err != nil {
		return nil, err
	}
	c.browser = browser
	if c.AcceptCertificate != nil {
		if err := c.acceptCertificates(ctx); err != nil {
			return nil, errors.Join(err, c.End())
		}
	}
	return browser, nil
}

// acceptCertificates lets the browser ask, and opens its first page.
func (c *Chrome) acceptCertificates(ctx context.Context) (err error) {
	if c.certificates, err = acceptCertificates(ctx, c.browser.URL(), c.AcceptCertificate); err != nil {
		return err
	}
	if c.Options.URL == "" {
		return nil
	}
	return c.certificates.open(ctx, c.Options.URL)
}

// Kind implements Source.
func (c *Chrome) Kind() Kind { return Launched }

// Provider implements Source.
func (c *Chrome) Provider() string { return "" }

// Waiting implements Source: a launch takes a second.
func (c *Chrome) Waiting() string { return "" }

// End implements Source. If the profile stays, the browser gets Browser.close first: only
// then does it save what it has in memory, above all cookies. After a signal a headless
// browser drops them.
func (c *Chrome) End() error {
	if c.browser == nil {
		return nil
	}
	if c.certificates != nil {
		defer c.certificates.end()
	}
	if !c.Options.KeepsProfile() {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		return c.browser.Close(ctx)
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	if conn, err := cdp.Dial(ctx, c.browser.URL(), nil); err == nil {
		// The end of the browser is better evidence than its response, which may not come.
		_, _ = conn.Start(ctx, "Browser.close", nil)
		select {
		case <-c.browser.Done():
		case <-ctx.Done():
		}
		conn.Close()
	}
	return c.browser.Close(ctx)
}
