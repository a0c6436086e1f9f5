package page

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/emulation"
)

// Resize makes the viewport that many CSS pixels large, for as long as this
// connection lives; the browser's window stays as it is.
func (p *Page) Resize(ctx context.Context, width, height int) (Change, error) {
	if width < 1 || height < 1 {
		return Change{}, fmt.Errorf("a viewport of %d by %d is not possible", width, height)
	}
	return p.act(ctx, "resizing", p.browser.opts.CallTimeout, func(ctx context.Context) error {
		return p.session.Call(ctx, emulation.CommandSetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height)}, nil)
	})
}
