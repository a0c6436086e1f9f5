package tools

import (
	"os"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
)

// freeProgram unmaps the pages of the program's file, which are three quarters of
// what a start leaves resident: around each byte that it touches the system maps
// 64 kB. What is used again is mapped again, from the system's cache.
//
// Where /proc does not tell, all stays as it is.
func freeProgram() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range clean(string(smaps)) {
		unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// A mapping of proc_pid_smaps(5): its addresses, what may be done there, its file,
// and how much of it is no longer as in the file.
var ofFile = regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ \d+ +/.*\n(?:[A-Z].*\n)*?Anonymous: +(\d+) kB`)

// clean are the mappings of files that nobody may write to, and that are as the
// files are. Pages in which the loader or a debugger has changed something are
// lost when they are unmapped, so a mapping with one is left alone.
func clean(smaps string) []mapping {
	var found []mapping
	for _, m := range ofFile.FindAllStringSubmatch(smaps, -1) {
		start, err1 := strconv.ParseUint(m[1], 16, 64)
		end, err2 := strconv.ParseUint(m[2], 16, 64)
		if err1 == nil && err2 == nil && m[3] == "0" {
			found = append(found, mapping{uintptr(start), uintptr(end)})
		}
	}
	return found
}
