// Command chromedp joins a browser through an endpoint with chromedp, opens a tab of its own in it,
// and prints as JSON what it saw there and which pages it found.
//
//	chromedp http://127.0.0.1:PORT URL
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: chromedp ENDPOINT URL")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type answer struct {
	Title string   `json:"title"`
	Sum   int      `json:"sum"`
	Pages []string `json:"pages"`
}

func run(endpoint, url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	ctx, cancelTab := chromedp.NewContext(ctx)
	defer cancelTab()

	var got answer
	var err error
	if err = chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		return fmt.Errorf("open a tab through %s: %w", endpoint, err)
	}
	if got.Title, err = chromedp.Run(ctx, chromedp.Title()); err != nil {
		return fmt.Errorf("read the title: %w", err)
	}
	if got.Sum, err = chromedp.Run(ctx, chromedp.Evaluate[int]("6 * 7")); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		return fmt.Errorf("list the targets: %w", err)
	}
	for _, target := range targets {
		if target.Type == "page" {
			got.Pages = append(got.Pages, target.URL)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}
