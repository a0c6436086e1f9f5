package export

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Source is the test in TypeScript; empty if there are no steps.
func (t *Test) Source() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) == 0 {
		return ""
	}
	w := writer{numbers: map[string]int{}}
	for _, s := range t.steps {
		w.step(s)
	}
	if t.over {
		w.line("// The session went on: a test has at most %d steps.", Most)
	}
	return "test('the session of an agent', async ({ page }) => {\n" + w.String() + "});\n"
}

var (
	literals  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'(?:[^'\\\n]|\\.)*'`) })
	hidden    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<secret>([^<>]*)</secret>`) })
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })
)

// File is the whole file of a source. The test reads secrets from the environment: hide
// puts their names in place of their values, and isSecret reports which names there are.
func File(source string, hide func(string) string, isSecret func(name string) bool) string {
	names := map[string]bool{}
	source = literals().ReplaceAllStringFunc(source, func(literal string) string {
		var parts []string
		text := hide(literal[1 : len(literal)-1])
		rest := 0
		for _, at := range hidden().FindAllStringSubmatchIndex(text, -1) {
			name := text[at[2]:at[3]]
			if !isSecret(name) {
				continue
			}
			names[name] = true
			if at[0] > rest {
				parts = append(parts, "'"+text[rest:at[0]]+"'")
			}
			parts, rest = append(parts, variable(name)), at[1]
		}
		if rest < len(text) || parts == nil {
			parts = append(parts, "'"+text[rest:]+"'")
		}
		return strings.Join(parts, " + ")
	})
	head := "import { test, expect } from '@playwright/test';\n\n"
	if len(names) > 0 {
		head += "// Set in the environment: " + strings.Join(slices.Sorted(maps.Keys(names)), ", ") + "\n"
	}
	return head + source
}

// variable reads a variable of the environment.
func variable(name string) string {
	if plainName().MatchString(name) {
		return "process.env." + name + "!"
	}
	return "process.env[" + Quote(name) + "]!"
}

// Secret is a literal that File replaces by the secret's value from the environment.
func Secret(name string) string { return Quote("<secret>" + name + "</secret>") }

type writer struct {
	strings.Builder
	numbers map[string]int // of the variables, by kind
	before  string         // the last statement
}

// variable declares a variable of a kind: dialog1.
func (w *writer) variable(kind, value string) string {
	w.numbers[kind]++
	name := fmt.Sprint(kind, w.numbers[kind])
	w.line("const %s = %s;", name, value)
	return name
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, "  "+format+"\n", args...)
}

func (w *writer) step(s *step) {
	if s.Comment != "" {
		w.line("// %s", strings.Join(strings.Fields(s.Comment), " "))
	}
	for i, code := range s.Code {
		if i < len(s.Code)-1 {
			w.await(code)
			continue
		}
		w.last(s, code)
	}
	for _, e := range s.expect {
		w.await(e)
	}
}

func (w *writer) await(code string) {
	if code == w.before && strings.HasPrefix(code, "expect(") { // what came of a step was then verified
		return
	}
	w.before = code
	if declared, value, ok := strings.Cut(code, " = "); ok && strings.HasPrefix(declared, "const ") {
		w.line("%s = await %s;", declared, value)
		return
	}
	w.line("await %s;", code)
}

// last writes the last part of a step: what it opens is waited for from before it.
func (w *writer) last(s *step, code string) {
	var opened, chooser string
	if s.opened != "" {
		opened = w.variable("opened", s.page+".context().waitForEvent('page')")
	}
	if len(s.files) > 0 {
		chooser = w.variable("chooser", s.page+".waitForEvent('filechooser')")
	}
	dialogs := slices.DeleteFunc(slices.Clone(s.dialogs), func(d dialog) bool { return d.answer == nil })
	if len(dialogs) == 0 {
		w.await(code)
	} else {
		w.answer(s, code, dialogs)
	}
	if chooser != "" {
		w.line("await (await %s).setFiles(%s);", chooser, List(s.files))
	}
	if opened != "" {
		w.line("const %s = await %s;", s.opened, opened)
	}
}

// answer writes a step that ends only when its dialogs are answered.
func (w *writer) answer(s *step, code string, dialogs []dialog) {
	next := func() string { return w.variable("dialog", s.page+".waitForEvent('dialog')") }
	open := next()
	step := w.variable("step", code)
	for i, d := range dialogs {
		if d.message != "" {
			w.line("expect((await %s).message()).toBe(%s);", open, Quote(d.message))
		}
		this := open
		if i < len(dialogs)-1 {
			open = next()
		}
		if d.answer.Accept {
			w.line("await (await %s).accept(%s);", this, d.answer.Text)
		} else {
			w.line("await (await %s).dismiss();", this)
		}
	}
	w.line("await %s;", step)
}

// Quote is a JavaScript string literal.
func Quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(s) + "'"
}

// List is a list of string literals.
func List(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// ExpectText expects that a text is shown in a page, a frame or an element. options are
// those of the expectation, as JavaScript.
func ExpectText(in, text, options string) string {
	return "expect(" + shown(in, text) + ".first()).toBeVisible(" + options + ")"
}

// ExpectNoText expects that a text is not shown.
func ExpectNoText(in, text, options string) string {
	return "expect(" + shown(in, text) + ").toHaveCount(" + strings.TrimSuffix("0, "+options, ", ") + ")"
}

func shown(in, text string) string {
	return in + ".getByText(" + Quote(text) + ").filter({ visible: true })"
}

// ExpectPartOfURL expects that the address of a page contains a text.
func ExpectPartOfURL(page, part, options string) string {
	return "expect(" + page + ").toHaveURL(" + strings.TrimSuffix(pattern(part, "", "")+", "+options, ", ") + ")"
}

// expectURL expects an address of a page. What follows a question mark or a number sign
// often differs from session to session.
func expectURL(page, url string) string {
	want := Quote(url)
	if strings.ContainsAny(url, "?#") {
		want = pattern(place(url), "^", `/?[?#]`)
	}
	return "expect(" + page + ").toHaveURL(" + want + ")"
}

// pattern is a regular expression, as JavaScript, of a literal text.
func pattern(text, before, after string) string {
	return "new RegExp(" + Quote(before+regexp.QuoteMeta(text)+after) + ")"
}

// place is an address without its query and its fragment.
func place(url string) string {
	if end := strings.IndexAny(url, "?#"); end >= 0 {
		url = url[:end]
	}
	return strings.TrimSuffix(url, "/")
}
