package page

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // DecodeConfig reads the size of what the browser made
	_ "image/png"
	"math"
	"strconv"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
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
	early, err := p.captureEarly(ctx, opts, params)
	if err != nil {
		return Image{}, err
	}
	ratio, err := p.session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: "devicePixelRatio", Silent: new(true)})
	if err != nil {
		return Image{}, err
	}
	metrics, err := protocol.Call(ctx, p.session, cdppage.GetLayoutMetrics, protocol.Empty{})
	if err != nil {
		return Image{}, err
	}
	view, content := metrics.CSSVisualViewport, metrics.CSSContentSize
	clip := &cdppage.Viewport{X: view.PageX, Y: view.PageY, Width: view.ClientWidth, Height: view.ClientHeight, Scale: 1}
	switch {
	case opts.Target != "":
		r, err := p.place(ctx, opts.Target)
		if err != nil {
			return Image{}, err
		}
		clip.X, clip.Y, clip.Width, clip.Height = r.X+view.PageX, r.Y+view.PageY, r.Width, r.Height
		params.CaptureBeyondViewport = new(true)
	case opts.FullPage:
		clip.X, clip.Y, clip.Width, clip.Height = 0, 0, content.Width, content.Height
		params.CaptureBeyondViewport = new(true)
	}
	cropped := false
	if opts.Clip != nil {
		c := opts.Clip.within(clip.Width, clip.Height)
		if c.Width <= 0 || c.Height <= 0 {
			what := "viewport"
			if opts.FullPage {
				what = "page"
			}
			return Image{}, fmt.Errorf("the clip is outside of the %s, which has %.0f×%.0f CSS pixels", what, clip.Width, clip.Height)
		}
		cropped = c != *opts.Clip
		clip.X, clip.Y, clip.Width, clip.Height = clip.X+c.X, clip.Y+c.Y, c.Width, c.Height
		params.CaptureBeyondViewport = new(true)
	}
	density, err := deviceDensity(ctx, ratio)
	if err != nil {
		return Image{}, err
	}
	if opts.Device {
		clip.Scale = scale(clip.Width*density, clip.Height*density, opts.MaxWidth, opts.MaxHeight)
	} else {
		clip.Scale = scale(clip.Width, clip.Height, opts.MaxWidth, opts.MaxHeight) / density
	}
	asked := Clip{Width: clip.Width, Height: clip.Height}
	longest := math.Floor(maxSide / clip.Scale / density)
	clip.Width, clip.Height = min(clip.Width, longest), min(clip.Height, longest)
	img := Image{
		Format: opts.Format, Cropped: cropped,
		Of: asked, Cut: clip.Width < asked.Width || clip.Height < asked.Height,
		Width: int(math.Round(clip.Width * clip.Scale * density)), Height: int(math.Round(clip.Height * clip.Scale * density)),
	}
	whole := isViewport(opts) && clip.Scale == 1 && density == 1 && view.Scale == 1
	if early != nil {
		kick := time.AfterFunc(frameKick, func() { p.draw(ctx) })
		defer kick.Stop()
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
	params.Clip = clip
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

// frameKick is how long a capture may wait for the browser to draw.
const frameKick = 150 * time.Millisecond

// captureFrame captures what the page draws. A tab that went to the background
// since it was last acted on may draw nothing until it is told to.
func (p *Page) captureFrame(ctx context.Context, params cdppage.CaptureScreenshotParams) (cdppage.CaptureScreenshotResult, error) {
	kick := time.AfterFunc(frameKick, func() { p.draw(ctx) })
	defer kick.Stop()
	return protocol.Call(ctx, p.session, cdppage.CaptureScreenshot, params)
}

// deviceDensity is how many pixels of the screen a CSS pixel has. The page tells
// it, so that what cannot be is not believed.
func deviceDensity(ctx context.Context, ratio *cdp.Pending) (float64, error) {
	var r runtime.EvaluateResult
	if err := ratio.Wait(ctx, &r); err != nil {
		return 0, err
	}
	density := 1.0
	if r.Result != nil {
		if n, err := strconv.ParseFloat(string(r.Result.Value), 64); err == nil && n >= 0.1 && n <= 10 {
			density = n
		}
	}
	return density, nil
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
