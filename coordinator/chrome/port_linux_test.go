package chrome

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// TestNoDebuggingPort: /proc/net/tcp, which any user of the machine can read, has no port
// of a browser, unless one was requested.
func TestNoDebuggingPort(t *testing.T) {
	for _, port := range []*int{nil, new(0)} {
		b := mustLaunch(t, Options{DebuggingPort: port})
		if err := version(b.URL()); err != nil {
			t.Error(err)
		}
		listening := listeningIn(t, b.PID())
		if port == nil && len(listening) > 0 {
			t.Errorf("the browser listens: %v", listening)
		}
		if port != nil && len(listening) != 1 { // proves that the test can see a port
			t.Errorf("with a debugging port the browser listens: %v", listening)
		}
		_, err := os.Stat(filepath.Join(b.profile.dir, "DevToolsActivePort"))
		if (err == nil) != (port != nil) {
			t.Errorf("DevToolsActivePort: %v", err)
		}
		b.Close(t.Context())
	}
}

// listeningIn lists the listening TCP sockets of a process and all that it has started.
func listeningIn(t *testing.T, root int) []string {
	t.Helper()
	parents := map[int]int{}
	stats := must.Get(filepath.Glob("/proc/[0-9]*/stat"))(t)
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	within := func(pid int) bool {
		for pid > 1 && pid != root {
			pid = parents[pid]
		}
		return pid == root
	}
	inodes := map[string]string{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue // no IPv6 here
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) > 9 && f[3] == "0A" {
				inodes["socket:["+f[9]+"]"] = f[1]
			}
		}
		file.Close()
	}
	var found []string
	for pid := range parents {
		if !within(pid) {
			continue
		}
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil && inodes[to] != "" {
				found = append(found, fmt.Sprintf("process %d at %s", pid, inodes[to]))
			}
		}
	}
	return found
}
