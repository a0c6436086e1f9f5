package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/remote"
)

// Rule is a rule that matches an element, or an ancestor from which the element inherits.
type Rule struct {
	Selector     string   // element.style for the attribute
	Conditions   []string // as in @media (width > 600px)
	Position     remote.Position
	Inherited    bool
	Declarations []Declaration
}

// Declaration is a declaration of a rule, as it was written.
type Declaration struct {
	Text    string
	Invalid bool // the browser does not know it
	// LosesTo is the rule that overrides all of it; empty: it has an effect.
	LosesTo string
}

// rules are the page's own rules for an element, strongest first, and what they come to. They are
// read in a session of their own: those of what the browser no longer has have no place.
func (i *Inspector) rules(ctx context.Context, e *frame.Element) ([]Rule, error) {
	described, err := protocol.Call(ctx, e.Session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.Handle})
	if err != nil {
		return nil, err
	}
	var added *cdp.Subscription
	session, detach, err := i.opts.Network.Reread(ctx, e.Session, func(s *cdp.Session) error {
		added = s.Listen(css.StyleSheetAdded.Method)
		defer added.Close()
		for _, command := range []string{"DOM.enable", css.CommandEnable} {
			if err := s.Call(ctx, command, nil, nil); err != nil {
				return fmt.Errorf("%s: %w", command, err)
			}
		}
		return nil // the events came before the responses
	})
	if err != nil {
		return nil, err
	}
	defer detach()
	sheets := map[protocol.StyleSheetID]*css.StyleSheetHeader{}
	for event := range added.C() {
		var a css.EventStyleSheetAdded
		if err := event.Decode(&a); err != nil {
			return nil, err
		}
		sheets[a.Header.StyleSheetID] = a.Header
	}
	_, err = protocol.Call(ctx, session, dom.GetDocument, dom.GetDocumentParams{Depth: new(int64)})
	if err != nil {
		return nil, err
	}
	nodes, err := protocol.Call(ctx, session, dom.PushNodesByBackendIDsToFrontend,
		dom.PushNodesByBackendIDsToFrontendParams{BackendNodeIDs: []protocol.BackendNodeID{described.Node.BackendNodeID}})
	if err != nil {
		return nil, err
	}
	var matched struct {
		matches
		Inherited []matches `json:"inherited"`
	}
	err = session.Call(ctx, css.CommandGetMatchedStylesForNode, css.GetMatchedStylesForNodeParams{
		NodeID: nodes.NodeIDs[0],
	}, &matched)
	if err != nil {
		return nil, err
	}
	for _, part := range append([]matches{matched.matches}, matched.Inherited...) {
		for _, match := range part.MatchedCSSRules {
			if err := leaveWritten(ctx, session, sheets, match.Rule.StyleSheetID); err != nil {
				return nil, err
			}
		}
	}
	c := cascade{inspector: i, sheets: sheets, winners: map[string]*winner{}}
	c.add(ctx, matched.matches, false)
	for _, ancestor := range matched.Inherited {
		c.add(ctx, ancestor, true)
	}
	return c.outcome(), nil
}

// leaveWritten removes a sheet in which there are no places of its file.
func leaveWritten(
	ctx context.Context, s *cdp.Session, sheets map[protocol.StyleSheetID]*css.StyleSheetHeader, id protocol.StyleSheetID,
) error {
	if sheet := sheets[id]; sheet == nil || sheet.IsInline || sheet.SourceURL == "" {
		return nil
	}
	r, err := protocol.Call(ctx, s, css.GetStyleSheetText, css.GetStyleSheetTextParams{StyleSheetID: id})
	if err == nil && strings.HasPrefix(r.Text, history.WrittenMark) {
		delete(sheets, id)
	}
	return err
}

// matches are the rules for an element as the browser reports them, the strongest last.
type matches struct {
	InlineStyle     *style `json:"inlineStyle"`
	MatchedCSSRules []struct {
		Rule struct {
			css.Rule
			Style style `json:"style"`
		} `json:"rule"`
	} `json:"matchedCSSRules"`
}

// style is css.Style, of which a missing parsedOk means true.
type style struct {
	CSSProperties []struct {
		css.Property
		ParsedOk *bool `json:"parsedOk"`
	} `json:"cssProperties"`
	Range *css.SourceRange `json:"range"`
}

// cascade decides which declarations of an element's rules have an effect.
type cascade struct {
	inspector *Inspector
	sheets    map[protocol.StyleSheetID]*css.StyleSheetHeader
	entries   []entry
	winners   map[string]*winner // by longhand
}

// entry is a rule with the longhands of each of its declarations.
type entry struct {
	Rule
	sets [][]string
}

// winner is the declaration that sets a longhand.
type winner struct {
	rule      int
	important bool
}

// add adds the rules of the element, or of the next ancestor.
func (c *cascade) add(ctx context.Context, m matches, inherited bool) {
	if m.InlineStyle != nil {
		c.enter(Rule{Selector: "element.style", Inherited: inherited}, m.InlineStyle)
	}
	for _, match := range slices.Backward(m.MatchedCSSRules) {
		rule := match.Rule
		entered := Rule{Selector: rule.SelectorList.Text, Inherited: inherited, Conditions: conditions(&rule.Rule)}
		if rule.Origin == css.StyleSheetOriginUserAgent {
			entered.Selector = ofBrowser
		} else if header := c.sheets[rule.StyleSheetID]; header != nil {
			entered.Position = c.inspector.placeOf(ctx, header, rule.SelectorList, rule.Style.Range)
		}
		c.enter(entered, &rule.Style)
	}
}

// ofBrowser is in place of the selectors of the browser's own rules.
const ofBrowser = "the browser's own style"

func (c *cascade) enter(rule Rule, style *style) {
	e := entry{Rule: rule}
	for _, p := range style.CSSProperties {
		// Its shorthand is there too. Of a text that the browser no longer has, there is no range.
		isOfShorthand := rule.Selector != ofBrowser && style.Range != nil && p.Range == nil && p.Text == ""
		if isOfShorthand || p.Disabled {
			continue
		}
		sets := []string{p.Name}
		for n, longhand := range p.LonghandProperties {
			if n == 0 {
				sets = nil
			}
			sets = append(sets, longhand.Name)
		}
		if rule.Inherited {
			sets = slices.DeleteFunc(sets, func(name string) bool { return !inherits(name) })
			if len(sets) == 0 {
				continue
			}
		}
		text := p.Name + ": " + p.Value
		if p.Important && !strings.Contains(p.Value, "!important") {
			text += " !important"
		}
		valid := p.ParsedOk == nil || *p.ParsedOk
		e.Declarations = append(e.Declarations, Declaration{Text: text, Invalid: !valid})
		e.sets = append(e.sets, sets)
		if !valid {
			continue
		}
		for _, name := range sets {
			w := c.winners[name]
			// What an ancestor declares important is not so for what inherits it. Later declarations of
			// one rule win.
			stronger := w == nil || w.rule == len(c.entries) && (p.Important || !w.important) ||
				p.Important && !w.important && !rule.Inherited
			if stronger {
				c.winners[name] = &winner{len(c.entries), p.Important}
			}
		}
	}
	if len(e.Declarations) > 0 {
		c.entries = append(c.entries, e)
	}
}

// outcome are the rules with what each declaration loses to.
func (c *cascade) outcome() (rules []Rule) {
	for n, e := range c.entries {
		effective := false
		for d := range e.Declarations {
			declaration := &e.Declarations[d]
			if declaration.Invalid {
				continue
			}
			loses := ""
			for _, name := range e.sets[d] {
				w := c.winners[name]
				if w.rule == n {
					loses = ""
					break
				}
				loses = c.entries[w.rule].Selector
			}
			declaration.LosesTo = loses
			effective = effective || loses == ""
		}
		if e.Selector != ofBrowser && (effective || !e.Inherited) {
			rules = append(rules, e.Rule)
		}
	}
	return rules
}

func conditions(rule *css.Rule) (all []string) {
	for _, m := range rule.Media {
		all = append(all, "@media "+m.Text)
	}
	for _, q := range rule.ContainerQueries {
		all = append(all, "@container "+cmp.Or(q.ConditionText, q.Name))
	}
	for _, s := range rule.Supports {
		all = append(all, "@supports "+s.Text)
	}
	for _, l := range rule.Layers {
		all = append(all, "@layer "+l.Text)
	}
	return all
}

// placeOf is where a rule begins. Lines of a style element count from the document's first; one
// that a script has added has no place of its own, but perhaps a source map.
func (i *Inspector) placeOf(
	ctx context.Context, sheet *css.StyleSheetHeader, list *css.SelectorList, begin *css.SourceRange,
) (position remote.Position) {
	if selectors := list.Selectors; len(selectors) > 0 && selectors[0].Range != nil {
		begin = selectors[0].Range
	}
	if begin == nil {
		return position
	}
	line, column := begin.StartLine, begin.StartColumn
	if strings.HasPrefix(sheet.SourceMapURL, "data:") {
		position = remote.NewPosition(sheet.SourceURL, line, column)
		i.opts.Sources.LocateInline(ctx, &position, sheet.SourceMapURL)
		if position.Place != "" {
			return position
		}
	}
	if sheet.IsConstructed || sheet.SourceURL == "" {
		return remote.Position{}
	}
	if line == 0 {
		column += int64(sheet.StartColumn)
	}
	position = remote.NewPosition(sheet.SourceURL, line+int64(sheet.StartLine), column)
	i.opts.Sources.Locate(ctx, &position)
	return position
}

// inherits reports whether elements inherit a property of CSS.
func inherits(name string) bool {
	if strings.HasPrefix(name, "font-") {
		return true
	}
	return slices.Contains(inherited, name)
}

var inherited = strings.Fields(`color cursor direction letter-spacing line-height list-style-image list-style-position
	list-style-type pointer-events text-align text-indent text-shadow text-transform visibility white-space
	white-space-collapse text-wrap-mode word-break word-spacing overflow-wrap writing-mode user-select`)
