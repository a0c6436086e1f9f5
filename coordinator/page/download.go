package page

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/internal/notify"
)

// downloads are the downloads of a connection.
type downloads struct {
	connection *connection

	mu      sync.Mutex                                 // guards the fields that follow
	coming  map[string]*browser.EventDownloadWillBegin // in progress, by id
	ended   []Download                                 // not reported to a caller yet
	changed notify.Broadcast                           // notified when a download ends
}

func newDownloads(c *connection) *downloads {
	return &downloads{connection: c, coming: map[string]*browser.EventDownloadWillBegin{}}
}

// enable enables download events and saves downloads under unique names, until
// this connection ends.
func (d *downloads) enable(ctx context.Context) error {
	_, err := protocol.Call(ctx, d.connection.conn, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		// Under their own names, one could overwrite another.
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: d.connection.opts.Downloads.Dir, EventsEnabled: new(true),
	})
	return err
}

func (d *downloads) begins(e *browser.EventDownloadWillBegin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.coming[e.GUID] = e
}

func (d *downloads) progress(e *browser.EventDownloadProgress) {
	if e.State == browser.DownloadProgressStateInProgress {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	began := d.coming[e.GUID]
	if began == nil || d.connection.opts.Downloads == nil {
		return
	}
	delete(d.coming, e.GUID)
	d.connection.running.Go(func() { d.end(began, e) })
}

// end keeps the file of a complete download.
func (d *downloads) end(began *browser.EventDownloadWillBegin, e *browser.EventDownloadProgress) {
	into := d.connection.opts.Downloads
	download := Download{URL: began.URL, Name: began.SuggestedFilename, Size: int64(e.ReceivedBytes)}
	var err error
	if e.State == browser.DownloadProgressStateCompleted {
		download.File, err = into.Keep(filepath.Join(into.Dir, e.GUID), began.SuggestedFilename)
	} else {
		download.Failed = "it was broken off"
	}
	if err != nil {
		download.Failed = err.Error()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = append(d.ended, download)
	d.changed.Notify()
}
