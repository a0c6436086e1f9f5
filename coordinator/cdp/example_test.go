package cdp_test

import (
	"context"
	"fmt"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// Every generated command runs on a [cdp.Conn], which is the browser's session, and on a
// [cdp.Session] of a page.
func Example() {
	ctx := context.Background()
	title, err := evaluate(ctx, "6 * 7")
	fmt.Println(title, err)
	// Output: 42 <nil>
}

func evaluate(ctx context.Context, script string) (string, error) {
	installed, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return "", err
	}
	browser, err := chrome.Launch(ctx, chrome.Options{Executable: installed, Headless: true})
	if err != nil {
		return "", err
	}
	defer browser.Close(ctx)
	conn, err := cdp.Dial(ctx, browser.URL(), nil)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	page, err := protocol.Call(ctx, conn, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return "", err
	}
	session, err := conn.Attach(ctx, page.TargetID)
	if err != nil {
		return "", err
	}
	result, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{Expression: script})
	if err != nil {
		return "", err
	}
	return string(result.Result.Value), nil
}
