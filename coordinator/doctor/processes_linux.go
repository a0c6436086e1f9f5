package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// holderOf names the process that has locked an endpoint's file.
func holderOf(lock string) string {
	pid, err := lockedBy(lock)
	if err != nil {
		return "a coordinator (which one is unknown)"
	}
	return describe(pid)
}

// lockedBy returns the process that holds the lock on a file.
func lockedBy(file string) (int, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "FLOCK" || fields[3] != "WRITE" || !strings.HasSuffix(fields[5], fmt.Sprintf(":%d", inode)) {
			continue
		}
		pid, err := strconv.Atoi(fields[4])
		if err == nil && hasOpen(pid, file) { // inodes repeat on other disks
			return pid, nil
		}
	}
	return 0, errors.New("no process is known to hold the lock")
}

// listenerAt names the program that listens on a loopback port.
func listenerAt(port int) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			// Number, local address, remote address, state (0A: listening), …; the tenth is the
			// inode.
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != "0A" || !strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
				continue
			}
			if pid := processWith("socket:[" + fields[9] + "]"); pid != 0 {
				return describe(pid)
			}
		}
	}
	return "another program (which one is unknown)"
}

// processWith returns a process of the user that has a file open; 0: none.
func processWith(file string) int {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err == nil && hasOpen(pid, file) {
			return pid
		}
	}
	return 0
}

func hasOpen(pid int, file string) bool {
	descriptors, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, descriptor := range descriptors {
		if to, err := os.Readlink(descriptor); err == nil && to == file {
			return true
		}
	}
	return false
}

// describe names a process and the one that has started it. Of its arguments it shows
// only the coordinator's command: the others may contain what is secret.
func describe(pid int) string {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(string(command), "\x00")
	name := filepath.Base(args[0])
	if err != nil || args[0] == "" {
		return fmt.Sprintf("the process %d", pid)
	}
	if name == "coordinator" && len(args) > 1 && args[1] != "" && !strings.HasPrefix(args[1], "-") {
		name += " " + args[1]
	}
	return fmt.Sprintf("%s (pid %d)%s", name, pid, startedBy(pid))
}

// startedBy names the program that has started a process; empty: it is unknown.
func startedBy(pid int) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(status)) {
		if parent, is := strings.CutPrefix(line, "PPid:"); is {
			parent = strings.TrimSpace(parent)
			name, err := os.ReadFile("/proc/" + parent + "/comm")
			if err != nil {
				return ""
			}
			return fmt.Sprintf(", started by %s (pid %s)", strings.TrimSpace(string(name)), parent)
		}
	}
	return ""
}
