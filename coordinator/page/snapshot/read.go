package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	regexpsyntax "regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/page/frame"
)

// Markdown returns the readable part of the page, or of a target, as Markdown: its main
// element or article if there is one, without navigation, asides and footers. Frames are
// named, but their content is omitted.
func (r *Reader) Markdown(ctx context.Context, target string) (Snapshot, error) {
	var read struct{ Title, URL, Text string }
	if err := r.read(ctx, "reading the page", "markdown", target, &read); err != nil {
		return Snapshot{}, err
	}
	return Snapshot{URL: read.URL, Title: read.Title, Text: read.Text}, nil
}

// HTML returns the current HTML of the page's document, or of a target. Shadow roots
// appear as declarative templates.
func (r *Reader) HTML(ctx context.Context, target string) (string, error) {
	var text string
	return text, r.read(ctx, "reading the HTML", "html", target, &text)
}

// read calls a function of the library for the page's document or a target.
func (r *Reader) read(ctx context.Context, operation, function, target string, result any) error {
	if target != "" {
		return r.withElement(ctx, operation, target, func(ctx context.Context, e *frame.Element) error {
			return e.Call(ctx, function, nil, result)
		})
	}
	return r.page.Run(ctx, operation, 0, func(ctx context.Context) error {
		if err := r.page.Frames.Pierce(ctx, r.page.Frames.Main()); err != nil {
			return err
		}
		return r.page.Frames.Evaluate(ctx, "library."+function+".call(null)", result)
	})
}

// FindOptions define what Find looks for: Text, ignoring case, or Regexp, see
// Pattern.
type FindOptions struct {
	Text       string
	Regexp     string
	Skip       int // number of matches to skip
	MaxMatches int // maximum number of matches to show; 0: MaxFound
	// Hide removes text that must be neither searched nor shown; nil: nothing.
	Hide func(string) string
	// Limit bounds the time in which FindScrolling scrolls; 0: maxScroll.
	Limit time.Duration
}

// FindResult is the result of Find.
type FindResult struct {
	Text    string // the lines of the outline, with their items and their parent lines
	Matches int    // number of matching lines
	ref     int    // the first in the first matching line; 0: it has none
}

// MaxFound is the default number of matches to show.
const MaxFound = 50

// maxFoundLine bounds the length of a shown line, in bytes.
const maxFoundLine = 400

// maxItemLines bounds how many lines of an item are shown for a match in it.
const maxItemLines = 20

// Find searches the lines of a snapshot for a text or a regular expression. Each match
// comes with the item that it is part of: a table row with the table's first row, a list
// item, a card.
func (r *Reader) Find(ctx context.Context, opts FindOptions) (FindResult, error) {
	if (opts.Text == "") == (opts.Regexp == "") {
		return FindResult{}, errors.New("find: give a text or a regular expression")
	}
	opts.MaxMatches = cmp.Or(opts.MaxMatches, MaxFound)
	expression := opts.Regexp
	if opts.Text != "" {
		expression = "(?i)" + regexp.QuoteMeta(opts.Text)
	}
	pattern, err := Pattern(expression)
	if err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	var found FindResult
	err = r.page.Run(ctx, "searching the page", 0, func(ctx context.Context) error {
		outline, err := r.document(ctx, Options{full: true})
		if err != nil {
			return err
		}
		text, words := marked(outline.Text)
		if opts.Hide != nil { // before a line is cut
			text, words = opts.Hide(text), opts.Hide(words)
		}
		found = findLines(splitLines(text), splitLines(words), pattern, opts)
		return nil
	})
	return found, err
}

// jsPattern matches a regular expression in JavaScript notation.
var jsPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/(.+)/([a-z]*)$`) })

// Pattern compiles a regular expression, optionally in JavaScript notation:
// /pattern/flags.
func Pattern(text string) (*regexp.Regexp, error) {
	if js := jsPattern().FindStringSubmatch(text); js != nil {
		text = js[1]
		for _, flag := range "ims" { // other flags have no effect on a single match
			if strings.ContainsRune(js[2], flag) {
				text = "(?" + string(flag) + ")" + text
			}
		}
	}
	compiled, err := regexp.Compile(text)
	var syntax *regexpsyntax.Error
	if errors.As(err, &syntax) && (syntax.Code == regexpsyntax.ErrInvalidPerlOp ||
		syntax.Code == regexpsyntax.ErrInvalidEscape) {
		err = fmt.Errorf("%w (regular expressions are RE2's: no lookahead, no lookbehind, no references back)", err)
	}
	return compiled, err
}

// Marks in the text of an outline that names all roles: notes are not of the page, heads are
// rows with only heads of columns.
const (
	noteMark = "\x03"
	headMark = "\x04"
)

var notes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(noteMark + "[^" + noteMark + "]*" + noteMark)
})

// marked is a text without the marks of notes, and the same with blanks in place of notes: the
// words of the page, which a search is for.
func marked(text string) (whole, words string) {
	words = notes().ReplaceAllStringFunc(text, func(note string) string {
		return strings.Repeat(" ", len(note)-2*len(noteMark))
	})
	return strings.ReplaceAll(text, noteMark, ""), words
}

func findLines(lines, words []string, pattern *regexp.Regexp, opts FindOptions) FindResult {
	var found FindResult
	keep, more := make([]bool, len(lines)), map[int]bool{} // more: lines that are left out from here on
	for i, line := range lines[:min(len(lines), len(words))] {
		if !pattern.MatchString(strings.Trim(words[i], wordless)) {
			continue
		}
		if ref := refPattern().FindStringSubmatch(line); ref != nil && found.Matches == 0 {
			found.ref, _ = strconv.Atoi(ref[1])
		}
		found.Matches++
		if found.Matches > opts.Skip && found.Matches <= opts.Skip+opts.MaxMatches {
			all := func(i int) (string, bool) { return lines[i], true }
			keepWithContext(keep, i, all)
			if heading := headingAbove(lines, i); heading >= 0 {
				keepWithContext(keep, heading, all)
			}
			for j := range itemAround(lines, i) {
				keepWithContext(keep, j, all)
			}
			for j := i + 1; j < len(lines) && indentOf(lines[j]) > indentOf(line); j++ {
				if j-i > maxItemLines {
					more[j] = true
					break
				}
				keepWithContext(keep, j, all) // what has that name, as a list or a dialog
			}
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if more[i] && !keep[i] {
			b.WriteString(strings.Repeat(" ", indentOf(line)) + "- …\n")
		}
		if keep[i] {
			b.WriteString(strings.Replace(shorten(line, words[min(i, len(words)-1)], pattern), headMark, "", 1))
		}
	}
	found.Text = b.String()
	return found
}

// wordless is what is around the words of a line.
const wordless = " -\n" + headMark

// itemAround returns the lines of the innermost item around a line, and of the first row
// of its table with further rows of heads; none if the item is long or there is none.
func itemAround(lines []string, i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		from := i
		for from >= 0 && !isItem(lines[from]) {
			from = parentOf(lines, from)
		}
		if from < 0 {
			return
		}
		to := from + 1
		for to < len(lines) && indentOf(lines[to]) > indentOf(lines[from]) {
			to++
		}
		if to-from > maxItemLines {
			return
		}
		if table := parentOf(lines, from); table >= 0 && tableLine().MatchString(lines[table]) {
			for j := table + 1; j < from && (j == table+1 || strings.Contains(lines[j], headMark)); j++ {
				if !yield(j) {
					return
				}
			}
		}
		for j := from; j < to && yield(j); j++ {
		}
	}
}

// parentOf returns the parent line of a line, -1 if there is none.
func parentOf(lines []string, i int) int {
	for j := i - 1; j >= 0; j-- {
		if indentOf(lines[j]) < indentOf(lines[i]) {
			return j
		}
	}
	return -1
}

// headingAbove returns the nearest heading before a line, beside it or beside what it is in; -1: there is none.
func headingAbove(lines []string, i int) int {
	isHeading := func(line string) bool { return headingLine().MatchString(line) && !isItem(line) }
	if isHeading(lines[i]) {
		return -1
	}
	indent := indentOf(lines[i])
	for j := i - 1; j >= 0; j-- {
		if indentOf(lines[j]) > indent {
			continue
		}
		if indent = indentOf(lines[j]); isHeading(lines[j]) {
			return j
		}
	}
	return -1
}

// isItem reports whether a line is an item, or begins one: an item in one line has its
// parts between bars.
func isItem(line string) bool { return itemLine().MatchString(line) || strings.Contains(line, " | ") }

var (
	itemLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^ *- (item|listitem|row|article|option|treeitem)\b`)
	})
	headingLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *- heading\b`) })
	tableLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *- (table|grid|treegrid)\b`) })
)

// shorten shortens a long line to its start, which identifies it, and the text around the
// match.
func shorten(line, words string, pattern *regexp.Regexp) string {
	if len(line) <= maxFoundLine {
		return line
	}
	const side, head = maxFoundLine / 3, maxFoundLine / 4
	indexes := pattern.FindStringIndex(strings.Trim(words, wordless))
	if indexes == nil {
		return strings.ToValidUTF8(line[:maxFoundLine], "") + "…\n"
	}
	before := len(words) - len(strings.TrimLeft(words, wordless))
	from, to := min(max(before+indexes[0]-side, 0), len(line)-1), min(before+indexes[1]+side, len(line)-1)
	s := line[from:to]
	if from > head {
		s = line[:head] + "…" + s
	} else {
		s = line[:to]
	}
	return strings.ToValidUTF8(s, "") + "…\n"
}
