// Package export turns what an agent does in a browser into a Playwright test.
//
// Texts of pages and agents are only ever string literals of the test: whoever loads it
// runs no code of theirs outside of the page. All code is a javascript.Expression, and
// secrets are taken out of the texts before those are quoted.
package export

import (
	"slices"
	"strconv"
	"sync"

	"browser-coordinator/coordinator/javascript"
)

// Most bounds the steps of a test, and maxSource its code in bytes.
const (
	Most      = 1000
	maxSource = 16 << 20
)

// Test collects the steps of a test.
type Test struct {
	// Title is the test's; empty: that of an agent's session.
	Title string

	mu        sync.Mutex
	steps     []*step
	pages     map[string]variable // by id
	passwords map[string]string   // what was typed into password fields, by variable
	truncated bool                // a step was left out, see Most
	size      int                 // of the code
}

// variable is the number of a page's variable: page, page1, page2.
type variable int

// none is the variable of a step that works in no page.
const none variable = -1

func (v variable) expression() javascript.Expression {
	if v <= 0 {
		return javascript.Format("page")
	}
	return javascript.Format("page$", int(v))
}

// step is a step with its outcome.
type step struct {
	Step
	page     variable
	declares bool // its first expression is the page's value
	dialogs  []dialog
	files    []string // given to the file chooser that it opened; nil: it opened none
	opened   variable // of the page that it opened; 0: it opened none
	expect   []javascript.Expression
}

// dialog is one that a step opened.
type dialog struct {
	message string
	answer  *Answer // nil: nobody knows of one
}

// Step is what one call does in a page, or expects of it.
type Step struct {
	// Code are expressions of promises, one after the other.
	Code []javascript.Expression
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
	Text    javascript.Expression // zero: none
	Message string                // of the dialog; empty: unknown
}

// Page is where a call works. It is zero for a call that works in no page of its own.
type Page struct{ ID, URL string } // the address before the call

// Outcome is what a call has changed.
type Outcome struct {
	URL     string   // of another document, or another address in it; empty: the same
	Dialog  *string  // the message of the dialog that is open now; nil: none
	Chooser bool     // a file chooser is open now
	Opened  []string // the ids of the pages that it opened
	Shown   []Expectation
}

// Expectation is an expectation of a page, given the page's variable.
type Expectation func(page javascript.Expression) javascript.Expression

// Expect expects something of what a locator finds in a page.
func Expect(locator, is javascript.Expression) Expectation {
	return func(page javascript.Expression) javascript.Expression {
		return javascript.Format("expect($.$).$", page, locator, is)
	}
}

// MostExpected bounds the expectations of one step.
const MostExpected = 2

// Add adds the step that a call makes, given the variable of its page.
func (t *Test) Add(in Page, make func(page javascript.Expression) Step, outcome Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) >= Most || t.size > maxSource {
		t.truncated = true
		return
	}
	v, declared := t.pages[in.ID]
	if in.ID == "" {
		declared = true // the test always has the first one
	}
	if !declared {
		v = t.declare(in.ID, 0)
	}
	page := v.expression()
	made := make(page)
	if made.Code == nil && made.Answer == nil && made.Files == nil && made.Comment == "" {
		if !declared {
			delete(t.pages, in.ID)
		}
		return
	}
	for _, code := range made.Code {
		t.size += len(code.String())
	}
	if !declared {
		t.begin(v, in.URL, made.Opens != "")
	}
	s := &step{Step: made, page: v, files: made.Files}
	if in.ID == "" {
		s.page = none // it opens no dialog there
	}
	if made.Answer == nil && (made.Files == nil || made.Code != nil) {
		t.steps = append(t.steps, s)
	} else if s = t.opener(v, made); s == nil { // what has opened it is not known
		return
	} else { // it is not over before this
		s.expect = nil
	}
	if outcome.Dialog != nil {
		s.dialogs = append(s.dialogs, dialog{message: *outcome.Dialog})
	}
	if outcome.Chooser && s.files == nil {
		s.files = []string{}
	}
	if s.opened == 0 && len(outcome.Opened) > 0 {
		if _, declared := t.pages[outcome.Opened[0]]; !declared {
			s.opened = t.declare(outcome.Opened[0], 1)
		}
	}
	if outcome.URL != "" && outcome.Dialog == nil && place(outcome.URL) != place(made.Opens) {
		s.expect = append(s.expect, expectURL(page, outcome.URL))
	}
	if made.Code != nil && made.Code[0].Begins("expect(") { // what was waited for, or verified
		return
	}
	for _, expected := range outcome.Shown[:min(len(outcome.Shown), MostExpected-len(s.expect))] {
		s.expect = append(s.expect, expected(page))
	}
}

// declare chooses the variable of a page.
func (t *Test) declare(id string, first variable) variable {
	if t.pages == nil {
		t.pages = map[string]variable{}
	}
	v := first
	for _, used := range t.pages {
		v = max(v, used+1)
	}
	t.pages[id] = v
	return v
}

// begin is the first step in a page that no step has opened.
func (t *Test) begin(v variable, url string, opens bool) {
	s := &step{page: v}
	if s.declares = v > 0; s.declares {
		s.Code = append(s.Code, javascript.Format("page.context().newPage()"))
	}
	if !opens {
		s.Code = append(s.Code, javascript.Format("$.goto($)", v.expression(), url))
	}
	if s.Code != nil {
		t.steps = append(t.steps, s)
	}
}

// opener is the step that opened what a step answers; nil: unknown. It notes the answer.
func (t *Test) opener(page variable, answers Step) *step {
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

// Password stands for a text that is typed into a password field: a test never contains it,
// and reads it from the environment. isSecret reports which names are those of secrets. It
// is for the functions that Add calls.
func (t *Test) Password(text string, isSecret func(name string) bool) javascript.Variable {
	for n := 1; ; n++ {
		name := "TYPED_PASSWORD" // not a name that an environment is likely to have for another one
		if n > 1 {
			name += strconv.Itoa(n)
		}
		previous, taken := t.passwords[name]
		switch {
		case taken && previous == text:
			return javascript.Variable(name)
		case !taken && !isSecret(name):
			if t.passwords == nil {
				t.passwords = map[string]string{}
			}
			t.passwords[name] = text
			return javascript.Variable(name)
		}
	}
}
