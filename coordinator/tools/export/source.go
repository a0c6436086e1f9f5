package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/tools/secrets"
)

// File is the test in TypeScript; empty if there are no steps. It reads secrets and typed
// passwords from the environment.
func (t *Test) File(hidden *secrets.Set) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) == 0 {
		return ""
	}
	w := writer{js: Writer(hidden.Extend(t.passwords)), numbers: map[string]int{}}
	for _, s := range t.steps {
		w.step(s)
	}
	if t.truncated {
		w.comment(fmt.Sprintf("The session went on: a test has at most %d steps and %d MB.", Most, maxSource>>20))
	}
	head := "import { test, expect } from '@playwright/test';\n\n"
	if names := slices.Sorted(maps.Keys(w.js.Variables)); len(names) > 0 {
		head += javascript.Comment("Set in the environment: "+strings.Join(names, ", ")) + "\n"
		names = slices.DeleteFunc(names, func(name string) bool { return t.passwords[name] == "" })
		if len(names) > 0 {
			head += javascript.Comment("What was typed into password fields is not in this file: "+strings.Join(names,
				", ")) + "\n"
		}
	}
	title := w.js.Source(javascript.Format("$", cmp.Or(t.Title, "the session of an agent")))
	return head + "test(" + title + ", async ({ page }) => {\n" + w.String() + "});\n"
}

// Writer writes expressions without the values of secrets. Only a whole value, as it is, is
// read from the environment. For a part of one, or another spelling, there is its name: code
// with the whole value in that place would do something else, and might send it somewhere.
func Writer(hidden *secrets.Set) javascript.Writer {
	return javascript.Writer{Split: func(text string) []javascript.Piece {
		var pieces []javascript.Piece
		for _, part := range hidden.Split(text) {
			piece := javascript.Piece{Text: part.Redacted(), Placeholder: part.Name != ""}
			if part.Whole {
				piece.Variable = part.Name
			}
			pieces = append(pieces, piece)
		}
		return pieces
	}}
}

type writer struct {
	strings.Builder
	js      javascript.Writer
	numbers map[string]int // of the variables, by kind
	before  string         // the last expectation; empty: the last statement was none
}

func (w *writer) comment(text string) { fmt.Fprintf(w, "  %s\n", javascript.Comment(text)) }

func (w *writer) line(e javascript.Expression) { fmt.Fprintf(w, "  %s;\n", w.js.Source(e)) }

func (w *writer) await(e javascript.Expression) { w.line(javascript.Format("await $", e)) }

// number is the number of a new variable of a kind: dialog1.
func (w *writer) number(kind string) int {
	w.numbers[kind]++
	return w.numbers[kind]
}

func (w *writer) step(s *step) {
	if s.Comment != "" {
		hidden := ""
		for _, piece := range w.js.Split(s.Comment) {
			hidden += piece.Text
		}
		w.comment(hidden)
	}
	for i, e := range s.Code {
		switch {
		case i == len(s.Code)-1:
			w.last(s, e)
		case i == 0 && s.declares:
			w.declare(s.page, e)
		default:
			w.promise(e)
		}
	}
	for _, e := range s.expect {
		w.promise(e)
	}
}

// promise awaits a step's expression. An expectation is left out if it was the last one too:
// the outcome of the step was then verified.
func (w *writer) promise(e javascript.Expression) {
	if !e.Begins("expect(") {
		w.before = ""
		w.await(e)
	} else if same := e.String(); same != w.before {
		w.before = same
		w.expect(javascript.Format("await $", e))
	}
}

// expect writes an expectation, unless only a placeholder can be expected.
func (w *writer) expect(e javascript.Expression) {
	before := w.js.Placeholders
	if source := w.js.Source(e); w.js.Placeholders == before {
		fmt.Fprintf(w, "  %s;\n", source)
	}
}

func (w *writer) declare(page variable, e javascript.Expression) {
	w.line(javascript.Format("const $ = await $", page.expression(), e))
}

// last writes the last part of a step: what it opens is waited for from before it.
func (w *writer) last(s *step, e javascript.Expression) {
	page := s.page.expression()
	var opened, chooser javascript.Expression
	if s.opened != 0 {
		opened = javascript.Format("opened$", w.number("opened"))
		w.line(javascript.Format("const $ = $.context().waitForEvent('page')", opened, page))
	}
	if len(s.files) > 0 {
		chooser = javascript.Format("chooser$", w.number("chooser"))
		w.line(javascript.Format("const $ = $.waitForEvent('filechooser')", chooser, page))
	}
	dialogs := slices.DeleteFunc(slices.Clone(s.dialogs), func(d dialog) bool { return d.answer == nil })
	switch {
	case len(dialogs) > 0:
		w.answer(page, e, dialogs)
	case s.declares && len(s.Code) == 1:
		w.declare(s.page, e)
	default:
		w.promise(e)
	}
	if !chooser.IsZero() {
		w.line(javascript.Format("await (await $).setFiles($)", chooser, s.files))
	}
	if !opened.IsZero() {
		w.declare(s.opened, opened)
	}
}

// answer writes a step that ends only when its dialogs are answered.
func (w *writer) answer(page, e javascript.Expression, dialogs []dialog) {
	next := func() javascript.Expression {
		open := javascript.Format("dialog$", w.number("dialog"))
		w.line(javascript.Format("const $ = $.waitForEvent('dialog')", open, page))
		return open
	}
	open := next()
	step := javascript.Format("step$", w.number("step"))
	w.line(javascript.Format("const $ = $", step, e))
	for i, d := range dialogs {
		if d.message != "" {
			w.expect(javascript.Format("expect((await $).message()).toBe($)", open, d.message))
		}
		this := open
		if i < len(dialogs)-1 {
			open = next()
		}
		if d.answer.Accept {
			w.line(javascript.Format("await (await $).accept($)", this, d.answer.Text))
		} else {
			w.line(javascript.Format("await (await $).dismiss()", this))
		}
	}
	w.await(step)
	w.before = ""
}

// ExpectText expects that a text is shown in a page, a frame or an element.
func ExpectText(in javascript.Expression, text string, options ...javascript.Expression) javascript.Expression {
	return javascript.Format("expect($.first()).toBeVisible($)", locatorOf(in, text), options)
}

// ExpectNoText expects that a text is not shown.
func ExpectNoText(in javascript.Expression, text string, options javascript.Expression) javascript.Expression {
	return javascript.Format("expect($).toHaveCount(0, $)", locatorOf(in, text), options)
}

func locatorOf(in javascript.Expression, text string) javascript.Expression {
	return javascript.Format("$.getByText($).filter({ visible: true })", in, text)
}

// ExpectPartOfURL expects that the address of a page contains a text.
func ExpectPartOfURL(page javascript.Expression, part string, options javascript.Expression) javascript.Expression {
	return javascript.Format("expect($).toHaveURL($, $)", page, javascript.Pattern{Text: part}, options)
}

// expectURL expects an address of a page. What follows a question mark or a number sign
// often differs from session to session.
func expectURL(page javascript.Expression, url string) javascript.Expression {
	if strings.ContainsAny(url, "?#") {
		return javascript.Format("expect($).toHaveURL($)", page,
			javascript.Pattern{Before: "^", Text: place(url), After: `/?[?#]`})
	}
	return javascript.Format("expect($).toHaveURL($)", page, url)
}

// place is where an address leads: it has no query, no fragment and no slash at its end.
func place(url string) string { return strings.TrimSuffix(address.WithoutQuery(url), "/") }
