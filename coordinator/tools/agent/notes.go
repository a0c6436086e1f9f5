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

// longestNoted bounds each text of a page in a note, in characters.
const longestNoted = 500

// describeNote is a sentence that speaks for the user. What the page chooses is quoted in it, on one
// line; the user's own words come last, indented.
func describeNote(n vscodeipc.Note) string {
	quoted := func(text string) string { return "“" + plain(text, longestNoted) + "”" }
	elements := make([]string, len(n.Elements))
	for i, element := range n.Elements {
		elements[i] = quoted(element)
	}
	about := fmt.Sprintf("%s, in the page %s at %s", strings.Join(elements, "; "), quoted(n.Page.Title),
		quoted(n.Page.URL))
	if n.Text == "" {
		return "The user points you to " + about + "."
	}
	return fmt.Sprintf("The user writes to you, about %s. The user's own words:\n  %s", about,
		strings.ReplaceAll(n.Text, "\n", "\n  "))
}
