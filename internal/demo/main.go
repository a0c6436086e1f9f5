// Command demo shows the main job on real parts, for a person to watch: a window with
// its browser, the coordinator as an MCP host starts it, an MCP client as the agent, and
// a second CDP client on the same page.
//
//	go tool task demo
//
// It leaves no process, and no file except the screenshot that it names. It exits with 1
// if any step fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

const timeLimit = time.Minute

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the coordinator's `binary`")
	screenshot := flag.String("screenshot", "artifacts/demo.png", "the `file` for the screenshot")
	headed := flag.Bool("headed", false, "show the browser's window")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	s := &story{out: os.Stdout, start: time.Now(), bold: term.IsTerminal(int(os.Stdout.Fd())) &&
		os.Getenv("NO_COLOR") == ""}
	if err := run(ctx, s, *coordinator, *screenshot, *headed); err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo failed at step %d: %v\n", s.steps, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *story, coordinator, screenshot string, headed bool) (err error) {
	coordinator, err = filepath.Abs(coordinator)
	if err != nil {
		return err
	}
	screenshot, err = filepath.Abs(screenshot)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(screenshot), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "corner-shop-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	workspace := filepath.Join(dir, "shop")
	if err := os.Mkdir(workspace, 0o755); err != nil {
		return err
	}
	env := privateEnv(dir)

	s.step("A small web shop is served, as your own development server would.")
	shop, err := serveSite()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.close()) }()
	s.show(shop.url)

	s.step("A window opens for the workspace %s and starts its browser.", workspace)
	win, err := startWindow(ctx, coordinator, workspace, env, headed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, win.stop()) }()
	s.show("The window's stable CDP endpoint: " + win.endpoint)

	s.step("An MCP host starts `coordinator mcp` in that folder, with no configuration.")
	agent, err := startAgent(ctx, coordinator, workspace, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.stop()) }()
	if err := play(ctx, s, agent, shop.url); err != nil {
		return err
	}
	if err := copyPicture(filepath.Join(workspace, ".browser-coordinator", picture), screenshot); err != nil {
		return err
	}

	s.step("Meanwhile a second CDP client (chromedp) joins through the stable endpoint.")
	text, err := readThroughEndpoint(ctx, win.endpoint, "Corner Shop")
	if err != nil {
		return err
	}
	if text != expected {
		return fmt.Errorf("the second client reads %q, not %q: it is on another page", text, expected)
	}
	s.show("It sees the agent's page: " + text)

	s.end("Done. The screenshot is %s.", screenshot)
	return nil
}

const (
	customer = "Ada"
	expected = "One loaf is waiting for " + customer + "."
	picture  = "shop.png"
)

// play runs the agent's steps.
func play(ctx context.Context, s *story, agent *agent, url string) error {
	act := func(tool string, args map[string]any) (string, error) {
		answer, err := agent.call(ctx, tool, args)
		if err == nil {
			s.show(answer)
		}
		return answer, err
	}

	s.step("The agent lists the windows.")
	if _, err := act("window_list", nil); err != nil {
		return err
	}
	s.step("It navigates that window's browser to the shop.")
	if _, err := act("browser_navigate", map[string]any{"url": url}); err != nil {
		return err
	}
	s.step("It takes a snapshot of the page.")
	snapshot, err := act("browser_snapshot", nil)
	if err != nil {
		return err
	}
	box, err := refOf(snapshot, "textbox", "Your name")
	if err != nil {
		return err
	}
	button, err := refOf(snapshot, "button", "Put a loaf aside")
	if err != nil {
		return err
	}
	s.step("It fills in the name and clicks the button.")
	if _, err := act("browser_type", map[string]any{"element": "Your name", "target": box,
		"text": customer}); err != nil {
		return err
	}
	if _, err := act("browser_click", map[string]any{"element": "Put a loaf aside", "target": button}); err != nil {
		return err
	}
	s.step("It reads the console.")
	console, err := act("browser_console_messages", nil)
	if err != nil {
		return err
	}
	if want := "order: one loaf for " + customer; !strings.Contains(console, want) {
		return fmt.Errorf("the console does not say %q", want)
	}
	s.step("It takes a screenshot.")
	_, err = act("browser_take_screenshot", map[string]any{"filename": picture})
	return err
}

// copyPicture copies the agent's screenshot out of the workspace, which is removed.
func copyPicture(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("the screenshot was not written: %w", err)
	}
	return os.WriteFile(to, data, 0o644)
}
