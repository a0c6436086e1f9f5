//go:build unix

package multiplex_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// Two clients use one browser that has a pipe in place of a debugging port.
func Example() {
	if err := shareOnePipe(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// true
	// true
}

func shareOnePipe(ctx context.Context) error {
	installed, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return err
	}
	profile, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	commands, toBrowser, err := os.Pipe()
	if err != nil {
		return err
	}
	fromBrowser, events, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(installed, "--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-pipe",
		"--user-data-dir="+profile)
	cmd.ExtraFiles = []*os.File{commands, events} // 3 and 4
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	commands.Close()
	events.Close()

	server, err := multiplex.Serve(multiplex.Pipe(fromBrowser, toBrowser), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer server.Close() // the browser ends with its pipe
	if err := server.Ready(ctx); err != nil {
		return err
	}
	for range 2 {
		client, err := cdp.Dial(ctx, server.URL(), nil)
		if err != nil {
			return err
		}
		defer client.Close()
		var version struct {
			Product string `json:"product"`
		}
		if err := client.Call(ctx, "Browser.getVersion", nil, &version); err != nil {
			return err
		}
		fmt.Println(strings.Contains(version.Product, "Chrome"))
	}
	return nil
}
