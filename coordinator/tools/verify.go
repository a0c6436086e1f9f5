package tools

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/snapshot"
)

type verifyElementIn struct {
	Role           string `json:"role" jsonschema:"as in the snapshot"`
	AccessibleName string `json:"accessibleName" jsonschema:"as in the snapshot, or a part of it"`
	inWindow
}

type verifyTextIn struct {
	Text string `json:"text"`
	inWindow
}

type verifyListIn struct {
	Element string   `json:"element,omitempty"`
	Target  string   `json:"target" jsonschema:"ref or CSS selector of the list"`
	Items   []string `json:"items"`
	inWindow
}

type verifyValueIn struct {
	Type    string `json:"type" jsonschema:"textbox, checkbox, radio, combobox or slider"`
	Element string `json:"element,omitempty"`
	Target  string `json:"target" jsonschema:"ref or CSS selector"`
	Value   string `json:"value" jsonschema:"of a checkbox or radio: true or false"`
	inWindow
}

type locatorIn struct {
	Element string `json:"element,omitempty"`
	Target  string `json:"target" jsonschema:"ref or CSS selector"`
	inWindow
}

func (s *Server) addTestingTools() {
	add(s, &mcp.Tool{
		Name:        "browser_verify_element_visible",
		Description: "Fail unless an element of that role and name is shown",
		Annotations: reads("Verify an element"),
	}, verifyElement)
	add(s, &mcp.Tool{
		Name:        "browser_verify_text_visible",
		Description: "Fail unless the text is shown",
		Annotations: reads("Verify a text"),
	}, verifyText)
	add(s, &mcp.Tool{
		Name:        "browser_verify_list_visible",
		Description: "Fail unless the list shows the items",
		Annotations: reads("Verify a list"),
	}, verifyList)
	add(s, &mcp.Tool{
		Name:        "browser_verify_value",
		Description: "Fail unless the field holds the value",
		Annotations: reads("Verify a value"),
	}, verifyValue)
	add(s, &mcp.Tool{
		Name:        "browser_generate_locator",
		Description: "A Playwright locator that finds the element alone",
		Annotations: reads("Generate a locator"),
	}, generateLocator)
}

func verifyElement(ctx context.Context, a *agent, in verifyElementIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	found, err := p.Reader().FindByRole(ctx, in.Role, in.AccessibleName)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &snapshot.VerifyError{Reason: fmt.Sprintf("no %s %q is shown", in.Role, in.AccessibleName)}
	}
	out := a.begin()
	out.quotef("Yes: %s %q [ref=%s]", in.Role, found[0].Name, found[0].Ref)
	if len(found) > 1 {
		out.addf("and %d more", len(found)-1)
	}
	return out, nil
}

func verifyText(ctx context.Context, a *agent, in verifyTextIn) (*answer, error) {
	return a.verified(ctx, in.Window, func(p *page.Page) error { return p.Reader().VerifyText(ctx, in.Text) })
}

func verifyList(ctx context.Context, a *agent, in verifyListIn) (*answer, error) {
	return a.verified(ctx, in.Window, func(p *page.Page) error { return p.Reader().VerifyItems(ctx, in.Target, in.Items) })
}

func verifyValue(ctx context.Context, a *agent, in verifyValueIn) (*answer, error) {
	if err := oneOf("type", in.Type, "textbox", "checkbox", "radio", "combobox", "slider"); err != nil {
		return nil, err
	}
	return a.verified(ctx, in.Window, func(p *page.Page) error { return p.Reader().VerifyValue(ctx, in.Target, in.Type, in.Value) })
}

func (a *agent) verified(ctx context.Context, window string, verify func(*page.Page) error) (*answer, error) {
	p, err := a.page(ctx, window)
	if err != nil {
		return nil, err
	}
	if err := verify(p); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Yes.")
	return out, nil
}

func generateLocator(ctx context.Context, a *agent, in locatorIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	locator, err := p.Reader().Locator(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.quote(locator)
	return out, nil
}
