package window

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Alone is the user of a browser without a window, whom only `coordinator show` reaches. It
// implements [policy.User].
type Alone struct {
	client    func() vscodeipc.ClientInfo // the only agent of the browser
	questions *questions
	notes     *notes
	limit     policy.Mode // no mode is less strict; empty: any may be

	mu       sync.Mutex // guards the fields that follow
	access   vscodeipc.Access
	changes  int // of access.TakenOver
	changed  notify.Broadcast
	returned notify.Broadcast // of changes
}

// NewAlone returns the user of an agent's browser, in which everything is allowed at first that the
// limit allows. client is the agent.
func NewAlone(client func() vscodeipc.ClientInfo, limit policy.Mode) *Alone {
	access := vscodeipc.Access{Mode: vscodeipc.AccessMode(policy.ModeFull.Within(limit))}
	return &Alone{client: client, questions: newQuestions(nil, access), notes: newNotes(), limit: limit, access: access}
}

// Access returns what the user has chosen, and a channel that is closed when that changes.
func (u *Alone) Access() (policy.State, <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return policy.State{Mode: policy.Mode(u.access.Mode), Stopped: u.access.Stopped}, u.changed.Next()
}

// Takeover returns whether the user has taken over the browser, and a channel that is closed when
// that changes.
func (u *Alone) Takeover() (registry.Takeover, <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return registry.Takeover{Now: u.access.TakenOver, Changes: u.changes}, u.returned.Next()
}

// Ask asks in the page of `coordinator show`.
func (u *Alone) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	result, err := u.questions.askUser(ctx, registry.QuestionOf(q))
	return registry.AnswerOf(result), err
}

// Call runs one of the commands by which `coordinator show` reaches a user.
func (u *Alone) Call(ctx context.Context, command string, arg json.RawMessage) (any, error) {
	commands := map[string]vscodeipc.Handler{
		vscodeipc.CommandPermissionList:   u.questions.list,
		vscodeipc.CommandPermissionAnswer: handler(u.questions.answer),
		vscodeipc.CommandNoteGive:         handler(u.giveNote),
		vscodeipc.CommandAccessChange:     handler(u.changeAccess),
	}
	do := commands[command]
	if do == nil {
		return nil, badPayload(fmt.Errorf("no command %q", command))
	}
	return do(ctx, vscodeipc.Call{Arg: arg})
}

func (u *Alone) giveNote(_ context.Context, note vscodeipc.NoteGiveArg) (any, error) {
	limitNote(&note.Note)
	client := u.client()
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := checkNote(client.Name, client.ID == note.Recipient, u.access.Stopped); err != nil {
		return nil, err
	}
	u.notes.give(note)
	return struct{}{}, nil
}

func (u *Alone) changeAccess(_ context.Context, change vscodeipc.AccessChangeArg) (any, error) {
	if err := checkChange(change); err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.access
	u.access = changed(before, change)
	u.access.Mode = vscodeipc.AccessMode(policy.Mode(u.access.Mode).Within(u.limit))
	u.questions.apply(u.access)
	if string(change.Mode)+change.Stop+change.Resume != "" {
		u.changed.Notify()
	}
	if u.access.TakenOver != before.TakenOver {
		u.changes++
		u.returned.Notify()
	}
	return struct{}{}, nil
}
