package page

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // DecodeConfig reads the size of what the browser made
	_ "image/png"
	"math"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

const (
	defaultQuality = 80
	// maxSide is how many pixels a side of a picture has at most: Chromium draws no
	// more at once, and repeats or leaves out what is behind.
	maxSide = 16384
)

// Screenshot takes a picture of the viewport, the page or an element. A size
// limit is met by the browser's own scaling.
func (p *Page) Screenshot(ctx context.Context, opts ScreenshotOptions) (Image, error) {
	const doing = "taking a screenshot"
	setDefault(&opts.Format, "png")
	setDefault(&opts.Quality, defaultQuality)
	params := cdppage.CaptureScreenshotParams{OptimizeForSpeed: new(true)}
	switch opts.Format {
	case "png":
		params.Format = cdppage.CaptureScreenshotFormatPng
	case "jpeg", "jpg":
		opts.Format, params.Format = "jpeg", cdppage.CaptureScreenshotFormatJpeg
		params.Quality = new(int64(opts.Quality))
	case "webp":
		params.Format = cdppage.CaptureScreenshotFormatWebp
		params.Quality = new(int64(opts.Quality))
	default:
		return Image{}, fmt.Errorf("%s: unknown format %q: png, jpeg and webp are known", doing, opts.Format)
	}
	if opts.Target != "" && (opts.FullPage || opts.Clip != nil) {
		return Image{}, fmt.Errorf("%s: an element and another part of the page cannot both be asked for", doing)
	}
	if c := opts.Clip; c != nil && (c.Width <= 0 || c.Height <= 0) {
		return Image{}, fmt.Errorf("%s: the clip has no size", doing)
	}
	if opts.Quality < 1 || opts.Quality > 100 {
		return Image{}, fmt.Errorf("%s: quality %d: want 1 to 100", doing, opts.Quality)
	}
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err != nil {
		return Image{}, err
	}
	defer end()
	img, err := p.capture(ctx, opts, params)
	if err != nil {
		return Image{}, p.explain(err, doing)
	}
	return img, nil
}

func (p *Page) capture(ctx context.Context, opts ScreenshotOptions, params cdppage.CaptureScreenshotParams) (Image, error) {
	if err := p.emulateFocus(ctx); err != nil {
		return Image{}, err
	}
	var place frame.Rect
	if opts.Target != "" { // before anything is measured, since it scrolls
		e, err := p.frames.Find(ctx, opts.Target)
		if err != nil {
			return Image{}, err
		}
		defer e.Release(ctx)
		if place, err = p.frames.Show(ctx, e); err != nil {
			return Image{}, err
		}
	}
	early, err := p.captureEarly(ctx, opts, params)
	if err != nil {
		return Image{}, err
	}
	l, err := p.frames.Layout(ctx)
	if err != nil {
		return Image{}, err
	}
	part := frame.Rect{X: l.View.PageX, Y: l.View.PageY, Width: l.View.ClientWidth, Height: l.View.ClientHeight}
	switch {
	case opts.Target != "":
		part = l.InPage(place)
		params.CaptureBeyondViewport = new(true)
	case opts.FullPage:
		part = frame.Rect{Width: l.Content.Width, Height: l.Content.Height}
		params.CaptureBeyondViewport = new(true)
	}
	cropped := false
	if opts.Clip != nil {
		c := opts.Clip.within(part.Width, part.Height)
		if c.Width <= 0 || c.Height <= 0 {
			what := "viewport"
			if opts.FullPage {
				what = "page"
			}
			return Image{}, fmt.Errorf("the clip is outside of the %s, which has %.0f×%.0f CSS pixels", what, part.Width, part.Height)
		}
		cropped = c != *opts.Clip
		part = frame.Rect{X: part.X + c.X, Y: part.Y + c.Y, Width: c.Width, Height: c.Height}
	}
	scaling := scale(part.Width, part.Height, opts.MaxWidth, opts.MaxHeight) / l.Density
	if opts.Device {
		scaling = scale(part.Width*l.Density, part.Height*l.Density, opts.MaxWidth, opts.MaxHeight)
	}
	asked := Clip{Width: part.Width, Height: part.Height}
	longest := math.Floor(maxSide / scaling / l.Density)
	part.Width, part.Height = min(part.Width, longest), min(part.Height, longest)
	img := Image{
		Format: opts.Format, Cropped: cropped,
		Of: asked, Cut: part.Width < asked.Width || part.Height < asked.Height,
		Width: int(math.Round(part.Width * scaling * l.Density)), Height: int(math.Round(part.Height * scaling * l.Density)),
	}
	whole := isViewport(opts) && scaling == 1 && l.Density == 1 && l.View.Scale == 1
	if early != nil {
		defer p.kick(ctx)()
		var r cdppage.CaptureScreenshotResult
		if err := early.Wait(ctx, &r); err != nil {
			return Image{}, err
		}
		width, height := sizeOf(r.Data)
		if whole && width == img.Width && height == img.Height {
			img.Data = r.Data
			return img, nil
		}
		p.shots.Store(clipped)
	} else if whole {
		p.shots.CompareAndSwap(unknown, entire)
	}
	params.Clip = l.Clip(part, scaling)
	r, err := p.captureFrame(ctx, params)
	if err != nil {
		return Image{}, err
	}
	img.Data = r.Data
	if width, height := sizeOf(r.Data); width > 0 {
		img.Width, img.Height = width, height
	}
	return img, nil
}

// within is the part of a clip that is inside of something of that size.
func (c Clip) within(width, height float64) Clip {
	left, top := max(c.X, 0), max(c.Y, 0)
	return Clip{X: left, Y: top, Width: min(c.X+c.Width, width) - left, Height: min(c.Y+c.Height, height) - top}
}

// isViewport says whether a picture is of all that the page shows now.
func isViewport(opts ScreenshotOptions) bool {
	return opts.Target == "" && !opts.FullPage && opts.Clip == nil
}

// What Page.shots says of pictures of the viewport.
const (
	unknown = iota
	entire  // they need no clip: the last one was of the size that the browser gives by itself
	clipped // they need one: the screen is dense, they are made smaller, or a scroll bar is left out
)

// captureEarly starts to capture the viewport before its size is known, where it
// was right without a clip before: a command that comes too late for a frame
// waits for the next one, 17 ms. The picture's size is still to be checked. Nil:
// nothing was started.
func (p *Page) captureEarly(ctx context.Context, opts ScreenshotOptions, params cdppage.CaptureScreenshotParams) (*cdp.Pending, error) {
	if !isViewport(opts) || p.shots.Load() != entire || opts.Format == "webp" { // whose size is not read
		return nil, nil
	}
	return p.session.Start(ctx, cdppage.CommandCaptureScreenshot, params)
}

// sizeOf is an image's size in pixels; 0 for webp, which the standard library
// does not read.
func sizeOf(data []byte) (width, height int) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0
	}
	return config.Width, config.Height
}

// frameKick is how long a capture may wait for the browser to draw before it is
// told to; each further time may take twice as long.
const frameKick = 150 * time.Millisecond

// captureFrame captures what the page draws.
func (p *Page) captureFrame(ctx context.Context, params cdppage.CaptureScreenshotParams) (cdppage.CaptureScreenshotResult, error) {
	defer p.kick(ctx)()
	return protocol.Call(ctx, p.session, cdppage.CaptureScreenshot, params)
}

// kick sees to it that a capture gets its frame, until the function that it
// returns is called. A tab that went to the background since it was last acted on
// may draw nothing until it is told to. And what a tab in the background has
// drawn is copied when the window is drawn, which nothing may cause while the tab
// in front is at rest: a capture of the window, not of the page's surface, does.
// Its own picture is of no use and not waited for.
func (p *Page) kick(ctx context.Context) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		for wait := frameKick; ; wait *= 2 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
			p.draw(ctx)
			window := cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatJpeg, Quality: new(int64(1)), FromSurface: new(false)}
			_, _ = p.session.Start(ctx, cdppage.CommandCaptureScreenshot, window)
		}
	}()
	return stop
}

func scale(width, height float64, maxWidth, maxHeight int) float64 {
	s := 1.0
	if maxWidth > 0 && width > float64(maxWidth) {
		s = float64(maxWidth) / width
	}
	if maxHeight > 0 && height*s > float64(maxHeight) {
		s = float64(maxHeight) / height
	}
	return s
}
