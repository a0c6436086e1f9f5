package page

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// A browser with a window shows a preview of a page that it prints, which gets all input until it is closed. It is a
// target of its own, which does not say whose preview it is. Here it is a dialog of that page.

// isPreview reports whether a target is a print preview.
func isPreview(t *target.Info) bool { return strings.HasPrefix(t.URL, "chrome://print/") }

// previewOpened finds the page of a preview that has opened.
func (b *Browser) previewOpened(info *target.Info) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.previews == nil {
		b.previews = map[target.ID]*Page{}
	}
	if _, known := b.previews[info.TargetID]; known {
		return
	}
	b.previews[info.TargetID] = nil // not known yet
	_ = b.running.Go(func() { b.assignPreview(info.TargetID) })
}

// assignPreview makes a preview the dialog of the page that prints, as a document of it says.
func (b *Browser) assignPreview(id target.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), respondTimeout)
	defer cancel()
	found := b.printing(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, open := b.previews[id]; open && len(found) == 1 {
		b.previews[id] = found[0]
		found[0].life.OpenDialog(Dialog{Type: lifecycle.PrintPreview})
	}
}

// strayPreview reports whether a preview is open whose page is not known, such as that of a popup that printed before
// an agent used it. It may keep input from other pages too.
func (b *Browser) strayPreview() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.previews {
		if p == nil {
			return true
		}
	}
	return false
}

// printing asks all attached pages at once whether they print.
func (b *Browser) printing(ctx context.Context) (found []*Page) {
	b.mu.Lock()
	pages := map[*Page]bool{}
	for _, at := range b.sessions {
		pages[at.page] = true
	}
	b.mu.Unlock()
	var mu sync.Mutex // guards found
	var questions sync.WaitGroup
	for p := range pages {
		questions.Go(func() {
			if p.prints(ctx) {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, p)
			}
		})
	}
	questions.Wait()
	return found
}

// prints reports whether a document of the page has begun to print.
func (p *Page) prints(ctx context.Context) bool {
	found, _ := frame.EvaluateEntered[bool](ctx, p.frames, "memory.prints === true")
	for _, prints := range found {
		if prints {
			return true
		}
	}
	return false
}

// previewClosed handles the end of a target, which may be a preview.
func (b *Browser) previewClosed(id target.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.previews[id]; p != nil {
		p.life.CloseDialog(false)
	}
	delete(b.previews, id)
}

// preview is the open preview of a page; empty: there is none.
func (b *Browser) preview(of *Page) target.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.previews {
		if p == of {
			return id
		}
	}
	return ""
}

var errPreviewStays = errors.New("the print preview does not close: close the tab, or ask the user to")

var errPrinting = errors.New("the page has called print(), and the browser has not ended that: reload the page, " +
	"then save it")

// endPreview closes the page's print preview as its user would, if there is one, and prints nothing.
func (p *Page) endPreview(ctx context.Context) error {
	id := p.browser.preview(p)
	if id == "" {
		return nil
	}
	s, err := p.browser.conn.Attach(ctx, id)
	if err != nil {
		return translate(err)
	}
	defer p.browser.detach(s)
	// There is no response if the preview has closed.
	if _, err := s.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{
		Expression: `chrome.send("dialogClose", [""])`,
	}); err != nil {
		return translate(err)
	}
	closed := func() bool { return p.browser.preview(p) == "" }
	if err := p.life.AwaitFor(ctx, respondTimeout, closed); err != nil || closed() {
		return err
	}
	return errPreviewStays
}

// PDF prints the page to a PDF. It ends a print preview, during which the browser prints nothing else.
func (p *Page) PDF(ctx context.Context) ([]byte, error) {
	if err := p.endPreview(ctx); err != nil {
		return nil, err
	}
	data, err := p.screen.PDF(ctx)
	if err != nil && strings.Contains(err.Error(), "already being printed") {
		err = errPrinting
	}
	return data, err
}
