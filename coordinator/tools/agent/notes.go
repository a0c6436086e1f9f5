package agent

import (
	"context"
	"fmt"
	"strings"

	"browser-coordinator/vscodeipc"
)

// takeNotes adds what the window's user has written to the agent to the notices of the next
// answer.
func (a *Agent) takeNotes(ctx context.Context) {
	a.mu.Lock()
	window := a.presence.window
	a.mu.Unlock()
	if window == nil || !window.HasNotes(a.Info()) {
		return
	}
	notes, err := window.TakeNotes(ctx, a.Info())
	if err != nil {
		a.Log.Warn("the user's notes cannot be read", "error", err)
	}
	for _, note := range notes {
		a.notify(describeNote(note))
	}
}

func describeNote(n vscodeipc.Note) string {
	about := fmt.Sprintf("%s, in the page %q at %s", strings.Join(n.Elements, "; "), n.Page.Title, n.Page.URL)
	if n.Text == "" {
		return "The user points you to " + about + "."
	}
	return fmt.Sprintf("The user writes to you about %s:\n  %s", about, strings.ReplaceAll(n.Text, "\n", "\n  "))
}
