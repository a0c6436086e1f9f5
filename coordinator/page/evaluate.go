package page

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json/jsontext"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/remote"
)

//go:embed json.js
var jsonFunction string

// Bounds are where an agent's script may run; zero: anywhere.
type Bounds struct {
	// Place is a [Page.Place]: the script does nothing in a document elsewhere. The browser may keep a
	// script back until a navigation that is under way has another document.
	Place string
	// Confirm may refuse the element that the script gets; nil: it refuses none.
	Confirm func(input.Element) error
}

func (p *Page) evaluate(ctx context.Context, script, target string, b Bounds) (json.RawMessage, error) {
	// A trailing semicolon is an error inside brackets; elsewhere it may be significant.
	bare := strings.TrimRight(strings.TrimSpace(script), "; \n\t")
	if bare == "" {
		return nil, fmt.Errorf("the script is empty")
	}
	if target != "" {
		return p.evaluateOn(ctx, bare, target, b.Confirm)
	}
	within := frame.OnlyAt(b.Place)
	expression := script
	if LooksLikeFunction(bare) {
		expression = "(" + bare + "\n)()"
	}
	// This mode allows "await" outside of a function, but does not await the resulting promise.
	repl := expression == script && strings.Contains(script, "await ") && !strings.HasPrefix(script, "(async")
	value, err := p.expression(ctx, within+expression, repl)
	if isBody(err) && expression == script && strings.Contains(script, "return") {
		value, err = p.expression(ctx, within+"(async () => {\n"+script+"\n})()", false)
	}
	return value, err
}

func (p *Page) expression(ctx context.Context, expression string, repl bool) (json.RawMessage, error) {
	if err := p.observer.Recording(); err != nil {
		return nil, err
	}
	p.input.ScriptRuns()
	var r runtime.EvaluateResult
	err := p.runScript(ctx, p.session, p.timeLeft(ctx), func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: expression, AwaitPromise: new(true),
			UserGesture: new(true), ReplMode: new(repl),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.valueOf(ctx, p.session, r.Result, r.ExceptionDetails)
}

// isBody reports whether a script did not run because it is the body of a function: it
// has a return statement outside of a function.
func isBody(err error) bool {
	var thrown *ScriptError
	return errors.As(err, &thrown) && thrown.Stack == "" &&
		(thrown.Text == "SyntaxError: Illegal return statement" ||
			strings.HasPrefix(thrown.Text, "SyntaxError: Unexpected token"))
}

// callScript calls a function that runs a script of the agent or the page.
func (p *Page) callScript(
	ctx context.Context, session *cdp.Session, params runtime.CallFunctionOnParams,
) (r runtime.CallFunctionOnResult, err error) {
	if err := p.observer.Recording(); err != nil {
		return r, err
	}
	err = p.runScript(ctx, session, p.timeLeft(ctx), func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, session, runtime.CallFunctionOn, params)
		return err
	})
	return r, err
}

// evaluateOn calls the script with the element in the page's main world.
func (p *Page) evaluateOn(
	ctx context.Context, script, target string, confirm func(input.Element) error,
) (json.RawMessage, error) {
	function := script
	if !LooksLikeFunction(script) {
		function = "(element) => (" + script + "\n)"
	}
	e, err := p.frames.Find(ctx, target)
	if err != nil {
		return nil, err
	}
	defer e.Release(ctx)
	if confirm != nil {
		if err := confirm(input.Element{Target: target, Frame: e.Frame}); err != nil {
			return nil, err
		}
	}
	handle, err := e.OwnHandle(ctx)
	if err != nil {
		return nil, err
	}
	value, err := p.callOn(ctx, e.Session, handle, function)
	if isBody(err) && function != script && strings.Contains(script, "return") {
		value, err = p.callOn(ctx, e.Session, handle, "async (element) => {\n"+script+"\n}")
	}
	return value, err
}

// callOn calls a function with an object.
func (p *Page) callOn(
	ctx context.Context, session *cdp.Session, object runtime.RemoteObjectID, function string,
) (json.RawMessage, error) {
	p.input.ScriptRuns()
	r, err := p.callScript(ctx, session, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function(element) { return (" + function + "\n)(element) }",
		ObjectID:            object,
		Arguments:           []*runtime.CallArgument{{ObjectID: object}},
		AwaitPromise:        new(true), UserGesture: new(true),
	})
	if err != nil {
		return nil, err
	}
	return p.valueOf(ctx, session, r.Result, r.ExceptionDetails)
}

// LooksLikeFunction distinguishes a function from an expression, as Evaluate does.
func LooksLikeFunction(script string) bool {
	s := strings.TrimSpace(strings.TrimPrefix(script, "async"))
	if strings.HasPrefix(s, "function") && !strings.HasSuffix(s, ")") {
		return true
	}
	parameters, _, arrow := strings.Cut(s, "=>")
	if !arrow {
		return false
	}
	parameters = strings.TrimSpace(parameters)
	if strings.HasPrefix(parameters, "(") {
		// "(a, {b}) =>": the bracket that opens the script closes before the arrow.
		depth := 0
		for i, c := range parameters {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				return i == len(parameters)-1
			}
		}
		return false
	}
	return !strings.ContainsAny(parameters, " .,()[]{}=;'\"`+-*/")
}

// Undefined is the value of a script that returns undefined, which is not JSON.
var Undefined = json.RawMessage("undefined")

// valueOf converts the result of a script. Values that JSON lacks become their
// JavaScript text; a script in the page serializes objects.
func (p *Page) valueOf(
	ctx context.Context, session *cdp.Session, o *runtime.RemoteObject, exception *runtime.ExceptionDetails,
) (json.RawMessage, error) {
	if exception != nil {
		return nil, thrownError(exception)
	}
	switch {
	case o == nil, o.Type == runtime.RemoteObjectTypeUndefined:
		return Undefined, nil
	case o.UnserializableValue != "":
		return json.Marshal(string(o.UnserializableValue))
	case o.Type != runtime.RemoteObjectTypeObject && len(o.Value) == 0:
		return json.Marshal(o.Description)
	case o.ObjectID == "":
		return plain(o.Value), nil
	}
	defer frame.Release(ctx, session, o.ObjectID)
	r, err := p.callScript(ctx, session, runtime.CallFunctionOnParams{
		FunctionDeclaration: jsonFunction, ObjectID: o.ObjectID, ReturnByValue: new(true),
	})
	if err != nil {
		return nil, err
	}
	if text := remote.Text(r.Result); r.ExceptionDetails == nil && json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	// The page has replaced what the function needs: the browser writes what JSON has words for.
	r, err = p.callScript(ctx, session, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function () { return this }", ObjectID: o.ObjectID, ReturnByValue: new(true),
	})
	switch {
	case errors.As(err, new(*cdp.Error)), err == nil && r.ExceptionDetails != nil: // a cycle
		return json.Marshal(o.Description)
	case err != nil:
		return nil, err
	}
	return plain(r.Result.Value), nil
}

func thrownError(exception *runtime.ExceptionDetails) error {
	text, stack, _ := strings.Cut(remote.Thrown(exception), "\n")
	return &ScriptError{Text: text, Stack: stack}
}

// plain decodes the characters that the browser escapes in its JSON, because escapes
// cost an agent tokens. A value with a lone surrogate stays as it is.
func plain(value jsontext.Value) json.RawMessage {
	formatted := value.Clone()
	err := formatted.Format(
		jsontext.PreserveRawStrings(false), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(false),
	)
	if err != nil {
		return json.RawMessage(value)
	}
	return json.RawMessage(formatted)
}
