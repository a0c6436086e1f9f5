package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
)

// How a test repeats the calls of tools. These methods implement agent.Repeatable.

func code(expressions ...string) export.Step { return export.Step{Code: expressions} }

func (in navigateIn) Step(d *agent.Done) export.Step {
	switch in.Action {
	case "back":
		return code(d.Page + ".goBack()")
	case "forward":
		return code(d.Page + ".goForward()")
	case "reload":
		return code(d.Page + ".reload()")
	}
	to, err := address.Normalize(in.URL, d.URL())
	if err != nil {
		to = in.URL
	}
	return export.Step{Code: []string{d.Page + ".goto(" + export.Quote(to) + ")"}, Opens: to}
}

func (in clickIn) Step(d *agent.Done) export.Step {
	method := "click"
	if in.DoubleClick {
		method = "dblclick"
	}
	var options []string
	if in.Button != "" && in.Button != "left" {
		options = append(options, "button: "+export.Quote(in.Button))
	}
	if len(in.Modifiers) > 0 {
		modifiers := make([]string, len(in.Modifiers))
		for i, m := range in.Modifiers {
			modifiers[i] = input.KeyName(m)
		}
		options = append(options, "modifiers: "+export.List(modifiers))
	}
	return code(d.On[0] + "." + method + "(" + object(append(options, position(in.Position)...)) + ")")
}

// position is the option of an action that the mouse does at that point; nil: none.
func position(at *frame.Point) []string {
	if at == nil {
		return nil
	}
	return []string{fmt.Sprintf("position: { x: %g, y: %g }", at.X, at.Y)}
}

// object is a JavaScript object; empty for one without members.
func object(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

func (in hoverIn) Step(d *agent.Done) export.Step {
	return code(d.On[0] + ".hover(" + object(position(in.Position)) + ")")
}

func (in typeIn) Step(d *agent.Done) export.Step {
	method := "fill"
	if in.Slowly {
		method = "pressSequentially"
	}
	s := code(d.On[0] + "." + method + "(" + d.Text(in.Text) + ")")
	if d.ToEnd() {
		s.Code = slices.Insert(s.Code, 0, d.On[0]+".press('ControlOrMeta+End')")
	}
	if in.Submit {
		s.Code = append(s.Code, d.On[0]+".press('Enter')")
	}
	return s
}

func (in pressKeyIn) Step(d *agent.Done) export.Step {
	if in.Target != "" {
		return code(d.On[0] + ".press(" + export.Quote(input.KeyName(in.Key)) + ")")
	}
	return code(d.Page + ".keyboard.press(" + export.Quote(input.KeyName(in.Key)) + ")")
}

func (in selectIn) Step(d *agent.Done) export.Step {
	return code(d.On[0] + ".selectOption(" + export.List(in.Values) + ")")
}

func (in fillFormIn) Step(d *agent.Done) export.Step {
	var s export.Step
	for i, f := range in.Fields {
		does := ".fill(" + d.Text(f.Value) + ")"
		switch is := d.Element(i); is.Filled {
		case "click":
			state, _ := input.Ticked(f.Value, is.Name)
			does = fmt.Sprintf(".setChecked(%v)", state)
		case "select":
			does = ".selectOption(" + d.Text(f.Value) + ")"
			if f.Values != nil {
				does = ".selectOption(" + export.List(f.Values) + ")"
			}
		}
		s.Code = append(s.Code, d.On[i]+does)
	}
	return s
}

// Part implements agent.Partial: the fields before the one that failed are filled.
func (in fillFormIn) Part(failed error) agent.Repeatable {
	var at *input.FieldError
	if !errors.As(failed, &at) {
		return fillFormIn{}
	}
	return fillFormIn{Fields: in.Fields[:len(at.Filled)]}
}

func (in dragIn) Step(d *agent.Done) export.Step { return code(d.On[0] + ".dragTo(" + d.On[1] + ")") }

func (in uploadIn) Step(d *agent.Done) export.Step {
	switch {
	case in.Target == "":
		return export.Step{Files: append([]string{}, in.Paths...)}
	case d.Clicked():
		return export.Step{Code: []string{d.On[0] + ".click()"}, Files: in.Paths}
	}
	return code(d.On[0] + ".setInputFiles(" + export.List(in.Paths) + ")")
}

func (in dropIn) Step(d *agent.Done) export.Step {
	var payload []string
	if len(in.Paths) > 0 {
		payload = append(payload, "files: "+export.List(in.Paths))
	}
	if len(in.Data) > 0 {
		var data []string
		for kind, text := range in.Data {
			data = append(data, export.Quote(kind)+": "+export.Quote(text))
		}
		payload = append(payload, "data: "+object(data))
	}
	return code(d.On[0] + ".drop(" + object(payload) + ")")
}

func (in dialogIn) Step(d *agent.Done) export.Step {
	answer := &export.Answer{Accept: in.Accept, Message: d.Message()}
	if in.PromptText != nil {
		answer.Text = d.Text(*in.PromptText)
	}
	return export.Step{Answer: answer}
}

func (in waitIn) Step(d *agent.Done) export.Step {
	limit := longestWait.Milliseconds()
	if in.Time > 0 {
		limit = int64(in.Time * 1000)
	}
	timeout := fmt.Sprintf("{ timeout: %d }", limit)
	var s export.Step
	if in.Target != "" {
		return export.Step{Comment: "A wait for an element is not part of the test."}
	}
	if strings.Contains(in.URL, "*") {
		s.Code = append(s.Code, d.Page+".waitForURL("+export.Quote(in.URL)+", "+timeout+")")
	} else if in.URL != "" {
		s.Code = append(s.Code, export.ExpectPartOfURL(d.Page, in.URL, timeout))
	}
	if in.Text != "" {
		s.Code = append(s.Code, export.ExpectText(d.Scope, in.Text, timeout))
	}
	if in.TextGone != "" {
		s.Code = append(s.Code, export.ExpectNoText(d.Scope, in.TextGone, timeout))
	}
	if in.Expression != "" {
		s.Code = append(s.Code, d.Page+".waitForFunction("+export.Quote(called(in.Expression, "("+in.Expression+"\n)"))+", undefined, "+timeout+")")
	}
	if in.NetworkIdle {
		s.Code = append(s.Code, d.Page+".waitForLoadState('networkidle')")
	}
	if s.Code == nil {
		return code(fmt.Sprintf("%s.waitForTimeout(%d)", d.Page, limit))
	}
	return s
}

// called is a script that calls a function, or the other one if the script is none.
func called(script, otherwise string) string {
	if bare := strings.TrimRight(strings.TrimSpace(script), "; \n\t"); page.LooksLikeFunction(bare) {
		return "(" + bare + ")()"
	}
	return otherwise
}

func (in evaluateIn) Step(d *agent.Done) export.Step {
	if in.Target == "" {
		return code(d.Page + ".evaluate(" + export.Quote(called(in.Function, "(async () => {\n"+in.Function+"\n})()")) + ")")
	}
	script := "async (element) => {\n" + in.Function + "\n}"
	if page.LooksLikeFunction(in.Function) {
		script = in.Function
	}
	return code(d.On[0] + ".evaluate((element, script) => (0, eval)(script)(element), " + export.Quote("("+script+")") + ")")
}

// Step opens nothing: a tab is opened when the first call works in it.
func (in tabsIn) Step(*agent.Done) export.Step {
	if in.Action == "close" {
		return export.Step{Comment: "The agent closed a tab here."}
	}
	return export.Step{}
}

func (in routeIn) Step(d *agent.Done) export.Step {
	headers, _ := in.headers()
	var list, members []string
	for _, h := range headers {
		list = append(list, export.Quote(strings.ToLower(h.Name))+": "+d.Text(h.Value))
	}
	does := ""
	switch {
	case in.Abort != "":
		does = "abort(" + export.Quote(strings.ToLower(in.Abort)) + ")"
	case in.Status != 0 || in.Body != nil || in.ContentType != "":
		if in.Status != 0 {
			members = append(members, fmt.Sprint("status: ", in.Status))
		}
		if in.ContentType != "" {
			members = append(members, "contentType: "+export.Quote(in.ContentType))
		}
		if list != nil {
			members = append(members, "headers: "+object(list))
		}
		if in.Body != nil {
			members = append(members, "body: "+export.Quote(*in.Body))
		}
		does = "fulfill(" + object(members) + ")"
	default:
		for _, name := range in.removed() {
			list = append(list, export.Quote(strings.ToLower(name))+": undefined")
		}
		does = "continue(" + object([]string{"headers: " + object(append([]string{"...route.request().headers()"}, list...))}) + ")"
	}
	times := ""
	if in.Times > 0 {
		times = fmt.Sprintf(", { times: %d }", in.Times)
	}
	return code(d.Page + ".context().route(" + routed(in.Pattern) + ", (route) => route." + does + times + ")")
}

// routed is a pattern of a route, in Playwright's syntax.
func routed(pattern string) string {
	if strings.HasPrefix(pattern, "/") { // of any host
		pattern = "*://*" + pattern
	}
	return export.Quote(pattern)
}

func (in unrouteIn) Step(d *agent.Done) export.Step {
	if in.Pattern == "" {
		return code(d.Page + ".context().unrouteAll()")
	}
	return code(d.Page + ".context().unroute(" + routed(in.Pattern) + ")")
}

func (in networkStateIn) Step(d *agent.Done) export.Step {
	return code(fmt.Sprintf("%s.context().setOffline(%v)", d.Page, in.State == "offline"))
}

func (in emulateIn) Step(d *agent.Done) export.Step {
	if size, err := parseViewport(in.Viewport); err == nil {
		return code(fmt.Sprintf("%s.setViewportSize({ width: %d, height: %d })", d.Page, size.Width, size.Height))
	}
	return export.Step{Comment: "browser_emulate is not part of the test."}
}

// Step is empty: a test needs no pictures.
func (in screenshotIn) Step(*agent.Done) export.Step { return export.Step{} }

func (in verifyElementIn) Step(d *agent.Done) export.Step {
	if !snapshot.IsARIA(in.Role) {
		return export.Step{Comment: fmt.Sprintf("The agent saw %s %q.", in.Role, in.AccessibleName)}
	}
	return code(fmt.Sprintf("expect(%s.getByRole(%s, { name: %s }).first()).toBeVisible()", d.Scope, export.Quote(in.Role), export.Quote(in.AccessibleName)))
}

func (in verifyTextIn) Step(d *agent.Done) export.Step {
	return code(export.ExpectText(d.Scope, in.Text, ""))
}

func (in verifyListIn) Step(d *agent.Done) export.Step {
	var s export.Step
	for _, item := range in.Items {
		s.Code = append(s.Code, export.ExpectText(d.On[0], item, ""))
	}
	return s
}

func (in verifyValueIn) Step(d *agent.Done) export.Step {
	switch in.Type {
	case "checkbox", "radio":
		return code("expect(" + d.On[0] + ").toBeChecked({ checked: " + in.Value + " })")
	case "combobox":
		return code("expect(" + d.On[0] + ".locator('option:checked')).toHaveText(" + d.Text(in.Value) + ")")
	}
	return code("expect(" + d.On[0] + ").toHaveValue(" + d.Text(in.Value) + ")")
}

func (in pointIn) Step(d *agent.Done) export.Step {
	return code(fmt.Sprintf("%s.mouse.move(%g, %g)", d.Page, in.X, in.Y))
}

func (in clickPointIn) Step(d *agent.Done) export.Step {
	var options []string
	if in.Button != "" {
		options = append(options, "button: "+export.Quote(in.Button))
	}
	if in.ClickCount > 1 {
		options = append(options, fmt.Sprintf("clickCount: %d", in.ClickCount))
	}
	if in.Delay > 0 {
		options = append(options, fmt.Sprintf("delay: %g", in.Delay))
	}
	at := fmt.Sprintf("%g, %g", in.X, in.Y)
	if len(options) > 0 {
		at += ", " + object(options)
	}
	return code(d.Page + ".mouse.click(" + at + ")")
}

func (in dragPointIn) Step(d *agent.Done) export.Step {
	mouse := d.Page + ".mouse."
	return code(fmt.Sprintf("%smove(%g, %g)", mouse, in.StartX, in.StartY), mouse+"down()", fmt.Sprintf("%smove(%g, %g, { steps: 5 })", mouse, in.EndX, in.EndY), mouse+"up()")
}

func (in wheelIn) Step(d *agent.Done) export.Step {
	return code(fmt.Sprintf("%s.mouse.wheel(%g, %g)", d.Page, in.DeltaX, in.DeltaY))
}
