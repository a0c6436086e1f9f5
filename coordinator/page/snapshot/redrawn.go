package snapshot

import (
	"fmt"
	"slices"
	"strings"
)

// fewRedrawn is the most lines in a row that are shown although only their refs are new.
const fewRedrawn = 3

// foldRedrawn says in one line of a diff what the page has redrawn as it was, but
// for its refs: the rows of a table that was sorted by the same column, for example.
func foldRedrawn(text string) string {
	var out strings.Builder
	var gone, fresh []string
	end := func() {
		for _, line := range withoutRedrawn(gone, fresh) {
			out.WriteString(line)
		}
		gone, fresh = nil, nil
	}
	for line := range strings.Lines(text) {
		switch line[0] {
		case '-':
			if len(fresh) > 0 {
				end()
			}
			gone = append(gone, line)
		case '+':
			fresh = append(fresh, line)
		default:
			end()
			out.WriteString(line)
		}
	}
	end()
	return out.String()
}

// withoutRedrawn are the removed lines of a diff and the new lines after them, with one line
// for many that differ only in their refs.
func withoutRedrawn(gone, fresh []string) []string {
	var out []string
	folded := false
	x, y, same := 0, 0, 0 // the last lines before x and y that are the same
	flush := func() {
		old, now := gone[x-same:x], fresh[y-same:y]
		if same > fewRedrawn {
			out, folded = append(out, redrawnLine(now)), true
		} else {
			out = slices.Concat(out, old, now)
		}
		same = 0
	}
	for _, line := range diffLines(withoutRefs(gone), withoutRefs(fresh)) {
		if line.mark == ' ' {
			x, y, same = x+1, y+1, same+1
			continue
		}
		flush()
		if line.mark == '-' {
			out, x = append(out, gone[x]), x+1
		} else {
			out, y = append(out, fresh[y]), y+1
		}
	}
	flush()
	if !folded {
		return slices.Concat(gone, fresh)
	}
	return out
}

func withoutRefs(lines []string) []string {
	bare := make([]string, len(lines))
	for i, line := range lines {
		bare[i] = refPattern().ReplaceAllString(line[2:], "")
	}
	return bare
}

// redrawnLine stands for new lines that are as others were.
func redrawnLine(lines []string) string {
	refs := refPattern().FindAllStringSubmatch(strings.Join(lines, ""), -1)
	indent := strings.Repeat(" ", 2+indentOf(lines[0][2:]))
	if len(refs) == 0 {
		return fmt.Sprintf("%s… %d lines are as they were\n", indent, len(lines))
	}
	return fmt.Sprintf("%s… %d lines are as they were, with new refs: e%s to "+
		"e%s\n", indent, len(lines), refs[0][1], refs[len(refs)-1][1])
}
