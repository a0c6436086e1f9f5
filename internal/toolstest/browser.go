package toolstest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// idle are the running browsers that no test uses. A launch takes longer than most tests.
var idle struct {
	sync.Mutex
	browsers []*chrome.Browser
}

// Browser returns a browser with one empty page, for this test alone until it ends.
func Browser(t testing.TB) *chrome.Browser {
	t.Helper()
	idle.Lock()
	var browser *chrome.Browser
	if n := len(idle.browsers); n > 0 {
		browser, idle.browsers = idle.browsers[n-1], idle.browsers[:n-1]
	}
	idle.Unlock()
	if browser == nil {
		browser = launch(t, "")
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := reset(ctx, browser); err != nil {
			t.Logf("the browser is not used again: %v", err)
			browser.Close(ctx)
			return
		}
		idle.Lock()
		defer idle.Unlock()
		idle.browsers = append(idle.browsers, browser)
	})
	return browser
}

// OwnBrowser returns a browser that the test may end. It begins at url; empty: an empty
// page.
func OwnBrowser(t testing.TB, url string) *chrome.Browser {
	t.Helper()
	browser := launch(t, url)
	t.Cleanup(func() { browser.Close(context.Background()) })
	return browser
}

func launch(t testing.TB, url string) *chrome.Browser {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	browser, err := chrome.Launch(context.Background(),
		chrome.Options{Executable: found, Headless: true, URL: url, Viewport: "1280x900",
			Args: []string{"--disable-gpu"}})
	if err != nil {
		t.Fatal(err)
	}
	return browser
}

// reset leaves the browser with one new page and without cookies.
func reset(ctx context.Context, browser *chrome.Browser) error {
	conn, err := cdp.Dial(ctx, browser.URL(), nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := protocol.Call(ctx, conn, storage.ClearCookies, storage.ClearCookiesParams{}); err != nil {
		return err
	}
	fresh, err := protocol.Call(ctx, conn, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return err
	}
	gone := conn.Listen(target.TargetDestroyed.Method)
	defer gone.Close()
	if _, err := protocol.Call(ctx, conn, target.SetDiscoverTargets,
		target.SetDiscoverTargetsParams{Discover: true}); err != nil {
		return err
	}
	for first := true; ; first = false {
		found, err := protocol.Call(ctx, conn, target.GetTargets, target.GetTargetsParams{})
		if err != nil {
			return err
		}
		remaining := 0
		for _, info := range found.TargetInfos {
			if info.Type != "page" || info.TargetID == fresh.TargetID {
				continue
			}
			remaining++
			if first {
				if _, err := protocol.Call(ctx, conn, target.CloseTarget,
					target.CloseTargetParams{TargetID: info.TargetID}); err != nil {
					return err
				}
			}
		}
		if remaining == 0 {
			return nil
		}
		select {
		case <-gone.C():
		case <-ctx.Done():
			return errors.Join(ctx.Err(), errors.New("its pages do not close"))
		}
	}
}

// closeIdle ends all browsers when the tests have ended.
func closeIdle() {
	for _, browser := range idle.browsers {
		browser.Close(context.Background())
	}
}
