package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	regexpsyntax "regexp/syntax"
	"strings"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// Markdown returns the readable part of the page, or of a target, as Markdown:
// its main element or article where there is one, without navigation, asides and
// footers. Frames are named, not read.
func (p *Page) Markdown(ctx context.Context, target string) (Snapshot, error) {
	const doing = "reading the page"
	var r struct{ Title, URL, Text string }
	if err := p.read(ctx, doing, "markdown", target, &r); err != nil {
		return Snapshot{}, err
	}
	return Snapshot{URL: r.URL, Title: r.Title, Text: r.Text}, nil
}

// HTML returns the HTML of the page's document, or of a target, as it is now.
// Shadow roots stand in it as declarative templates: closed ones once a snapshot
// has shown them.
func (p *Page) HTML(ctx context.Context, target string) (string, error) {
	var text string
	return text, p.read(ctx, "reading the HTML", "html", target, &text)
}

// read runs a function of the library on the page's document or on a target.
func (p *Page) read(ctx context.Context, doing, function, target string, result any) error {
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err != nil {
		return err
	}
	defer end()
	if target == "" {
		return p.explain(p.readDocument(ctx, function, result), doing)
	}
	e, err := p.frames.Find(ctx, target)
	if err != nil {
		return p.explain(err, doing)
	}
	defer e.Release(ctx)
	return p.explain(e.Call(ctx, function, nil, result), doing)
}

func (p *Page) readDocument(ctx context.Context, function string, result any) error {
	var r runtime.EvaluateResult
	err := p.frames.InWorld(ctx, p.frames.Main(), func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		r, err = protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{Expression: "library." + function + ".call(null)", ContextID: world, ReturnByValue: new(true)})
		return err
	})
	if err != nil {
		return err
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("script %s: %s", function, remote.Exception(r.ExceptionDetails))
	}
	return json.Unmarshal(r.Result.Value, result)
}

// FindOptions say what Find looks for: Text, whatever its case, or Regexp, see
// Pattern.
type FindOptions struct {
	Text   string
	Regexp string
	Skip   int // so many matches are not shown
	Most   int // so many at most are shown; 0: MaxFound
	// Hide takes out of the page's text what is neither to be found nor shown; nil:
	// nothing.
	Hide func(string) string
}

// Found is what Find has found.
type Found struct {
	Text    string // the lines of the outline, with those that they stand below
	Matches int    // how many lines match
}

// MaxFound is how many matches are shown where nothing else is asked for.
const MaxFound = 50

// maxFoundLine bounds a line that is shown, in bytes.
const maxFoundLine = 400

// Find looks in the lines of a snapshot for a text or a regular expression.
func (p *Page) Find(ctx context.Context, opts FindOptions) (Found, error) {
	if (opts.Text == "") == (opts.Regexp == "") {
		return Found{}, errors.New("find: give a text or a regular expression")
	}
	setDefault(&opts.Most, MaxFound)
	expression := opts.Regexp
	if opts.Text != "" {
		expression = "(?i)" + regexp.QuoteMeta(opts.Text)
	}
	wanted, err := Pattern(expression)
	if err != nil {
		return Found{}, fmt.Errorf("find: %w", err)
	}
	const doing = "searching the page"
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err != nil {
		return Found{}, err
	}
	defer end()
	r, err := p.outline(ctx, p.frames.Main(), nil, SnapshotOptions{full: true})
	if err != nil {
		return Found{}, p.explain(err, doing)
	}
	if opts.Hide != nil { // before a line is cut
		r.Text = opts.Hide(r.Text)
	}
	return findLines(splitLines(r.Text), wanted, opts), nil
}

// jsPattern is a regular expression as JavaScript writes it.
var jsPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/(.+)/([a-z]*)$`) })

// Pattern compiles a regular expression, which may be written as in JavaScript:
// /pattern/flags.
func Pattern(text string) (*regexp.Regexp, error) {
	if js := jsPattern().FindStringSubmatch(text); js != nil {
		text = js[1]
		for _, flag := range "ims" { // the others say how to search on, or change nothing here
			if strings.ContainsRune(js[2], flag) {
				text = "(?" + string(flag) + ")" + text
			}
		}
	}
	compiled, err := regexp.Compile(text)
	var syntax *regexpsyntax.Error
	if errors.As(err, &syntax) && (syntax.Code == regexpsyntax.ErrInvalidPerlOp || syntax.Code == regexpsyntax.ErrInvalidEscape) {
		err = fmt.Errorf("%w (regular expressions are RE2's: no lookahead, no lookbehind, no references back)", err)
	}
	return compiled, err
}

func findLines(lines []string, wanted *regexp.Regexp, opts FindOptions) Found {
	var found Found
	keep := make([]bool, len(lines))
	for i, line := range lines {
		if !wanted.MatchString(strings.Trim(line, " -\n")) {
			continue
		}
		found.Matches++
		if found.Matches > opts.Skip && found.Matches <= opts.Skip+opts.Most {
			keepWithContext(keep, i, func(i int) (string, bool) { return lines[i], true })
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if keep[i] {
			b.WriteString(around(line, wanted))
		}
	}
	found.Text = b.String()
	return found
}

// around cuts a long line down to what stands around the match, and to what it
// begins with: that says what it is.
func around(line string, wanted *regexp.Regexp) string {
	if len(line) <= maxFoundLine {
		return line
	}
	const side, head = maxFoundLine / 3, maxFoundLine / 4
	at := wanted.FindStringIndex(line)
	if at == nil {
		return strings.ToValidUTF8(line[:maxFoundLine], "") + "…\n"
	}
	from, to := max(at[0]-side, 0), min(at[1]+side, len(line)-1)
	s := line[from:to]
	if from > head {
		s = line[:head] + "…" + s
	} else {
		s = line[:to]
	}
	return strings.ToValidUTF8(s, "") + "…\n"
}

// PDF prints the page.
func (p *Page) PDF(ctx context.Context) ([]byte, error) {
	const doing = "printing the page"
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.NavigateTimeout)
	if err != nil {
		return nil, err
	}
	defer end()
	r, err := protocol.Call(ctx, p.session, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
	if err != nil {
		return nil, p.explain(err, doing)
	}
	return r.Data, nil
}
