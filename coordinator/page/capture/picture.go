package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"sync"
	"time"

	_ "golang.org/x/image/webp" // its size

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	scaling "golang.org/x/image/draw"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/internal/pagelock"
)

// maxDocuments bounds how many documents of a page that reloads one picture is tried of.
const maxDocuments = 5

// errNewDocument reports that the page shows another document than the one whose picture was taken. The
// browser never answers some of these captures, and refuses others.
var errNewDocument = errors.New("the page has loaded another document meanwhile")

// take takes the picture of an area of the viewport or, if it is nil, of what the options name.
func (s *Screen) take(ctx context.Context, opts Options, area *frame.Rect) (img Image, err error) {
	life := s.config.Lifecycle
	for range maxDocuments {
		seq := life.Seq()
		img, err = s.takeOf(ctx, seq, opts, area)
		if err == nil || ctx.Err() != nil || !s.isReplaced(ctx, seq, err) {
			return img, err
		}
		if opts.Target != "" {
			return img, fmt.Errorf("%w, so the element has gone: take a snapshot", errNewDocument)
		}
		// Else the picture would be that of an empty page.
		if err := life.AwaitFor(ctx, parseTimeout, func() bool { return life.Reached(lifecycle.Parsed) }); err != nil {
			return img, err
		}
	}
	return img, fmt.Errorf("%w, %d times in a row: wait until it stays", errNewDocument, maxDocuments)
}

const (
	// parseTimeout bounds the wait for the document that has replaced the one whose picture was taken.
	parseTimeout = 2 * time.Second
	// commitTimeout is within which a refused capture's document is replaced, if that is why.
	commitTimeout = time.Second
)

// isReplaced reports whether a capture that began at a position in the log has failed because the
// page has left its document. It waits until the page shows the next one.
func (s *Screen) isReplaced(ctx context.Context, seq int64, err error) bool {
	life := s.config.Lifecycle
	replaced := func() bool { return life.After(seq, lifecycle.Committed) }
	if replaced() || errors.Is(err, errNewDocument) {
		return true
	}
	if !cdp.Refused(err) {
		return false
	}
	_ = life.AwaitFor(ctx, commitTimeout, replaced)
	return replaced()
}

// takeOf takes a picture of the present document; seq is a position in the log before it was looked at.
func (s *Screen) takeOf(ctx context.Context, seq int64, opts Options, area *frame.Rect) (Image, error) {
	release, err := s.share(ctx)
	if err != nil {
		return Image{}, err
	}
	p, err := s.layOut(ctx, opts, area)
	if err == nil && p.visible {
		err = s.takeVisible(ctx, seq, &p, opts)
	}
	err = errors.Join(err, release())
	if err != nil || p.visible {
		return p.Image, err
	}
	return s.takeClipped(ctx, seq, opts, area)
}

// planned is an image without its data, and how to take it.
type planned struct {
	Image
	visible bool              // it is part of a picture of what is visible
	in      frame.Rect        // if it is visible, where it is in that picture
	clip    *cdppage.Viewport // else
	beyond  bool              // a part of it is not in view
	bars    bool              // the page has scroll bars that take of its space
	inner   frame.Size        // of the page with its scroll bars
}

// layOut plans an image by the page's layout now.
func (s *Screen) layOut(ctx context.Context, opts Options, area *frame.Rect) (p planned, err error) {
	l, err := s.config.Frames.Layout(ctx)
	if err != nil {
		return p, err
	}
	img, scaling, err := opts.plan(l, area)
	if err != nil {
		return p, err
	}
	p = planned{Image: img, in: l.Pixels(img.Part), beyond: !img.Part.In(l.Visible()), inner: l.Inner}
	p.bars = l.View.Scale == 1 && (l.Inner.Width > l.View.ClientWidth || l.Inner.Height > l.View.ClientHeight)
	p.visible = !p.beyond && (opts.Format != "webp" || p.isWhole()) // we cannot write WebP
	p.clip = l.Clip(img.Part, scaling)
	return p, nil
}

// isWhole reports whether an image shows an area from the left and top, a pixel for a pixel.
func (p *planned) isWhole() bool {
	return p.in.X == 0 && p.in.Y == 0 && math.Round(p.in.Width) == float64(p.Width) &&
		math.Round(p.in.Height) == float64(p.Height)
}

// takeVisible takes an image of what is in view.
func (s *Screen) takeVisible(ctx context.Context, seq int64, p *planned, opts Options) error {
	data, err := s.visible(ctx, seq, wishOf(opts))
	if err != nil {
		return err
	}
	p.Data = data
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the browser's picture: %w", err)
	}
	if size.Width == p.Width && size.Height == p.Height && p.isWhole() {
		return nil
	}
	return p.cut(p.in, opts.Quality)
}

// cut makes the image an area of the picture that it has, scaled to the image's size.
func (i *Image) cut(area frame.Rect, quality int) error {
	picture, _, err := image.Decode(bytes.NewReader(i.Data))
	if err != nil {
		return fmt.Errorf("read the browser's picture: %w", err)
	}
	round := func(value float64) int { return int(math.Round(value)) }
	corner := image.Pt(round(area.X), round(area.Y))
	from := image.Rectangle{corner, image.Pt(round(area.X+area.Width), round(area.Y+area.Height))}
	from.Max = image.Pt(max(from.Max.X, corner.X+1), max(from.Max.Y, corner.Y+1))
	part := image.NewRGBA(image.Rect(0, 0, i.Width, i.Height))
	if from.Size() == part.Rect.Size() {
		draw.Draw(part, part.Rect, picture, corner, draw.Src)
	} else {
		scaling.BiLinear.Scale(part, part.Rect, picture, from.Intersect(picture.Bounds()), draw.Src, nil)
	}
	return i.encode(part, quality)
}

// encode makes an image of pixels, as PNG or JPEG.
func (i *Image) encode(pixels image.Image, quality int) (err error) {
	var b bytes.Buffer
	if i.Format == "jpeg" {
		err = jpeg.Encode(&b, pixels, &jpeg.Options{Quality: quality})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, pixels)
	}
	i.Data = b.Bytes()
	return err
}

// share keeps the page from being captured with a clip, for which the browser changes its size, until
// release is called. Without a folder for locks nobody captures it so.
func (s *Screen) share(ctx context.Context) (release func() error, err error) {
	release, err = pagelock.Capture.Share(ctx, s.config.ID)
	if errors.Is(err, pagelock.ErrNoFolder) {
		return func() error { return nil }, nil
	}
	return release, err
}

// wish is what tells pictures of what is visible apart.
type wish struct {
	format  string
	quality int // of jpeg and webp
}

func wishOf(opts Options) wish {
	if opts.Format == "png" {
		return wish{format: opts.Format}
	}
	return wish{opts.Format, opts.Quality}
}

// picture is one for all that wish for it before it begins.
type picture struct {
	done chan struct{} // closed when the fields that follow are set
	data []byte
	err  error
}

// visible captures what is visible. Without a clip nothing changes in the page.
func (s *Screen) visible(ctx context.Context, seq int64, wanted wish) ([]byte, error) {
	p, err := s.join(ctx, seq, wanted)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
		return p.data, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// join returns the next picture of that kind.
func (s *Screen) join(ctx context.Context, seq int64, wanted wish) (*picture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.waiting[wanted]; p != nil {
		return p, nil
	}
	p, earlier := &picture{done: make(chan struct{})}, s.running[wanted]
	err := s.config.Go(func() { s.run(context.WithoutCancel(ctx), seq, wanted, p, earlier) })
	if err == nil {
		s.waiting[wanted] = p
	}
	return p, err
}

// run takes a picture after the earlier one; nil: there is none.
func (s *Screen) run(ctx context.Context, seq int64, wanted wish, p, earlier *picture) {
	defer close(p.done)
	if earlier != nil {
		<-earlier.done
	}
	s.mu.Lock()
	delete(s.waiting, wanted)
	s.running[wanted] = p
	s.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, visibleTimeout, cdp.ErrTimeout)
	defer cancel()
	p.data, p.err = s.request(ctx, seq, wanted.params())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[wanted] == p {
		delete(s.running, wanted)
	}
}

// visibleTimeout bounds a picture whose callers may all have left.
const visibleTimeout = 10 * time.Second

func (w wish) params() cdppage.CaptureScreenshotParams {
	params := cdppage.CaptureScreenshotParams{
		Format: cdppage.CaptureScreenshotFormat(w.format), OptimizeForSpeed: new(true),
	}
	if w.quality > 0 {
		params.Quality = new(int64(w.quality))
	}
	return params
}

// takeClipped takes a picture of what is not in view, or that we cannot write, by a clip. While it does, the
// browser may change the page's size: nobody else of this user's programs captures the page.
func (s *Screen) takeClipped(ctx context.Context, seq int64, opts Options, area *frame.Rect) (Image, error) {
	release, err := pagelock.Capture.Acquire(ctx, s.config.ID)
	if err != nil {
		return Image{}, err
	}
	p, err := s.layOut(ctx, opts, area)
	if err == nil && p.visible { // by now
		err = s.takeVisible(ctx, seq, &p, opts)
	}
	if err != nil || p.visible {
		return p.Image, errors.Join(err, release())
	}
	params := wishOf(opts).params()
	params.Clip = p.clip
	if p.beyond {
		params.CaptureBeyondViewport = new(true)
	}
	answered := make(chan picture, 1)
	err = s.config.Finish(func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), fullPageTimeout)
		defer cancel()
		data, err := s.request(bounded, seq, params)
		if p.beyond && p.bars {
			err = errors.Join(err, s.showBars(bounded, p.inner))
		}
		answered <- picture{data: data, err: errors.Join(err, release())}
	})
	if err != nil {
		return p.Image, errors.Join(err, release())
	}
	select {
	case answer := <-answered:
		p.Data = answer.data
		if size, _, err := image.DecodeConfig(bytes.NewReader(p.Data)); err == nil {
			p.Width, p.Height = size.Width, size.Height
		}
		return p.Image, answer.err
	case <-ctx.Done():
		return Image{}, context.Cause(ctx)
	}
}

// showBars has the page lay out its scroll bars, without which a capture beyond the viewport leaves it until it
// lays out something.
func (s *Screen) showBars(ctx context.Context, inner frame.Size) error {
	err := s.config.Frames.Run(ctx, s.config.Frames.Main(), layOutBars, []float64{inner.Width, inner.Height}, nil)
	if err != nil {
		return fmt.Errorf("the picture may have left the page without its scroll bars: %w", err)
	}
	return nil
}

// layOutBars waits until the page has its size again, and has it lay out its viewport twice before it is drawn.
// An animation that never runs is no change that the page could observe.
const layOutBars = `([width, height]) => new Promise((done) => {
  const layOut = () => {
    removeEventListener("resize", look);
    const root = document.documentElement;
    const animation = root?.animate({ scrollbarGutter: ["stable", "stable"] }, 1000);
    root?.getBoundingClientRect();
    animation?.cancel();
    root?.getBoundingClientRect();
    done();
  };
  const look = () => innerWidth === width && innerHeight === height && layOut();
  addEventListener("resize", look);
  setTimeout(layOut, 500);
  look();
})`

// How long a capture beyond the viewport may take before the window is made to draw: beside that a long page
// takes several times as long.
const (
	behindWait = 150 * time.Millisecond // of a tab in the background
	frontWait  = 5 * time.Second
)

// drawWindow makes the browser draw the window at growing intervals, until ctx ends. Of what is beyond the
// viewport of a tab in the background, it copies what was drawn only then, and nothing may cause that while
// the tab in front is idle. A capture of the window does; its image is not needed.
func (s *Screen) drawWindow(ctx context.Context) {
	window := cdppage.CaptureScreenshotParams{
		Format: cdppage.CaptureScreenshotFormatJpeg, Quality: new(int64(1)), FromSurface: new(false),
	}
	wait := frontWait
	if s.isBehind() {
		wait = behindWait
	}
	for ; ; wait *= 2 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if drawn, err := s.config.Session.Start(ctx, cdppage.CommandCaptureScreenshot, window); err == nil {
			_ = drawn.Wait(ctx, nil)
		}
	}
}

// request captures what the page draws. Of a document that has been replaced since seq, a position in the
// log, the browser sends no picture.
func (s *Screen) request(
	ctx context.Context, seq int64, params cdppage.CaptureScreenshotParams,
) ([]byte, error) {
	defer s.config.Conceal(ctx)()
	life := s.config.Lifecycle
	ctx, end := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer end(nil)
	watching.Go(func() {
		if life.Await(ctx, func() bool { return life.After(seq, lifecycle.Committed) }) == nil {
			end(errNewDocument)
		}
	})
	if params.CaptureBeyondViewport != nil {
		watching.Go(func() { s.drawWindow(ctx) })
	}
	r, err := protocol.Call(ctx, s.config.Session, cdppage.CaptureScreenshot, params)
	return r.Data, err
}
