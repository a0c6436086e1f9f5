package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"browser-coordinator/coordinator/child"
)

// cdpMain is a typical CDP program: it navigates the first page at the endpoint to an
// address, and prints its title.
func cdpMain() {
	endpoint, url := os.Args[1], os.Args[2]
	if env := os.Getenv(child.EnvEndpoint); env != endpoint {
		fmt.Fprintf(os.Stderr, "%s is %q, the argument %q\n", child.EnvEndpoint, env, endpoint)
		os.Exit(4)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	browser, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()
	targets, err := chromedp.Targets(browser)
	if err == nil {
		err = errors.New("there is no page")
		for _, target := range targets {
			if target.Type != "page" {
				continue
			}
			page, cancelPage := chromedp.NewContext(browser, chromedp.WithTargetID(target.TargetID))
			defer cancelPage()
			if _, err = chromedp.Run(page, chromedp.Navigate(url)); err != nil {
				break
			}
			var title string
			if title, err = chromedp.Run(page, chromedp.Title()); err == nil {
				fmt.Println(title)
			}
			break
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(7) // the program's own exit code
}

// Any CDP program works on the window's browser. It gets the address as an argument and
// in its environment, and its exit code becomes the coordinator's.
func TestRunACDPProgram(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary goes by its name.
	program := filepath.Join(dir, "cdpprogram")
	if err := os.Symlink(exe, program); err != nil {
		t.Fatal(err)
	}
	cmd := command(t.Context(), t, dir, "run", "--", program, child.Placeholder, url)
	cmd.Dir = filepath.Join(shop, "src")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exited *exec.ExitError
	if !errors.As(err, &exited) || exited.ExitCode() != 7 {
		t.Fatalf("it ended with %v, want the program's exit code 7\n%s%s", err, out, &stderr)
	}
	if got := strings.TrimSpace(string(out)); got != "Sample" {
		t.Errorf("the program printed %q", got)
	}
	if got := titles(t, window.first); len(got) != 1 || got[0] != "Sample" {
		t.Errorf("the window's pages are %q", got)
	}
}
