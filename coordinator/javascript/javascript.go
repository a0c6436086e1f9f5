// Package javascript builds JavaScript expressions of constant code and of values.
//
// A text of a page or an agent is a value from the beginning to the end. It becomes a string
// literal when the whole expression is written, and code is never edited as text. So no text
// can become code, whatever is in it.
package javascript

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Expression is code with values in it. The zero Expression is written as nothing.
type Expression struct{ parts []part }

// part is constant code, or else a value.
type part struct {
	code  constant
	value value
}

type value interface{ source(w *Writer) string }

// constant is code. Other packages can only make one of a constant, never of a text that
// they get while they run.
type constant string

// Key is a text that names a member of an object.
type Key string

// Pattern is a regular expression of a literal text, between constant parts of the pattern.
type Pattern struct {
	Before constant
	Text   string
	After  constant
}

// Variable is the value of a variable of the environment, by its name.
type Variable string

type text string

// Format is code in which each $ stands for the next value: an Expression, several with commas
// between them, a text, a list of texts, a Key, a Pattern, a Variable, a number or a bool.
func Format(form constant, values ...any) Expression {
	var e Expression
	codes := strings.Split(string(form), "$")
	if len(codes) != len(values)+1 {
		panic(fmt.Sprintf("javascript: %q has %d values", form, len(values)))
	}
	for i, code := range codes {
		if i > 0 {
			e.add(values[i-1])
		}
		e.code(code)
	}
	return e
}

func (e *Expression) code(code string) {
	if code != "" {
		e.parts = append(e.parts, part{code: constant(code)})
	}
}

func (e *Expression) add(of any) {
	switch of := of.(type) {
	case Expression:
		e.parts = append(e.parts, of.parts...)
	case []Expression:
		for i, each := range of {
			if i > 0 {
				e.code(", ")
			}
			e.parts = append(e.parts, each.parts...)
		}
	case string:
		e.parts = append(e.parts, part{value: text(of)})
	case []string:
		e.code("[")
		for i, item := range of {
			if i > 0 {
				e.code(", ")
			}
			e.parts = append(e.parts, part{value: text(item)})
		}
		e.code("]")
	case value:
		e.parts = append(e.parts, part{value: of})
	case bool, int, int64:
		e.code(fmt.Sprint(of))
	case float64:
		e.code(strconv.FormatFloat(of, 'g', -1, 64))
	default:
		panic(fmt.Sprintf("javascript: a value of type %T", of))
	}
}

// IsZero reports whether the expression is written as nothing.
func (e Expression) IsZero() bool { return len(e.parts) == 0 }

// Begins reports whether the expression begins with this code.
func (e Expression) Begins(code constant) bool {
	return len(e.parts) > 0 && strings.HasPrefix(string(e.parts[0].code), string(code))
}

// String is the expression with all texts as they are.
func (e Expression) String() string { return (&Writer{}).Source(e) }

// Writer writes expressions.
type Writer struct {
	// Split separates what a literal must not contain from the rest of a text; nil: nothing.
	Split func(text string) []Piece
	// Variables are those of the environment that the written expressions read.
	Variables map[string]bool
	// Placeholders counts the pieces in literals that stand for something else.
	Placeholders int
}

// Piece is a piece of a text.
type Piece struct {
	Text        string
	Variable    string // of the environment, which has the piece in place of Text; empty: none
	Placeholder bool   // Text is a placeholder of what must not be written
}

// Source writes an expression.
func (w *Writer) Source(e Expression) string {
	var b strings.Builder
	for _, p := range e.parts {
		if p.value != nil {
			b.WriteString(p.value.source(w))
		} else {
			b.WriteString(string(p.code))
		}
	}
	return b.String()
}

func (w *Writer) pieces(text string) []Piece {
	if w.Split == nil || text == "" {
		return []Piece{{Text: text}}
	}
	return w.Split(text)
}

func (t text) source(w *Writer) string {
	var sources []string
	literal := ""
	end := func() {
		if literal != "" {
			sources = append(sources, quote(literal))
		}
		literal = ""
	}
	for _, p := range w.pieces(string(t)) {
		if p.Variable != "" {
			end()
			sources = append(sources, Variable(p.Variable).source(w))
			continue
		}
		if p.Placeholder {
			w.Placeholders++
		}
		literal += p.Text
	}
	end()
	if sources == nil {
		return quote("")
	}
	return strings.Join(sources, " + ")
}

func (k Key) source(w *Writer) string {
	source, read := text(k).source(w), func(p Piece) bool { return p.Variable != "" }
	if k == "__proto__" || slices.ContainsFunc(w.pieces(string(k)), read) { // which is no member's name otherwise
		return "[" + source + "]"
	}
	return source
}

// source matches anything where the text has a piece that must not be written: a variable's
// value is no pattern. It does so once, from the first of these pieces to the last: with
// several such parts a pattern can take longer than anybody waits.
func (p Pattern) source(w *Writer) string {
	begin, end, written := "", "", true
	for _, piece := range w.pieces(p.Text) {
		switch {
		case piece.Variable != "" || piece.Placeholder:
			end, written = ".+", false
		case written:
			begin += regexp.QuoteMeta(piece.Text)
		default:
			end += regexp.QuoteMeta(piece.Text)
		}
	}
	return "new RegExp(" + quote(string(p.Before)+begin+end+string(p.After)) + ")"
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })

func (v Variable) source(w *Writer) string {
	if w.Variables == nil {
		w.Variables = map[string]bool{}
	}
	w.Variables[string(v)] = true
	if plainName().MatchString(string(v)) {
		return "process.env." + string(v) + "!"
	}
	return "process.env[" + quote(string(v)) + "]!"
}

// quote is a string literal on one line. What a reader of the code would not see, or would
// see in another place, is escaped too. JavaScript has no text that is not valid Unicode.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// Comment is a line of comment that contains a text. Nothing in the text ends it.
func Comment(text string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
	return "// " + strings.Join(strings.Fields(line), " ")
}
