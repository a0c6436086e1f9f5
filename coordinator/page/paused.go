package page

import (
	"context"

	"github.com/chromedp/cdproto/debugger"

	"browser-coordinator/coordinator/cdp"
)

// askPaused finds out whether script execution is paused by somebody else's
// debugger: enabling our own Debugger domain during a pause makes the browser
// tell of it at once, and disabling it again leaves the pause to the others. It
// is done for slow calls only, since an enabled debugger stops at "debugger"
// statements and has every script reported.
func (p *Page) askPaused(ctx context.Context) {
	p.mu.Lock()
	sessions := map[*cdp.Session]bool{p.session: true}
	for _, f := range p.frames {
		sessions[f.session] = true
	}
	p.mu.Unlock()
	for s := range sessions {
		if _, err := s.Start(ctx, debugger.CommandEnable, nil); err != nil {
			continue
		}
		_, _ = s.Start(context.WithoutCancel(ctx), debugger.CommandDisable, nil)
	}
}

// eventPaused is Debugger.paused with the URL that Chromium still sends for each
// frame.
type eventPaused struct {
	Reason     string `json:"reason"`
	CallFrames []struct {
		FunctionName string `json:"functionName"`
		URL          string `json:"url"`
		Location     struct {
			LineNumber   int `json:"lineNumber"`
			ColumnNumber int `json:"columnNumber"`
		} `json:"location"`
	} `json:"callFrames"`
}

// debuggerPaused answers askPaused.
func (p *Page) debuggerPaused(_ *cdp.Session, e *eventPaused) {
	at := Paused{Reason: e.Reason}
	if len(e.CallFrames) > 0 {
		f := e.CallFrames[0]
		at.Function, at.URL = f.FunctionName, f.URL
		at.Line, at.Column = f.Location.LineNumber+1, f.Location.ColumnNumber+1
	}
	p.interrupt(&PausedError{at})
}
