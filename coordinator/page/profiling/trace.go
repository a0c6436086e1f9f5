package profiling

import (
	"context"
	"errors"
	"fmt"
	"io"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/claim"

	protocol "github.com/chromedp/cdproto/cdp"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/tracing"
)

// traceCategories are those that the Performance panel of DevTools records, without the
// screenshots.
var traceCategories = []string{
	"blink.console", "blink.user_timing", "cppgc", "devtools.timeline", "latencyInfo", "loading", "navigation",
	"rail", "toplevel", "v8.execute",
	"disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame",
	"disabled-by-default-devtools.timeline.stack",
	"disabled-by-default-lighthouse", "disabled-by-default-v8.compile", "disabled-by-default-v8.cpu_profiler",
}

// trace is a recording of the browser's work, which a browser makes one of at a time.
type trace struct {
	*Profiler
	release func() // ends the claim on it
}

// StartTrace records the browser's work for the page, until Recordings.StopTrace
// or the end of the connection.
func (p *Profiler) StartTrace(ctx context.Context) error {
	p.recordings.mu.Lock()
	other := p.recordings.trace
	p.recordings.mu.Unlock()
	if other != nil {
		return ErrRecording
	}
	return p.page.Run(ctx, "starting a trace", 0, func(ctx context.Context) error {
		// A page that is not drawn has no paints and no layout shifts.
		if err := p.page.Screen.EmulateFocus(ctx); err != nil {
			return err
		}
		release, err := p.page.Owner.Claim("trace " + p.page.Browser)
		if taken, ok := errors.AsType[*claim.TakenError](err); ok {
			return fmt.Errorf("%s records a trace, and a browser records one at a time: wait until it is stopped",
				taken.Owner)
		}
		if err != nil {
			return err
		}
		_, err = protocol.Call(ctx, p.page.Session, tracing.Start, tracing.StartParams{
			TransferMode: tracing.StartTransferModeReturnAsStream, StreamFormat: tracing.StreamFormatJSON,
			TraceConfig: &tracing.TraceConfig{IncludedCategories: traceCategories, ExcludedCategories: []string{"*"}},
		})
		if cdp.Refused(err) {
			err = fmt.Errorf("%w: a browser records one trace at a time, and another client of it, such as DevTools, "+
				"does", err)
		}
		if err != nil {
			release()
			return err
		}
		p.recordings.mu.Lock()
		defer p.recordings.mu.Unlock()
		p.recordings.trace = &trace{p, release}
		return nil
	})
}

// Trace is the result of a trace.
type Trace struct {
	Page       string // its id
	Incomplete bool   // the browser had to drop events
	Vitals     Vitals
	// Unread is why Vitals could not be read; the trace itself is complete.
	Unread error
}

// StopTrace ends the trace of StartTrace and streams it to w, as JSON that DevTools
// opens.
func (r *Recordings) StopTrace(ctx context.Context, w io.Writer) (Trace, error) {
	var t Trace
	p, err := take(r, &r.trace)
	if err != nil {
		return t, err
	}
	defer p.release()
	t.Page = string(p.page.ID)
	err = p.page.Run(ctx, "stopping the trace", recordTimeout, func(ctx context.Context) error {
		t.Unread = p.page.Frames.Run(ctx, p.page.Frames.Main(), vitalsFunction, nil, &t.Vitals)
		complete := p.page.Session.Listen(tracing.TracingComplete.Method)
		defer complete.Close()
		if _, err := protocol.Call(ctx, p.page.Session, tracing.End, protocol.Empty{}); err != nil {
			return err
		}
		select {
		case e, open := <-complete.C():
			if !open {
				return complete.Err()
			}
			var done tracing.EventTracingComplete
			if err := e.Decode(&done); err != nil {
				return err
			}
			t.Incomplete = done.DataLossOccurred
			return readStream(ctx, p.page.Session, done.Stream, w)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return t, err
}

// streamChunk is the size of one read from a stream.
const streamChunk = 1 << 20

// readStream copies a stream of the browser and closes it.
func readStream(ctx context.Context, s *cdp.Session, handle cdpio.StreamHandle, w io.Writer) error {
	defer func() {
		_, _ = s.Start(context.WithoutCancel(ctx), cdpio.CommandClose, cdpio.CloseParams{Handle: handle})
	}()
	for {
		r, err := protocol.Call(ctx, s, cdpio.Read, cdpio.ReadParams{Handle: handle, Size: streamChunk})
		if err != nil {
			return err
		}
		if _, err := w.Write(r.Data); err != nil {
			return err
		}
		if r.EOF {
			return nil
		}
	}
}
