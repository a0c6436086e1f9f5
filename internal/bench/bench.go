//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"browser-coordinator/coordinator/chrome"
)

// bench is one run: a browser, a peer, all ways to each of them, and the measured
// values.
type bench struct {
	dir     string // temporary
	self    string // this program
	floor   string
	clients string // the folder of internal/conformance

	browser   *chrome.Browser
	peer      *way
	toBrowser map[string]*way
	toPeer    map[string]*way

	pages map[string]*client // a connection to the tab, for each way
	peers map[string]*client

	shooter    *exec.Cmd // takes Playwright's screenshots
	shooterIn  io.WriteCloser
	shooterOut *bufio.Reader

	samples map[string]map[string][][]float64 // by figure and way, for each round
}

func open(ctx context.Context) (b *bench, err error) {
	b = &bench{pages: map[string]*client{}, peers: map[string]*client{}, samples: map[string]map[string][][]float64{}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return b, err
	}
	repository := filepath.Dir(strings.TrimSpace(string(root)))
	b.clients = filepath.Join(repository, "internal", "conformance")
	if _, err := os.Stat(filepath.Join(b.clients, "node_modules", "playwright-core")); err != nil {
		return b, fmt.Errorf("run `go tool task setup:clients` first: %w", err)
	}
	for _, program := range []string{"cc", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			return b, fmt.Errorf("install %s first (Debian: apt-get install gcc nodejs): %w", program, err)
		}
	}
	if b.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return b, err
	}
	if b.self, err = os.Executable(); err != nil {
		return b, err
	}
	b.floor = filepath.Join(b.dir, "floor")
	source := filepath.Join(repository, "internal", "bench", "floor", "floor.c")
	if out, err := exec.Command("cc", "-O2", "-o", b.floor, source).CombinedOutput(); err != nil {
		return b, fmt.Errorf("compile the floor: %w: %s", err, out)
	}
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return b, err
	}
	b.browser, err = chrome.Launch(ctx, chrome.Options{
		Executable: found, Headless: true, DebuggingPort: new(0), Args: []string{"--disable-gpu"},
	})
	if err != nil {
		return b, err
	}
	if b.peer, err = start(ctx, b.self, "serve", "peer", "ws://none"); err != nil {
		return b, err
	}
	if b.toBrowser, err = b.waysTo(ctx, b.browser.URL()); err != nil {
		return b, err
	}
	if b.toPeer, err = b.waysTo(ctx, "ws://"+b.peer.addr+peerPath); err != nil {
		return b, err
	}
	page, err := b.openPage()
	if err != nil {
		return b, err
	}
	for _, name := range order {
		if b.pages[name], err = connect(b.toBrowser[name].addr, page); err != nil {
			return b, fmt.Errorf("%s: %w", name, err)
		}
		if b.peers[name], err = connect(b.toPeer[name].addr, peerPath); err != nil {
			return b, fmt.Errorf("%s: %w", name, err)
		}
	}
	return b, b.openShooter(ctx)
}

// openPage opens the one tab for all ways. Two tabs differ, for example in which is in
// front, and that would count as a difference between the ways.
func (b *bench) openPage() (path string, err error) {
	request, err := http.NewRequest(http.MethodPut, "http://"+b.toBrowser["direct"].addr+"/json/new?about:blank", nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var tab struct{ ID string }
	err = json.NewDecoder(res.Body).Decode(&tab)
	return "/devtools/page/" + tab.ID, err
}

func (b *bench) openShooter(ctx context.Context) error {
	b.shooter = exec.CommandContext(ctx, "node", filepath.Join(b.clients, "bench", "screenshot.mjs"))
	b.shooter.Stderr = os.Stderr
	var err error
	if b.shooterIn, err = b.shooter.StdinPipe(); err != nil {
		return err
	}
	out, err := b.shooter.StdoutPipe()
	if err != nil {
		return err
	}
	b.shooterOut = bufio.NewReader(out)
	return b.shooter.Start()
}

// screenshots returns the milliseconds that Playwright took for some screenshots at
// addr.
func (b *bench) screenshots(addr string) (took []float64, err error) {
	if _, err := io.WriteString(b.shooterIn, "http://"+addr+"\n"); err != nil {
		return nil, err
	}
	line, err := b.shooterOut.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the taker of screenshots ended: %w", err)
	}
	return took, json.Unmarshal(bytes.TrimSpace(line), &took)
}

func (b *bench) close() {
	for _, clients := range []map[string]*client{b.pages, b.peers} {
		for _, c := range clients {
			if c != nil {
				c.conn.Close()
			}
		}
	}
	if b.shooter != nil && b.shooter.Process != nil {
		b.shooterIn.Close()
		b.shooter.Wait()
	}
	for _, ways := range []map[string]*way{b.toBrowser, b.toPeer} {
		for _, w := range ways {
			if w != nil {
				w.close()
			}
		}
	}
	if b.peer != nil {
		b.peer.close()
	}
	if b.browser != nil {
		b.browser.Close(context.Background())
	}
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}
