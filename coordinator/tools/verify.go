package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
)

type verifyElementIn struct {
	Role           string `json:"role" about:"as in the snapshot"`
	AccessibleName string `json:"accessibleName" about:"as in the snapshot, or a part of it"`
	inPage
}

var _ = define(Tool{
	Name: "browser_verify_element_visible", Title: "Verify an element",
	Description: "Fail unless an element of that role and name is shown",
	Set:         "testing", Effect: Reads,
	Returns: "its ref",
	Notes: "Texts and names are compared without regard to case and white space, also in frames and open shadow " +
		"roots. Each `browser_verify_…` fails with the actual state.",
	Example: `{"role": "button", "accessibleName": "Order"}`,
}, calls[verifyElementIn]{
	Do: onPage(verifyElement),
	Code: func(in verifyElementIn, d *agent.Record) export.Step {
		if !snapshot.IsARIA(in.Role) {
			return export.Step{Comment: fmt.Sprintf("The agent saw %s %q.", in.Role, in.AccessibleName)}
		}
		return code(javascript.Format("expect($.getByRole($, { name: $ }).first()).toBeVisible()", d.Scope, in.Role,
			in.AccessibleName))
	},
})

type verifyTextIn struct {
	Text string `json:"text"`
	inPage
}

var _ = define(Tool{
	Name: "browser_verify_text_visible", Title: "Verify a text", Description: "Fail unless the text is shown",
	Set: "testing", Effect: Reads,
	Example: `{"text": "Thank you"}`,
}, calls[verifyTextIn]{
	Do:   onPage(verifyText),
	Code: func(in verifyTextIn, d *agent.Record) export.Step { return code(export.ExpectText(d.Scope, in.Text)) },
})

type verifyListIn struct {
	targetIn
	Items []string `json:"items"`
	inPage
}

var _ = define(Tool{
	Name: "browser_verify_list_visible", Title: "Verify a list", Description: "Fail unless the list shows the items",
	Set: "testing", Effect: Reads,
	Example: `{"target": "list \"Basket\"", "items": ["Tea", "Coffee"]}`,
}, calls[verifyListIn]{
	Aims: verifyListIn.field,
	Do: onPage(func(ctx context.Context, c *agent.Call, p *page.Page, in verifyListIn) error {
		return c.Done(p.Reader().VerifyItems(ctx, in.Target, in.Items), "Yes.")
	}),
	Code: func(in verifyListIn, d *agent.Record) export.Step {
		var s export.Step
		for _, item := range in.Items {
			s.Code = append(s.Code, export.ExpectText(d.Elements[0], item))
		}
		return s
	},
})

type verifyValueIn struct {
	Type string `json:"type" oneof:"textbox checkbox radio combobox slider"`
	targetIn
	Value string `json:"value" about:"of a checkbox or radio: true or false"`
	inPage
}

var _ = define(Tool{
	Name: "browser_verify_value", Title: "Verify a value", Description: "Fail unless the field holds the value",
	Set: "testing", Effect: Reads,
	Example: `{"type": "textbox", "target": "textbox \"Coupon\"", "value": "TEA10"}`,
}, calls[verifyValueIn]{
	Aims: verifyValueIn.field,
	Do: onPage(func(ctx context.Context, c *agent.Call, p *page.Page, in verifyValueIn) error {
		return c.Done(p.Reader().VerifyValue(ctx, in.Target, in.Type, in.Value), "Yes.")
	}),
	Code: func(in verifyValueIn, d *agent.Record) export.Step {
		switch in.Type {
		case "checkbox", "radio":
			return code(javascript.Format("expect($).toBeChecked({ checked: $ })", d.Elements[0], in.Value == "true"))
		case "combobox":
			return code(javascript.Format("expect($.locator('option:checked')).toHaveText($)", d.Elements[0],
				d.Text(in.Value)))
		}
		return code(javascript.Format("expect($).toHaveValue($)", d.Elements[0], d.Text(in.Value)))
	},
})

type elementIn struct {
	targetIn
	inPage
}

var _ = define(Tool{
	Name: "browser_generate_locator", Title: "Generate a locator",
	Description: "A Playwright locator that finds the element alone",
	Set:         "testing", Effect: Reads,
	Example: `{"target": "button \"Order\""}`,
}, calls[elementIn]{
	Aims: elementIn.field,
	Do:   onPage(generateLocator),
})

func verifyElement(ctx context.Context, c *agent.Call, p *page.Page, in verifyElementIn) error {
	found, err := p.Reader().FindByRole(ctx, in.Role, in.AccessibleName)
	if err != nil {
		return err
	}
	c.SeenIn(found[0].Frame)
	c.Out.Quotef("Yes: %s %q [ref=%s]", in.Role, found[0].Name, found[0].Ref)
	if len(found) > 1 {
		c.Out.Addf("and %d more", len(found)-1)
	}
	return nil
}

func verifyText(ctx context.Context, c *agent.Call, p *page.Page, in verifyTextIn) error {
	frame, err := p.Reader().VerifyText(ctx, in.Text)
	c.SeenIn(frame)
	return c.Done(err, "Yes.")
}

func generateLocator(ctx context.Context, c *agent.Call, p *page.Page, in elementIn) error {
	locator, err := p.Reader().Locator(ctx, in.Target)
	if err != nil {
		return err
	}
	js := export.Writer(c.Agent.Secrets)
	c.Out.Quote(js.Source(locator))
	return nil
}

type exportIn struct {
	Filename string `json:"filename,omitempty"`
	inWindow
}

var _ = define(Tool{
	Name: "browser_export", Title: "Export a test", Description: "What you did in this session as a Playwright test",
	Set: "testing", Difference: "their answers have a line of code for each action",
	Effect:  Reads,
	Shell:   []command{{Name: "export", Args: "[filename]"}},
	Returns: "the session as a test for `@playwright/test`; above 10,000 bytes a file",
	Notes: "With this set on, a session's actions are recorded, up to 1,000.\n\n" +
		"- **Expectations** are addresses, messages of dialogs, what was waited for and verified, and up to two " +
		"texts that each action's result showed, without times, dates and identifiers.\n" +
		"- **Tabs** that no action opened are opened by their address, without the user's login.\n" +
		"- **Secrets** are read from the environment (`process.env.NAME`), as are passwords that were typed " +
		"(`TYPED_PASSWORD`, `TYPED_PASSWORD2`, …).\n" +
		"- **Files** have the paths that the agent gave: run the test in the workspace.\n" +
		"- **Comments** stand for calls that failed half-way, and for what a test cannot repeat (cookies, " +
		"storage, emulation other than the viewport).",
	Example: `{}`,
}, calls[exportIn]{Do: exportTest})

// longestTest is how many bytes of a test are returned rather than saved.
const longestTest = 10_000

func exportTest(ctx context.Context, c *agent.Call, in exportIn) error {
	source := c.Agent.Test.File(c.Agent.Secrets)
	if source == "" {
		return errors.New("there is nothing to export: this session has done nothing in a page yet that a test can " +
			"repeat")
	}
	// Every answer hides secrets, also where code looks like one: that code is in a file.
	if in.Filename == "" && (len(source) > longestTest || c.Agent.Secrets.Hide(source) != source) {
		in.Filename = agent.DatedName("session", output.Test)
	}
	file, err := c.File(ctx, in.Filename, output.Test)
	if err != nil {
		return err
	}
	if file == nil {
		c.Out.Quote(strings.TrimSuffix(source, "\n"))
		return nil
	}
	path, err := file.Save([]byte(source))
	return c.Done(err, "Saved the test to %s (%d characters).", path, utf8.RuneCountInString(source))
}
