package window

import (
	"context"
	"fmt"
	"io"
	"slices"
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
	input func() <-chan string
	out   io.Writer
	turn  chan struct{} // taken by the question or the recording that is shown
	yield chan struct{} // passes the turn of a recording on to a question, or to another recording
}

// NewTerminal shows questions on out. The user types the answers, one a line: typed returns the
// lines from now on, in a channel that is closed when none can come any longer.
func NewTerminal(typed func() <-chan string, out io.Writer) *Terminal {
	return &Terminal{input: typed, out: out, turn: make(chan struct{}, 1), yield: make(chan struct{})}
}

// ask shows a question when it is its turn, until the user has answered it here or elsewhere. It
// reports whether the terminal can be read: else the question is left to `coordinator show`. choose
// settles it by the answer here.
func (t *Terminal) ask(q *question, choose func(string)) (isRead bool) {
	select {
	case t.turn <- struct{}{}:
	case t.yield <- struct{}{}:
	case <-q.settled:
		return true
	}
	defer func() { <-t.turn }()
	select {
	case <-q.settled: // before the user could read it
		return true
	default:
	}
	q.timer.Reset(answerTimeout)
	fmt.Fprint(t.out, questionText(q.arg)+q.tabsText())
	select {
	case <-time.After(readPause):
	case <-q.settled:
		t.close(q)
		return true
	}
	typed := t.input()
	fmt.Fprint(t.out, choicesText(q.arg))
	for {
		select {
		case line, ok := <-typed:
			if !ok {
				fmt.Fprintln(t.out, "\nThis terminal can no longer be read. Answer in the page of `coordinator show`; "+
					"while it is not open, clients only read.")
				return false
			}
			if tab := q.chosen(line); tab != "" {
				q.settleWith(results[vscodeipc.ChoiceOnce], tab)
				return true
			}
			if choice := choiceOf(q.arg, line); choice != "" {
				choose(choice)
				return true
			}
			fmt.Fprint(t.out, choicesText(q.arg))
		case <-q.settled:
			t.close(q)
			return true
		}
	}
}

// showRecording shows a recording, when no question is shown. It reports whether the user has ended it
// with Enter before ctx ends. The latest recording has the turn, and then those before it.
func (t *Terminal) showRecording(ctx context.Context, each *question) (ended bool) {
	for yield := t.yield; ; yield = nil {
		select {
		case t.turn <- struct{}{}:
		case yield <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		if ended, yielded := t.showRecordingInTurn(ctx, each); !yielded {
			<-t.turn
			return ended
		}
	}
}

// showRecordingInTurn shows it until then, or until it has passed its turn on.
func (t *Terminal) showRecordingInTurn(ctx context.Context, each *question) (ended, yielded bool) {
	fmt.Fprint(t.out, questionText(each.arg))
	select {
	case <-time.After(readPause):
	case <-ctx.Done():
		fmt.Fprintln(t.out, "\nThe recording has ended.")
		return false, false
	}
	fmt.Fprint(t.out, choicesText(each.arg))
	select {
	case _, ok := <-t.input():
		return ok, false
	case <-t.yield:
		return false, true
	case <-ctx.Done():
		fmt.Fprintln(t.out, "\nThe recording has ended.")
		return false, false
	}
}

// close ends a question that was not answered here.
func (t *Terminal) close(q *question) {
	switch {
	case q.result == abandoned:
		fmt.Fprintln(t.out, "\nNo longer needed: the client has given up.")
	case q.result.Reason == "timeout":
		fmt.Fprintf(t.out, "\nRefused: no answer within a minute.\n")
	default:
		fmt.Fprintln(t.out, "\nAnswered elsewhere.")
	}
}

func refusal(reason string) vscodeipc.AskResult {
	return vscodeipc.AskResult{Decision: "refuse", Reason: reason}
}

// joins reports whether the question is about a CDP client that connects.
func joins(arg vscodeipc.AskArg) bool { return arg.Act == policy.Connect.Name }

// questionText is what the user reads. Names and titles are of the client's and the page's own
// choice, so each stays on its line.
func questionText(arg vscodeipc.AskArg) string {
	shown := func(text string) string { return terminal.PrintableLine(policy.Excerpt(text, longestText)) }
	var b strings.Builder
	client := shown(strings.TrimSpace(arg.Client.Name + " " + arg.Client.Version))
	switch {
	case joins(arg):
		fmt.Fprintf(&b, "\n%s wants to control this browser.\n", client)
	case showsRecording(arg):
		fmt.Fprintf(&b, "\n%s records what you do in the page.\n", client)
	case requestsTab(arg):
		fmt.Fprintf(&b, "\n%s wants to %s:\n", client, shown(arg.Detail))
		return b.String()
	default:
		fmt.Fprintf(&b, "\n%s wants to act: %s\n", client, shown(arg.Act))
	}
	// In full, since anything could be in a part that is left out. The margin marks lines that are not
	// the question's own.
	margin := "  | "
	if showsRecording(arg) {
		margin = "  "
	}
	for line := range strings.Lines(arg.Detail) {
		fmt.Fprintf(&b, "%s%s\n", margin, terminal.PrintableLine(strings.TrimRight(line, "\r\n")))
	}
	if arg.Claim != "" {
		fmt.Fprintf(&b, "  in its own words: %s\n", shown(arg.Claim))
	}
	if arg.Page != nil {
		fmt.Fprintf(&b, "  in the page %q at %s\n", shown(arg.Page.Title), shown(arg.Page.URL))
	}
	return b.String()
}

func choicesText(arg vscodeipc.AskArg) string {
	switch {
	case showsRecording(arg):
		return "Press Enter here to end that.\n"
	case requestsTab(arg):
		return "Which tab may agents use? Its number, or n (none): "
	case joins(arg):
		return "Allow? y (yes), n (no), v (it may only look): "
	case isAskedAlways(arg):
		return "Allow? y (yes), n (no): "
	}
	if !slices.Contains(choicesOf(arg), vscodeipc.ChoiceSession) {
		return "Allow? y (yes), n (no): "
	}
	return fmt.Sprintf("Allow? y (yes), n (no), s (all on %s, for this session): ", terminal.PrintableLine(arg.Origin))
}

// choiceOf is what a typed line means; empty: it is none of the choices.
func choiceOf(arg vscodeipc.AskArg, line string) (choice string) {
	choices := choicesOf(arg)
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		if !requestsTab(arg) { // which tab?
			choice = choices[0]
		}
	case "n", "no":
		choice = vscodeipc.ChoiceRefuse
	case "s":
		choice = vscodeipc.ChoiceSession
	case "v":
		choice = vscodeipc.ChoiceView
	}
	if !slices.Contains(choices, choice) {
		return ""
	}
	return choice
}
