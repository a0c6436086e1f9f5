package window

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// answerTimeout is how long a question is shown, as in VS Code.
const answerTimeout = time.Minute

// readPause is how long a question is shown before it can be answered, as in VS Code: what is
// typed before that was meant for something else.
const readPause = 500 * time.Millisecond

// longestText bounds each text of a question, in bytes.
const longestText = 300

// Terminal is the terminal on which the user of the window is asked.
type Terminal struct {
	typed func() <-chan string
	out   io.Writer
	turn  chan struct{} // taken by the question that is shown
}

// NewTerminal shows questions on out. The user types the answers, one a line: typed returns the
// lines from now on, in a channel that is closed when no more can come.
func NewTerminal(typed func() <-chan string, out io.Writer) *Terminal {
	return &Terminal{typed: typed, out: out, turn: make(chan struct{}, 1)}
}

// commands are the window's commands by which its user is asked.
func (t *Terminal) commands() map[string]vscodeipc.Handler {
	return map[string]vscodeipc.Handler{vscodeipc.CommandPermissionAsk: t.ask}
}

// ask shows one question after the other. Where the terminal can no longer be read, clients
// may do what they may in the mode view.
func (t *Terminal) ask(ctx context.Context, call vscodeipc.Call) (any, error) {
	var arg vscodeipc.AskArg
	if err := json.Unmarshal(call.Arg, &arg); err != nil {
		return nil, badPayload(err)
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-t.turn }()
	fmt.Fprint(t.out, question(arg))
	select {
	case <-time.After(readPause):
	case <-ctx.Done():
		return nil, t.giveUp(ctx)
	}
	typed := t.typed()
	fmt.Fprint(t.out, choices(arg))
	timeout := time.NewTimer(answerTimeout)
	defer timeout.Stop()
	for {
		select {
		case line, ok := <-typed:
			if !ok {
				fmt.Fprintln(t.out, "\nThis terminal can no longer be read, so clients may only look.")
				return refusal("mode"), nil
			}
			if result, ok := answer(arg, line); ok {
				return result, nil
			}
			fmt.Fprint(t.out, choices(arg))
		case <-timeout.C:
			fmt.Fprintf(t.out, "\nRefused: no answer within %v.\n", answerTimeout)
			return refusal("timeout"), nil
		case <-ctx.Done():
			return nil, t.giveUp(ctx)
		}
	}
}

func (t *Terminal) giveUp(ctx context.Context) error {
	fmt.Fprintln(t.out, "\nNo longer needed: the client has given up.")
	return ctx.Err()
}

func refusal(reason string) vscodeipc.AskResult {
	return vscodeipc.AskResult{Decision: "refuse", Scope: "once", Reason: reason}
}

// joins reports whether the question is about a CDP client that connects.
func joins(arg vscodeipc.AskArg) bool { return arg.Act == policy.Connect.Name }

// question is what the user reads. Names and titles are of the client's and the page's own
// choice, so each stays on its line.
func question(arg vscodeipc.AskArg) string {
	shown := func(text string) string { return terminal.PrintableLine(policy.Excerpt(text, longestText)) }
	var b strings.Builder
	client := shown(strings.TrimSpace(arg.Client.Name + " " + arg.Client.Version))
	if joins(arg) {
		fmt.Fprintf(&b, "\n%s wants to control this browser.\n", client)
	} else {
		fmt.Fprintf(&b, "\n%s wants to act: %s\n", client, shown(arg.Act))
	}
	for _, line := range []struct{ about, text string }{{"", arg.Detail}, {"in its own words: ", arg.Claim}} {
		if line.text != "" {
			fmt.Fprintf(&b, "  %s%s\n", line.about, shown(line.text))
		}
	}
	if arg.Page != nil {
		fmt.Fprintf(&b, "  in the page %q at %s\n", shown(arg.Page.Title), shown(arg.Page.URL))
	}
	return b.String()
}

func choices(arg vscodeipc.AskArg) string {
	if joins(arg) {
		return "Allow? y (yes), n (no), v (it may only look): "
	}
	return "Allow? y (yes), n (no), s (all of this session): "
}

// answer is what a typed line means, if it is one of the choices.
func answer(arg vscodeipc.AskArg, line string) (result vscodeipc.AskResult, ok bool) {
	switch typed := strings.ToLower(strings.TrimSpace(line)); {
	case typed == "n" || typed == "no":
		return refusal("human"), true
	case typed == "y" || typed == "yes":
		return vscodeipc.AskResult{Decision: "allow", Scope: "once"}, true
	case typed == "s" && !joins(arg):
		return vscodeipc.AskResult{Decision: "allow", Scope: "session"}, true
	case typed == "v" && joins(arg):
		return vscodeipc.AskResult{Decision: "view", Scope: "once"}, true
	}
	return result, false
}
