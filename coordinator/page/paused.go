package page

import (
	"context"

	"github.com/chromedp/cdproto/debugger"

	"browser-coordinator/coordinator/cdp"
)

// maxScriptURLs bounds how many scripts of a page have their addresses taken down.
const maxScriptURLs = 10_000

// askPaused finds out whether script execution is paused by somebody else's
// debugger: enabling our own Debugger domain during a pause makes the browser
// tell of it at once, and disabling it again leaves the pause to the others. It
// is done for slow calls only, since an enabled debugger stops at "debugger"
// statements and has every script reported.
func (p *Page) askPaused(ctx context.Context) {
	for _, s := range p.frames.Sessions() {
		if _, err := s.Start(ctx, debugger.CommandEnable, nil); err != nil {
			continue
		}
		_, _ = s.Start(context.WithoutCancel(ctx), debugger.CommandDisable, nil)
	}
}

// eventPaused is Debugger.paused, as far as it matters here. Its frames name their
// scripts by id alone: Chromium leaves their url empty.
type eventPaused struct {
	Reason     string `json:"reason"`
	CallFrames []struct {
		FunctionName string `json:"functionName"`
		Location     struct {
			ScriptID     string `json:"scriptId"`
			LineNumber   int    `json:"lineNumber"`
			ColumnNumber int    `json:"columnNumber"`
		} `json:"location"`
	} `json:"callFrames"`
}

// eventScript is Debugger.scriptParsed, as far as it matters here.
type eventScript struct {
	ScriptID string `json:"scriptId"`
	URL      string `json:"url"`
}

// scriptKey names a script: ids are a renderer's own.
type scriptKey struct {
	session *cdp.Session
	id      string
}

// scriptParsed takes down the address of a script, of which askPaused makes the
// browser tell before it tells of the pause.
func (p *Page) scriptParsed(s *cdp.Session, e *eventScript) {
	if e.URL == "" {
		return
	}
	if len(p.scripts) >= maxScriptURLs {
		clear(p.scripts)
	}
	if p.scripts == nil {
		p.scripts = make(map[scriptKey]string)
	}
	p.scripts[scriptKey{s, e.ScriptID}] = e.URL
}

// debuggerPaused answers askPaused.
func (p *Page) debuggerPaused(s *cdp.Session, e *eventPaused) {
	at := Paused{Reason: e.Reason}
	if len(e.CallFrames) > 0 {
		f := e.CallFrames[0]
		at.Function, at.URL = f.FunctionName, p.scripts[scriptKey{s, f.Location.ScriptID}]
		at.Line, at.Column = f.Location.LineNumber+1, f.Location.ColumnNumber+1
	}
	p.interrupt(&PausedError{at})
}
