package page

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/remote"
)

// document is one document of a frame.
type document struct {
	frame      protocol.FrameID
	session    *cdp.Session
	generation int // as in frame.Frame
}

// texts are flags: which of the awaited texts a document shows.
type texts int

const (
	nobodyKnows texts = -1
	showsText   texts = 1
	showsGone   texts = 2 // the text that must disappear
)

// sighting is a new state of a document.
type sighting struct {
	document
	texts
}

// textWait is the argument of wait.js.
type textWait struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Gone   string `json:"gone"`
	Known  texts  `json:"known"`
	Budget int64  `json:"budget"` // milliseconds
}

// waitForText waits until a text is shown in one of the page's frames and another
// in none of them. It watches each document separately, because frames come and go and
// may belong to other processes.
func (p *Page) waitForText(ctx context.Context, opts WaitOptions, left time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	w := textWait{ID: rand.Text(), Text: opts.Text, Gone: opts.Gone, Known: nobodyKnows, Budget: left.Milliseconds()}
	news := make(chan sighting)
	shown := map[document]texts{}
	for {
		if err := p.frames.Learn(ctx); err != nil {
			return err
		}
		p.mu.Lock()
		changed := p.changed.Next()
		now := map[document]bool{}
		p.mu.Unlock()
		for _, f := range p.frames.All() {
			now[document{f.ID, f.Session, f.Generation}] = true
		}
		maps.DeleteFunc(shown, func(d document, _ texts) bool { return !now[d] })
		for d := range now {
			if _, watched := shown[d]; !watched {
				shown[d] = nobodyKnows
				watching.Go(func() { p.watchTexts(ctx, d, w, news) })
			}
		}
		if w.met(shown) {
			return nil
		}
		select {
		case s := <-news:
			if _, there := shown[s.document]; there {
				shown[s.document] = s.texts
			}
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *textWait) met(shown map[document]texts) bool {
	text, gone := w.Text == "", true
	for _, t := range shown {
		known := t != nobodyKnows
		text = text || known && t&showsText != 0
		gone = gone && (w.Gone == "" || known && t&showsGone == 0)
	}
	return text && gone
}

// watchTexts reports what a document shows now and at each change, until the document
// has gone. It ends the watch in the document when it ends.
func (p *Page) watchTexts(ctx context.Context, d document, w textWait, news chan<- sighting) {
	for {
		seen, err := p.lookForTexts(ctx, d, w)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			seen = 0 // the document is being replaced
		}
		select {
		case news <- sighting{d, seen}:
		case <-ctx.Done():
			return
		}
		if err != nil || seen == w.Known {
			return
		}
		w.Known = seen
	}
}

// shows reports whether a document still exists.
func (p *Page) shows(d document) bool {
	f, ok := p.frames.Frame(d.frame)
	return ok && d == document{f.ID, f.Session, f.Generation}
}

func (p *Page) lookForTexts(ctx context.Context, d document, w textWait) (texts, error) {
	args, err := json.Marshal(w)
	if err != nil {
		return 0, err
	}
	var r runtime.CallFunctionOnResult
	err = p.frames.InWorld(ctx, d.frame, func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		if !p.shows(d) {
			return frame.ErrGone // another watchTexts watches the next document, with the same wait ID
		}
		r, err = protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
			FunctionDeclaration: frame.Call("wait"), ExecutionContextID: world,
			Arguments: []*runtime.CallArgument{{Value: args}}, AwaitPromise: new(true), ReturnByValue: new(true),
		})
		if ctx.Err() != nil {
			end := fmt.Sprintf("globalThis.waits?.get(%q)?.()", w.ID)
			_, _ = session.Start(context.WithoutCancel(ctx), runtime.CommandEvaluate, runtime.EvaluateParams{Expression: end, ContextID: world, Silent: new(true)})
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if r.ExceptionDetails != nil {
		return 0, fmt.Errorf("look for a text: %s", remote.Exception(r.ExceptionDetails))
	}
	var seen texts
	return seen, json.Unmarshal(r.Result.Value, &seen)
}
