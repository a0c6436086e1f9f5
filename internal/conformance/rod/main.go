// Command rod connects to a browser with rod, drives a page of the tests' site in a tab
// of its own, and prints its observations as JSON.
//
//	rod ADDRESS SITE NAME
//	rod ADDRESS
//
// The second form prints a line when it is connected, and then how the connection ends.
//
// ADDRESS is an http address, from which rod finds the WebSocket, or the WebSocket's.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"strings"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

func main() {
	if len(os.Args) == 2 {
		if err := awaitEnd(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: rod ADDRESS [SITE NAME]")
		os.Exit(2)
	}
	seen, err := see(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(seen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// awaitEnd has a command in flight when the connection ends, as rod's own TestCrash
// does.
func awaitEnd(address string) error {
	return rod.Try(func() {
		if strings.HasPrefix(address, "http") {
			address = launcher.MustResolveURL(address)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		client := cdp.MustStartWithURL(ctx, address, nil)
		go func() {
			for range client.Event() {
			}
		}()
		page := proto.TargetCreateTargetResult{}
		call := func(session, method string, params, result any) {
			raw, err := client.Call(ctx, session, method, params)
			if err == nil {
				err = json.Unmarshal(raw, result)
			}
			if err != nil {
				panic(err)
			}
		}
		call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &page)
		attached := proto.TargetAttachToTargetResult{}
		call("", "Target.attachToTarget", map[string]any{"targetId": page.TargetID, "flatten": true}, &attached)
		fmt.Println("connected")
		_, err := client.Call(ctx, string(attached.SessionID), "Runtime.evaluate",
			map[string]any{"expression": "new Promise(() => {})", "awaitPromise": true})
		fmt.Println("ended:", err)
	})
}

type sight struct {
	Version    string `json:"version"`
	Shared     bool   `json:"shared"`
	Title      string `json:"title"`
	Sum        int    `json:"sum"`
	Error      string `json:"error"`
	Answer     string `json:"answer"`
	Logged     string `json:"logged"`
	Screenshot [2]int `json:"screenshot"`
	Next       string `json:"next"`
}

// title is the document's. The target's may still be the URL when the document has loaded.
func title(page *rod.Page) string { return page.MustEval("() => document.title").Str() }

// see is written in rod's Must style: the first failure is the result.
func see(address, site, name string) (s *sight, err error) {
	err = rod.Try(func() {
		if strings.HasPrefix(address, "http") {
			address = launcher.MustResolveURL(address)
		}
		browser := rod.New().ControlURL(address).NoDefaultDevice().Timeout(20 * time.Second).MustConnect()
		s = &sight{Version: browser.MustVersion().Product}
		for _, page := range browser.MustPages() {
			s.Shared = s.Shared || page.MustInfo().URL == site+"/shop/shared"
		}
		page := browser.MustPage(site + "/shop/" + name).MustWaitLoad()
		s.Title = title(page)
		s.Sum = page.MustEval("() => 6 * 7").Int()
		if _, err := page.Eval("() => missing"); err != nil {
			s.Error = err.Error()
		}
		var logged proto.RuntimeConsoleAPICalled
		wait := page.WaitEvent(&logged)
		page.MustElement("#name").MustInput("Ada").MustType(input.Tab)
		page.MustElement("#buy").MustClick()
		wait()
		s.Logged = logged.Args[0].Value.Str()
		s.Answer = page.MustElement("#answer").MustText()
		picture, err := png.DecodeConfig(bytes.NewReader(page.MustScreenshot()))
		if err != nil {
			panic(err)
		}
		s.Screenshot = [2]int{picture.Width, picture.Height}
		navigated := page.MustWaitNavigation()
		page.MustElement("a").MustClick()
		navigated()
		s.Next = title(page)
		page.MustClose()
	})
	return s, err
}
