package agent

import "context"

// Follow keeps a connection to the browser of the window that is resolved without a
// call's own choice, as soon as there is one. So the messages and dialogs of its pages
// are known from the start, not from the first call. It begins when the host has
// identified itself, and returns when ctx ends.
func (a *Agent) Follow(ctx context.Context) {
	select {
	case <-a.identified:
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
	to, err := a.followed(ctx)
	if err != nil {
		return // a call will report it
	}
	a.drop(func(c *connection) bool { return c.url != to.url && c.work.usage == watched || c.ended() })
	a.mu.Lock()
	present := a.connections[to.url]
	a.mu.Unlock()
	if present != nil {
		return
	}
	c, err := a.connect(ctx, to, watched)
	if err != nil {
		a.Log.Info("the browser cannot be watched yet", "error", err)
		return
	}
	pages, err := c.browser.Watch(ctx)
	if err != nil {
		a.Log.Warn("a page of the browser cannot be watched", "error", err)
	}
	a.Log.Info("watching the browser", "pages", pages)
}

// followed is the browser of a call that names no window, if it runs.
func (a *Agent) followed(ctx context.Context) (destination, error) {
	if a.attached("") {
		return a.launched(ctx, ofStranger)
	}
	chosen, _, err := a.Windows.Selected(a.Want(ctx, ""))
	if err != nil {
		return destination{}, err
	}
	if user := a.Windows.SourceOf(chosen); !user.Alone() {
		a.join(user)
	}
	return a.browserIn(chosen)
}
