package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/coordinator/child"
	"browser-coordinator/internal/toolstest"
)

// cdpMain is a typical CDP program: it prints the titles of the pages at the endpoint.
func cdpMain() {
	if env := os.Getenv(child.EnvEndpoint); env != os.Args[1] {
		fmt.Fprintf(os.Stderr, "%s is %q, the argument %q\n", child.EnvEndpoint, env, os.Args[1])
		os.Exit(4)
	}
	titles, err := readTitles(context.Background(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(titles, ", "))
	os.Exit(7) // the program's own exit code
}

// waitingMain is a CDP program that goes on for as long as it may.
func waitingMain() {
	if _, err := readTitles(context.Background(), os.Getenv(child.EnvEndpoint)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	time.Sleep(10 * time.Minute)
}

// signalledMain prints the signals that it gets, until its input ends.
func signalledMain() {
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	fmt.Println("ready")
	for {
		select {
		case s := <-got:
			fmt.Println("got", s)
		case <-ended:
			os.Exit(5)
		}
	}
}

// Any CDP program works on the window's browser. It gets the address as an argument and
// in its environment, and its exit code becomes the coordinator's.
func TestRunACDPProgram(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(toolstest.ServeSample(t))
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	cmd := command(t.Context(), t, toolstest.Dir, "run", "--", named(t, "cdpprogram"), child.Placeholder)
	cmd.Dir = filepath.Join(w.Folder, "src")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 7 || strings.TrimSpace(string(out)) != "Sample" {
		t.Errorf("it ended with %v, want the program's exit code 7, and printed %s\n%s", err, out, &stderr)
	}
}
