package main

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// readThroughEndpoint connects to the browser as any other CDP client would, with
// chromedp and only the address. It reads the <output> of the page with the given title.
func readThroughEndpoint(ctx context.Context, endpoint, title string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	browser, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()

	pages, err := chromedp.Targets(browser)
	if err != nil {
		return "", fmt.Errorf("second client: %w", err)
	}
	var page target.ID
	for _, p := range pages {
		if p.Type == "page" && p.Title == title {
			page = p.TargetID
		}
	}
	if page == "" {
		return "", fmt.Errorf("second client: none of the %d targets is the page %q", len(pages), title)
	}
	// The tab belongs to the agent: leave it open.
	tab, cancelTab := chromedp.NewContext(browser, chromedp.WithTargetID(page), chromedp.WithDetachOnCancel())
	defer cancelTab()
	text, err := chromedp.Run(tab, chromedp.Text("output"))
	if err != nil {
		return "", fmt.Errorf("second client: %w", err)
	}
	return text, nil
}
