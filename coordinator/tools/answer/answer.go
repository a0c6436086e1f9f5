// Package answer shapes the answers of tools: our own text and the page's, pictures, data
// for programs, and the parts of a long text.
package answer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/policy"
)

// Answer is a tool's result in the making: our own text, the page's text, and sometimes an
// image.
type Answer struct {
	blocks   []block
	pictures []Picture
	files    []string // that were saved
	effects  []Effect
	failure  Failure
	lead     string // see [Answer.Lead]; empty: none
	// data is the form for programs, see structured.go.
	data map[string]any
	// download is the address of a download that the action has started; empty: none.
	download string
	// secrets are hidden before a text is cut, since a cut may fall into one.
	secrets *secrets.Set
	origins *policy.Origins          // content of other origins is left out
	long    *Long                    // nil: the answer is whole
	spell   func(text string) string // of ours, see [New]
}

// block is lines of one origin.
type block struct {
	Passage
	inData bool   // the structured answer has it
	uncut  bool   // see [Answer.AddUncutf]
	whole  string // see [Answer.QuoteCut]; empty: the text is not cut
}

// Passage is text of one origin.
type Passage struct {
	Text string
	// FromPage: a page has written it, whose author may address the agent in it.
	FromPage bool
}

// Picture is an image of a page.
type Picture struct {
	Data     []byte
	MIMEType string
}

// Result is the answer to a call.
type Result struct {
	Passages []Passage
	// Whole is the text of all passages without the cuts of [Answer.QuoteCut]; empty: there are none.
	Whole    string
	Pictures []Picture
	// Files are the paths of those that were saved.
	Files []string
	// Data is the form for programs; nil: there is none.
	Data map[string]any
	// Failure is what kind of failure it is, whose texts say why; empty: the call has done what
	// it should.
	Failure Failure
}

// Failure is why a call has not done what it should, for programs.
type Failure string

// The kinds of failures.
const (
	Failed    Failure = "failed"
	Invalid   Failure = "invalid"    // the arguments do not fit, and nothing was done
	Denied    Failure = "denied"     // by the user, the mode or a limit
	NoBrowser Failure = "no-browser" // no browser or window can be reached
	Stopped   Failure = "stopped"    // a surprise ended the steps: no error, but not all is done
	Missing   Failure = "missing"    // what was searched for is not there: no error either
)

// IsError reports whether the call has failed.
func (f Failure) IsError() bool { return f != "" && f != Stopped && f != Missing }

// FromPage reports whether a text of the result comes from a page.
func (r *Result) FromPage() bool {
	return slices.ContainsFunc(r.Passages, func(p Passage) bool { return p.FromPage })
}

// New starts an answer that hides secrets and content of other origins, and whose
// parts come from long; nil: it is whole, however long it is. Texts of ours, and never a page's,
// are as spell has them, which names the tools as the reader knows them; nil: by their names.
func New(hidden *secrets.Set, origins *policy.Origins, long *Long, spell func(text string) string) *Answer {
	if spell == nil {
		spell = func(text string) string { return text }
	}
	return &Answer{secrets: hidden, origins: origins, long: long, spell: spell}
}

// Addf adds a line of our text.
func (a *Answer) Addf(format string, args ...any) {
	a.add(block{Passage: Passage{Text: a.spell(fmt.Sprintf(format, args...))}})
}

// AddUncutf is Addf for what no answer may lose, however long it is: the user's own words.
func (a *Answer) AddUncutf(format string, args ...any) {
	a.add(block{Passage: Passage{Text: a.spell(fmt.Sprintf(format, args...))}, uncut: true})
}

// Quotef adds lines with text of a page: its author may address the agent in it. The format is ours.
func (a *Answer) Quotef(format string, args ...any) { a.Quote(fmt.Sprintf(a.spell(format), args...)) }

// Quote is Quotef without a format.
func (a *Answer) Quote(text string) { a.add(block{Passage: Passage{text, true}}) }

// QuoteCut is Quote for a part of a text. A reader who keeps what an answer does not show gets the
// whole too.
func (a *Answer) QuoteCut(part, whole string) {
	if a.long != nil {
		whole = ""
	}
	a.add(block{Passage: Passage{part, true}, whole: strings.TrimSuffix(whole, "\n")})
}

// Lead adds a line of our text when another line follows.
func (a *Answer) Lead(text string) { a.lead = text }

func (a *Answer) add(b block) {
	if lead := a.lead; lead != "" {
		a.lead = ""
		a.Addf("%s", lead)
	}
	if n := len(a.blocks); n > 0 {
		last := &a.blocks[n-1]
		if last.FromPage == b.FromPage && last.inData == b.inData && last.uncut == b.uncut {
			if last.whole+b.whole != "" {
				last.whole = cmp.Or(last.whole, last.Text) + "\n" + cmp.Or(b.whole, b.Text)
			}
			last.Text += "\n" + b.Text
			return
		}
	}
	a.blocks = append(a.blocks, b)
}

// Append adds the text of another answer after a lead.
func (a *Answer) Append(lead string, other *Answer) {
	for _, b := range other.blocks {
		if b.whole != "" {
			b.whole = lead + b.whole
		}
		a.add(block{Passage: Passage{lead + b.Text, b.FromPage}, whole: b.whole})
		lead = ""
	}
	a.files = append(a.files, other.files...)
	a.effects = append(a.effects, other.effects...)
}

// Begin puts a notice in front of the answer, unless it is empty.
func (a *Answer) Begin(notice string) {
	if notice == "" {
		return
	}
	a.Precede(&Answer{blocks: []block{{Passage: Passage{Text: a.spell(notice) + "\n"}}}})
}

// Precede puts another answer in front.
func (a *Answer) Precede(other *Answer) {
	rest, lead := a.blocks, a.lead
	a.blocks, a.lead = other.blocks, ""
	a.pictures = append(other.pictures, a.pictures...)
	a.files = append(other.files, a.files...)
	a.effects = append(other.effects, a.effects...)
	for _, b := range rest {
		a.add(b)
	}
	a.lead = lead
}

// Picture adds an image of the page.
func (a *Answer) Picture(data []byte, format string) {
	a.pictures = append(a.pictures, Picture{data, "image/" + format})
}

// Pictures is how many the answer has.
func (a *Answer) Pictures() int { return len(a.pictures) }

// Misses notes that what was searched for is not there.
func (a *Answer) Misses() { a.failure = Missing }

// Saved notes a file that was saved. The text has its path.
func (a *Answer) Saved(path string) { a.files = append(a.files, path) }

// Download is the address of a download that the action has started; empty: none.
func (a *Answer) Download() string { return a.download }

// Result is the result of a tool, with data if the tool has that.
func (a *Answer) Result(structured bool) *Result {
	a.truncate()
	r := &Result{Pictures: a.pictures, Files: a.files, Failure: a.failure}
	var whole []string
	cut := false
	for _, b := range a.blocks {
		r.Passages = append(r.Passages, b.Passage)
		whole, cut = append(whole, cmp.Or(b.whole, b.Text)), cut || b.whole != ""
	}
	if cut {
		r.Whole = a.secrets.Hide(strings.Join(whole, "\n"))
	}
	if structured {
		r.Data = a.structure()
	}
	return r
}

// Failure is the result of a failed call. The notice and the notes that would begin an answer
// follow the error, and then what the answer has, which the call did before it failed.
func (a *Answer) Failure(err error, kind Failure, fromPage bool, notice string, notes *Answer) *Result {
	done := append(notes.blocks, a.blocks...)
	a.blocks = []block{{Passage: Passage{a.Reason(err), fromPage}}}
	if notice != "" {
		a.Addf("\n\n%s", notice)
	}
	for _, b := range done {
		a.add(b)
	}
	a.pictures = notes.pictures
	r := a.Result(false)
	r.Failure = kind
	return r
}

// Reason is an error's text. It is ours, and quotes the page, except of an exception.
func (a *Answer) Reason(err error) string {
	if errors.As(err, new(*page.ScriptError)) {
		return err.Error()
	}
	return a.spell(err.Error())
}

// addressed is something of a page's history or storage. All of its addresses must be
// within the agent's origins. Of alternatives, such as a cookie's, one must be.
type addressed interface{ Addresses() []string }

// Readable leaves out items of origins that the agent may not read, and counts them. A tab
// may have shown such a document before the agent worked in it. Every such item in an
// answer passes through here.
func Readable[T any](o *policy.Origins, all []T) (within []T, refused int) {
	if o == nil {
		return all, 0
	}
	for _, one := range all {
		if allowed(o, one) {
			within = append(within, one)
		}
	}
	return within, len(all) - len(within)
}

func allowed(o *policy.Origins, one any) bool {
	switch one := one.(type) {
	case storage.Cookie:
		return o.DecideCookie(one.Domain, one.Secure).Outcome == policy.Allow
	case addressed:
		return !slices.ContainsFunc(one.Addresses(), func(address string) bool {
			return o.Decide(address).Outcome != policy.Allow
		})
	}
	return false
}

// LeftOut reports how many items Readable has left out.
func (a *Answer) LeftOut(refused int, description string) {
	if text := LeftOut(refused, description); text != "" {
		a.Addf("%s", strings.TrimSpace(text))
	}
}

// LeftOut is a line about what Readable has left out; empty: nothing.
func LeftOut(refused int, description string) string {
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("Left out because of --allowed-origins or --blocked-origins: %d %s.\n", refused, description)
}
