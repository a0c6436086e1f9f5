// Package video records a page as WebM. The browser's own encoder makes it, in a hidden page
// that gets the frames of the recorded one.
package video

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/remote"
)

//go:embed recorder.js
var recorderFunction string

// Options of a Recorder. All are required.
type Options struct {
	Conn   *cdp.Conn
	ID     target.ID // of the page
	Input  *input.Input
	Screen *capture.Screen
	// Conceal hides from the video what is no part of the page. The video has a pointer of its own.
	Conceal func(context.Context) (reveal func())
	// Go starts a goroutine that the browser's connection waits for. It fails once that has ended.
	Go func(func()) error
}

// Recorder records one page.
type Recorder struct{ opts Options }

// New returns the recorder of a page.
func New(opts Options) *Recorder { return &Recorder{opts} }

// Settings of a video.
type Settings struct {
	Width, Height int     // in pixels; 0: the page's, at most 1280 each
	Rate          float64 // frames per second at most; 0: 25
	// Hide replaces secrets in the names of elements.
	Hide func(string) string
	// IsOutside reports whether the page shows what must not be in the video, if its main frame has
	// that address; empty: the one that the page itself knows of.
	IsOutside func(address string) bool
}

const (
	defaultSide = 1280
	defaultRate = 25
	// MaxLength is when a recording stops by itself.
	MaxLength = 30 * time.Minute
	// shown is how long an action is shown.
	shown = 2 * time.Second
	// again is how often an unchanged page is drawn again.
	again = 500 * time.Millisecond
	// startTimeout and encodeTimeout bound what the browser takes. A busy machine takes long.
	startTimeout  = 10 * time.Second
	encodeTimeout = 30 * time.Second
	// maxPending is how many actions wait to be drawn: a storyboard shows no more.
	maxPending = 20
)

// chapter begins with an action.
type chapter struct {
	at    time.Duration
	title string
}

// Saved is a video that has ended.
type Saved struct {
	Path     string
	Size     int64
	Length   time.Duration
	Chapters int
	// Reason is why the video ended before Stop, or lacks its end; nil: neither.
	Reason error
}

// Recording is a video under way.
type Recording struct {
	opts     Options
	settings Settings
	page     *cdp.Session // of the recorded page, its own
	encoder  *cdp.Session // of the hidden page
	hidden   target.ID
	frames   *cdp.Subscription
	reveal   func() // undoes Options.Conceal
	first    picture
	stop     context.CancelFunc
	stopping context.Context
	redraw   chan struct{}
	asked    chan chan struct{} // receives what is closed when no action is pending
	opened   chan string        // receives the path of the file
	saved    chan struct{}      // closed when result and err are final
	path     string
	result   Saved
	err      error

	mu       sync.Mutex // guards the fields that follow
	began    time.Time  // of the first frame; zero: there is none yet
	drawn    time.Time  // of the last frame
	action   action     // the latest
	pending  []action   // those before it that no frame shows yet
	chapters []chapter
	actions  int
}

// picture is what a page shows.
type picture struct {
	data []byte  // JPEG; nil: as before
	view float64 // the width of the viewport, in CSS pixels
}

// action is what is drawn of an action.
type action struct {
	Number  int          `json:"number,omitempty"` // of the video's actions; 0: there is none
	Title   string       `json:"title"`
	Area    *frame.Rect  `json:"area,omitempty"`
	At      *frame.Point `json:"at,omitempty"`
	Pointer bool         `json:"pointer,omitempty"`

	since   time.Time
	named   bool // Title has the element
	pending bool // no frame shows it as it is
}

// Start records the page until Stop, or until the page or the connection ends. save creates the
// file, and calls write for its content.
func (r *Recorder) Start(ctx context.Context, s Settings,
	save func(write func(*os.File) error) (path string, size int64, err error)) (*Recording, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf(
		"the browser did not begin the video within %v: it may be busy. Try again", startTimeout))
	defer cancel()
	if s.Rate <= 0 {
		s.Rate = defaultRate
	}
	rec := &Recording{opts: r.opts, settings: s, redraw: make(chan struct{}, 1),
		asked: make(chan chan struct{}), opened: make(chan string, 1), saved: make(chan struct{})}
	if err := rec.open(ctx); err != nil {
		rec.close()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	rec.stopping, rec.stop = context.WithCancel(context.Background())
	unwatch := r.opts.Input.Watch(rec.mark)
	end := func() {
		rec.stop()
		unwatch()
		rec.close()
		close(rec.saved)
	}
	err := r.opts.Go(func() {
		defer end()
		rec.result.Path, rec.result.Size, rec.err = save(rec.write)
	})
	if err != nil {
		end()
		return nil, err
	}
	select {
	case rec.path = <-rec.opened:
		return rec, nil
	case <-rec.saved:
		return nil, rec.err
	}
}

// Path is the path of the file.
func (r *Recording) Path() string { return r.path }

// Ended reports whether the recording has ended, by Stop or by itself.
func (r *Recording) Ended() bool { return r.stopping.Err() != nil }

func (r *Recording) open(ctx context.Context) error {
	created, err := protocol.Call(ctx, r.opts.Conn, target.CreateTarget, target.CreateTargetParams{
		URL: "about:blank", Hidden: new(true),
	})
	if cdp.Refused(err) {
		err = fmt.Errorf("this browser cannot encode a video in a hidden page: %w", err)
	}
	if err != nil {
		return err
	}
	r.hidden = created.TargetID
	if r.encoder, err = r.opts.Conn.Attach(ctx, r.hidden); err != nil {
		return err
	}
	with := r.settings
	expression := fmt.Sprintf("(%s)(%v, %d, %d)", recorderFunction, with.Rate, with.Width, with.Height)
	if _, err := r.evaluate(ctx, expression); err != nil {
		return err
	}
	if r.page, err = r.opts.Conn.Attach(ctx, r.opts.ID); err != nil {
		return err
	}
	r.reveal = r.opts.Conceal(ctx)
	// A page in the background draws for a screenshot, but may not for a screencast alone.
	first, err := r.opts.Screen.Screenshot(ctx, capture.Options{
		Format: "jpeg", MaxWidth: r.width(), MaxHeight: r.height(), Device: true,
	})
	if err != nil {
		return err
	}
	r.first = picture{first.Data, first.Part.Width}
	// In their order: a new document is reported before a picture of it.
	r.frames = r.page.Listen(cdppage.ScreencastFrame.Method, cdppage.FrameNavigated.Method)
	if err := r.page.Call(ctx, cdppage.CommandEnable, nil, nil); err != nil {
		return err
	}
	_, err = protocol.Call(ctx, r.page, cdppage.StartScreencast, cdppage.StartScreencastParams{
		Format: cdppage.StartScreencastFormatJpeg, Quality: new(int64(90)),
		MaxWidth: int64(r.width()), MaxHeight: int64(r.height()),
	})
	return err
}

func (r *Recording) width() int { return cmp.Or(r.settings.Width, defaultSide) }

func (r *Recording) height() int { return cmp.Or(r.settings.Height, defaultSide) }

// close ends what open has begun.
func (r *Recording) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.frames != nil {
		r.frames.Close()
	}
	if r.reveal != nil {
		r.reveal()
	}
	if r.page != nil {
		_, _ = protocol.Call(ctx, r.opts.Conn, target.DetachFromTarget, target.DetachFromTargetParams{
			SessionID: r.page.ID(),
		})
	}
	if r.hidden != "" {
		_, _ = protocol.Call(ctx, r.opts.Conn, target.CloseTarget, target.CloseTargetParams{TargetID: r.hidden})
	}
}

// Begin shows that an action begins, which is a chapter of its own. It does nothing once the
// recording has ended.
func (r *Recording) Begin(title string) {
	if r.Ended() {
		return
	}
	r.mu.Lock()
	if r.action.pending {
		r.pending = append(r.pending, r.action)
		r.pending = r.pending[max(0, len(r.pending)-maxPending):]
	}
	r.actions++
	r.action = action{Number: r.actions, Title: title, since: time.Now(), pending: true}
	if !r.began.IsZero() {
		r.chapters = append(r.chapters, chapter{time.Since(r.began), title})
	} else {
		r.chapters = []chapter{{0, title}}
	}
	r.mu.Unlock()
	r.wake()
}

// mark shows where the action happens.
func (r *Recording) mark(s input.Spot) {
	r.mu.Lock()
	r.action.Area, r.action.At, r.action.Pointer = &s.Area, &s.At, s.Pointer
	r.action.since, r.action.pending = time.Now(), true
	if last := len(r.chapters) - 1; last >= 0 && !r.action.named {
		r.action.Title += " " + r.settings.Hide(s.Identity.String())
		r.action.named = true
		r.chapters[last].title = r.action.Title
	}
	r.mu.Unlock()
	r.wake()
}

func (r *Recording) wake() {
	select {
	case r.redraw <- struct{}{}:
	default:
	}
}

// Stop ends the recording, and waits until the file is complete.
func (r *Recording) Stop(ctx context.Context) (Saved, error) {
	r.stop()
	select {
	case <-r.saved:
		return r.result, r.err
	case <-ctx.Done():
		return Saved{}, context.Cause(ctx)
	}
}

// ErrNoAction reports that a video shows no action yet.
var ErrNoAction = errors.New("the video shows no action yet: do something first")

// ErrEnded reports that the recording has ended.
var ErrEnded = errors.New("the video has ended")

// Storyboard is a JPEG with a thumbnail for each of the latest actions.
func (r *Recording) Storyboard(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, encodeTimeout, fmt.Errorf(
		"the browser did not make the storyboard within %v: it may be busy. Try again", encodeTimeout))
	defer cancel()
	if err := r.drawPending(ctx); err != nil {
		return nil, err
	}
	text, err := r.evaluate(ctx, "storyboard()")
	switch {
	case err != nil && r.Ended():
		return nil, ErrEnded
	case err != nil:
		return nil, err
	case text == "":
		return nil, ErrNoAction
	}
	return base64.StdEncoding.DecodeString(text)
}

// drawPending waits until no action is pending.
func (r *Recording) drawPending(ctx context.Context) error {
	drawn := make(chan struct{})
	asked := r.asked
	for {
		select {
		case asked <- drawn:
			asked = nil
		case <-drawn:
			return nil
		case <-r.stopping.Done():
			return ErrEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// write writes the video. It keeps what there is of it, whatever has ended the recording.
func (r *Recording) write(to *os.File) error {
	r.opened <- to.Name()
	video := &file{to: to}
	reason := r.follow(video)
	r.stop()
	if r.encoder.Err() == nil && !errors.As(reason, new(*fs.PathError)) {
		reason = cmp.Or(reason, r.end(video))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Length, r.result.Chapters, r.result.Reason = r.drawn.Sub(r.began), len(r.chapters), reason
	if err := video.finish(r.result.Length, r.chapters); err != nil {
		return errors.Join(reason, err)
	}
	return nil
}

// Why a recording ends by itself.
var (
	errTabClosed    = errors.New("its tab has closed")
	errDisconnected = errors.New("the connection to the browser has ended")
	errTooLong      = fmt.Errorf("it reached the limit of %v minutes", MaxLength.Minutes())
)

// closed is why the session of the page has ended.
func (r *Recording) closed() error {
	if r.encoder.Err() != nil {
		return errDisconnected
	}
	return errTabClosed
}

// follow draws the page's frames until the recording is stopped. Its error is why it ended before.
func (r *Recording) follow(to *file) error {
	end := time.NewTimer(MaxLength)
	defer end.Stop()
	if err := r.draw(to, r.first); err != nil {
		return err
	}
	// The encoder may drop a frame, and what is drawn of an action must end.
	repeat := time.NewTicker(again)
	defer repeat.Stop()
	pace := time.Duration(float64(time.Second) / r.settings.Rate)
	var session int64        // of the last frame
	var address string       // of the main frame, once it has another document
	var due <-chan time.Time // when the browser may send another frame; nil: now
	for {
		var e cdp.Event
		var asked chan struct{}
		open, begun, frames := true, time.Now(), r.frames.C()
		if due != nil {
			frames = nil
		}
		select {
		case e, open = <-frames:
		case <-r.redraw:
		case asked = <-r.asked:
		case <-repeat.C:
		case <-due:
			due = nil
			if _, err := r.page.Start(r.stopping, cdppage.CommandScreencastFrameAck, cdppage.ScreencastFrameAckParams{
				SessionID: session,
			}); err != nil && !r.Ended() {
				return r.closed()
			}
			continue
		case <-r.page.Done():
			return r.closed()
		case <-r.encoder.Done():
			return errDisconnected
		case <-r.stopping.Done():
			return nil
		case <-end.C:
			return errTooLong
		}
		if !open {
			return r.closed()
		}
		if e.Method == cdppage.FrameNavigated.Method {
			var navigated cdppage.EventFrameNavigated
			if err := e.Decode(&navigated); err != nil {
				return err
			}
			if navigated.Frame != nil && navigated.Frame.ParentID == "" {
				address = navigated.Frame.URL + navigated.Frame.URLFragment
			}
			continue
		}
		var frame cdppage.EventScreencastFrame
		if e.Method != "" {
			if err := e.Decode(&frame); err != nil {
				return err
			}
		}
		var shows picture
		if frame.Metadata != nil && !r.settings.IsOutside(address) { // else the last picture stays
			shows = picture{frame.Data, frame.Metadata.DeviceWidth}
		}
		if err := r.draw(to, shows); err != nil {
			return err
		}
		if asked != nil {
			close(asked)
		}
		if e.Method != "" {
			session, due = frame.SessionID, time.After(pace-time.Since(begun))
		}
	}
}

// draw draws a frame, or the last one again, with each action that is pending.
func (r *Recording) draw(to *file, p picture) error {
	r.mu.Lock()
	latest := action{}
	if r.action.pending || time.Since(r.action.since) < shown {
		latest = r.action
	}
	actions := append(r.pending, latest)
	r.pending, r.action.pending = nil, false
	r.mu.Unlock()
	argument := map[string]any{"actions": actions}
	if p.data != nil {
		argument["image"], argument["view"] = base64.StdEncoding.EncodeToString(p.data), p.view
	}
	text, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), encodeTimeout, fmt.Errorf(
		"the browser did not encode a frame within %v: it may be busy. Try a smaller size or fps", encodeTimeout))
	defer cancel()
	return r.encode(ctx, to, "next("+string(text)+")")
}

func (r *Recording) end(to *file) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), encodeTimeout, fmt.Errorf(
		"the browser did not finish the video within %v, so its end may be missing: it may be busy. "+
			"Try a smaller size or fps", encodeTimeout))
	defer cancel()
	return r.encode(ctx, to, "end()")
}

// encode calls a function of the encoder, and writes what it has made.
func (r *Recording) encode(ctx context.Context, to *file, expression string) error {
	text, err := r.evaluate(ctx, expression)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.drawn = time.Now()
	if r.began.IsZero() {
		r.began = r.drawn
	}
	r.mu.Unlock()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return err
	}
	_, err = to.Write(data)
	return err
}

func (r *Recording) evaluate(ctx context.Context, expression string) (string, error) {
	result, err := protocol.Call(ctx, r.encoder, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ReturnByValue: new(true), AwaitPromise: new(true),
	})
	switch {
	case r.encoder.Err() != nil:
		return "", errDisconnected
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("encode the video: %w", err)
	case result.ExceptionDetails != nil:
		return "", fmt.Errorf("encode the video: %s", remote.Exception(result.ExceptionDetails))
	}
	return remote.Text(result.Result), nil
}
