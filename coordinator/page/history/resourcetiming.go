package history

import (
	"context"
	"encoding/json"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// DocumentReport is what the documents of a session report about themselves.
type DocumentReport struct {
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

// pastScript runs in an isolated world, which the page cannot patch. A worker has no
// isolated worlds: there it runs beside the worker's code, which may have replaced
// getEntriesByType. The script's time is therefore limited and its result is untrusted
// data. Without it, the earlier requests of a worker stay unknown. A frame reports its own
// content, and its parent document reports the frame itself.
var pastScript = `(() => {
	const past = { state: globalThis.document && ` + frame.OfDocument("readyState") + ` };
	try {
		const entries = [];
		const list = (scope, kinds) => {
			const clock = scope.performance;
			for (const kind of kinds) for (const e of clock.getEntriesByType(kind)) {
				const start = kind === "navigation" ? e.fetchStart : e.startTime;
				entries.push({
					name: e.name.split("#")[0], initiator: e.initiatorType, status: e.responseStatus,
					type: e.contentType,
					size: Math.round(e.transferSize), start: clock.timeOrigin + start,
					duration: Math.max(e.responseEnd - start, 0), done: e.responseEnd > 0 || kind === "resource",
				});
			}
			for (let i = 0; i < Math.min(scope.length, 100); i++) {
				try { list(scope[i], ["resource"]); } catch {} // of another origin
			}
		};
		list(globalThis, ["navigation", "resource"]);
		past.now = performance.timeOrigin + performance.now();
		past.entries = entries;
		return JSON.stringify(past);
	} catch {
		return JSON.stringify({ state: past.state });
	}
})()`

// workerTimeout bounds pastScript in a worker, in milliseconds.
const workerTimeout = 1000

func (n *Network) readPast(ctx context.Context, s *cdp.Session) (DocumentReport, error) {
	var report DocumentReport
	params := runtime.EvaluateParams{Expression: pastScript, ReturnByValue: new(true), Silent: new(true)}
	root, err := n.rootOf(s)
	if err != nil {
		return report, err
	}
	var r runtime.EvaluateResult
	if root == "" {
		params.Timeout = workerTimeout
		r, err = protocol.Call(ctx, s, runtime.Evaluate, params)
	} else {
		r, err = frame.EvaluateApart(ctx, s, root, params)
	}
	if err != nil {
		return report, err
	}
	var text string
	if r.Result == nil || r.ExceptionDetails != nil || json.Unmarshal(r.Result.Value, &text) != nil {
		return report, nil // a worker may return anything
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		return DocumentReport{}, nil
	}
	report.Entries = report.Entries[max(0, len(report.Entries)-n.opts.NetworkSize):]
	return report, nil
}

// rootOf is the frame of a session; empty for a worker's session.
func (n *Network) rootOf(s *cdp.Session) (protocol.FrameID, error) {
	n.history.mu.Lock()
	_, worker := n.log.scripts[s]
	n.history.mu.Unlock()
	if worker {
		return "", nil
	}
	if f, ok := n.opts.Frames.RootOf(s); ok {
		return f.ID, nil
	}
	return "", frame.ErrGone
}
