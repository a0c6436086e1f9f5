package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/observe"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/vscodeipc"
)

type recordUserIn struct {
	Message  string  `json:"message,omitempty" about:"what the user is to show"`
	Timeout  float64 `json:"timeout,omitempty" about:"seconds, default 120"`
	Filename string  `json:"filename,omitempty" about:"of the test"`
	End      bool    `json:"end,omitempty" about:"end the recording under way"`
	inPage
}

var _ = define(Tool{
	Name: vscodeipc.ActRecordUser, Title: "Record the user",
	Description: "Ask the user to do something in the tab, and get it as steps for browser_steps and as a test",
	Set:         "testing", Difference: "theirs is a program of its own, codegen",
	Effect: Reads,
	Shell: []command{
		{Name: "record", Summary: "Record what you do in the tab, as steps and as a test", Args: "[filename]", Omits: "end"},
		{Name: "record stop", Summary: "End the recording of what you do", Arguments: `{"end": true}`,
			Omits: "message timeout filename"},
	},
	Returns: "the steps, one a line, and the same as a test for `@playwright/test`, which a `filename` saves",
	Notes: "The user is asked in every mode. The recording ends when the user ends it, with the tab, after the " +
		"`timeout` (300 seconds at most), after 500 steps, or by a call with `end`. Until then no agent acts in the " +
		"tab.\n\n" +
		"- **Recorded**, in all frames: clicks, texts, keys, chosen options, checked boxes, names of chosen files, " +
		"HTML's own drag and drop, answers to dialogs, and addresses that the user opens; nothing that a script of " +
		"the page does. What a CDP client sends counts as the user's.\n" +
		"- **Not recorded**: the mouse's way, scrolling, dragging by a page's own script, other tabs. Back, Forward " +
		"and Reload are only mentioned.\n" +
		"- **Passwords** in fields are never read: they are `TYPED_PASSWORD`, `TYPED_PASSWORD2`, …, which the user " +
		"sets in the file of `--secrets`, and in the test's environment. What is typed into a prompt, or pressed " +
		"outside of a field, is recorded. Values of `--secrets` have their names.",
	Example: `{"message": "Show me how you order tea."}`,
}, calls[recordUserIn]{Do: onPage(recordUser)})

// recordingTime is how long a recording lasts by default, and at most. An agent keeps its page for
// that long.
const recordingTime, longestRecording = 2 * time.Minute, 5 * time.Minute

// errNobodyActs reports a headless browser that no window shows to a user.
var errNobodyActs = errors.New("nobody can act in this page: its browser is headless, and no window shows it. A " +
	"recording needs a window: open the folder in VS Code")

func recordUser(ctx context.Context, c *agent.Call, p *page.Page, in recordUserIn) error {
	if in.End {
		if !p.Observer().End() {
			return errors.New("nothing that the user does in this tab is being recorded")
		}
		c.Out.Addf("The recording has ended: the call that began it has the steps.")
		return nil
	}
	limit := recordingTime
	if in.Timeout > 0 {
		limit = secondsUpTo(longestRecording, in.Timeout)
	}
	file, err := c.File(ctx, in.Filename, output.Test)
	if err != nil {
		return err
	}
	headless, err := p.Headless(ctx)
	if err != nil {
		return err
	}
	if headless && !c.InWindow() {
		return errNobodyActs
	}
	detail := fmt.Sprintf("Record what you do in this tab, for %s at most", limit)
	if in.Message != "" {
		detail += ": " + agent.Quoted(in.Message)
	}
	window, err := c.Consent(ctx, p, detail)
	if err != nil {
		return err
	}
	if err := c.ClaimPage(ctx, p); err != nil {
		return err
	}
	recorded, err := recordWhileShown(ctx, c, p, window, in.Message, limit)
	if err != nil {
		return err
	}
	return answerRecording(c, p, recorded, file)
}

// recordWhileShown records for as long as the window shows that, where the user can end it.
func recordWhileShown(
	ctx context.Context, c *agent.Call, p *page.Page, window registry.Window, message string, limit time.Duration,
) (observe.Recording, error) {
	showing, hide := context.WithCancel(ctx)
	var shown sync.WaitGroup
	var unshown error
	recorded, err := p.Observer().Record(ctx, limit, func() {
		shown.Go(func() {
			arg := vscodeipc.RecordShowArg{Client: c.Agent.Info(), Message: message, Seconds: limit.Seconds()}
			var r vscodeipc.RecordShowResult
			err := c.Agent.Windows.Call(showing, window, vscodeipc.CommandRecordShow, arg, &r)
			if showing.Err() == nil {
				unshown = err
				p.Observer().End()
			}
		})
	})
	hide()
	shown.Wait()
	if err == nil && unshown != nil {
		c.Out.Quotef("The recording has ended, since the window no longer shows the user that it goes on: %v.", unshown)
	}
	return recorded, err
}

// userStep is a step of browser_steps, with its members in the order in which people read them.
type userStep struct {
	Action      string       `json:"action"`
	Target      string       `json:"target,omitempty"`
	To          string       `json:"to,omitempty"`
	Text        *string      `json:"text,omitempty"`
	Key         string       `json:"key,omitempty"`
	Values      []string     `json:"values,omitempty"`
	Paths       []string     `json:"paths,omitempty"`
	Button      string       `json:"button,omitempty"`
	DoubleClick bool         `json:"doubleClick,omitempty"`
	Modifiers   []string     `json:"modifiers,omitempty"`
	Position    *frame.Point `json:"position,omitempty"`
	Accept      *bool        `json:"accept,omitempty"`
	PromptText  *string      `json:"promptText,omitempty"`
	URL         string       `json:"url,omitempty"`
}

// userSteps makes steps and a test of what the user has done.
type userSteps struct {
	call      *agent.Call
	page      export.Page
	test      export.Test
	steps     []userStep
	omitted   []string // what is no step, and why
	passwords int
}

func answerRecording(c *agent.Call, p *page.Page, recorded observe.Recording, file *output.File) error {
	u := &userSteps{call: c, page: export.Page{ID: p.ID(), URL: recorded.URL}}
	u.test.Title = "what the user did"
	did := append([]observe.Step{{Kind: observe.Navigate, URL: recorded.URL}}, recorded.Steps...)
	for _, s := range did {
		if err := u.add(s); err != nil {
			return err
		}
	}
	if len(recorded.Steps) == 0 {
		c.Out.Addf("The user has done nothing that is recorded.")
		return nil
	}
	c.Out.Addf("What the user did, as steps for browser_steps:")
	c.Out.Quote(u.text())
	for _, omitted := range u.omitted {
		c.Out.Quotef("Not a step: %s.", omitted)
	}
	if recorded.Full {
		c.Out.Addf("There was more: a recording has at most %d steps.", observe.MaxSteps)
	}
	if u.passwords > 0 {
		c.Out.Addf("What was typed into password fields was not read. To repeat the steps, the user sets the values of " +
			"TYPED_PASSWORD, … in the file of --secrets.")
	}
	if recorded.Ended != nil {
		c.Out.Addf("The recording ended with the page: %v.", recorded.Ended)
	}
	source := u.test.File(c.Agent.Secrets)
	if file == nil {
		c.Out.Addf("The same as a test:")
		c.Out.Quote(strings.TrimSuffix(source, "\n"))
		return nil
	}
	path, err := file.Save([]byte(source))
	return c.Done(err, "Saved the same as a test to %s.", path)
}

// text is the steps as JSON, one a line.
func (u *userSteps) text() string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i, s := range u.steps {
		b.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
		_ = encoder.Encode(s) // it has a JSON form
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n,", ",\n") + "]"
}

// omit notes what is no step.
func (u *userSteps) omit(what string) { u.omitted = append(u.omitted, what) }

// add makes a step of what the user did, and a call of it, which the test repeats.
func (u *userSteps) add(did observe.Step) error {
	s, ok := u.step(did)
	if !ok {
		return nil
	}
	if did.Text != "" || did.Password {
		text, reason := u.typed(did)
		if reason != "" {
			u.omit(reason)
			return nil
		}
		if did.Kind == observe.Dialog {
			s.PromptText = &text
		} else {
			s.Text = &text
		}
	}
	r := agent.Repetition{Page: u.page}
	for _, target := range []*observe.Target{did.On, did.To} {
		if target == nil {
			continue
		}
		selector, locator, reason := u.find(target)
		if reason != "" {
			u.omit(did.Describe() + ": " + reason)
			return nil
		}
		if target == did.On {
			s.Target = selector
		} else {
			s.To = selector
		}
		element := input.Element{Target: selector, Identity: target.Identity}
		element.Password = did.Password
		if did.Kind == observe.Check {
			element.Filled = "click"
		}
		r.Elements, r.Locators = append(r.Elements, element), append(r.Locators, locator)
	}
	values := map[string]any{}
	encoded, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(encoded, &values)
	}
	if err == nil {
		r.Request, err = step(values, stepsIn{})
	}
	if err != nil {
		return fmt.Errorf("a step of the user: %w", err)
	}
	u.steps = append(u.steps, s)
	r.Opens = did.Opened
	if did.Kind == observe.Dialog {
		r.Answers, r.Opens = did.Opened, nil
	}
	u.call.AddTo(&u.test, r)
	return nil
}

// step is a step but for its elements and texts; false: there is none.
func (u *userSteps) step(did observe.Step) (s userStep, ok bool) {
	s = userStep{Action: string(did.Kind)}
	switch did.Kind {
	case observe.Click:
		s.Button, s.DoubleClick, s.Modifiers, s.Position = did.Button, did.Double, did.Modifiers, did.Position
	case observe.Type:
		s.Text = new(string)
	case observe.Press:
		s.Key = u.call.Agent.Secrets.Hide(did.Key)
	case observe.Select:
		for _, value := range did.Values {
			s.Values = append(s.Values, u.call.Agent.Secrets.Hide(value))
		}
	case observe.Upload:
		for _, name := range did.Files {
			s.Paths = append(s.Paths, u.call.Agent.Secrets.Hide(name))
		}
	case observe.Check:
		s.Action = map[bool]string{true: "check", false: "uncheck"}[did.State]
	case observe.Dialog:
		s.Accept = &did.State
	case observe.Drag:
	case observe.Navigate:
		if s.URL = u.call.Agent.Secrets.Hide(did.URL); did.URL == "about:blank" {
			return s, false
		}
	case observe.Arrive:
		s.URL = u.call.Agent.Secrets.Hide(address.WithoutQuery(did.URL))
	default:
		u.omit(did.Describe())
		return s, false
	}
	if did.Long {
		u.omit(did.Describe() + ": it is too long")
		return s, false
	}
	return s, true
}

// passwordName is a name that stands for a password in steps.
var passwordName = regexp.MustCompile(`^TYPED_PASSWORD\d*$`)

// typed is what a step has in place of the text, or the reason why it has none. A page chooses what
// its fields contain: no name of a secret may come from there, or the steps would give it the secret.
func (u *userSteps) typed(did observe.Step) (text, reason string) {
	if did.Password {
		for {
			u.passwords++
			name := "TYPED_PASSWORD"
			if u.passwords > 1 {
				name += fmt.Sprint(u.passwords)
			}
			if u.call.Agent.Secrets.Value(name) == name {
				return name, ""
			}
		}
	}
	if passwordName.MatchString(did.Text) || u.call.Agent.Secrets.Value(did.Text) != did.Text {
		return "", did.Describe() + ": it is the name of a secret, in place of which a step types the secret"
	}
	parts := u.call.Agent.Secrets.Split(did.Text)
	if len(parts) == 1 && parts[0].Whole {
		return parts[0].Name, ""
	}
	if hidden := u.call.Agent.Secrets.Hide(did.Text); hidden != did.Text {
		return "", did.Describe() + ": a part of it is a secret"
	}
	return did.Text, ""
}

// find is what finds an element again, for a step and for the test, or the reason why nothing does.
func (u *userSteps) find(t *observe.Target) (selector string, locator javascript.Expression, reason string) {
	in, known := t.Frame()
	switch selector = t.Selector; {
	case !known:
		return "", locator, "its frame had gone before it was known"
	case selector == "" || u.call.Agent.Secrets.Hide(selector) != selector:
		return "", locator, "no selector finds it alone"
	}
	if !in.IsZero() {
		selector = in.String() + " >> " + selector
	}
	return selector, snapshot.InFrame(in, t.Locator), ""
}
