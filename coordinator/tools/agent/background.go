package agent

import "context"

// Follow keeps a connection to the browser of the window that is resolved without a
// call's own choice, as soon as there is one. So the messages and dialogs of its pages
// are known from the start, not from the first call. It begins when the agent is ready,
// and returns when ctx ends.
func (a *Agent) Follow(ctx context.Context) {
	select {
	case <-a.ready:
	case <-ctx.Done():
		return
	}
	for {
		windows := a.Windows.Changed()
		a.mu.Lock()
		changed := a.changed.Next()
		a.mu.Unlock()
		a.watch(ctx)
		select {
		case <-windows:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// watch connects to the browser of the resolved window. It closes connections to browsers
// that were resolved before and that no call has used.
func (a *Agent) watch(ctx context.Context) {
	var url string
	var want *link
	if a.attached("") {
		var err error
		if url, err = a.Launcher.Browser(ctx); err != nil {
			return // a call will report it
		}
		want = &link{foreign: true, folders: a.folders(ctx)}
	} else {
		chosen, _, err := a.Windows.Selected(a.Want(ctx, ""))
		if err != nil {
			return // a call will report it
		}
		if chosen.Workspace != "" {
			a.join(a.Windows.Source(chosen.Key()))
		}
		if url, want, err = a.browserIn(chosen); err != nil {
			return
		}
	}
	present := a.browsers.to(url)
	a.browsers.leave(func(l *link) bool { return l != present && !l.used })
	if present != nil && !present.ended() {
		return
	}
	l, err := a.connect(ctx, url, want)
	if err != nil {
		a.Log.Info("the browser cannot be watched yet", "error", err)
		return
	}
	pages, err := l.browser.Watch(ctx)
	if err != nil {
		a.Log.Warn("a page of the browser cannot be watched", "error", err)
	}
	a.Log.Info("watching the browser", "pages", pages)
}
