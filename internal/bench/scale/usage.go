package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what processes use now.
type usage struct {
	processes int
	private   float64       // MB that it has written and no other process has: without its program
	resident  float64       // MB, with their part of what they share with others (PSS)
	cpu       time.Duration // so far
}

func (u usage) add(o usage) usage {
	return usage{u.processes + o.processes, u.private + o.private, u.resident + o.resident, u.cpu + o.cpu}
}

// use adds up what the processes themselves use, and what their descendants use: the
// browsers.
func use(pids ...int) (ownUsage, browsers usage) {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if fields := stat(pid); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	wanted := map[int]bool{}
	for _, pid := range pids {
		wanted[pid] = true
	}
	for pid := range parents {
		if wanted[pid] {
			ownUsage = ownUsage.add(useOf(pid))
			continue
		}
		for p := parents[pid]; p > 1; p = parents[p] {
			if wanted[p] {
				browsers = browsers.add(useOf(pid))
				break
			}
		}
	}
	return ownUsage, browsers
}

// stat returns the fields of a process from its state on.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(text, []byte(") "))
	return strings.Fields(string(rest))
}

// tick is the unit of times in /proc: 100 a second on all Linux systems.
const tick = 10 * time.Millisecond

func useOf(pid int) usage {
	u := usage{processes: 1}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		kilobytes, _ := strconv.ParseFloat(fields[0], 64)
		switch name {
		case "Pss":
			u.resident = kilobytes / 1024
		case "Private_Dirty":
			u.private = kilobytes / 1024
		}
	}
	if fields := stat(pid); len(fields) > 12 {
		for _, field := range fields[11:13] {
			n, _ := strconv.Atoi(field)
			u.cpu += time.Duration(n) * tick
		}
	}
	return u
}
