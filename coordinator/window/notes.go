package window

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"browser-coordinator/vscodeipc"
)

// mostNotes is how many wait for one agent: the newest.
const mostNotes = 20

// Limits of a note, which are those of extension/src/core/window/notelimits.ts.
const (
	mostAnnotations = 10
	longestNote     = 2_000      // of what the user writes, and of an address, in characters
	longestElement  = 300        // of an element's name, and of a page's title, in characters
	largestPicture  = 384 * 1024 // in bytes
)

// notes are what the user has written to agents in `coordinator show`, until they take it.
type notes struct {
	mu      sync.Mutex                  // guards waiting
	waiting map[string][]vscodeipc.Note // by the agent's id, the oldest first
}

func newNotes() *notes { return &notes{waiting: map[string][]vscodeipc.Note{}} }

// give adds a note that was written to an agent.
func (n *notes) give(arg vscodeipc.NoteGiveArg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := append(n.waiting[arg.Recipient], arg.Note)
	n.waiting[arg.Recipient] = all[max(0, len(all)-mostNotes):]
}

// take removes the oldest note to an agent; nil: there is none.
func (n *notes) take(recipient string) *vscodeipc.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.waiting[recipient]
	if len(all) == 0 {
		return nil
	}
	n.waiting[recipient] = all[1:]
	if len(all) == 1 {
		delete(n.waiting, recipient)
	}
	return &all[0]
}

// recipients are the agents for which there are notes.
func (n *notes) recipients() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.waiting))
}

// keepOnly forgets the notes to others than those that are here, and reports whether there were any.
func (n *notes) keepOnly(here map[string]bool) (forgotten bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := len(n.waiting)
	maps.DeleteFunc(n.waiting, func(id string, _ []vscodeipc.Note) bool { return !here[id] })
	return len(n.waiting) < before
}

// limitNote cuts a note to its limits.
func limitNote(note *vscodeipc.Note) {
	note.Text = cut(strings.TrimSpace(note.Text), longestNote)
	note.Annotations = note.Annotations[:min(len(note.Annotations), mostAnnotations)]
	if note.Annotations == nil {
		note.Annotations = []vscodeipc.Annotation{} // null is no list for the agent
	}
	for i := range note.Annotations {
		n := &note.Annotations[i]
		n.Element, n.Text = cut(n.Element, longestElement), cut(strings.TrimSpace(n.Text), longestNote)
		n.Page.Title, n.Page.URL = cut(n.Page.Title, longestElement), cut(n.Page.URL, longestNote)
		if len(n.Picture) > largestPicture {
			n.Picture = nil
		}
	}
}

func cut(text string, limit int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), limit)])
}

// checkNote reports why the agent of this name gets no note; nil: it gets it.
func checkNote(name string, isHere bool, stopped []string) error {
	switch {
	case !isHere:
		return badPayload(errGone)
	case slices.Contains(stopped, name):
		return badPayload(errStopped)
	}
	return nil
}

// giveNote keeps what the user has written in `coordinator show`, and reports it to the agent.
func (w *Window) giveNote(_ context.Context, arg vscodeipc.NoteGiveArg) (any, error) {
	limitNote(&arg.Note)
	w.mu.Lock()
	stopped := w.state.Access.Stopped
	w.mu.Unlock()
	return struct{}{}, w.clients.withAgent(arg.Recipient, func(name string, isHere bool) error {
		if err := checkNote(name, isHere, stopped); err != nil {
			return err
		}
		w.notes.give(arg)
		return w.reportNotes()
	})
}

func (w *Window) takeNote(_ context.Context, arg vscodeipc.NoteTakeArg) (any, error) {
	result := vscodeipc.NoteTakeResult{Note: w.notes.take(arg.Client.ID)}
	return result, w.reportNotes()
}

// reportNotes reports for whom there are notes.
func (w *Window) reportNotes() error {
	return w.report(func(state *vscodeipc.State) { state.Notes = w.notes.recipients() })
}

// forgetNotes forgets those to agents that have left.
func (w *Window) forgetNotes(here map[string]bool) {
	if !w.notes.keepOnly(here) {
		return
	}
	if err := w.reportNotes(); err != nil {
		w.log.Debug("the notes to agents that have left are still reported", "error", err)
	}
}

var (
	errGone    = errors.New("the agent has left: choose another one")
	errStopped = errors.New("the agent is stopped: resume it, or choose another one")
)

// HasNotes reports whether the user has written notes to an agent that it has not taken.
func (u *Alone) HasNotes(to vscodeipc.ClientInfo) bool {
	return slices.Contains(u.notes.recipients(), to.ID)
}

// TakeNote returns the oldest note to an agent, and removes it; nil: there is none.
func (u *Alone) TakeNote(_ context.Context, to vscodeipc.ClientInfo) (*vscodeipc.Note, error) {
	return u.notes.take(to.ID), nil
}
