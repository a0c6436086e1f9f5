package page

import (
	"context"
	"encoding/json"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// past is what the documents of a session tell of themselves.
type past struct {
	State   string  // document.readyState; empty in a worker
	Now     float64 // milliseconds since 1970
	Entries []pastEntry
}

// pastEntry is a Resource Timing entry.
type pastEntry struct {
	Name      string
	Initiator string
	Status    int
	Type      string
	Size      int64
	Start     float64 // milliseconds since 1970
	Duration  float64 // milliseconds
	Done      bool
}

// pastScript runs in a world of ours, which the page cannot patch. A worker has no
// isolated worlds: there it runs beside the worker's code, which may have replaced
// getEntriesByType, so the script is bounded and its result is untrusted data. The
// alternative is to know nothing of what a worker requested before. Frames report
// what is in them, and are reported by what they are in.
const pastScript = `(() => {
	const past = { state: globalThis.document?.readyState };
	try {
		const entries = [];
		const tell = (scope, kinds) => {
			const clock = scope.performance;
			for (const kind of kinds) for (const e of clock.getEntriesByType(kind)) {
				const start = kind === "navigation" ? e.fetchStart : e.startTime;
				entries.push({
					name: e.name.split("#")[0], initiator: e.initiatorType, status: e.responseStatus, type: e.contentType,
					size: Math.round(e.transferSize), start: clock.timeOrigin + start,
					duration: Math.max(e.responseEnd - start, 0), done: e.responseEnd > 0 || kind === "resource",
				});
			}
			for (let i = 0; i < Math.min(scope.length, 100); i++) {
				try { tell(scope[i], ["resource"]); } catch {} // of another origin
			}
		};
		tell(globalThis, ["navigation", "resource"]);
		past.now = performance.timeOrigin + performance.now();
		past.entries = entries;
		return JSON.stringify(past);
	} catch {
		return JSON.stringify({ state: past.state });
	}
})()`

// workerPatience bounds pastScript in a worker, in milliseconds.
const workerPatience = 1000

func (p *Page) readPast(ctx context.Context, s *cdp.Session) (past, error) {
	var told past
	params := runtime.EvaluateParams{Expression: pastScript, ReturnByValue: new(true), Silent: new(true)}
	var r runtime.EvaluateResult
	for tries := 1; ; tries++ {
		root, err := p.rootOf(s)
		switch {
		case err != nil:
			return told, err
		case root == "":
			params.Timeout = workerPatience
		default:
			if params.ContextID, err = frame.EmptyWorld(ctx, s, root); err != nil {
				return told, err
			}
		}
		if r, err = protocol.Call(ctx, s, runtime.Evaluate, params); err == nil {
			break
		}
		if !frame.NoContext(err) || tries == 4 { // the document is replaced while it is asked
			return told, err
		}
	}
	var text string
	if r.Result == nil || r.ExceptionDetails != nil || json.Unmarshal(r.Result.Value, &text) != nil {
		return told, nil // a worker may return anything
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return past{}, nil
	}
	told.Entries = told.Entries[max(0, len(told.Entries)-p.requests.size):]
	return told, nil
}

// rootOf is the frame that a session is of; empty: it is a worker's.
func (p *Page) rootOf(s *cdp.Session) (protocol.FrameID, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, worker := p.requests.scripts[s]; worker {
		return "", nil
	}
	if f, ok := p.frames.RootOf(s); ok {
		return f.ID, nil
	}
	return "", frame.ErrGone
}

// documentLearnt completes what events told before the page's address was known; mu is
// held.
func (p *Page) documentLearnt(url string) {
	for i := range p.console.messages {
		if m := &p.console.messages[i]; m.Documents[0] == "" {
			m.Documents[0] = url
		}
	}
	for _, e := range p.requests.entries {
		if e.Documents == [2]string{} && !e.Navigation {
			e.Documents[0] = url
		}
	}
}

// documents are the addresses of the page and of a session's frame in it; mu is held.
func (p *Page) documents(s *cdp.Session) [2]string {
	f, _ := p.frames.RootOf(s)
	return [2]string{p.frames.URL(), f.URL}
}
