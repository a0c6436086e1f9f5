package video

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// walk lists the elements of a file: ids, and the contents of those that have no elements.
func walk(t *testing.T, data []byte) (lines []string) {
	t.Helper()
	for len(data) > 0 {
		id, n := variable(data, false)
		size, m := variable(data[n:], true)
		if n == 0 || m == 0 || size > uint64(len(data)-n-m) {
			t.Fatalf("element %x of %d bytes in %d", id, size, len(data))
		}
		content := data[n+m : n+m+int(size)]
		data = data[n+m+int(size):]
		switch id {
		case idInfo, idChapters, idEdition, idAtom, idDisplay:
			lines = append(lines, walk(t, content)...)
		case idDuration:
			lines = append(lines, fmt.Sprint("length ", math.Float64frombits(binary.BigEndian.Uint64(content))))
		case idAtomStart:
			lines = append(lines, fmt.Sprint("at ", time.Duration(binary.BigEndian.Uint64(content))))
		case idTitle:
			lines = append(lines, string(content))
		}
	}
	return lines
}

// The length and the chapters take as many bytes as are reserved, however many there are.
func TestAbout(t *testing.T) {
	chapters := []chapter{{0, "navigate"}, {1500 * time.Millisecond, `click "Größe"`}}
	about := new(file).about(2*time.Second, chapters)
	if got := strings.Join(walk(t, about), ", "); got != `length 2000, at 0s, navigate, at 1.5s, click "Größe"` {
		t.Error(got)
	}
	many := make([]chapter, 5000)
	for n := range many {
		many[n] = chapter{time.Duration(n) * time.Second, strings.Repeat("x", 100)}
	}
	for _, chapters := range [][]chapter{nil, chapters, many} {
		about := new(file).about(time.Second, chapters)
		if walk(t, about); len(about) != reserved {
			t.Errorf("%d chapters: %d bytes", len(chapters), len(about))
		}
	}
}
