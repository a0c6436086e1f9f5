package capture

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

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

	inView bool // only the part of an area that is in the viewport
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

// Screenshot takes a picture of the viewport, the page or an element, scaled to the size limits.
func (s *Screen) Screenshot(ctx context.Context, opts Options) (Image, error) {
	const doing = "taking a screenshot"
	opts.Format, opts.Quality = cmp.Or(opts.Format, "png"), cmp.Or(opts.Quality, defaultQuality)
	if opts.Format == "jpg" {
		opts.Format = "jpeg"
	}
	if !slices.Contains([]string{"png", "jpeg", "webp"}, opts.Format) {
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
	timeout := time.Duration(0)
	if opts.FullPage {
		timeout = fullPageTimeout
	}
	var img Image
	err := s.config.Run(ctx, doing, timeout, func(ctx context.Context) (err error) {
		if err := s.EmulateFocus(ctx); err != nil {
			return err
		}
		var element *frame.Rect
		if opts.Target != "" { // before any measurement, because it scrolls
			if element, err = s.showElement(ctx, opts.Target); err != nil {
				return err
			}
		}
		img, err = s.take(ctx, opts, element)
		return err
	})
	return img, err
}

// fullPageTimeout is for a full page, which may have 20 times as many pixels as a viewport.
const fullPageTimeout = 30 * time.Second

// showElement scrolls a target into view, and returns its place in the viewport.
func (s *Screen) showElement(ctx context.Context, target string) (*frame.Rect, error) {
	e, err := s.config.Frames.Find(ctx, target)
	if err != nil {
		return nil, err
	}
	defer e.Release(ctx)
	place, err := s.config.Frames.Place(ctx, e, "center")
	if err == nil && e.Session != s.config.Session {
		err = s.config.Frames.Run(ctx, e.Frame, awaitDrawn, nil, nil)
	}
	return &place, err
}

// plan returns the image without its data, and how many pixels of it a pixel of the screen has. Of an
// area of the viewport it shows the area, else what the options name.
func (o *Options) plan(l frame.Layout, area *frame.Rect) (img Image, scaling float64, err error) {
	part := l.Visible()
	img = Image{Format: o.Format, View: l.InPage(frame.Rect{Width: part.Width, Height: part.Height})}
	switch {
	case area != nil:
		part = l.InPage(*area)
		if o.inView {
			part = part.Intersect(l.Visible())
		}
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
	img.Width = max(1, int(math.Round(part.Width*scaling*l.Density)))
	img.Height = max(1, int(math.Round(part.Height*scaling*l.Density)))
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

// Area takes a picture of an area of the viewport, with a margin in CSS pixels.
func (s *Screen) Area(ctx context.Context, area frame.Rect, margin float64) (Image, error) {
	area = frame.Rect{X: area.X - margin, Y: area.Y - margin, Width: area.Width + 2*margin, Height: area.Height + 2*margin}
	return s.take(ctx, Options{Format: "png", inView: true}, &area)
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
