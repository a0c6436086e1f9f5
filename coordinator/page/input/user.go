package input

import (
	"context"
	_ "embed"
	"time"

	"browser-coordinator/coordinator/page/frame"
)

// WatchUser notes the user's input in a document. It belongs to the library of our worlds.
//
//go:embed user.js
var WatchUser string

// How long the user has rested before the agent's input begins. A person who types or clicks pauses
// for less; the mouse alone disturbs little.
const (
	restAfterPress    = time.Second
	restAfterMovement = 250 * time.Millisecond
)

// userInput is what a document knows of the user's input.
type userInput struct{ Pressed, Moved float64 } // milliseconds before now

// UserRest is how long the user must still rest before the agent's input may begin, in the documents
// that have been entered; 0: the user does nothing in them.
func (i *Input) UserRest(ctx context.Context) (wait time.Duration) {
	found, _ := frame.EvaluateEntered[*userInput](ctx, i.opts.Frames, "memory.user?.last() ?? null")
	for _, f := range found {
		if f != nil {
			wait = max(wait, restAfterPress-milliseconds(f.Pressed), restAfterMovement-milliseconds(f.Moved))
		}
	}
	return wait
}

// Ended notes in the documents that the input of an action has ended: what was pressed until then
// was the agent's. There is no need to wait: what is asked of the documents later finds it done.
func (i *Input) Ended(ctx context.Context) {
	_, _ = frame.StartEntered(context.WithoutCancel(ctx), i.opts.Frames, "memory.user?.ended()")
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
