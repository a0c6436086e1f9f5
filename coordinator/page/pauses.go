package page

import (
	"context"

	"github.com/chromedp/cdproto/debugger"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// maxScriptURLs bounds how many script URLs of a page are stored.
const maxScriptURLs = 10_000

// pauses detects that another debugger has paused the scripts of a page.
type pauses struct {
	frames  *frame.Tree
	scripts map[scriptKey]string // URLs; state.mu guards it
}

// ask detects whether another debugger has paused script execution. Enabling our
// own Debugger domain during a pause makes the browser report the pause at once, and
// disabling it leaves the pause in place. Only slow calls use this, because an enabled
// debugger stops at "debugger" statements and reports every script.
func (p *pauses) ask(ctx context.Context) {
	for _, s := range p.frames.Sessions() {
		if _, err := s.Start(ctx, debugger.CommandEnable, nil); err != nil {
			continue
		}
		_, _ = s.Start(context.WithoutCancel(ctx), debugger.CommandDisable, nil)
	}
}

// eventPaused holds the needed fields of Debugger.paused. Its frames identify their
// scripts by id only: Chromium leaves their url empty.
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

// eventScript holds the needed fields of Debugger.scriptParsed.
type eventScript struct {
	ScriptID string `json:"scriptId"`
	URL      string `json:"url"`
}

// scriptKey identifies a script: ids are unique only per renderer.
type scriptKey struct {
	session *cdp.Session
	id      string
}

// scriptParsed stores the URL of a script; state.mu is held. After ask, the browser reports all
// scripts before it reports the pause.
func (p *pauses) scriptParsed(s *cdp.Session, e *eventScript) {
	if e.URL == "" {
		return
	}
	if len(p.scripts) >= maxScriptURLs {
		clear(p.scripts)
	}
	p.scripts[scriptKey{s, e.ScriptID}] = e.URL
}

// position returns where the script is paused; state.mu is held.
func (p *pauses) position(s *cdp.Session, e *eventPaused) Paused {
	at := Paused{Reason: e.Reason}
	if len(e.CallFrames) > 0 {
		f := e.CallFrames[0]
		at.Function, at.URL = f.FunctionName, p.scripts[scriptKey{s, f.Location.ScriptID}]
		at.Line, at.Column = f.Location.LineNumber+1, f.Location.ColumnNumber+1
	}
	return at
}
