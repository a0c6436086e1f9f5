package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/frame"
)

// Changes are what has changed in a page since the agent last saw it, by a snapshot or by
// the Changes before.
type Changes struct {
	Text    string // a [diff]; empty: nothing
	New     bool   // the agent has not seen the document: Text is its beginning
	Unknown bool   // there is nothing to compare the document with, or a part did not answer in time
	Much    bool   // there is more, or too much for a diff
	Title   string // the page's new one; empty: it is the same
	Heard
	// Document is the one that is compared, or the new one.
	Document Document
	// Whole is the document, of which Text is the beginning or nothing; empty: nobody has asked for it.
	Whole string
	// Deferred reports that some of it is of actions whose own answers did not show it.
	Deferred bool
}

// Empty reports whether there is nothing to report.
func (c Changes) Empty() bool {
	return c.Text == "" && !c.Much && !c.Unknown && c.Title == "" &&
		len(c.Notices)+len(c.Again)+len(c.Shown) == 0
}

// Document is one that the main frame has shown.
type Document struct {
	Generation int // as frame.Frame.Generation
	URL, Title string
}

// Heard is what live regions show, as far as no line of a diff has it.
type Heard struct {
	Notices []string // what they have shown, and do not show any longer
	Missed  int      // how many texts they have shown before those
	Again   []string // what they show again, and did not show meanwhile
	Shown   []string // what they show now, of a document that is too large for a diff
}

func (h *Heard) add(more Heard) {
	h.Notices, h.Missed = append(h.Notices, more.Notices...), h.Missed+more.Missed
	h.Again, h.Shown = append(h.Again, more.Again...), append(h.Shown, more.Shown...)
}

// changesFound is what changes.js returns.
type changesFound struct {
	Before, After string // the changed lines with their parents
	Much          bool
	Compared      bool // there was a state to compare with
	Known         bool // there is one from now on
	Title         string
	Heard
	Last    int
	Customs int // see outlineResult
	Fresh   []any
}

// Watch makes the page's present state the one to compare with, unless there is one.
func (r *Reader) Watch(ctx context.Context) {
	main, _ := r.page.Frames.Frame(r.page.Frames.Main())
	r.mu.Lock()
	known := r.known == main.Generation
	r.mu.Unlock()
	watched := r.noteSeen()
	if !watched {
		r.noteFrames()
	}
	if !watched || !known {
		_, _ = r.changes(ctx) // what cannot be read now is compared from the next action on
	}
}

// noteKnown notes whether a script in the main document knows what to compare it with.
func (r *Reader) noteKnown(generation int, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known = -1; known {
		r.known = generation
	}
}

// budgetShare is the divisor of the time for a comparison after which its script in a page
// gives up.
const budgetShare = 5

// maxAppeared bounds how many new frames one look reads, and how many a glimpse reads of each
// document.
const maxAppeared = 5

// frameDocument is a frame's document that the agent has been shown, or was there when it saw the
// page.
type frameDocument struct {
	session    *cdp.Session // its generation counts in that
	generation int          // as frame.Frame.Generation
	unseen     bool         // it was there, but not to be seen
}

// noteFrames notes the documents of all frames that are there now.
func (r *Reader) noteFrames() {
	documents := map[protocol.FrameID]frameDocument{}
	for _, f := range r.page.Frames.All() {
		documents[f.ID] = frameDocument{f.Session, f.Generation, false}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.documents = documents
}

// forgetFrame leaves a frame's document, which has appeared and could not be read, to the next look.
func (r *Reader) forgetFrame(id protocol.FrameID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.documents, id)
}

// appears reports whether a frame's document is new to the agent and can be seen. retry:
// those that could not be seen before are looked at again.
func (r *Reader) appears(ctx context.Context, f frame.Frame, retry bool) bool {
	r.mu.Lock()
	earlier := r.documents[f.ID]
	r.mu.Unlock()
	if earlier.session == f.Session && earlier.generation == f.Generation && !(earlier.unseen && retry) {
		return false
	}
	e, err := r.page.Frames.Owner(ctx, f)
	if err != nil {
		return false // it has gone
	}
	defer e.Release(ctx)
	var visible bool
	if err := e.Run(ctx, seenFunction, nil, &visible); err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.documents == nil {
		r.documents = map[protocol.FrameID]frameDocument{}
	}
	r.documents[f.ID] = frameDocument{f.Session, f.Generation, !visible}
	return visible
}

// hasSeen reports whether the agent has seen the page's document.
func (r *Reader) hasSeen() bool {
	main, _ := r.page.Frames.Frame(r.page.Frames.Main())
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watched == main.Generation
}

// noteSeen notes that the agent has seen the document, and reports whether it had before.
func (r *Reader) noteSeen() (before bool) {
	main, _ := r.page.Frames.Frame(r.page.Frames.Main())
	return r.see(main.Generation)
}

// see is noteSeen for the document of that generation.
func (r *Reader) see(generation int) (before bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before = r.watched == generation
	r.watched, r.deferred = generation, r.deferred && before
	return before
}

// Look returns what has changed since the agent last saw the document, or the beginning of
// one that it has not seen.
func (r *Reader) Look(ctx context.Context) (Changes, error) {
	defer r.Answered()
	if r.noteSeen() {
		changes, err := r.changes(ctx)
		if r.hasSeen() { // it is of that document
			return changes, err
		}
	}
	return r.glimpse(ctx)
}

// Answered notes that the agent has got an answer: what changes from now on is not the next
// action's, even if the answer did not show the page.
func (r *Reader) Answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = true
}

// Defer leaves what an action has changed to a later answer, since its own does not show that.
func (r *Reader) Defer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deferred = true
}

// Before finds what has changed since the agent was last shown the page, just before an action
// changes more. Of several actions with one answer it is before the first. still: nothing has
// changed in the document that the action acts in.
func (r *Reader) Before(ctx context.Context, still bool) {
	main, _ := r.page.Frames.Frame(r.page.Frames.Main())
	r.mu.Lock()
	compares := r.answered && r.watched == main.Generation && r.known == main.Generation
	r.answered = false
	r.mu.Unlock()
	if !compares || still && r.page.Frames.Single() {
		return
	}
	pending, all := frame.EvaluateEntered[bool](ctx, r.page.Frames, "!!memory.watch?.pending()")
	if all && !slices.Contains(pending, true) {
		return
	}
	if found, err := r.changes(ctx); err == nil { // otherwise the next look has it
		r.noteEarlier(found)
	}
}

func (r *Reader) noteEarlier(found Changes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &r.earlierChanges
	e.Text += found.Text
	e.Title = cmp.Or(found.Title, e.Title)
	e.Much, e.Unknown = e.Much || found.Much, e.Unknown || found.Unknown
	e.Deferred = e.Deferred || found.Deferred
	e.add(found.Heard)
}

// HasPassed reports whether live regions have shown a text since the agent's last answer, or the
// last action before this, and do not show it any longer.
func (r *Reader) HasPassed(ctx context.Context, text string) bool {
	passed, _ := frame.EvaluateEntered[bool](ctx, r.page.Frames,
		javascript.Format("!!memory.watch?.hasPassed(library.plain($))", text).String())
	return slices.Contains(passed, true)
}

// EarlierChanges is what had changed, and what was shown for a while, before the last action began or
// the page was last read, once.
func (r *Reader) EarlierChanges() Changes {
	r.mu.Lock()
	defer r.mu.Unlock()
	earlierChanges := r.earlierChanges
	earlierChanges.Deferred = earlierChanges.Deferred || r.deferred
	r.earlierChanges = Changes{}
	return earlierChanges
}

// changes compares the page with what the agent knows of it. A script in each document
// watches it from the agent's first call on, and prints only the parts that have changed.
func (r *Reader) changes(ctx context.Context) (Changes, error) {
	var all Changes
	var before, after strings.Builder
	err := r.page.Run(ctx, "comparing the page", r.page.CompareTimeout, func(ctx context.Context) error {
		looked, retry := 0, false
		compare := func(ctx context.Context, f frame.Frame, main bool) error {
			appeared := false
			if !main && looked < maxAppeared {
				if appeared = r.appears(ctx, f, retry); appeared {
					looked++
				}
			}
			if !main && !appeared && !f.Entered() {
				return ctx.Err()
			}
			found, err := r.changesIn(ctx, f, appeared)
			if err != nil {
				if appeared {
					r.forgetFrame(f.ID)
				}
				return err
			}
			if main {
				r.noteKnown(f.Generation, found.Known)
				all.Unknown, all.Title = !found.Compared, found.Title
			}
			retry = retry || frameLine().MatchString(found.After)
			all.Much = all.Much || found.Much
			all.add(found.Heard)
			indent := ""
			if !main && found.Before != found.After {
				parent := fmt.Sprintf("- iframe %s:\n", f.URL)
				if !appeared {
					before.WriteString(parent)
				}
				after.WriteString(parent)
				indent = "  "
			}
			for line := range strings.Lines(found.Before) {
				before.WriteString(indent + line)
			}
			for line := range strings.Lines(found.After) {
				after.WriteString(indent + line)
			}
			return nil
		}
		main, _ := r.page.Frames.Frame(r.page.Frames.Main())
		if err := compare(ctx, main, true); err != nil {
			return err
		}
		// One frame that does not answer leaves time for the others.
		share := func(do func(ctx context.Context) error) {
			ctx, cancel := context.WithTimeout(ctx, r.page.CompareTimeout/frameShare)
			defer cancel()
			if err := do(ctx); err != nil && !frame.Vanished(err) {
				all.Unknown = true
			}
		}
		share(r.page.Frames.Learn) // without it, the addresses of some frames are not known
		for _, f := range r.page.Frames.All() {
			if f.ID != main.ID {
				share(func(ctx context.Context) error { return compare(ctx, f, false) })
			}
		}
		return nil
	})
	all.Text = diff(before.String(), after.String())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(all.Text)
	all.Deferred, r.deferred = r.deferred, false
	return all, err
}

// frameLine matches the line of a frame.
var frameLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *- iframe\b`) })

// changesIn compares a document; of one that has appeared, everything is new.
func (r *Reader) changesIn(ctx context.Context, f frame.Frame, appeared bool) (found changesFound, err error) {
	r.numbering.Lock()
	defer r.numbering.Unlock()
	if r.customs[f.ID] == f.Generation { // no event reports a change of these
		_, _ = internals(ctx, r.page.Frames, f.Session, f.ID)
	}
	if err := r.page.Frames.Refresh(ctx, f.ID); err != nil {
		return found, err
	}
	var in runtime.ExecutionContextID
	err = r.page.Frames.InWorld(ctx, f.ID, func(session *cdp.Session, world runtime.ExecutionContextID) error {
		now, _ := r.page.Frames.Frame(f.ID)
		in = world
		err := frame.CallIn(ctx, session, world, frame.Call("changes"), map[string]any{
			"last": r.page.Frames.Refs().Last(), "lost": r.unnumbered[f.ID], "generation": now.Generation,
			"appeared": appeared, "budget": r.page.CompareTimeout.Milliseconds() / budgetShare,
		}, &found)
		r.received(f.ID, err)
		return err
	})
	if err != nil {
		return found, err
	}
	r.note(f, found.Customs)
	return found, r.page.Frames.AddRefs(f.ID, in, found.Last, refsOf(found.Fresh))
}

// glimpseElements bounds how many elements of each document a glimpse looks at, so that it is
// quick in a huge one.
const glimpseElements = 120

// glimpseBytes bounds its text.
const glimpseBytes = 1500

// Whole returns the document, to add to a glimpse of it; empty: it cannot be read in time. It is
// no base of a diff, as a snapshot is.
func (r *Reader) Whole(ctx context.Context) (text string) {
	_ = r.page.Run(ctx, "reading the page", r.page.CompareTimeout, func(ctx context.Context) error {
		read, err := r.outline(ctx, r.page.Frames.Main(), nil, Options{})
		text = read.Text
		return err
	})
	return text
}

// frameShare is the divisor of CompareTimeout for each frame.
const frameShare = 2

// glimpse returns the beginning of a document, or of its main part, with the frames in it.
func (r *Reader) glimpse(ctx context.Context) (changes Changes, err error) {
	err = r.page.Run(ctx, "reading the page", r.page.CompareTimeout, func(ctx context.Context) error {
		opts := Options{limit: glimpseElements, main: true}
		read, err := r.ofOne(ctx, func() (outlineResult, error) {
			return r.outlineDocument(ctx, r.page.Frames.Main(), nil, opts)
		})
		r.see(read.of.Generation)
		r.noteFrames()
		read, _ = r.outlineFrames(ctx, read.of.ID, read, opts)
		changes.New, changes.Document = true, Document{read.of.Generation, read.of.Address(), read.Title}
		lines, ends, full := r.asBefore(ctx, slices.DeleteFunc(splitLines(read.Text), func(line string) bool {
			return strings.Contains(line, frameMark)
		}), read.Cut)
		fitting := Fit(lines, glimpseBytes)
		changes.Text = strings.Join(lines[:fitting], "")
		if fitting > 0 {
			r.give(full[:ends[fitting-1]], read.Cut || fitting < len(lines))
		}
		changes.Much = read.Cut || fitting < len(lines) || strings.Contains(read.Text, frameMark)
		return err
	})
	return changes, err
}
