// Command chromedp connects to a browser with chromedp, drives a page of the tests' site
// in a tab of its own, and prints its observations as JSON.
//
//	chromedp ADDRESS SITE NAME
//	chromedp look ADDRESS TARGET
//
// look lists the pages, attaches to an existing one, and prints the result.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: chromedp ADDRESS SITE NAME, or chromedp look ADDRESS TARGET")
		os.Exit(2)
	}
	var (
		seen any
		err  error
	)
	if os.Args[1] == "look" {
		seen, err = look(os.Args[2], os.Args[3])
	} else {
		seen, err = see(os.Args[1], os.Args[2], os.Args[3])
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(seen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type sight struct {
	Shared     bool   `json:"shared"`
	Status     int64  `json:"status"`
	Title      string `json:"title"`
	Sum        int    `json:"sum"`
	Error      string `json:"error"`
	Answer     string `json:"answer"`
	Logged     string `json:"logged"`
	Screenshot [2]int `json:"screenshot"`
	Next       string `json:"next"`
}

func see(address, site, name string) (*sight, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, address)
	defer cancelAllocator()
	ctx, cancelTab := chromedp.NewContext(ctx)
	defer cancelTab()

	s := new(sight)
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(site+"/shop/"+name))
	if err != nil {
		return nil, fmt.Errorf("open a tab at %s: %w", address, err)
	}
	s.Status = response.Status
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the targets: %w", err)
	}
	for _, target := range targets {
		s.Shared = s.Shared || target.URL == site+"/shop/shared"
	}
	if s.Title, err = chromedp.Run(ctx, chromedp.Title()); err != nil {
		return nil, fmt.Errorf("read the title: %w", err)
	}
	if s.Sum, err = chromedp.Run(ctx, chromedp.Evaluate[int]("6 * 7")); err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[int]("missing")); err != nil {
		s.Error = err.Error()
	}
	messages := chromedp.Console(ctx)
	if err := chromedp.Do(ctx,
		chromedp.SendKeys(chromedp.ID("name"), "Ada"),
		chromedp.Click(chromedp.ID("buy")),
	); err != nil {
		return nil, fmt.Errorf("buy: %w", err)
	}
	for message, err := range messages {
		if err != nil {
			return nil, fmt.Errorf("read the console: %w", err)
		}
		s.Logged = message.Text
		break
	}
	if s.Answer, err = chromedp.Run(ctx, chromedp.TextContent(chromedp.ID("answer"))); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return nil, fmt.Errorf("take a screenshot: %w", err)
	}
	picture, err := png.DecodeConfig(bytes.NewReader(shot))
	if err != nil {
		return nil, fmt.Errorf("read the screenshot: %w", err)
	}
	s.Screenshot = [2]int{picture.Width, picture.Height}
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS("a"))); err != nil {
		return nil, fmt.Errorf("follow the link: %w", err)
	}
	if s.Next, err = chromedp.Run(ctx, chromedp.Title()); err != nil {
		return nil, fmt.Errorf("read the next title: %w", err)
	}
	return s, nil
}
