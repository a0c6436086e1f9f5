package page

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/target"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/internal/notify"
)

// Downloads configures how to save files that a browser of our own downloads.
type Downloads struct {
	// Dir is the directory for downloads in progress. Required.
	Dir string
	// Keep moves a complete download to its final place, under a name like the one from the
	// server, and returns its path. Required.
	Keep func(temporary, name string) (file string, err error)
}

// Download is a download that has ended.
type Download struct {
	URL    string
	File   string // its path; empty: it failed
	Size   int64  // bytes
	Failed string // the cause of the failure
}

// downloads are the downloads of a connection; Browser.mu guards them.
type downloads struct {
	coming map[string]*browser.EventDownloadWillBegin // in progress, by id
	ended  []Download                                 // not reported to a caller yet
	news   notify.Broadcast                           // notified when a download ends
}

// takeDownloads enables download events and saves downloads under unique names, until
// this connection ends.
func (b *Browser) takeDownloads(ctx context.Context) error {
	_, err := protocol.Call(ctx, b.conn, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		// Under their own names, one could overwrite another.
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: b.opts.Downloads.Dir, EventsEnabled: new(true),
	})
	return err
}

func (b *Browser) downloadBegins(_ target.SessionID, e *browser.EventDownloadWillBegin) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.coming[e.GUID] = e
}

func (b *Browser) downloadProgress(_ target.SessionID, e *browser.EventDownloadProgress) {
	if e.State == browser.DownloadProgressStateInProgress {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	began := b.coming[e.GUID]
	if began == nil || b.opts.Downloads == nil {
		return
	}
	delete(b.coming, e.GUID)
	b.running.Go(func() { b.endDownload(began, e) })
}

// endDownload keeps the file of a complete download.
func (b *Browser) endDownload(began *browser.EventDownloadWillBegin, e *browser.EventDownloadProgress) {
	d := Download{URL: began.URL, Size: int64(e.ReceivedBytes)}
	var err error
	if e.State == browser.DownloadProgressStateCompleted {
		d.File, err = b.opts.Downloads.Keep(filepath.Join(b.opts.Downloads.Dir, e.GUID), began.SuggestedFilename)
	} else {
		d.Failed = "it was broken off"
	}
	if err != nil {
		d.Failed = err.Error()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, d)
	b.news.Notify()
}

// Downloaded returns the downloads that have ended since its last call. For a URL, it waits
// until a download of that URL has ended, or until ctx ends. An empty URL means no wait.
func (b *Browser) Downloaded(ctx context.Context, address string) []Download {
	for {
		b.mu.Lock()
		news := b.news.Next()
		if address == "" || b.opts.Downloads == nil || slices.ContainsFunc(b.ended, func(d Download) bool { return d.URL == address }) {
			defer b.mu.Unlock()
			ended := b.ended
			b.ended = nil
			return ended
		}
		b.mu.Unlock()
		select {
		case <-news:
		case <-b.done:
			address = ""
		case <-ctx.Done():
			address = ""
		}
	}
}
