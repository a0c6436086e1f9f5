package virtual

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// A second Runtime.enable in a session brings no contexts. The debugger replays the
// last fifty that it has received. Some of them no longer exist, or sleep with
// their document in the back-forward cache. So the events before the response are
// gathered and sifted. Only those of the present documents are sent, as Chromium
// would.

type gathering struct {
	events   []gathered
	replayed int // how many of the events came before the response
}

type gathered struct {
	method  string
	params  jsonv2.Value
	created *contextInfo // that the event reports, or nil
	context int64        // id of the context that a console message is of, or 0
}

type contextInfo struct {
	ID  int64 `json:"id"`
	Aux struct {
		Default bool   `json:"isDefault"`
		Frame   string `json:"frameId"`
	} `json:"auxData"`
}

// add keeps an event until the response.
func (g *gathering) add(method string, params jsonv2.Value) {
	e := gathered{method: method, params: params}
	switch method {
	case "Runtime.executionContextCreated":
		var p struct {
			Context contextInfo `json:"context"`
		}
		if jsonv2.Unmarshal(params, &p, lenient) == nil {
			e.created = &p.Context
		}
	case "Runtime.consoleAPICalled":
		var p struct {
			ID int64 `json:"executionContextId"`
		}
		if jsonv2.Unmarshal(params, &p, lenient) == nil {
			e.context = p.ID
		}
	}
	g.events = append(g.events, e)
}

// sift returns the events to send, given the current frames; nil: unknown. In a
// document the default context is the first. So a frame's contexts before its last
// default one belong to earlier documents. Two processes may use the same id.
func (g *gathering) sift(frames map[string]bool) []gathered {
	newest := map[int64]int{}
	document := map[string]int{} // where each frame's current one begins
	for i, e := range g.events {
		if e.created == nil {
			continue
		}
		newest[e.created.ID] = i
		if e.created.Aux.Default {
			document[e.created.Aux.Frame] = i
		}
	}
	living := map[int64]bool{}
	var sent []gathered
	for i, e := range g.events {
		if i < g.replayed && e.created != nil {
			frame := e.created.Aux.Frame
			if newest[e.created.ID] != i || i < document[frame] || frame != "" && frames != nil && !frames[frame] {
				continue
			}
			living[e.created.ID] = true
		}
		sent = append(sent, e)
	}
	result := sent[:0]
	for _, e := range sent {
		if e.context == 0 || living[e.context] || newest[e.context] >= g.replayed {
			result = append(result, e)
		}
	}
	return result
}

// enableRuntime handles Runtime.enable.
func (l *link) enableRuntime(m command) {
	if l.gathering != nil {
		l.forward(m, nil)
		return
	}
	l.gathering = &gathering{}
	l.conn.start(m.Method, m.Params, func(result jsonv2.Value, err error) {
		if err != nil {
			l.emitContexts(nil)
			l.reply(m, nil, err)
			return
		}
		l.gathering.replayed = len(l.gathering.events)
		l.askFrames(func(main string, frames map[string]bool) {
			l.findDefault(main, func() {
				l.emitContexts(frames)
				l.reply(m, result, nil)
			})
		})
	})
}

// What follows asks the page, and calls then. mu is held, also when then is called.

// askFrames asks for the page's frames. The main frame's id is not always the target's:
// a page that was prerendered keeps its frame, in the tab's target.
func (l *link) askFrames(then func(main string, frames map[string]bool)) {
	l.conn.start("Page.getFrameTree", nil, func(result jsonv2.Value, err error) {
		var r struct {
			Tree frameTree `json:"frameTree"`
		}
		var frames map[string]bool
		if err == nil && jsonv2.Unmarshal(result, &r, lenient) == nil {
			frames = map[string]bool{}
			r.Tree.list(frames)
		}
		then(r.Tree.Frame.ID, frames)
	})
}

// findDefault finds the page's default context when it is not replayed. Either
// more than fifty others were created after it, or another Runtime.disable has made
// the debugger forget it. An object's id names its context.
func (l *link) findDefault(frame string, then func()) {
	replayed := slices.ContainsFunc(l.gathering.events, func(e gathered) bool {
		return e.created != nil && e.created.Aux.Default && e.created.Aux.Frame == frame
	})
	if frame == "" || replayed {
		then()
		return
	}
	const group = "browser-coordinator"
	params := jsonv2.Value(`{"expression":"globalThis","silent":true,"objectGroup":"` + group + `"}`)
	l.conn.start("Runtime.evaluate", params, func(result jsonv2.Value, err error) {
		var r struct {
			Result struct {
				ID string `json:"objectId"`
			} `json:"result"`
		}
		if err == nil && jsonv2.Unmarshal(result, &r, lenient) == nil {
			if parts := strings.Split(r.Result.ID, "."); len(parts) == 3 {
				l.addDefault(frame, parts[1])
			}
		}
		l.conn.start("Runtime.releaseObjectGroup", jsonv2.Value(`{"objectGroup":"`+group+`"}`), nil)
		then()
	})
}

func (l *link) addDefault(frame, context string) {
	id, err := strconv.ParseInt(context, 10, 64)
	if err != nil {
		return
	}
	event := fmt.Appendf(nil, `{"context":{"id":%d,"origin":"","name":"","uniqueId":"",`+
		`"auxData":{"isDefault":true,"type":"default","frameId":%s}}}`, id, encode(frame))
	e := gathered{method: "Runtime.executionContextCreated", params: event, created: &contextInfo{ID: id}}
	g := l.gathering
	// The first of its document: nothing of it was replayed before.
	g.events = slices.Insert(g.events, 0, e)
	g.replayed++
}

type frameTree struct {
	Frame    frame       `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

type frame struct {
	ID       string `json:"id"`
	Parent   string `json:"parentId"`
	URL      string `json:"url"`
	Fragment string `json:"urlFragment"`
}

func (t frameTree) list(ids map[string]bool) {
	ids[t.Frame.ID] = true
	for _, child := range t.Children {
		child.list(ids)
	}
}

// emitContexts sends the gathered events, and ends the gathering.
func (l *link) emitContexts(frames map[string]bool) {
	sent := l.gathering.sift(frames)
	l.gathering = nil
	if l.ended || !l.enabled["Runtime"] {
		return
	}
	for _, e := range sent {
		l.session.client.event(l.session, e.method, e.params)
	}
	// A browser sends it to clients that connect late, but the debugger does not
	// replay it. Without it Playwright assumes that a worker is still starting. The
	// debugger lets a worker run as soon as it shares it.
	if l.unloaded {
		l.unloaded = false
		l.session.client.event(l.session, scriptLoaded, nil)
	}
}

const scriptLoaded = "Inspector.workerScriptLoaded"
