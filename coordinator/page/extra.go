package page

import (
	"context"
	"embed"
	"encoding/json"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

//go:embed extra
var extras embed.FS

// extra is the text of a function that few sessions need: it is sent with each
// call, so that the library of all documents stays small.
func extra(name string) string {
	body, err := extras.ReadFile("extra/" + name + ".js")
	if err != nil {
		panic(err) // they are in the binary
	}
	return strings.TrimSpace(string(body))
}

// callExtra runs one of the extra functions in our world of a frame's document,
// with one argument, and decodes the JSON text that it returns.
func (p *Page) callExtra(ctx context.Context, frame protocol.FrameID, name string, argument, result any) error {
	return p.callFunction(ctx, frame, extra(name), argument, result)
}

func (p *Page) callFunction(ctx context.Context, frame protocol.FrameID, function string, argument, result any) error {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	var r runtime.CallFunctionOnResult
	err = p.inWorld(ctx, frame, func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		r, err = protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
			FunctionDeclaration: function, ExecutionContextID: world,
			Arguments: []*runtime.CallArgument{{Value: encoded}}, AwaitPromise: new(true), ReturnByValue: new(true),
		})
		return err
	})
	if err != nil {
		return err
	}
	return remote.Decode(r, result)
}

// callExtra is the same with the element as this.
func (e *element) callExtra(ctx context.Context, name string, argument, result any) error {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	r, err := protocol.Call(ctx, e.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: extra(name), ObjectID: e.handle,
		Arguments: []*runtime.CallArgument{{Value: encoded}}, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	if err != nil {
		return e.gone(err)
	}
	return remote.Decode(r, result)
}

// during bounds a call that reads or sets something, and explains its error.
func (p *Page) during(ctx context.Context, doing string, timeout time.Duration, do func(context.Context) error) error {
	ctx, end, err := p.begin(ctx, doing, timeout)
	if err != nil {
		return err
	}
	defer end()
	return p.explain(do(ctx), doing)
}
