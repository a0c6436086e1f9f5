package page

import (
	"cmp"
	"context"
	"mime"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/internal/notify"
)

// downloads are the downloads of a connection.
type downloads struct {
	conn      *cdp.Conn
	downloads *Downloads  // nil: the browser decides
	running   *goroutines // of the connection
	// disposition is the header that named the file at an address, as far as a page has seen it.
	disposition func(url string) string

	mu        sync.Mutex                                 // guards the fields that follow
	pending   map[string]*browser.EventDownloadWillBegin // in progress, by id
	completed []Download                                 // not reported to a caller yet
	changed   notify.Broadcast                           // notified when a download ends
}

func newDownloads(
	conn *cdp.Conn, into *Downloads, running *goroutines, disposition func(url string) string,
) *downloads {
	pending := map[string]*browser.EventDownloadWillBegin{}
	return &downloads{conn: conn, downloads: into, running: running, disposition: disposition, pending: pending}
}

// enable enables download events and saves downloads under unique names, until
// this connection ends.
func (d *downloads) enable(ctx context.Context) error {
	if d.downloads == nil {
		return nil
	}
	_, err := protocol.Call(ctx, d.conn, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		// Under their own names, one could overwrite another.
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: d.downloads.Dir, EventsEnabled: new(true),
	})
	return err
}

func (d *downloads) begins(e *browser.EventDownloadWillBegin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending[e.GUID] = e
}

func (d *downloads) progress(e *browser.EventDownloadProgress) {
	if e.State == browser.DownloadProgressStateInProgress {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	event := d.pending[e.GUID]
	if event == nil || d.downloads == nil {
		return
	}
	delete(d.pending, e.GUID)
	_ = d.running.Go(func() { d.end(event, e) }) // the connection handles its last event before it ends
}

// end keeps the file of a complete download.
func (d *downloads) end(event *browser.EventDownloadWillBegin, e *browser.EventDownloadProgress) {
	download := Download{URL: event.URL, Name: d.name(event), Size: int64(e.ReceivedBytes)}
	var err error
	if e.State == browser.DownloadProgressStateCompleted {
		download.File, err = d.downloads.Keep(filepath.Join(d.downloads.Dir, e.GUID), download.Name)
	} else {
		download.Failed = "it was broken off"
	}
	if err != nil {
		download.Failed = err.Error()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.completed = append(d.completed, download)
	d.changed.Notify()
}

// name is the file's name by the server. The browser suggests "_" for one with a byte that is no UTF-8, where its
// system has no other encoding; the header has it as Latin-1.
func (d *downloads) name(event *browser.EventDownloadWillBegin) string {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.ContainsFunc(event.SuggestedFilename, word) {
		return event.SuggestedFilename
	}
	_, parameters, err := mime.ParseMediaType(d.disposition(event.URL))
	if err != nil {
		return event.SuggestedFilename
	}
	return cmp.Or(parameters["filename"], event.SuggestedFilename)
}

// Downloaded returns the downloads that have ended since its last call. For a URL, it waits
// until a download of that URL has ended, or until ctx ends. An empty URL means no wait.
func (b *Browser) Downloaded(ctx context.Context, address string) []Download {
	d := b.downloads
	for {
		d.mu.Lock()
		changed := d.changed.Next()
		if address == "" || d.downloads == nil || slices.ContainsFunc(d.completed, func(d Download) bool {
			return d.URL == address
		}) {
			defer d.mu.Unlock()
			ended := d.completed
			d.completed = nil
			return ended
		}
		d.mu.Unlock()
		select {
		case <-changed:
		case <-b.done:
			address = ""
		case <-ctx.Done():
			address = ""
		}
	}
}
