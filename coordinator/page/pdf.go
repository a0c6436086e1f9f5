package page

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
)

// PDF prints the page.
func (p *Page) PDF(ctx context.Context) ([]byte, error) {
	var r cdppage.PrintToPDFResult
	err := p.during(ctx, "printing the page", p.browser.opts.NavigateTimeout, func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, p.session, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
		return err
	})
	return r.Data, err
}
