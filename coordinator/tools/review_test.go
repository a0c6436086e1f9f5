package tools_test

import (
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

func TestReviewWaitsForTheUser(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	agent := w.Agent()
	var shown vscodeipc.ReviewResult
	var given vscodeipc.ReviewAnswer
	w.Handle(vscodeipc.CommandReviewPresent, func(vscodeipc.Call) (any, error) { return shown, nil })
	w.Handle(vscodeipc.CommandReviewWait, func(vscodeipc.Call) (any, error) { return given, nil })
	shown.Displayed = true

	given = vscodeipc.ReviewAnswer{Outcome: "changes", Text: "Nearly.", Comments: []vscodeipc.ReviewComment{
		{Text: "Why not textContent?\nIt is safe.", Quote: "+  answer.innerHTML = x;", Line: 7, File: "src/cart.ts",
			FileLine: 12},
		{Text: "Which?", Quote: "All green.", Line: 3},
		{Text: "Gone?", Quote: "Old"},
	}, Diffs: []vscodeipc.ReviewDiff{
		{File: "src/cart.ts", From: 12, To: 13, Applied: true}, {File: "src/cart.ts", From: 40, To: 40},
	}}
	text := agent.Must("present_review", args{"markdown": "# Cart", "title": "Cart", "wait": 300})
	want := `The user requests changes.
Nearly.
- src/cart.ts:12 "+  answer.innerHTML = x;": Why not textContent?
  It is safe.
- line 3 of the review "All green.": Which?
- "Old": Gone?
Applied: src/cart.ts:12-13, in the editor, perhaps not saved yet.
Not applied: src/cart.ts:40.`
	if !strings.Contains(text, want) {
		t.Errorf("the answer is\n%s\nwant\n%s", text, want)
	}
	if asked := toolstest.Called[vscodeipc.ReviewWaitArg](w, vscodeipc.CommandReviewWait, nil); asked.Title != "Cart" ||
		asked.Seconds != 300 {
		t.Errorf("the window is asked %+v", asked)
	}

	// Without markdown the shown text stays; without wait nobody waits.
	given = vscodeipc.ReviewAnswer{Outcome: "approved"}
	agent.Expect("present_review", args{"title": "Cart", "wait": 9_999}, "The user approves the review.")
	if n := len(w.Calls(vscodeipc.CommandReviewPresent)); n != 1 {
		t.Errorf("shown %d times", n)
	}
	toolstest.Called(w, vscodeipc.CommandReviewWait, func(a vscodeipc.ReviewWaitArg) bool { return a.Seconds == 3_600 })
	shown.Answer = &vscodeipc.ReviewAnswer{Outcome: "changes", Text: "Stop."}
	agent.Expect("present_review", args{"markdown": "more", "mode": "append"}, "answered the text before",
		"requests changes", "Stop.", "sees it")
	if n := len(w.Calls(vscodeipc.CommandReviewWait)); n != 2 {
		t.Errorf("waited %d times", n)
	}
	agent.Refused("present_review", nil, "needs markdown to show", "wait")

	given = vscodeipc.ReviewAnswer{Outcome: "timeout"}
	agent.Expect("present_review", args{"wait": 300}, "not answered within 5m0s",
		"call again with wait and without markdown")
	given = vscodeipc.ReviewAnswer{Outcome: "closed"}
	agent.Expect("present_review", args{"wait": 300}, "closed the review without an answer")
}

// A window may show reviews and take no answers. That is no reason to update it.
func TestReviewWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "", vscodeipc.CommandReviewWait)
	w.Handle(vscodeipc.CommandReviewPresent, func(vscodeipc.Call) (any, error) {
		return vscodeipc.ReviewResult{Displayed: true}, nil
	})
	w.Agent().Expect("present_review", args{"markdown": "# Cart", "wait": 300},
		"shows the review, but cannot send the user's answer: ask in words.")
}
