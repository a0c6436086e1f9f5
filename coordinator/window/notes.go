package window

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"browser-coordinator/vscodeipc"
)

// mostNotes is how many wait for one agent: the newest.
const mostNotes = 20

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

// recipients are the agents for which there are notes. Of others than those that are here, the notes
// are forgotten.
func (n *notes) recipients(isHere func(id string) bool) (ids []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.waiting {
		if !isHere(id) {
			delete(n.waiting, id)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func readNote(raw json.RawMessage) (arg vscodeipc.NoteGiveArg, err error) {
	if err := json.Unmarshal(raw, &arg); err != nil {
		return arg, badPayload(err)
	}
	return arg, nil
}

// giveNote keeps what the user has written in `coordinator show`, and reports it to the agent.
func (w *Window) giveNote(_ context.Context, call vscodeipc.Call) (any, error) {
	arg, err := readNote(call.Arg)
	if err != nil {
		return nil, err
	}
	name, isHere := w.clients.agent(arg.Recipient)
	if !isHere {
		return nil, badPayload(errGone)
	}
	w.mu.Lock()
	isStopped := slices.Contains(w.state.Access.Stopped, name)
	w.mu.Unlock()
	if isStopped {
		return nil, badPayload(errStopped)
	}
	w.notes.give(arg)
	return struct{}{}, w.reportNotes()
}

func (w *Window) takeNote(_ context.Context, call vscodeipc.Call) (any, error) {
	var arg vscodeipc.NoteTakeArg
	if err := json.Unmarshal(call.Arg, &arg); err != nil {
		return nil, badPayload(err)
	}
	result := vscodeipc.NoteTakeResult{Note: w.notes.take(arg.Client.ID)}
	return result, w.reportNotes()
}

// reportNotes reports for whom there are notes.
func (w *Window) reportNotes() error {
	return w.report(func(state *vscodeipc.State) { state.Notes = w.notes.recipients(w.clients.isAgent) })
}

// forgetNotes forgets those to agents that have left.
func (w *Window) forgetNotes() {
	w.mu.Lock()
	waiting := len(w.state.Notes) > 0
	w.mu.Unlock()
	if !waiting {
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
	return len(u.notes.recipients(func(id string) bool { return id == to.ID })) > 0
}

// TakeNote returns the oldest note to an agent, and removes it; nil: there is none.
func (u *Alone) TakeNote(_ context.Context, to vscodeipc.ClientInfo) (*vscodeipc.Note, error) {
	return u.notes.take(to.ID), nil
}
