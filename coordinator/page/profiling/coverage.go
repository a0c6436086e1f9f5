package profiling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/profiler"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/claim"
)

// Covered is the used part of one script or style sheet. Its JSON has the format of the
// files that the Coverage panel of DevTools exports.
type Covered struct {
	URL    string         `json:"url"`
	Ranges []CoveredRange `json:"ranges"` // used, in order, without overlap
	Text   string         `json:"text,omitempty"`
	Kind   string         `json:"-"` // JS or CSS
	Total  int            `json:"-"` // characters (UTF-16, as the offsets are)
	Used   int            `json:"-"`
}

// coverage is a recording of the used parts of scripts and style sheets. That of scripts is a setting of
// the process, so it is one agent's there: a second recording would take the counts of the first.
type coverage struct {
	page      Options
	isolate   string            // the process's heap of scripts
	release   func()            // ends the claim on it
	styles    *cdp.Session      // for what style sheets use; nil until it is open
	detach    func()            // ends it
	sheets    *cdp.Subscription // the style sheets
	old       map[string]bool   // scripts that existed at the start
	documents int               // documents that the page had shown at the start
}

// CoveredRange is a part of a source, from Start to End (exclusive).
type CoveredRange struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// StartCoverage records the used parts of the page's scripts and style sheets,
// until Recordings.StopCoverage or the end of the connection.
func (p *Profiler) StartCoverage(ctx context.Context) error {
	return p.page.Run(ctx, "starting coverage", 0, func(ctx context.Context) error {
		p.recordings.mu.Lock()
		other := p.recordings.coverage
		p.recordings.mu.Unlock()
		if other != nil {
			return ErrRecording
		}
		c := &coverage{page: p.page, old: map[string]bool{}, release: func() {}}
		if err := c.claim(ctx); err != nil {
			return err
		}
		if err := c.start(ctx); err != nil {
			c.close()
			return err
		}
		p.recordings.mu.Lock()
		defer p.recordings.mu.Unlock()
		p.recordings.coverage = c
		return nil
	})
}

// claim makes the process that the page is in now the agent's alone for coverage.
func (c *coverage) claim(ctx context.Context) error {
	id, err := protocol.Call(ctx, c.page.Session, runtime.GetIsolateID, protocol.Empty{})
	if err != nil {
		return err
	}
	if id.ID == c.isolate {
		return nil
	}
	release, err := c.page.Owner.Claim("coverage " + id.ID)
	if taken, ok := errors.AsType[*claim.TakenError](err); ok {
		return fmt.Errorf("%s records the coverage of this page, or of another tab in its process, and the browser "+
			"counts for one at a time. Wait until that is stopped, or record in a tab of another site", taken.Owner)
	}
	if err != nil {
		return err
	}
	c.release()
	c.isolate, c.release = id.ID, release
	return nil
}

// close ends what the recording has of this program; its page may have gone.
func (c *coverage) close() {
	if c.styles != nil {
		c.sheets.Close()
		c.detach()
	}
	c.release()
}

func (c *coverage) start(ctx context.Context) (err error) {
	c.styles, c.detach, err = c.page.Network.Reread(ctx, c.page.Session, func(s *cdp.Session) error {
		c.sheets = s.Listen(css.StyleSheetAdded.Method)
		for _, method := range []string{"DOM.enable", css.CommandEnable, css.CommandStartRuleUsageTracking} {
			if err := s.Call(ctx, method, nil, nil); err != nil {
				c.sheets.Close()
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.styles = nil
		return err
	}
	session := c.page.Session
	for _, command := range []struct {
		method string
		params any
	}{
		{profiler.CommandEnable, nil},
		{profiler.CommandStartPreciseCoverage, profiler.StartPreciseCoverageParams{
			// Without counts, the engine reports each function only once, in whichever recording.
			CallCount: new(true), Detailed: new(true),
		}},
	} {
		if err := session.Call(ctx, command.method, command.params, nil); err != nil {
			return err
		}
	}
	before, err := protocol.Call(ctx, session, profiler.TakePreciseCoverage, protocol.Empty{})
	if err != nil {
		return err
	}
	for _, s := range before.Result {
		c.old[string(s.ScriptID)] = true
	}
	c.documents = c.page.Lifecycle.Documents()
	return nil
}

// StopCoverage ends the recording of StartCoverage. It omits sources without a URL and
// frames of other processes.
func (r *Recordings) StopCoverage(ctx context.Context) ([]Covered, error) {
	c, err := take(r, &r.coverage)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var found []Covered
	err = c.page.Run(ctx, "stopping coverage", recordTimeout, func(ctx context.Context) error {
		defer r.stopCounting(ctx, c)         // also if it cannot be read
		if err := c.claim(ctx); err != nil { // the page may have moved to another process
			return err
		}
		scripts, err := c.scripts(ctx)
		if err != nil {
			return err
		}
		sheets, err := c.styleSheets(ctx)
		found = append(scripts, sheets...)
		return err
	})
	slices.SortStableFunc(found, func(a, b Covered) int { return cmp.Compare(b.Total-b.Used, a.Total-a.Used) })
	return found, err
}

// stopCounting ends what a coverage has turned on in its page.
func (r *Recordings) stopCounting(ctx context.Context, c *coverage) {
	off := []string{profiler.CommandStopPreciseCoverage}
	if r.profilerUnused() {
		off = append(off, profiler.CommandDisable)
	}
	for _, method := range off {
		_, _ = c.page.Session.Start(ctx, method, nil)
	}
}

func (c *coverage) scripts(ctx context.Context) ([]Covered, error) {
	taken, err := protocol.Call(ctx, c.page.Session, profiler.TakePreciseCoverage, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	replaced := c.page.Lifecycle.Documents() != c.documents
	var found []Covered
	for _, s := range taken.Result {
		if s.URL == "" || len(s.Functions) == 0 || replaced && c.old[string(s.ScriptID)] {
			continue
		}
		covered := Covered{URL: s.URL, Kind: "JS"}
		for _, f := range s.Functions {
			for _, r := range f.Ranges {
				covered.Total = max(covered.Total, int(r.EndOffset))
			}
		}
		covered.Ranges = usedRanges(s.Functions, covered.Total)
		covered.Text = c.sourceOf(ctx, s.URL, &covered.Total)
		covered.Used = length(covered.Ranges)
		found = append(found, covered)
	}
	return found, nil
}

// sourceOf is the text of a script with a file of its own, if the page still has it. For
// a script inside a document, the page has only the whole document. The engine does not report functions
// that were not used since the start, so the file may be longer than the functions tell.
func (c *coverage) sourceOf(ctx context.Context, url string, total *int) string {
	content, err := c.page.Network.ResourceContent(ctx, url)
	length := len(utf16.Encode([]rune(string(content))))
	if err != nil || length < *total || url == c.page.Frames.PageURL() {
		return ""
	}
	*total = length
	return string(content)
}

func (c *coverage) styleSheets(ctx context.Context) ([]Covered, error) {
	usage, err := protocol.Call(ctx, c.styles, css.StopRuleUsageTracking, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	c.sheets.Close()
	var found []Covered
	for e := range c.sheets.C() {
		var added css.EventStyleSheetAdded
		if err := e.Decode(&added); err != nil {
			return nil, err
		}
		h := added.Header
		if h == nil || h.SourceURL == "" || h.Origin != css.StyleSheetOriginRegular {
			continue
		}
		text, err := protocol.Call(ctx, c.styles, css.GetStyleSheetText, css.GetStyleSheetTextParams{
			StyleSheetID: h.StyleSheetID,
		})
		if cdp.Refused(err) {
			continue // its document has gone
		}
		if err != nil {
			return nil, err
		}
		if text.Text == "" {
			continue // the browser no longer has it
		}
		covered := Covered{URL: h.SourceURL, Kind: "CSS", Text: text.Text, Total: len(utf16.Encode([]rune(text.Text)))}
		used := make([]bool, covered.Total)
		for _, r := range usage.RuleUsage {
			if r.Used && r.StyleSheetID == h.StyleSheetID {
				mark(used, int(r.StartOffset), int(r.EndOffset), true)
			}
		}
		covered.Ranges = rangesOf(used)
		covered.Used = length(covered.Ranges)
		found = append(found, covered)
	}
	if err := c.sheets.Err(); err != nil && !errors.Is(err, cdp.ErrSessionGone) {
		return nil, err
	}
	return found, nil
}

// usedRanges flattens the engine's counts: ranges are nested, and the innermost one
// decides.
func usedRanges(functions []*profiler.FunctionCoverage, total int) []CoveredRange {
	var nested []*profiler.CoverageRange
	for _, f := range functions {
		nested = append(nested, f.Ranges...)
	}
	slices.SortStableFunc(nested, func(a, b *profiler.CoverageRange) int {
		return cmp.Compare(b.EndOffset-b.StartOffset, a.EndOffset-a.StartOffset)
	})
	used := make([]bool, total)
	for _, r := range nested { // inner ones last
		mark(used, int(r.StartOffset), int(r.EndOffset), r.Count > 0)
	}
	return rangesOf(used)
}

// mark sets a part of used, within its bounds.
func mark(used []bool, start, end int, value bool) {
	for i := start; i < min(end, len(used)); i++ {
		used[i] = value
	}
}

// rangesOf lists the used parts.
func rangesOf(used []bool) []CoveredRange {
	ranges := []CoveredRange{}
	for i := range used {
		switch {
		case !used[i]:
		case i > 0 && used[i-1]:
			ranges[len(ranges)-1].End = i + 1
		default:
			ranges = append(ranges, CoveredRange{i, i + 1})
		}
	}
	return ranges
}

func length(ranges []CoveredRange) int {
	sum := 0
	for _, r := range ranges {
		sum += r.End - r.Start
	}
	return sum
}
