package frame

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/remote"
)

//go:embed script
var scripts embed.FS

//go:embed dom.js
var domScript string

// domProperty matches a property of the DOM in a script of ours: e.$parentNode.
var domProperty = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:(\?\.)|\.)\$(\w+)`) })

// InDOM makes a script read each property e.$name of the DOM where no page can shadow it, see
// dom.js.
func InDOM(script string) string {
	return domProperty().ReplaceAllString(script, "$1[$$.$2]")
}

// OfDocument is an expression for a property of the document without [Library], where its images
// may shadow it.
func OfDocument(name string) string {
	return "Object.getOwnPropertyDescriptor(Document.prototype, '" + name + "').get.call(document)"
}

// OnlyAt is a statement that throws in a document at another place than that, see [address.Place];
// empty: it is for any document. It uses nothing that a page can replace.
func OnlyAt(place string) string {
	if place == "" {
		return ""
	}
	return javascript.Format("if (location.origin !== $ && location.href !== $ + location.hash && location.href !== $) "+
		"throw $; ", place, place, place+"#", "the page has gone to another site since this call was allowed, so nothing "+
		"was done there: call again to ask about that").String()
}

// Library is a script that defines functions in an isolated world: this package's, and
// those in the folder script of the others, one per file. They are defined once per
// document, so that the browser compiles them once and calls are small.
func Library(others ...embed.FS) string {
	var b strings.Builder
	b.WriteString(domScript)
	b.WriteString("if (!Object.hasOwn(globalThis, 'library')) globalThis.library = {\n")
	names := map[string]bool{}
	for _, folder := range append(others, scripts) {
		files, err := folder.ReadDir("script")
		if err != nil {
			panic(err) // the binary embeds them
		}
		for _, f := range files {
			body, err := folder.ReadFile("script/" + f.Name())
			if err != nil {
				panic(err)
			}
			name := strings.TrimSuffix(f.Name(), ".js")
			if names[name] {
				panic("two functions of the library are called " + name)
			}
			names[name] = true
			b.WriteString(name + ": " + strings.TrimSpace(string(body)) + ",\n")
		}
	}
	b.WriteString("}; 0")
	return InDOM(b.String())
}

// Call returns the declaration that calls a function of the library.
func Call(name string) string {
	return "function (argument) { return library." + name + ".call(this, argument) }"
}

// Run calls a function in our world of a frame's document, with one argument, and
// decodes the JSON text that it returns. Each call sends the function's source: Run is
// for rarely used functions, so that the library stays small.
func (t *Tree) Run(ctx context.Context, frame protocol.FrameID, function string, argument, result any) error {
	return t.InWorld(ctx, frame, func(session *cdp.Session, world runtime.ExecutionContextID) error {
		return CallIn(ctx, session, world, InDOM(function), argument, result)
	})
}

// CallIn calls a function in a world, with one argument, and decodes its result: a value, or its JSON
// text.
func CallIn(
	ctx context.Context, s *cdp.Session, world runtime.ExecutionContextID, declaration string, argument, result any,
) error {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	r, err := EvaluateIn(ctx, s, runtime.EvaluateParams{
		Expression: Apply(declaration, encoded), ContextID: world, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	if err != nil {
		return err
	}
	return remote.Decode(runtime.CallFunctionOnResult(r), result)
}

// Apply is an expression that calls a function with an argument in JSON; null: without one, as
// Runtime.callFunctionOn does.
func Apply(declaration string, argument []byte) string {
	if string(argument) == "null" {
		return "(" + declaration + ")()"
	}
	return "(" + declaration + ")(JSON.parse(" + jsString(string(argument)) + "))"
}

// EvaluateIn evaluates an expression of ours in an isolated world. The work of some grows with the page, so
// the browser stops it shortly before the context's deadline: else it would keep the page busy for long after
// its caller has given up. The time is that of the expression alone, so nothing that the page runs is stopped.
func EvaluateIn(
	ctx context.Context, s *cdp.Session, params runtime.EvaluateParams,
) (r runtime.EvaluateResult, err error) {
	deadline, limited := ctx.Deadline()
	limit := max(time.Until(deadline)*4/5, time.Millisecond)
	if limited {
		params.Timeout = runtime.TimeDelta(limit.Milliseconds())
	}
	start := time.Now()
	r, err = protocol.Call(ctx, s, runtime.Evaluate, params)
	elapsed := time.Since(start)
	// The browser's words for it differ.
	if limited && elapsed >= limit && cdp.Refused(err) && !NoContext(err) && !LeftDocument(err) {
		err = &StoppedError{elapsed}
	}
	return r, err
}

// StoppedError reports that an expression of ours had not ended when its time was over. The page lives on.
type StoppedError struct{ Elapsed time.Duration }

func (e *StoppedError) Error() string {
	return fmt.Sprintf("the page is too large: reading it did not end within %s, and was stopped",
		e.Elapsed.Round(100*time.Millisecond))
}
