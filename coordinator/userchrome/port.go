package userchrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/cdpproxy/peer"
	"browser-coordinator/internal/trusted"
)

// port is where a running browser lets programs connect.
type port struct {
	Browser
	folder string // of the profile
	number uint16
	path   string // of the WebSocket
	pid    int    // of the browser; 0: unknown
}

// switchOn is the next step for the user.
const switchOn = `open chrome://inspect/#remote-debugging in it and switch on "Allow remote debugging for this ` +
	`browser instance"`

// offError reports a running browser without remote debugging.
type offError struct{ name string }

func (e *offError) Error() string {
	return "remote debugging is not switched on in " + e.name + ": " + switchOn +
		", then try again. Chrome has that since version 144"
}

// endedError reports a browser that does not run.
type endedError struct {
	name, folder string
	enabled      bool
}

func (e *endedError) Error() string {
	next := "start it, then try again"
	if !e.enabled {
		next = "start it, " + switchOn + ", then try again"
	}
	return fmt.Sprintf("%s does not run (profile folder %s): %s", e.name, e.folder, next)
}

var portFile = regexp.MustCompile(`^([1-9][0-9]{0,4})\n(/devtools/browser(/[0-9A-Za-z-]{1,64})?)\n?$`)

// readPort reads the DevToolsActivePort of a profile folder, and checks that the browser
// listens there. Chrome leaves the file behind, so it proves nothing.
func (b Browser) readPort(folder string) (*port, error) {
	if err := trusted.FolderAndParents(folder, trusted.OwnFolder); err != nil {
		return nil, err
	}
	p := &port{Browser: b, folder: folder, pid: processOf(folder)}
	file := filepath.Join(folder, "DevToolsActivePort")
	text, err := trusted.ReadOwn(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p.absent()
	}
	if err != nil {
		return nil, err
	}
	parts := portFile.FindSubmatch(text)
	if parts == nil {
		return nil, fmt.Errorf("%s does not name a port and a path: restart %s, then try again", file, b.Name())
	}
	number, err := strconv.ParseUint(string(parts[1]), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%s names no port: restart %s, then try again", file, b.Name())
	}
	p.number, p.path = uint16(number), string(parts[2])
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	conn, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	return p, conn.Close()
}

// probeTimeout bounds a connection within this machine.
const probeTimeout = 5 * time.Second

// dial opens a connection to the browser, and to no other program. Chrome asks the user only
// when a request follows.
func (p *port) dial(ctx context.Context) (net.Conn, error) {
	conn, _, err := dial.Dial(ctx, p.url(), nil)
	if errors.As(err, new(*peer.ForeignError)) {
		return nil, fmt.Errorf("%w. The port is in %s", err, filepath.Join(p.folder, "DevToolsActivePort"))
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, p.absent()
	}
	if pid, name := peer.ServerProcess(conn); pid != 0 && p.pid != 0 && pid != p.pid {
		conn.Close()
		return nil, fmt.Errorf("another program listens at port %d, where %s last did: %s (process %d). Nothing was "+
			"sent to it. Restart the browser so that it takes a free port, then try again", p.number, p.Name(), name, pid)
	}
	return conn, nil
}

func (p *port) url() string { return fmt.Sprintf("ws://127.0.0.1:%d%s", p.number, p.path) }

// absent is the error for a browser that listens nowhere.
func (p *port) absent() error {
	if p.pid != 0 && !enabled(p.folder) {
		return &offError{p.Name()}
	}
	if p.pid != 0 && p.hasListened() {
		return fmt.Errorf("%s is closing, or you have switched remote debugging off in it: start it, or %s, then try again",
			p.Name(), switchOn)
	}
	if p.pid != 0 {
		return fmt.Errorf("%s runs and does not listen for programs yet: %s, or restart it if it is on already, then "+
			"try again", p.Name(), switchOn)
	}
	return &endedError{p.Name(), p.folder, enabled(p.folder)}
}

// hasListened reports whether the browser that uses the folder now has written its port: both notes of it
// outlive a browser.
func (p *port) hasListened() bool {
	started, err := os.Lstat(filepath.Join(p.folder, "SingletonLock"))
	if err != nil {
		return false
	}
	written, err := os.Stat(filepath.Join(p.folder, "DevToolsActivePort"))
	return err == nil && !written.ModTime().Before(started.ModTime())
}

// enabled reports whether the user has switched remote debugging on, as the browser last
// saved it.
func enabled(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, "Local State"))
	if err != nil {
		return false
	}
	var state struct {
		DevTools struct {
			Remote struct {
				Enabled bool `json:"user-enabled"`
			} `json:"remote_debugging"`
		} `json:"devtools"`
	}
	return json.Unmarshal(text, &state) == nil && state.DevTools.Remote.Enabled
}

// processOf returns the process that uses a profile folder; 0: none, or the system has no
// such note. Chrome's note is a link to HOST-PID.
func processOf(folder string) int {
	note, err := os.Readlink(filepath.Join(folder, "SingletonLock"))
	if err != nil {
		return 0
	}
	index := strings.LastIndexByte(note, '-')
	pid, err := strconv.Atoi(note[index+1:])
	host, hostErr := os.Hostname()
	if index < 0 || err != nil || hostErr != nil || note[:index] != host || !alive(pid) {
		return 0
	}
	return pid
}
