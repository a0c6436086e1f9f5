//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// order of the ways in every table.
var order = []string{"direct", "floor", "endpoint", "ReverseProxy"}

// way is one way to a browser or a peer.
type way struct {
	addr string
	pid  int // of the relay; 0 for a direct connection
	cmd  *exec.Cmd
	in   io.Closer // closing it ends one of our relays
}

func (w *way) close() {
	if w.cmd == nil {
		return
	}
	w.in.Close()
	w.cmd.Process.Kill()
	w.cmd.Wait()
}

// waysTo starts every relay in front of the WebSocket server at url.
func (b *bench) waysTo(ctx context.Context, url string) (map[string]*way, error) {
	host := strings.Split(url, "/")[2]
	ways := map[string]*way{"direct": {addr: host}}
	commands := map[string][]string{
		"floor":        {b.floor, port(host)},
		"endpoint":     {b.self, "serve", "endpoint", url},
		"ReverseProxy": {b.self, "serve", "ReverseProxy", url},
	}
	for name, args := range commands {
		w, err := start(ctx, args...)
		if err != nil {
			return ways, fmt.Errorf("start %s: %w", name, err)
		}
		ways[name] = w
	}
	return ways, nil
}

// start runs a relay and waits for the line with its address.
func start(ctx context.Context, args ...string) (*way, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &way{pid: cmd.Process.Pid, cmd: cmd, in: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.close()
		return nil, fmt.Errorf("%s said nothing: %w", args[0], err)
	}
	w.addr = strings.TrimSpace(line)
	return w, nil
}
