package tools

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
)

type verifyElementIn struct {
	Role           string `json:"role" jsonschema:"as in the snapshot"`
	AccessibleName string `json:"accessibleName" jsonschema:"as in the snapshot, or a part of it"`
	inPage
}

type verifyTextIn struct {
	Text string `json:"text"`
	inPage
}

type verifyListIn struct {
	targetIn
	Items []string `json:"items"`
	inPage
}

type verifyValueIn struct {
	Type string `json:"type" jsonschema:"textbox, checkbox, radio, combobox or slider" oneof:"textbox checkbox radio combobox slider"`
	targetIn
	Value string `json:"value" jsonschema:"of a checkbox or radio: true or false"`
	inPage
}

func (s *Server) addTestingTools() {
	onPage(s, reads("browser_verify_element_visible", "Verify an element", "Fail unless an element of that role and name is shown"), verifyElement)
	onPage(s, reads("browser_verify_text_visible", "Verify a text", "Fail unless the text is shown"), verifyText)
	onPage(s, reads("browser_verify_list_visible", "Verify a list", "Fail unless the list shows the items"), verifyList)
	onPage(s, reads("browser_verify_value", "Verify a value", "Fail unless the field holds the value"), verifyValue)
	onPage(s, reads("browser_generate_locator", "Generate a locator", "A Playwright locator that finds the element alone"), generateLocator)
	add(s, saves("browser_export", "Export a test", "What you did in this session as a Playwright test"), exportTest)
}

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

func verifyList(ctx context.Context, c *agent.Call, p *page.Page, in verifyListIn) error {
	return c.Done(p.Reader().VerifyItems(ctx, in.Target, in.Items), "Yes.")
}

func verifyValue(ctx context.Context, c *agent.Call, p *page.Page, in verifyValueIn) error {
	return c.Done(p.Reader().VerifyValue(ctx, in.Target, in.Type, in.Value), "Yes.")
}

func generateLocator(ctx context.Context, c *agent.Call, p *page.Page, in elementIn) error {
	locator, err := p.Reader().Locator(ctx, in.Target)
	if err != nil {
		return err
	}
	js := export.Writer(c.Secrets)
	c.Out.Quote(js.Source(locator))
	return nil
}

type exportIn struct {
	Filename string `json:"filename,omitempty"`
	inWindow
}

// longestTest is how many bytes of a test are returned rather than saved.
const longestTest = 10_000

func exportTest(ctx context.Context, c *agent.Call, in exportIn) error {
	source := c.Test.File(c.Secrets)
	if source == "" {
		return errors.New("there is nothing to export: this session has done nothing in a page yet that a test can repeat")
	}
	// Every answer hides secrets, also where code looks like one: that code is in a file.
	if in.Filename == "" && (len(source) > longestTest || c.Secrets.Hide(source) != source) {
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
