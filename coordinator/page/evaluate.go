package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
)

// Evaluate runs a script in the page's own world and returns its value as JSON:
// a function ("() => document.title", with a target "(element) => …") is called,
// anything else is an expression. Promises are awaited. The content security
// policy does not matter.
func (p *Page) Evaluate(ctx context.Context, script, target string) (json.RawMessage, error) {
	const doing = "running the script"
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err != nil {
		return nil, err
	}
	defer end()
	var sent bool
	value, err := p.evaluate(ctx, script, target, &sent)
	if err != nil {
		if err = p.explain(err, doing); !sent {
			err = &unsentError{err}
		}
		return nil, err
	}
	return value, nil
}

func (p *Page) evaluate(ctx context.Context, script, target string, sent *bool) (json.RawMessage, error) {
	script = strings.TrimRight(strings.TrimSpace(script), "; \n\t")
	if script == "" {
		return nil, fmt.Errorf("the script is empty")
	}
	if target != "" {
		return p.evaluateOn(ctx, script, target, sent)
	}
	expression := script
	if looksLikeFunction(script) {
		expression = "(" + script + "\n)()"
	}
	*sent = true
	began := time.Now()
	r, err := protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, AwaitPromise: new(true), ReturnByValue: new(true),
		UserGesture: new(true), Timeout: p.scriptTime(),
		// For "await" outside of a function; promises that it yields are not awaited.
		ReplMode: new(expression == script && strings.Contains(script, "await ") && !strings.HasPrefix(script, "(async")),
	})
	if err != nil {
		return nil, p.stopped(err, time.Since(began))
	}
	return scriptResult(r.Result, r.ExceptionDetails)
}

// scriptTime is how long a script may compute, in the browser's milliseconds:
// less than the call's time, so that an endless one is stopped and the page
// lives on. Time that it waits for promises does not count.
func (p *Page) scriptTime() runtime.TimeDelta {
	return runtime.TimeDelta((p.browser.opts.CallTimeout * 4 / 5).Milliseconds())
}

// stopped recognises a script that was stopped, for which the browser has several
// words.
func (p *Page) stopped(err error, took time.Duration) error {
	limit := time.Duration(p.scriptTime()) * time.Millisecond
	if refused(err) && took >= limit {
		return &TimeoutError{Doing: "running the script", After: humanDuration(limit), Hint: "it came to no end and was stopped; the page lives on", over: true}
	}
	return err
}

// evaluateOn calls the script with the element in the page's own world.
func (p *Page) evaluateOn(ctx context.Context, script, target string, sent *bool) (json.RawMessage, error) {
	if !looksLikeFunction(script) {
		script = "(element) => (" + script + "\n)"
	}
	e, err := p.find(ctx, target)
	if err != nil {
		return nil, err
	}
	defer e.release(ctx)
	// The handle is of our world; the page's own world has another for the same
	// node.
	node, err := protocol.Call(ctx, e.session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.handle})
	if err != nil {
		return nil, err
	}
	own, err := protocol.Call(ctx, e.session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: node.Node.BackendNodeID})
	if err != nil {
		return nil, err
	}
	*sent = true
	r, err := protocol.Call(ctx, e.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function(element) { return (" + script + "\n)(element) }",
		ObjectID:            own.Object.ObjectID,
		Arguments:           []*runtime.CallArgument{{ObjectID: own.Object.ObjectID}},
		AwaitPromise:        new(true), ReturnByValue: new(true), UserGesture: new(true),
	})
	if err != nil {
		return nil, e.gone(err)
	}
	return scriptResult(r.Result, r.ExceptionDetails)
}

// looksLikeFunction tells a function to be called from an expression.
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

// scriptResult shapes what came back. Values that JSON lacks are named by their
// JavaScript text.
func scriptResult(o *runtime.RemoteObject, thrown *runtime.ExceptionDetails) (json.RawMessage, error) {
	if thrown != nil {
		text, stack, _ := strings.Cut(exceptionText(thrown), "\n")
		return nil, &ScriptError{Text: strings.TrimPrefix(strings.TrimPrefix(text, "Uncaught "), "(in promise) "), Stack: stack}
	}
	switch {
	case o == nil, o.Type == runtime.RemoteObjectTypeUndefined:
		return json.RawMessage("null"), nil
	case o.UnserializableValue != "":
		return json.Marshal(string(o.UnserializableValue))
	case len(o.Value) > 0:
		return unescape(o.Value), nil
	}
	return json.Marshal(o.Description)
}

// unescape writes the characters that the browser escapes in its JSON as
// themselves: an agent pays for each. Quotes, control characters and lone
// surrogates stay escaped.
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

// escaped reads a \uXXXX at the beginning.
func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
