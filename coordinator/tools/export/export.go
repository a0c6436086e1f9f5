// Package export turns what an agent does in a browser into a Playwright test.
//
// Texts of pages and agents are only ever string literals of the test: whoever loads it
// runs no code of theirs outside of the page.
package export

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Most bounds the steps of a test.
const Most = 1000

// Test collects the steps of a test.
type Test struct {
	mu    sync.Mutex
	steps []*step
	pages map[string]string // the variable of each page, by id
	over  bool              // a step was left out, see Most
}

// step is a step with what came of it.
type step struct {
	Step
	page    string // its variable
	dialogs []dialog
	files   []string // given to the file chooser that it opened; nil: it opened none
	opened  string   // the variable of the page that it opened; empty: it opened none
	expect  []string // statements
}

// dialog is one that a step opened.
type dialog struct {
	message string
	answer  *Answer // nil: nobody knows of one
}

// Step is what one call does in a page, or expects of it.
type Step struct {
	// Code are JavaScript expressions of promises, one after the other.
	Code []string
	// Opens is the address that the step opens by itself; empty: none.
	Opens string
	// Answer is given to the open dialog, without Code.
	Answer *Answer
	// Files are given to the file chooser that Code opens or, without Code, to the open one.
	Files []string
	// Comment is a line for readers.
	Comment string
}

// Answer is the answer to a dialog.
type Answer struct {
	Accept  bool
	Text    string // a JavaScript expression; empty: none
	Message string // of the dialog; empty: unknown
}

// Page is where a call works. It is zero for a call that works in no page of its own.
type Page struct{ ID, URL string } // the address before the call

// Outcome is what came of a call.
type Outcome struct {
	URL     string   // of another document, or another address in it; empty: the same
	Dialog  *string  // the message of the dialog that is open now; nil: none
	Chooser bool     // a file chooser is open now
	Opened  []string // the ids of the pages that it opened
	Shown   []Expectation
}

// Expectation is an expectation of a page, given the page's variable.
type Expectation func(page string) string

// Expect expects something of what a locator finds in a page.
func Expect(locator, is string) Expectation {
	return func(page string) string { return "expect(" + page + "." + locator + ")." + is }
}

// MostExpected bounds the expectations of one step.
const MostExpected = 2

// Add adds the step that a call makes, given the variable of its page.
func (t *Test) Add(in Page, make func(page string) Step, came Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) >= Most {
		t.over = true
		return
	}
	name, declared := t.pages[in.ID]
	if in.ID == "" {
		name, declared = "page", true // the test always has that one
	}
	if !declared {
		name = t.declare(in.ID)
	}
	made := make(name)
	if made.Code == nil && made.Answer == nil && made.Files == nil && made.Comment == "" {
		if !declared {
			delete(t.pages, in.ID)
		}
		return
	}
	if !declared {
		t.begin(name, in.URL, made.Opens != "")
	}
	s := &step{Step: made, page: name, files: made.Files}
	if in.ID == "" {
		s.page = "" // it opens no dialog there
	}
	if made.Answer == nil && (made.Files == nil || made.Code != nil) {
		t.steps = append(t.steps, s)
	} else if s = t.opener(name, made); s == nil { // what has opened it is not known
		return
	} else { // it is not over before this
		s.expect = nil
	}
	if came.Dialog != nil {
		s.dialogs = append(s.dialogs, dialog{message: *came.Dialog})
	}
	if came.Chooser && s.files == nil {
		s.files = []string{}
	}
	if s.opened == "" && len(came.Opened) > 0 && t.pages[came.Opened[0]] == "" {
		s.opened = t.declare(came.Opened[0])
	}
	if came.URL != "" && came.Dialog == nil && place(came.URL) != place(made.Opens) {
		s.expect = append(s.expect, expectURL(name, came.URL))
	}
	if made.Code != nil && strings.HasPrefix(made.Code[0], "expect(") { // what was waited for, or verified
		return
	}
	for _, shown := range came.Shown[:min(len(came.Shown), MostExpected-len(s.expect))] {
		s.expect = append(s.expect, shown(name))
	}
}

// declare names the variable of a page.
func (t *Test) declare(id string) string {
	name := "page"
	if n := len(t.pages); n > 0 {
		name += strconv.Itoa(n)
	} else {
		t.pages = map[string]string{}
	}
	t.pages[id] = name
	return name
}

// begin is the first step in a page that no step has opened.
func (t *Test) begin(name, url string, opens bool) {
	s := &step{page: name}
	if name != "page" {
		s.Code = append(s.Code, "const "+name+" = page.context().newPage()")
	}
	if !opens {
		s.Code = append(s.Code, name+".goto("+Quote(url)+")")
	}
	if s.Code != nil {
		t.steps = append(t.steps, s)
	}
}

// opener is the step that opened what a step answers; nil: unknown. It notes the answer.
func (t *Test) opener(page string, answers Step) *step {
	for _, s := range slices.Backward(t.steps) {
		switch {
		case s.page != page || s.Code == nil:
		case answers.Answer != nil:
			if last := len(s.dialogs) - 1; last >= 0 && s.dialogs[last].answer == nil {
				s.dialogs[last].answer = answers.Answer
			} else { // it has opened since the step was done
				s.dialogs = append(s.dialogs, dialog{message: answers.Answer.Message, answer: answers.Answer})
			}
			return s
		case answers.Answer == nil && s.files != nil:
			s.files = append([]string{}, answers.Files...)
			return s
		}
	}
	return nil
}
