package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/remote"
)

// Evaluate runs a script in the page's main world. It returns the script's value as JSON
// and what the script has changed. A function ("() => document.title", with a target
// "(element) => …") is called; anything else is an expression. Promises are awaited, and
// the content security policy does not apply. The value is nil if the script has not
// ended, because it has opened another document or a dialog, or stopped in a debugger.
// The change reports which.
func (p *Page) Evaluate(ctx context.Context, script, target string) (json.RawMessage, Change, error) {
	var value json.RawMessage
	change, err := p.actUntil(ctx, "running the script", p.browser.opts.CallTimeout, p.settleScript, func(ctx context.Context) error {
		var err error
		value, err = p.evaluate(ctx, script, target)
		if frame.LeftDocument(err) {
			return nil
		}
		return err
	})
	if err == nil && value == nil && !change.Navigated && !change.Loading && change.Dialog == nil && change.Paused == nil {
		err = errNoValue
	}
	return value, change, err
}

// settleScript is settle, but it does not wait for a busy page: the value is known.
func (p *Page) settleScript(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, slowCall, errPatience)
	defer cancel()
	err := p.settle(bounded, before)
	if errors.Is(err, errPatience) {
		return p.settleLoad(ctx, before)
	}
	return err
}

var errNoValue = errors.New("the script gave no value: its frame has gone, or its promise can never be kept")

func (p *Page) evaluate(ctx context.Context, script, target string) (json.RawMessage, error) {
	// A trailing semicolon is an error inside brackets; elsewhere it may be significant.
	bare := strings.TrimRight(strings.TrimSpace(script), "; \n\t")
	if bare == "" {
		return nil, fmt.Errorf("the script is empty")
	}
	if target != "" {
		return p.evaluateOn(ctx, bare, target)
	}
	expression := script
	if looksLikeFunction(bare) {
		expression = "(" + bare + "\n)()"
	}
	// This mode allows "await" outside of a function, but does not await the resulting promise.
	repl := expression == script && strings.Contains(script, "await ") && !strings.HasPrefix(script, "(async")
	value, err := p.evaluateExpression(ctx, expression, repl)
	if isBody(err) && expression == script && strings.Contains(script, "return") {
		value, err = p.evaluateExpression(ctx, "(async () => {\n"+script+"\n})()", false)
	}
	return value, err
}

func (p *Page) evaluateExpression(ctx context.Context, expression string, repl bool) (json.RawMessage, error) {
	p.input.ScriptRuns()
	var r runtime.EvaluateResult
	err := p.runScript(ctx, p.session, func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: expression, AwaitPromise: new(true),
			UserGesture: new(true), Timeout: p.scriptTime(), ReplMode: new(repl),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.scriptResult(ctx, p.session, r.Result, r.ExceptionDetails)
}

// isBody reports whether a script did not run because it is the body of a function: it
// has a return statement outside of a function.
func isBody(err error) bool {
	var thrown *ScriptError
	return errors.As(err, &thrown) && thrown.Stack == "" &&
		(thrown.Text == "SyntaxError: Illegal return statement" || strings.HasPrefix(thrown.Text, "SyntaxError: Unexpected token"))
}

// callScript calls a function that runs a script of the agent or the page.
func (p *Page) callScript(ctx context.Context, session *cdp.Session, params runtime.CallFunctionOnParams) (r runtime.CallFunctionOnResult, err error) {
	err = p.runScript(ctx, session, func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, session, runtime.CallFunctionOn, params)
		return err
	})
	return r, err
}

// evaluateOn calls the script with the element in the page's main world.
func (p *Page) evaluateOn(ctx context.Context, script, target string) (json.RawMessage, error) {
	function := script
	if !looksLikeFunction(script) {
		function = "(element) => (" + script + "\n)"
	}
	e, err := p.frames.Find(ctx, target)
	if err != nil {
		return nil, err
	}
	defer e.Release(ctx)
	own, err := e.OwnHandle(ctx)
	if err != nil {
		return nil, err
	}
	value, err := p.callOn(ctx, e.Session, own, function)
	if isBody(err) && function != script && strings.Contains(script, "return") {
		value, err = p.callOn(ctx, e.Session, own, "async (element) => {\n"+script+"\n}")
	}
	return value, err
}

// callOn calls a function with an object.
func (p *Page) callOn(ctx context.Context, session *cdp.Session, object runtime.RemoteObjectID, function string) (json.RawMessage, error) {
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
	return p.scriptResult(ctx, session, r.Result, r.ExceptionDetails)
}

// looksLikeFunction distinguishes a function from an expression.
func looksLikeFunction(script string) bool {
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

// scriptResult converts the result of a script. Values that JSON lacks become their
// JavaScript text; a script in the page serializes objects.
func (p *Page) scriptResult(ctx context.Context, session *cdp.Session, o *runtime.RemoteObject, thrown *runtime.ExceptionDetails) (json.RawMessage, error) {
	if thrown != nil {
		return nil, thrownError(thrown)
	}
	switch {
	case o == nil, o.Type == runtime.RemoteObjectTypeUndefined:
		return json.RawMessage("null"), nil
	case o.UnserializableValue != "":
		return json.Marshal(string(o.UnserializableValue))
	case o.Type != runtime.RemoteObjectTypeObject && len(o.Value) == 0:
		return json.Marshal(o.Description)
	case o.ObjectID == "":
		return unescape(o.Value), nil
	}
	defer func() {
		_, _ = session.Start(context.WithoutCancel(ctx), runtime.CommandReleaseObject, runtime.ReleaseObjectParams{ObjectID: o.ObjectID})
	}()
	r, err := p.callScript(ctx, session, runtime.CallFunctionOnParams{
		FunctionDeclaration: extra("tell"), ObjectID: o.ObjectID, ReturnByValue: new(true),
	})
	if err != nil {
		return nil, err
	}
	if r.ExceptionDetails != nil {
		return nil, thrownError(r.ExceptionDetails)
	}
	return json.RawMessage(remote.Text(r.Result)), nil
}

func thrownError(thrown *runtime.ExceptionDetails) error {
	text, stack, _ := strings.Cut(remote.Exception(thrown), "\n")
	return &ScriptError{Text: strings.TrimPrefix(strings.TrimPrefix(text, "Uncaught "), "(in promise) "), Stack: stack}
}

// unescape decodes the characters that the browser escapes in its JSON, because escapes
// cost an agent tokens. Quotes, control characters and lone surrogates stay escaped.
func unescape(raw []byte) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		r, ok := escaped(raw[i:])
		length := 6
		if ok && utf16.IsSurrogate(r) {
			low, _ := escaped(raw[i+6:])
			r = utf16.DecodeRune(r, low)
			ok, length = r != utf8.RuneError, 12
		}
		if ok && r >= ' ' && r != '"' && r != '\\' && r != 0x7f {
			out = utf8.AppendRune(out, r)
			i += length - 1
			continue
		}
		out = append(out, raw[i], raw[i+1])
		i++
	}
	return out
}

// escaped decodes a \uXXXX at the start.
func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
