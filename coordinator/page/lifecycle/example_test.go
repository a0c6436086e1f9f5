package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/coordinator/page/lifecycle"
)

// A wait asks for what was logged after a position in the log.
func Example() {
	life := lifecycle.New()
	before := life.Seq()
	navigated := make(chan error)
	go func() {
		navigated <- life.Await(context.Background(), func() bool {
			return life.After(before, lifecycle.Committed) && life.Reached(lifecycle.Loaded)
		})
	}()
	// These come from the browser's events.
	life.Log(lifecycle.Event{URL: "http://localhost/next"}, lifecycle.Leaving)
	life.Commit(false)
	life.Log(lifecycle.Event{}, lifecycle.Parsed, lifecycle.Loaded)
	fmt.Println(<-navigated, life.Documents())

	// A time limit that passes is no error.
	fmt.Println(life.AwaitFor(context.Background(), time.Millisecond, life.IsLeaving), life.IsLeaving())
	// Output:
	// <nil> 1
	// <nil> false
}

// A dialog ends the calls that cannot go on.
func ExampleLifecycle_Begin() {
	life := lifecycle.New()
	ctx, end, err := life.Begin(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	life.OpenDialog(lifecycle.Dialog{Type: "confirm", Message: "Remove it?"})
	<-ctx.Done()
	fmt.Println(context.Cause(ctx))
	_, _, err = life.Begin(context.Background())
	fmt.Println(errors.As(err, new(*lifecycle.DialogError)))
	// Output:
	// a JavaScript confirm dialog is open ("Remove it?"): accept or dismiss it first, with browser_handle_dialog
	// true
}
