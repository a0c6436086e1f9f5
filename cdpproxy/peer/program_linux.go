package peer

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Program identifies the program at the other end of conn, by the name of its executable
// and the session of processes in which it runs, such as a terminal's. A test runner and
// the processes that it starts, one after the other, are the same program. So are those
// that `go run` builds, each in another folder. Empty: unknown.
func Program(conn net.Conn) string {
	remote, local, err := ends(conn)
	if err != nil {
		return ""
	}
	s, err := find(remote, local)
	if err != nil || s.inode == 0 {
		return ""
	}
	process := owner(s.inode)
	if process == "" {
		return ""
	}
	executable, err := os.Readlink(filepath.Join(process, "exe"))
	if err != nil {
		return ""
	}
	session, err := sessionOf(process)
	if err != nil {
		return ""
	}
	name := strings.TrimSuffix(filepath.Base(executable), " (deleted)") // it may have been built again
	return fmt.Sprintf("%s in session %d", name, session)
}

// ServerProcess returns the process that serves conn, which this process has dialed, and the
// name of its executable. If it has a number of its own in a container, that is the number.
// 0: unknown.
func ServerProcess(conn net.Conn) (pid int, name string) {
	remote, local, err := ends(conn)
	if err != nil {
		return 0, ""
	}
	s, err := find(remote, local)
	if err != nil || s.inode == 0 { // not accepted yet
		s, err = find(remote, netip.AddrPortFrom(unspecified(remote.Addr()), 0))
	}
	if err != nil || s.inode == 0 {
		return 0, ""
	}
	process := owner(s.inode)
	status, err := os.ReadFile(filepath.Join(process, "status"))
	if process == "" || err != nil {
		return 0, ""
	}
	for line := range strings.Lines(string(status)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok { // proc_pid_status(5): the innermost is the last
			each := strings.Fields(numbers)
			pid, _ = strconv.Atoi(each[len(each)-1])
		}
	}
	executable, _ := os.Readlink(filepath.Join(process, "exe")) // a name is only for people
	return pid, filepath.Base(executable)
}

// owner returns the folder in /proc of a process that has the socket; empty: none that
// this process may see.
func owner(inode uint64) string {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	want := fmt.Sprintf("socket:[%d]", inode)
	for _, process := range processes {
		if c := process.Name()[0]; c < '0' || c > '9' {
			continue
		}
		folder := filepath.Join("/proc", process.Name())
		files, err := os.ReadDir(filepath.Join(folder, "fd"))
		if err != nil {
			continue // another user's, or it has ended
		}
		for _, file := range files {
			if link, err := os.Readlink(filepath.Join(folder, "fd", file.Name())); err == nil && link == want {
				return folder
			}
		}
	}
	return ""
}

// sessionOf reads the session of a process from its stat, proc_pid_stat(5). The name
// before it may contain any character.
func sessionOf(process string) (int, error) {
	stat, err := os.ReadFile(filepath.Join(process, "stat"))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 {
		return 0, fmt.Errorf("%s/stat has too few fields", process)
	}
	return strconv.Atoi(string(fields[3]))
}
