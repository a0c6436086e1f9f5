package capture

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/page/frame"
)

const (
	defaultQuality = 80
	// maxSide bounds a side of an image in pixels: Chromium draws no more at once, and
	// repeats or omits the rest.
	maxSide = 16384
)

// Options of a screenshot.
type Options struct {
	Target    string // only this element
	FullPage  bool   // the whole page, not the viewport
	Clip      *Clip  // only this part of the viewport, or of the full page
	Device    bool   // a pixel of the screen is one of the image; else a CSS pixel is
	Format    string // png (default), jpeg or webp
	Quality   int    // of jpeg and webp, 1 to 100; 0 means 80
	MaxWidth  int    // the browser scales down to fit; 0: no limit
	MaxHeight int    // likewise
	// Top: of an area that is too tall for MaxHeight, capture only its top.
	Top bool
}

// Clip is a part of a page, in CSS pixels.
type Clip struct{ X, Y, Width, Height float64 }

// Image is a screenshot.
type Image struct {
	Data   []byte
	Format string
	Width  int // pixels of the image
	Height int
	// Area is the requested area of the page, in CSS pixels.
	Area Clip
	// Part is what of it the image has, and View is the viewport, in the page too.
	Part, View frame.Rect
	// Cropped reports that a part of the clip was outside and is not in the image. Cut
	// reports that the requested area is longer than an image can be.
	Cropped, Truncated bool
}

// Scale is how many pixels of the image a CSS pixel has.
func (i *Image) Scale() float64 { return float64(i.Width) / i.Part.Width }

// Screenshot captures the viewport, the page or an element. The browser scales the
// image to a size limit.
func (s *Screen) Screenshot(ctx context.Context, opts Options) (Image, error) {
	const doing = "taking a screenshot"
	opts.Format, opts.Quality = cmp.Or(opts.Format, "png"), cmp.Or(opts.Quality, defaultQuality)
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
		return Image{}, fmt.Errorf("%s: give an element or a part of the page, not both", doing)
	}
	if c := opts.Clip; c != nil && (c.Width <= 0 || c.Height <= 0) {
		return Image{}, fmt.Errorf("%s: the clip has no size", doing)
	}
	if opts.Quality < 1 || opts.Quality > 100 {
		return Image{}, fmt.Errorf("%s: quality %d: want 1 to 100", doing, opts.Quality)
	}
	var img Image
	timeout := time.Duration(0)
	if opts.FullPage {
		timeout = fullPageTimeout
	}
	err := s.run(ctx, doing, timeout, func(ctx context.Context) (err error) {
		img, err = s.capture(ctx, opts, params)
		return err
	})
	return img, err
}

func (s *Screen) capture(ctx context.Context, opts Options, params cdppage.CaptureScreenshotParams) (Image, error) {
	if err := s.EmulateFocus(ctx); err != nil {
		return Image{}, err
	}
	var element frame.Rect
	if opts.Target != "" { // before any measurement, because it scrolls
		var err error
		if element, err = s.showElement(ctx, opts.Target); err != nil {
			return Image{}, err
		}
	}
	l, err := s.frames.Layout(ctx)
	if err != nil {
		return Image{}, err
	}
	img, scaling, err := opts.plan(l, element)
	if err != nil {
		return Image{}, err
	}
	// Capturing beyond the viewport makes frames redraw, and may be too early for them.
	if opts.FullPage || opts.Target != "" && !frame.Rect(img.Area).In(img.View) {
		params.CaptureBeyondViewport = new(true)
	}
	params.Clip = l.Clip(img.Part, scaling)
	r, err := s.captureFrame(ctx, params)
	if err != nil {
		return Image{}, err
	}
	img.Data = r.Data
	if width, height := sizeOf(r.Data); width > 0 {
		img.Width, img.Height = width, height
	}
	return img, nil
}

// showElement scrolls a target into view, and returns its place in the viewport.
func (s *Screen) showElement(ctx context.Context, target string) (frame.Rect, error) {
	e, err := s.frames.Find(ctx, target)
	if err != nil {
		return frame.Rect{}, err
	}
	defer e.Release(ctx)
	place, err := s.frames.Place(ctx, e, "center")
	if err == nil && e.Session != s.session {
		err = s.frames.Run(ctx, e.Frame, awaitDrawn, nil, nil)
	}
	return place, err
}

// plan returns the image without its data, and how many pixels of it a pixel of the screen has.
func (o *Options) plan(l frame.Layout, element frame.Rect) (img Image, scaling float64, err error) {
	part := frame.Rect{X: l.View.PageX, Y: l.View.PageY, Width: l.View.ClientWidth, Height: l.View.ClientHeight}
	img = Image{Format: o.Format, View: l.InPage(frame.Rect{Width: part.Width, Height: part.Height})}
	switch {
	case o.Target != "":
		part = l.InPage(element)
	case o.FullPage:
		part = frame.Rect{Width: l.Content.Width, Height: l.Content.Height}
	}
	if o.Clip != nil {
		c := o.Clip.intersect(part.Width, part.Height)
		if c.Width <= 0 || c.Height <= 0 {
			description := "viewport"
			if o.FullPage {
				description = "page"
			}
			return img, 0, fmt.Errorf("the clip is outside of the %s, which has %.0f×%.0f CSS "+
				"pixels", description, part.Width, part.Height)
		}
		img.Cropped = c != *o.Clip
		part = frame.Rect{X: part.X + c.X, Y: part.Y + c.Y, Width: c.Width, Height: c.Height}
	}
	img.Area = Clip(part)
	if o.Top && o.MaxHeight > 0 {
		limit := float64(o.MaxHeight) / scale(part.Width, 1, o.MaxWidth, 0)
		if part.Height > limit*tooTall {
			part.Height = math.Floor(limit)
		}
	}
	scaling = scale(part.Width, part.Height, o.MaxWidth, o.MaxHeight) / l.Density
	if o.Device {
		scaling = scale(part.Width*l.Density, part.Height*l.Density, o.MaxWidth, o.MaxHeight)
	}
	longest := math.Floor(maxSide / scaling / l.Density)
	part.Width, part.Height = min(part.Width, longest), min(part.Height, longest)
	img.Part, img.Truncated = part, part.Width < img.Area.Width || part.Height < img.Area.Height
	img.Width = int(math.Round(part.Width * scaling * l.Density))
	img.Height = int(math.Round(part.Height * scaling * l.Density))
	return img, scaling, nil
}

// awaitDrawn waits until a frame of another process has drawn what was scrolled into view:
// an image of the page has the last drawn state of such a frame. A frame that is not drawn,
// as in a background tab, is not waited for.
const awaitDrawn = `() => new Promise((done) => {
  const late = setTimeout(done, 1000);
  requestAnimationFrame(() => requestAnimationFrame(() => { clearTimeout(late); done(); }));
})`

// tooTall is how much taller than it may be an area is made to fit rather than cut.
const tooTall = 1.25

// intersect is the part of a clip that is inside an area of that size.
func (c Clip) intersect(width, height float64) Clip {
	left, top := max(c.X, 0), max(c.Y, 0)
	return Clip{X: left, Y: top, Width: min(c.X+c.Width, width) - left, Height: min(c.Y+c.Height, height) - top}
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

// How long a capture may wait before kick forces the browser to draw; the interval doubles
// each time.
const (
	frameKick = 150 * time.Millisecond
	// A capture beyond the viewport takes long by itself, and several times as long beside
	// one of the window: it waits long if the tab has just drawn by itself, within probeKick.
	probeKick  = time.Second
	beyondKick = 5 * time.Second
)

// fullPageTimeout is for a full page, which may have 20 times as many pixels as a viewport.
const fullPageTimeout = 30 * time.Second

// captureFrame captures what the page draws.
func (s *Screen) captureFrame(
	ctx context.Context, params cdppage.CaptureScreenshotParams,
) (cdppage.CaptureScreenshotResult, error) {
	defer s.conceal(ctx)()
	wait := frameKick
	if params.CaptureBeyondViewport != nil {
		pixel := cdppage.CaptureScreenshotParams{
			Format: cdppage.CaptureScreenshotFormatJpeg, Quality: new(int64(1)),
			Clip: &cdppage.Viewport{Width: 1, Height: 1, Scale: 1},
		}
		start := time.Now()
		if r, err := s.captureKicked(ctx, pixel, probeKick); err != nil {
			return r, err
		}
		if time.Since(start) < probeKick {
			wait = beyondKick
		}
	}
	return s.captureKicked(ctx, params, wait)
}

func (s *Screen) captureKicked(
	ctx context.Context, params cdppage.CaptureScreenshotParams, wait time.Duration,
) (cdppage.CaptureScreenshotResult, error) {
	var kicking sync.WaitGroup
	captured, stop := context.WithCancel(ctx)
	kicking.Go(func() { s.kick(captured, wait) })
	defer kicking.Wait()
	defer stop()
	return protocol.Call(ctx, s.session, cdppage.CaptureScreenshot, params)
}

// kick makes sure that a capture gets its frame, until the capture is done. A tab that
// went to the background since its last action may draw nothing until Draw is called.
// The browser copies what a background tab has drawn only when it draws the window, and
// nothing may cause that while the tab in front is idle. A capture of the window instead
// of the page's surface does. Its image is not needed, but only one is captured at a time.
func (s *Screen) kick(ctx context.Context, wait time.Duration) {
	window := cdppage.CaptureScreenshotParams{
		Format: cdppage.CaptureScreenshotFormatJpeg, Quality: new(int64(1)), FromSurface: new(false),
	}
	for ; ; wait *= 2 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		s.Draw(ctx)
		if drawn, err := s.session.Start(ctx, cdppage.CommandCaptureScreenshot, window); err == nil {
			_ = drawn.Wait(ctx, nil)
		}
	}
}

// Area captures an area of the viewport, with a margin in CSS pixels.
func (s *Screen) Area(ctx context.Context, area frame.Rect, margin float64) (Image, error) {
	l, err := s.frames.Layout(ctx)
	if err != nil {
		return Image{}, err
	}
	left, top := math.Max(0, area.X-margin), math.Max(0, area.Y-margin)
	right := math.Min(l.View.ClientWidth, area.X+area.Width+margin)
	bottom := math.Min(l.View.ClientHeight, area.Y+area.Height+margin)
	part := l.InPage(frame.Rect{X: left, Y: top, Width: math.Max(1, right-left), Height: math.Max(1, bottom-top)})
	r, err := s.captureFrame(ctx, cdppage.CaptureScreenshotParams{
		Format: cdppage.CaptureScreenshotFormatPng, Clip: l.Clip(part, 1/l.Density), OptimizeForSpeed: new(true),
	})
	if err != nil {
		return Image{}, err
	}
	return Image{
		Data: r.Data, Format: "png", Width: int(math.Round(part.Width)), Height: int(math.Round(part.Height)),
	}, nil
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
