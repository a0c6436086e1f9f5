package tools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
)

// How a test repeats the calls of tools. These methods implement agent.Repeatable.

func code(expressions ...javascript.Expression) export.Step { return export.Step{Code: expressions} }

func (in navigateIn) Step(d *agent.Done) export.Step {
	switch in.Action {
	case "back":
		return code(javascript.Of("$.goBack()", d.Page))
	case "forward":
		return code(javascript.Of("$.goForward()", d.Page))
	case "reload":
		return code(javascript.Of("$.reload()", d.Page))
	}
	to, err := address.Normalize(in.URL, d.URL())
	if err != nil {
		to = in.URL
	}
	return export.Step{Code: []javascript.Expression{javascript.Of("$.goto($)", d.Page, to)}, Opens: to}
}

func (in clickIn) Step(d *agent.Done) export.Step {
	var options []javascript.Expression
	if in.Button != "" && in.Button != "left" {
		options = append(options, javascript.Of("button: $", in.Button))
	}
	if len(in.Modifiers) > 0 {
		modifiers := make([]string, len(in.Modifiers))
		for i, m := range in.Modifiers {
			modifiers[i] = input.KeyName(m)
		}
		options = append(options, javascript.Of("modifiers: $", modifiers))
	}
	with := object(append(options, position(in.Position)...))
	if in.DoubleClick {
		return code(javascript.Of("$.dblclick($)", d.On[0], with))
	}
	return code(javascript.Of("$.click($)", d.On[0], with))
}

// position is the option of an action that the mouse does at that point; nil: none.
func position(at *frame.Point) []javascript.Expression {
	if at == nil {
		return nil
	}
	return []javascript.Expression{javascript.Of("position: { x: $, y: $ }", at.X, at.Y)}
}

// object is a JavaScript object; zero for one without members.
func object(members []javascript.Expression) javascript.Expression {
	if len(members) == 0 {
		return javascript.Expression{}
	}
	return javascript.Of("{ $ }", members)
}

// member is a member of an object, whose name is lower case, as those of headers.
func member(name string, value any) javascript.Expression {
	return javascript.Of("$: $", javascript.Key(strings.ToLower(name)), value)
}

func (in hoverIn) Step(d *agent.Done) export.Step {
	var s export.Step
	if in.Target != "" {
		s.Code = append(s.Code, javascript.Of("$.hover($)", d.On[0], object(position(in.Position))))
	} else {
		s.Code = append(s.Code, javascript.Of("$.mouse.move($, $)", d.Page, in.Position.X, in.Position.Y))
	}
	if in.turns() {
		s.Code = append(s.Code, javascript.Of("$.mouse.wheel($, $)", d.Page, in.DeltaX, in.DeltaY))
	}
	return s
}

func (in typeIn) Step(d *agent.Done) export.Step {
	if in.Target == "" {
		return in.stepAtFocus(d)
	}
	var s export.Step
	if d.ToEnd() {
		s.Code = append(s.Code, javascript.Of("$.press('ControlOrMeta+End')", d.On[0]))
	}
	if in.Slowly {
		s.Code = append(s.Code, javascript.Of("$.pressSequentially($)", d.On[0], d.Typed(0, in.Text)))
	} else {
		s.Code = append(s.Code, javascript.Of("$.fill($)", d.On[0], d.Typed(0, in.Text)))
	}
	if in.Submit {
		s.Code = append(s.Code, javascript.Of("$.press('Enter')", d.On[0]))
	}
	return s
}

func (in typeIn) stepAtFocus(d *agent.Done) (s export.Step) {
	s.Code = append(s.Code, javascript.Of("$.keyboard.insertText($)", d.Page, d.Typed(0, in.Text)))
	if in.Slowly {
		s.Code[0] = javascript.Of("$.keyboard.type($)", d.Page, d.Typed(0, in.Text))
	}
	if in.Submit {
		s.Code = append(s.Code, javascript.Of("$.keyboard.press('Enter')", d.Page))
	}
	return s
}

func (in pressKeyIn) Step(d *agent.Done) export.Step {
	var key any = input.KeyName(in.Key)
	if typed := input.Character(in.Key); d.Element(0).Password && typed != "" {
		key = d.Typed(0, typed)
	}
	if in.Target != "" {
		return code(javascript.Of("$.press($)", d.On[0], key))
	}
	return code(javascript.Of("$.keyboard.press($)", d.Page, key))
}

func (in selectIn) Step(d *agent.Done) export.Step {
	return code(javascript.Of("$.selectOption($)", d.On[0], in.Values))
}

func (in fillFormIn) Step(d *agent.Done) export.Step {
	var s export.Step
	for i, f := range in.Fields {
		var does javascript.Expression
		switch is := d.Element(i); {
		case is.Filled == "click":
			state, _ := input.Ticked(f.Value, is.Name)
			does = javascript.Of("$.setChecked($)", d.On[i], state)
		case is.Filled == "select" && f.Values != nil:
			does = javascript.Of("$.selectOption($)", d.On[i], f.Values)
		case is.Filled == "select":
			does = javascript.Of("$.selectOption($)", d.On[i], d.Text(f.Value))
		default:
			does = javascript.Of("$.fill($)", d.On[i], d.Typed(i, f.Value))
		}
		s.Code = append(s.Code, does)
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

func (in dragIn) Step(d *agent.Done) export.Step {
	if in.Offset != nil {
		return export.Step{Comment: "browser_drag by an offset is not part of the test."}
	}
	var options []javascript.Expression
	if at := in.StartPosition; at != nil {
		options = append(options, javascript.Of("sourcePosition: { x: $, y: $ }", at.X, at.Y))
	}
	if at := in.EndPosition; at != nil {
		options = append(options, javascript.Of("targetPosition: { x: $, y: $ }", at.X, at.Y))
	}
	if len(options) > 0 {
		return code(javascript.Of("$.dragTo($, $)", d.On[0], d.On[1], object(options)))
	}
	return code(javascript.Of("$.dragTo($)", d.On[0], d.On[1]))
}

func (in uploadIn) Step(d *agent.Done) export.Step {
	switch {
	case in.Target == "":
		return export.Step{Files: append([]string{}, in.Paths...)}
	case d.Clicked():
		return export.Step{Code: []javascript.Expression{javascript.Of("$.click()", d.On[0])}, Files: in.Paths}
	}
	return code(javascript.Of("$.setInputFiles($)", d.On[0], in.Paths))
}

func (in dropIn) Step(d *agent.Done) export.Step {
	var payload []javascript.Expression
	if len(in.Paths) > 0 {
		payload = append(payload, javascript.Of("files: $", in.Paths))
	}
	if len(in.Data) > 0 {
		var data []javascript.Expression
		for _, kind := range slices.Sorted(maps.Keys(in.Data)) {
			data = append(data, javascript.Of("$: $", javascript.Key(kind), in.Data[kind]))
		}
		payload = append(payload, javascript.Of("data: $", object(data)))
	}
	return code(javascript.Of("$.drop($)", d.On[0], object(payload)))
}

func (in dialogIn) Step(d *agent.Done) export.Step {
	answer := &export.Answer{Accept: in.Accept, Message: d.Message()}
	if in.PromptText != nil {
		answer.Text = javascript.Of("$", d.Text(*in.PromptText))
	}
	return export.Step{Answer: answer}
}

func (in waitIn) Step(d *agent.Done) export.Step {
	limit := longestWait.Milliseconds()
	if in.Time > 0 {
		limit = int64(in.Time * 1000)
	}
	timeout := javascript.Of("{ timeout: $ }", limit)
	var s export.Step
	if in.Target != "" {
		return export.Step{Comment: "A wait for an element is not part of the test."}
	}
	if strings.Contains(in.URL, "*") {
		s.Code = append(s.Code, javascript.Of("$.waitForURL($, $)", d.Page, in.URL, timeout))
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
		s.Code = append(s.Code, javascript.Of("$.waitForFunction($, undefined, $)", d.Page, called(in.Expression, "("+in.Expression+"\n)"), timeout))
	}
	if in.NetworkIdle {
		s.Code = append(s.Code, javascript.Of("$.waitForLoadState('networkidle')", d.Page))
	}
	if s.Code == nil {
		return code(javascript.Of("$.waitForTimeout($)", d.Page, limit))
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
		return code(javascript.Of("$.evaluate($)", d.Page, called(in.Function, "(async () => {\n"+in.Function+"\n})()")))
	}
	script := "async (element) => {\n" + in.Function + "\n}"
	if page.LooksLikeFunction(in.Function) {
		script = in.Function
	}
	return code(javascript.Of("$.evaluate((element, script) => (0, eval)(script)(element), $)", d.On[0], "("+script+")"))
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
	var list, members []javascript.Expression
	for _, h := range headers {
		list = append(list, member(h.Name, d.Text(h.Value)))
	}
	var does javascript.Expression
	switch {
	case in.Abort != "":
		does = javascript.Of("abort($)", strings.ToLower(in.Abort))
	case in.Status != 0 || in.Body != nil || in.ContentType != "":
		if in.Status != 0 {
			members = append(members, javascript.Of("status: $", in.Status))
		}
		if in.ContentType != "" {
			members = append(members, javascript.Of("contentType: $", in.ContentType))
		}
		if list != nil {
			members = append(members, javascript.Of("headers: $", object(list)))
		}
		if in.Body != nil {
			members = append(members, javascript.Of("body: $", *in.Body))
		}
		does = javascript.Of("fulfill($)", object(members))
	default:
		for _, name := range in.removed() {
			list = append(list, member(name, javascript.Of("undefined")))
		}
		list = slices.Insert(list, 0, javascript.Of("...route.request().headers()"))
		does = javascript.Of("continue({ headers: { $ } })", list)
	}
	arguments := []javascript.Expression{javascript.Of("$, (route) => route.$", routed(in.Pattern), does)}
	if in.Times > 0 {
		arguments = append(arguments, javascript.Of("{ times: $ }", in.Times))
	}
	return code(javascript.Of("$.context().route($)", d.Page, arguments))
}

// routed is a pattern of a route, in Playwright's syntax.
func routed(pattern string) string {
	if strings.HasPrefix(pattern, "/") { // of any host
		pattern = "*://*" + pattern
	}
	return pattern
}

func (in unrouteIn) Step(d *agent.Done) export.Step {
	if in.Pattern == "" {
		return code(javascript.Of("$.context().unrouteAll()", d.Page))
	}
	return code(javascript.Of("$.context().unroute($)", d.Page, routed(in.Pattern)))
}

func (in networkStateIn) Step(d *agent.Done) export.Step {
	return code(javascript.Of("$.context().setOffline($)", d.Page, in.State == "offline"))
}

func (in emulateIn) Step(d *agent.Done) export.Step {
	if size, err := parseViewport(in.Viewport); err == nil {
		return code(javascript.Of("$.setViewportSize({ width: $, height: $ })", d.Page, size.Width, size.Height))
	}
	return export.Step{Comment: "browser_emulate is not part of the test."}
}

// Step is empty: a test needs no pictures.
func (in screenshotIn) Step(*agent.Done) export.Step { return export.Step{} }

func (in verifyElementIn) Step(d *agent.Done) export.Step {
	if !snapshot.IsARIA(in.Role) {
		return export.Step{Comment: fmt.Sprintf("The agent saw %s %q.", in.Role, in.AccessibleName)}
	}
	return code(javascript.Of("expect($.getByRole($, { name: $ }).first()).toBeVisible()", d.Scope, in.Role, in.AccessibleName))
}

func (in verifyTextIn) Step(d *agent.Done) export.Step {
	return code(export.ExpectText(d.Scope, in.Text))
}

func (in verifyListIn) Step(d *agent.Done) export.Step {
	var s export.Step
	for _, item := range in.Items {
		s.Code = append(s.Code, export.ExpectText(d.On[0], item))
	}
	return s
}

func (in verifyValueIn) Step(d *agent.Done) export.Step {
	switch in.Type {
	case "checkbox", "radio":
		return code(javascript.Of("expect($).toBeChecked({ checked: $ })", d.On[0], in.Value == "true"))
	case "combobox":
		return code(javascript.Of("expect($.locator('option:checked')).toHaveText($)", d.On[0], d.Text(in.Value)))
	}
	return code(javascript.Of("expect($).toHaveValue($)", d.On[0], d.Text(in.Value)))
}

func (in pointIn) Step(d *agent.Done) export.Step {
	return code(javascript.Of("$.mouse.move($, $)", d.Page, in.X, in.Y))
}

func (in clickPointIn) Step(d *agent.Done) export.Step {
	var options []javascript.Expression
	if in.Button != "" {
		options = append(options, javascript.Of("button: $", in.Button))
	}
	if in.ClickCount > 1 {
		options = append(options, javascript.Of("clickCount: $", in.ClickCount))
	}
	if in.Delay > 0 {
		options = append(options, javascript.Of("delay: $", in.Delay))
	}
	arguments := []javascript.Expression{javascript.Of("$, $", in.X, in.Y)}
	if len(options) > 0 {
		arguments = append(arguments, object(options))
	}
	return code(javascript.Of("$.mouse.click($)", d.Page, arguments))
}

func (in dragPointIn) Step(d *agent.Done) export.Step {
	mouse := javascript.Of("$.mouse", d.Page)
	return code(
		javascript.Of("$.move($, $)", mouse, in.StartX, in.StartY), javascript.Of("$.down()", mouse),
		javascript.Of("$.move($, $, { steps: 5 })", mouse, in.EndX, in.EndY), javascript.Of("$.up()", mouse),
	)
}

func (in wheelIn) Step(d *agent.Done) export.Step {
	return code(javascript.Of("$.mouse.wheel($, $)", d.Page, in.DeltaX, in.DeltaY))
}
