//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// order of the ways in every table.
var order = []string{"direct", "floor", "endpoint", "ReverseProxy", "whole messages", "http-proxy", "nginx"}

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
		"floor":          {b.floor, port(host)},
		"endpoint":       {b.self, "serve", "endpoint", url},
		"ReverseProxy":   {b.self, "serve", "ReverseProxy", url},
		"whole messages": {b.self, "serve", "whole messages", url},
		"http-proxy":     {"node", filepath.Join(b.clients, "bench", "http-proxy.mjs"), host},
	}
	for name, args := range commands {
		w, err := start(ctx, args...)
		if err != nil {
			return ways, fmt.Errorf("start %s: %w", name, err)
		}
		ways[name] = w
	}
	var err error
	ways["nginx"], err = b.startNginx(ctx, host)
	return ways, err
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

// nginxConfig follows nginx's documentation for WebSockets, as one process.
const nginxConfig = `daemon off;
master_process off;
worker_rlimit_nofile 20000;
pid %[1]s/nginx.pid;
error_log stderr error;
events { worker_connections 15000; }
http {
  access_log off;
  client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  proxy_read_timeout 1h;
  server {
    listen %[2]s;
    location / {
      proxy_pass http://%[3]s;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $http_connection;
      proxy_set_header Host %[3]s;
    }
  }
}
`

func (b *bench) startNginx(ctx context.Context, host string) (*way, error) {
	dir, err := os.MkdirTemp(b.dir, "nginx-")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, addr, host), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "nginx", "-p", dir, "-c", config)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	return &way{addr: addr, pid: cmd.Process.Pid, cmd: cmd, in: io.NopCloser(nil)}, awaitListener(ctx, addr)
}
