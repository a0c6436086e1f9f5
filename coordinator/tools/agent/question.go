package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/policy"
)

// Questions and reports to the user name the element that a call acts on: by the role
// and the name that the page gives it. An agent's own words for it could hide what it
// does. They are shown as such, and only if they differ.

// Quoted is a text of the agent in a question. All of them must be quoted: none may pose
// as the question's own words.
func Quoted(text string) string { return "“" + plain(text, longestText) + "”" }

// Names and texts in questions, in characters: they must leave each other room.
const longestName, longestText, longestClaim = 60, 40, 100

// plain is a text as one line that cannot end its quotes.
func plain(text string, maximum int) string {
	text = strings.Map(func(c rune) rune {
		if strings.ContainsRune(`"“”„‟«»＂`, c) {
			return '\''
		}
		return c
	}, text)
	return limit(strings.Join(strings.Fields(text), " "), maximum)
}

// userName is what the user knows an element by; aim counts if the page's name is not
// known.
func userName(identity frame.Identity, aim input.Aim) string {
	role := identity.Role
	if role == "generic" || strings.Contains(role, "-") { // a page can invent roles with a hyphen
		role = "element"
	}
	_, numbered := frame.ParseRef(aim.Target)
	switch {
	case identity.Name != "":
		return role + ` "` + plain(identity.Name, longestName) + `"`
	case identity.Hint != "":
		kind, value, _ := strings.Cut(identity.Hint, "=")
		return fmt.Sprintf(`%s without a name (%s "%s")`, role, kind, plain(value, longestName))
	case role != "":
		return role + " without a name"
	case numbered:
		return "an element of which the name cannot be read"
	case aim.Target != "":
		return "an element that matches `" + strings.ReplaceAll(plain(aim.Target, longestName), "`", "'") + "`"
	case aim.Chooser:
		return "the file chooser"
	}
	return ""
}

// question is what the user was asked about a call.
type question struct {
	elements map[string]string // as the page presented them, by targets; see confirm
	target   string            // the elements, as reports name them
	present  []input.Element   // those that were there already, and what has the focus
	place    string            // of the page, see [page.Page.Place]; empty: it was not known
	// site is the one on which the user could allow more such calls, or had done so; empty: none.
	site string
}

// describe says in a question what the call acts on. p is the page that it will act in; nil: it
// is not known. It returns an error if the call is sure to fail.
func (c *Call) describe(ctx context.Context, p *page.Page, q *policy.Question) (asked question, err error) {
	a, r := c.Agent, &c.Request
	if len(r.Aims) == 0 {
		if q.Detail, err = a.detail(r, nil); err != nil {
			return asked, err
		}
		if p == nil || r.Operation.Category != policy.Script {
			return asked, nil
		}
		_, err := p.Identify(ctx, input.Aim{}) // a script needs a page that runs
		return asked, hopeless(err, "")
	}
	asked.elements = map[string]string{}
	var names, claims []string
	var identities []frame.Identity
	for _, aim := range r.Aims {
		var element input.Element
		if p != nil {
			var err error
			element, err = p.Identify(ctx, aim)
			if err := hopeless(err, aim.Target); err != nil {
				return asked, err
			}
		}
		if element.Frame != "" || aim.Target == "" { // what has the focus may not be known at the act either
			asked.present = append(asked.present, element)
		}
		if element.Node != 0 {
			node := policy.Node{Target: p.ID(), Document: string(element.Document), ID: int64(element.Node)}
			q.Nodes = append(q.Nodes, node)
		}
		if element.Role != "" {
			asked.elements[strings.TrimSpace(aim.Target)] = element.String()
		}
		names = append(names, userName(element.Identity, aim))
		identities = append(identities, element.Identity)
	}
	for _, description := range r.Descriptions {
		if isNew(description, identities) {
			claims = append(claims, description)
		}
	}
	if q.Detail, err = a.detail(r, names); err != nil {
		return asked, err
	}
	q.Claim = a.Secrets.Hide(plain(strings.Join(claims, ", "), longestClaim))
	asked.target = strings.Join(names, ", ")
	return asked, nil
}

// longestDetail bounds what a question shows, which the user is to read in full, in bytes.
const longestDetail = 64 << 10

// detail says what the call does, in full: what a question leaves out could be anything.
func (a *Agent) detail(r *Request, names []string) (string, error) {
	text := a.Secrets.Hide(r.Question(names))
	if len(text) > longestDetail {
		return "", fmt.Errorf("the user must allow it, and cannot read %d kB in a question, which has %d kB at most: do "+
			"it in several smaller calls", len(text)>>10, longestDetail>>10)
	}
	return text, nil
}

// hopeless is the error of looking at a target if no action can succeed there: the page does
// not run, or the element of a ref has gone. What a selector names may still appear.
func hopeless(err error, target string) error {
	_, numbered := frame.ParseRef(target)
	if errors.Is(err, page.ErrPaused) || errors.Is(err, page.ErrCrashed) || errors.As(err, new(*page.DialogError)) ||
		numbered && (errors.As(err, new(*frame.StaleRefError)) || errors.As(err, new(*frame.TargetError))) {
		return err
	}
	return nil
}

// isNew reports whether the agent's words for an element have a word that the page's own
// words for the elements do not have.
func isNew(claim string, elements []frame.Identity) bool {
	text := "the a an"
	for _, identity := range elements {
		text += " " + identity.Role + " " + identity.Name
	}
	ofPage := map[string]bool{}
	for _, word := range words(text) {
		ofPage[word] = true
	}
	return slices.ContainsFunc(words(claim), func(word string) bool { return !ofPage[word] })
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })

// confirm refuses an element that the user was not asked about. Numbers may differ: they
// count things or the time.
func (c *Call) confirm(element input.Element) error {
	before, now := c.permission.question.elements[element.Target], element.String()
	if before == "" || digits().ReplaceAllString(before, "0") == digits().ReplaceAllString(now, "0") {
		return nil
	}
	return fmt.Errorf("the user was asked about %s, and the page has %s there now, so nothing was done to it: "+
		"call again to ask about that", before, now)
}

// Act runs an action of the page's input, on the elements that the user was asked about.
func (c *Call) Act(ctx context.Context, p *page.Page, a input.Action) (page.Change, error) {
	a.Begin = func(ctx context.Context) error { // the user may have taken over meanwhile, or the page moved
		if err := c.awaitReturn(ctx); err != nil {
			return err
		}
		return c.ConfirmSite(ctx, p)
	}
	a.Confirm = func(element input.Element) error {
		err := cmp.Or(c.ConfirmSite(ctx, p, element), c.confirm(element))
		if err == nil {
			c.locate(ctx, p, element.Target)
		}
		return err
	}
	change, err := p.Act(ctx, a)
	c.effect.change = change // also if it failed
	if errors.Is(err, page.ErrPageClosed) && !errors.Is(err, page.ErrUnsent) {
		c.effect.closed, err = c.pageClosed(ctx, p), nil
	}
	return change, err
}

// Acted answers an action with what was done, and to which elements: "Clicked",
// button "Order". between stands between two of them.
func (c *Call) Acted(done, between string) func(page.Change, error) error {
	return func(change page.Change, err error) error {
		var names, changed []string
		sentence, joint := done, " "
		for _, element := range change.Elements {
			if name := userName(element.Identity, input.Aim{Target: element.Target}); name != "" {
				names = append(names, name)
			}
			element.Name = limit(element.Name, longestName)
			if text := cmp.Or(element.String(), element.Target); text != "" {
				sentence, joint = sentence+joint+text, between
			}
			if element.PreviousLabel != "" {
				changed = append(changed,
					fmt.Sprintf("The last snapshot had %s as %s: the page has changed it since.", element.Target,
						element.PreviousLabel))
			}
		}
		c.effect.target = strings.Join(names, between)
		if err != nil {
			if !errors.Is(err, page.ErrUnsent) {
				c.Changed(change)
			}
			return err
		}
		c.Out.Quote(strings.Join(append([]string{sentence + "."}, changed...), "\n"))
		c.Changed(change)
		return nil
	}
}
