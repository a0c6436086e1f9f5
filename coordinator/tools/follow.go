package tools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// follow keeps a connection to the browser of the window that is resolved without a
// call's own choice, as soon as there is one. So the messages and dialogs of its pages
// are known from the start, not from the first call. Run owns it.
func (a *agent) follow(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	select {
	case <-a.initialized:
	case <-ctx.Done():
		return
	}
	for {
		changed := a.server.options.Windows.Changed()
		a.mu.Lock()
		decide := a.decide.Next()
		a.mu.Unlock()
		a.lookAhead(ctx)
		select {
		case <-changed:
		case <-decide:
		case <-ctx.Done():
			return
		}
	}
}

// lookAhead connects to the browser of the resolved window. It closes connections to
// browsers that were resolved before and that no call has used.
func (a *agent) lookAhead(ctx context.Context) {
	o := &a.server.options
	url, want := o.Attach, &link{remote: true, folders: a.workspace(ctx)}
	if url == "" || a.named("") != "" {
		chosen, _, err := o.Windows.Resolve(ctx, a.want(ctx, ""))
		if err != nil {
			return // a call will report it
		}
		if o.Chosen != nil {
			o.Chosen(chosen)
		}
		if chosen.Workspace != "" {
			a.join(o.Windows.Source(chosen.Workspace))
		}
		browser := chosen.Browser()
		if browser == nil {
			return
		}
		url, want = browser.URL, &link{folders: chosen.Folders}
	}
	a.mu.Lock()
	meant := a.links[url]
	a.mu.Unlock()
	a.leave(func(l *link) bool { return l != meant && !l.used })
	if meant != nil && !ended(meant) {
		return
	}
	l, err := a.connect(ctx, url, want)
	if err != nil {
		a.log.Info("the browser cannot be watched yet", "error", err)
		return
	}
	pages, err := l.browser.Watch(ctx)
	if err != nil {
		a.log.Warn("a page of the browser cannot be watched", "error", err)
	}
	a.log.Info("watching the browser", "pages", pages)
}

// listen is the middleware that starts follow when the host's capabilities are known:
// with its notification "initialized" or, from protocol 2026-07-28 on, with its first
// message.
func (s *Server) listen(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if session, ok := req.GetSession().(*mcp.ServerSession); ok && method != "initialize" {
			a := s.agent(session)
			a.once.Do(func() { close(a.initialized) })
		}
		return next(ctx, method, req)
	}
}
