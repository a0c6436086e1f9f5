package main

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// glance is the result of look.
type glance struct {
	Titles []string `json:"titles"`
	Error  string   `json:"error"` // of the first action in the page
}

// look lists the open pages, and attaches to the one with that id.
func look(address, page string) (*glance, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, address)
	defer cancelAllocator()
	ctx, cancelTab := chromedp.NewContext(ctx, chromedp.WithTargetID(target.ID(page)))
	defer cancelTab()

	targets, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, err
	}
	g := new(glance)
	for _, t := range targets {
		if t.Type == "page" {
			g.Titles = append(g.Titles, t.Title)
		}
	}
	if _, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err != nil {
		g.Error = err.Error()
	}
	return g, nil
}
