//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpu is the processor time of all threads of a process; 0 for process 0. It does not
// count threads that have ended; relays keep theirs.
func cpu(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	var sum int64
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(b)); len(fields) > 0 {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += n
		}
	}
	return time.Duration(sum)
}

// memory reads VmRSS or VmHWM from the process's status, in kB.
func memory(pid int, name string) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(b), name+":")
	if fields := strings.Fields(rest); len(fields) > 0 {
		n, _ := strconv.ParseFloat(fields[0], 64)
		return n
	}
	return 0
}

// resetPeak makes VmHWM count from now.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
