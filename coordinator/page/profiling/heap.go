package profiling

import (
	"context"
	"fmt"
	"io"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// HeapSnapshot streams the page's JavaScript heap to w, as JSON that DevTools opens. It
// returns the bytes in use after a garbage collection. Frames of other processes have
// heaps of their own.
func (p *Profiler) HeapSnapshot(ctx context.Context, w io.Writer) (used int64, err error) {
	err = p.page.Run(ctx, "taking a heap snapshot", recordTimeout, func(ctx context.Context) error {
		session := p.page.Session
		if err := session.Call(ctx, heapprofiler.CommandEnable, nil, nil); err != nil {
			return err
		}
		defer func() {
			_, _ = session.Start(context.WithoutCancel(ctx), heapprofiler.CommandDisable, nil)
		}()
		chunks := session.Listen(heapprofiler.AddHeapSnapshotChunk.Method)
		taken, err := session.Start(ctx, heapprofiler.CommandTakeHeapSnapshot, heapprofiler.TakeHeapSnapshotParams{
			CaptureNumericValue: new(true),
		})
		if err != nil {
			chunks.Close()
			return err
		}
		// The response comes after the last chunk. The queue is then closed, and its remaining
		// chunks are read.
		ended := make(chan error, 1)
		go closeAfter(ctx, taken, chunks, ended)
		var failed error
		for e := range chunks.C() {
			var chunk heapprofiler.EventAddHeapSnapshotChunk
			if failed == nil {
				if failed = e.Decode(&chunk); failed == nil {
					_, failed = io.WriteString(w, chunk.Chunk)
				}
			}
		}
		if err := <-ended; err != nil {
			return err
		}
		if err := chunks.Err(); err != nil {
			return err
		}
		if failed != nil {
			return fmt.Errorf("write the heap snapshot: %w", failed)
		}
		usage, err := protocol.Call(ctx, session, runtime.GetHeapUsage, protocol.Empty{})
		used = int64(usage.UsedSize)
		return err
	})
	return used, err
}

// HeapSnapshot owns closeAfter and waits for ended.
func closeAfter(ctx context.Context, taken *cdp.Pending, chunks *cdp.Subscription, ended chan<- error) {
	err := taken.Wait(ctx, nil)
	chunks.Close()
	ended <- err
}
