package snapshot

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// diff shows the changed lines of a snapshot: removed ones with "-", new ones with "+",
// and their parent lines with a space, for context. Equal texts give an empty diff.
func diff(before, after string) string {
	return showDiff(splitMoved(diffLines(splitLines(before), splitLines(after))))
}

// splitMoved shows a line that is in both texts, but below another parent, as removed and
// added, and so the lines below it. A parent that is at the same place among the changed
// lines is the same with another name.
func splitMoved(lines []diffLine) []diffLine {
	type parent struct {
		level, hunk int
		role        string
		number      int // among the removed or added lines of the role
	}
	type open struct {
		parent
		elsewhere bool
	}
	var out []diffLine
	var before, after []open
	hunk, numbers := 0, map[diffLine]int{}
	for _, line := range lines {
		level := indentOf(line.text)
		above := func(stack []open) []open {
			for len(stack) > 0 && stack[len(stack)-1].level >= level {
				stack = stack[:len(stack)-1]
			}
			return stack
		}
		if line.mark != '+' {
			before = above(before)
		}
		if line.mark != '-' {
			after = above(after)
		}
		now := open{parent: parent{level: level, hunk: hunk}}
		if line.mark == ' ' {
			hunk++
			clear(numbers)
			now.hunk, now.number = hunk, -1
			now.elsewhere = len(before) > 0 && len(after) > 0 &&
				(before[len(before)-1].parent != after[len(after)-1].parent || after[len(after)-1].elsewhere)
			before, after = append(before, now), append(after, now)
			if now.elsewhere {
				out = append(out, diffLine{'-', line.text}, diffLine{'+', line.text})
				continue
			}
		} else {
			role, _, _ := strings.Cut(strings.TrimLeft(line.text, " -"), " ")
			now.role = strings.TrimRight(role, ":\n")
			at := diffLine{line.mark, strings.Repeat(" ", level) + now.role}
			now.number = numbers[at]
			numbers[at]++
			if line.mark == '-' {
				before = append(before, now)
			} else {
				after = append(after, now)
			}
		}
		out = append(out, line)
	}
	return out
}

func splitLines(s string) []string { return slices.Collect(strings.Lines(s)) }

// diffLine is one line of the merged texts: ' ' in both, '-' removed, '+' added.
type diffLine struct {
	mark byte
	text string
}

// diffLines matches the lines that are unique in both texts and have the same order in
// both, then equal lines next to those. Refs make nearly every line of a snapshot unique.
// The result is therefore as good as a shortest edit, and the time is linear in the
// number of lines (Cohen's patience diff).
func diffLines(before, after []string) []diffLine {
	var out []diffLine
	x, y := 0, 0
	until := func(endX, endY int) {
		startX, startY := x, y
		for startX < endX && startY < endY && before[startX] == after[startY] {
			out = append(out, diffLine{' ', after[startY]})
			startX, startY = startX+1, startY+1
		}
		common := 0
		for endX-common > startX && endY-common > startY && before[endX-common-1] == after[endY-common-1] {
			common++
		}
		gone, fresh := before[startX:endX-common], after[startY:endY-common]
		// New lines that are indented deeper than the first removed one belong to the line above
		// both.
		inner := 0
		for len(gone) > 0 && inner < len(fresh) && indentOf(fresh[inner]) > indentOf(gone[0]) {
			inner++
		}
		// Further down, the removed lines may leave the parent of the first one. The new lines in
		// that come before those that are not.
		head, end := 0, inner
		for head < len(gone) && indentOf(gone[head]) >= indentOf(gone[0]) {
			head++
		}
		for head < len(gone) && end < len(fresh) && indentOf(fresh[end]) >= indentOf(gone[0]) {
			end++
		}
		add := func(mark byte, lines []string) {
			for _, line := range lines {
				out = append(out, diffLine{mark, line})
			}
		}
		add('+', fresh[:inner])
		add('-', gone[:head])
		add('+', fresh[inner:end])
		add('-', gone[head:])
		add('+', fresh[end:])
		for _, line := range after[endY-common : endY] {
			out = append(out, diffLine{' ', line})
		}
		x, y = endX, endY
	}
	for _, pair := range anchors(before, after) {
		until(pair.x, pair.y)
		out = append(out, diffLine{' ', after[y]})
		x, y = x+1, y+1
	}
	until(len(before), len(after))
	return out
}

// byParent are lines with the refs of their parents: what is the same below two elements, as the
// options of two fields, is not the same line.
func byParent(lines []string) []string {
	var refs []string // of the lines above, by their levels
	keys := make([]string, len(lines))
	for i, line := range lines {
		level := indentOf(line) / 2
		for len(refs) <= level {
			refs = append(refs, "")
		}
		keys[i] = line
		if level > 0 {
			keys[i] += refs[level-1]
		}
		refs[level] = refPattern().FindString(line)
		refs = refs[:level+1]
	}
	return keys
}

type pair struct{ x, y int }

// anchors are the lines that are unique in both texts, as many as have the same order in
// both (a longest increasing subsequence).
func anchors(before, after []string) []pair {
	type place struct{ count, at int }
	where := func(lines []string) map[string]place {
		m := make(map[string]place, len(lines))
		for i, line := range lines {
			m[line] = place{m[line].count + 1, i}
		}
		return m
	}
	before, after = byParent(before), byParent(after)
	inBefore, inAfter := where(before), where(after)
	var pairs []pair
	for y, line := range after {
		if p := inBefore[line]; p.count == 1 && inAfter[line].count == 1 {
			pairs = append(pairs, pair{p.at, y})
		}
	}
	// tails[n] is the pair with the smallest x that ends a sequence of n+1.
	var tails []int
	previous := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(tails, p.x, func(t, x int) int { return pairs[t].x - x })
		previous[i] = -1
		if n > 0 {
			previous[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	longest := make([]pair, len(tails))
	for i, n := tails[len(tails)-1], len(tails)-1; i >= 0; i, n = previous[i], n-1 {
		longest[n] = pairs[i]
	}
	return longest
}

// sameMark begins a line that stands for those that are the same. Their number follows its own, if
// they are beside what has changed.
const sameMark = "\x02"

// lineMark ends a line of a comparison: what follows is the same for the same element only.
const lineMark = "\x05"

// plain is a line without its mark.
func plain(line string) string {
	text, _, marked := strings.Cut(line, lineMark)
	if marked {
		text += "\n"
	}
	return text
}

// showDiff prints the changed lines with their parents, and where those that have moved are.
func showDiff(lines []diffLine) string {
	keep := make([]bool, len(lines))
	for i, line := range lines {
		if line.mark != ' ' {
			other := byte('+' + '-' - line.mark)
			keepWithContext(keep, i, func(i int) (string, bool) { return lines[i].text, lines[i].mark != other })
		}
	}
	between := places(lines, keep)
	var b strings.Builder
	for i, line := range lines {
		if n := between[i]; n > 0 {
			fmt.Fprintf(&b, "  %s… %d as before\n", strings.Repeat(" ", indentOf(line.text)), n)
		}
		if keep[i] && !strings.Contains(line.text, sameMark) {
			b.WriteByte(line.mark)
			b.WriteByte(' ')
			b.WriteString(plain(line.text))
		}
	}
	return b.String()
}

// collections are the roles of what holds items in an order that a reader needs.
var collections = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^ *- (list|table|grid|treegrid|rowgroup|row|listbox|tree|menu|menubar|tablist|feed|log|radiogroup)\b`)
})

// maxBeside bounds the length of an unchanged line that shows the place of one that has moved.
const maxBeside = 200

// places keeps the lines beside those that have moved, and counts the other unchanged lines at the
// same level, by the first of each row of them. Without them a reader cannot know the new order. In
// a list or a table, what is between two changes is counted too, and what is before a new item.
func places(lines []diffLine, keep []bool) (between map[int]int) {
	gone, children := map[string]bool{}, map[int][]int{}
	var before, after []int // the lines above, in both texts
	for i, line := range lines {
		level, parent := indentOf(line.text), -1
		for _, stack := range []*[]int{&before, &after} {
			if other := (stack == &before) == (line.mark == '+'); other && line.mark != ' ' {
				continue
			}
			for len(*stack) > 0 && indentOf(lines[(*stack)[len(*stack)-1]].text) >= level {
				*stack = (*stack)[:len(*stack)-1]
			}
			if parent = -1; len(*stack) > 0 {
				parent = (*stack)[len(*stack)-1]
			}
			*stack = append(*stack, i)
		}
		children[parent] = append(children[parent], i)
		if line.mark == '-' {
			gone[strings.TrimSpace(plain(line.text))] = true
		}
	}
	between = map[int]int{}
	isMoved := func(i int) bool { return lines[i].mark == '+' && gone[strings.TrimSpace(plain(lines[i].text))] }
	for parent, all := range children {
		first, last := 0, len(all) // where rows of unchanged lines are counted
		if !slices.ContainsFunc(all, isMoved) {
			if parent < 0 || !collections().MatchString(lines[parent].text) ||
				!slices.ContainsFunc(all, func(i int) bool { return lines[i].mark == '+' }) {
				continue
			}
			changed := func(i int) bool { return lines[i].mark != ' ' }
			first, last = slices.IndexFunc(all, changed), 0
			for n, i := range all {
				if changed(i) {
					last = n
				}
			}
			if inserts(lines, all) {
				first = 0
			}
		}
		for n := first; n < last; n++ {
			end := n
			for end < len(all) && lines[all[end]].mark == ' ' && !keep[all[end]] {
				end++
			}
			if end > n {
				between[all[n]] = hide(lines, keep, all[n:end], end < len(all) && isMoved(all[end]))
				n = end
			}
		}
	}
	return between
}

// inserts reports whether there is a new line among these that is not in the place of another.
func inserts(lines []diffLine, all []int) bool {
	rest := 0
	for _, i := range all {
		switch lines[i].mark {
		case ' ':
			rest = 0
		case '+':
			rest++
		case '-':
			rest--
		}
		if rest > 0 {
			return true
		}
	}
	return false
}

// hide keeps a few unchanged lines, or the last of many that one which has moved follows, and
// returns how many it does not keep.
func hide(lines []diffLine, keep []bool, row []int, moved bool) int {
	count := 0
	for _, i := range row {
		_, mark, same := strings.Cut(lines[i].text, sameMark)
		_, number, counted := strings.Cut(strings.TrimSpace(mark), " ")
		n, _ := strconv.Atoi(number)
		switch {
		case same && !counted: // nothing beside it has changed
			return 0
		case same:
			count += n
		default:
			count++
		}
	}
	show := func(i int) bool {
		if strings.Contains(lines[i].text, sameMark) || len(lines[i].text) > maxBeside {
			return false
		}
		keepWithContext(keep, i, func(i int) (string, bool) { return lines[i].text, lines[i].mark != '-' })
		return true
	}
	switch {
	case count <= 2 && !slices.ContainsFunc(row, func(i int) bool { return len(lines[i].text) > maxBeside }):
		for _, i := range row {
			show(i)
		}
		return 0
	case moved && show(row[len(row)-1]):
		return count - 1
	}
	return count
}

// keepWithContext marks a line of an outline, its parent lines, and, for a line that
// omits its roles, the line with the roles.
//
// text returns a line, and whether it counts.
func keepWithContext(keep []bool, i int, text func(int) (string, bool)) {
	keep[i] = true
	line, _ := text(i)
	level, ditto := indentOf(line), isDitto(line)
	for i--; i >= 0; i-- {
		line, counts := text(i)
		indent := indentOf(line)
		switch {
		case !counts:
		case indent < level:
			if keep[i] {
				return
			}
			keep[i], level, ditto = true, indent, false
		case indent == level && ditto && !isDitto(line):
			keep[i], ditto = true, false
		}
		if level == 0 && !ditto {
			return
		}
	}
}

// Fit is how many lines of an outline fit into so many bytes. An item that does not fit whole
// would look complete: it is left out, unless it is most of them.
func Fit(lines []string, limit int) int {
	n, size := 0, make([]int, len(lines)+1) // the size is that of the lines before
	for n < len(lines) && size[n]+len(lines[n]) <= limit {
		size[n+1] = size[n] + len(lines[n])
		n++
	}
	if n == len(lines) {
		return n
	}
	for i := parentOf(lines, n); i > 0 && size[i] > size[n]/2; i = parentOf(lines, i) {
		if itemLine().MatchString(lines[i]) {
			return i
		}
	}
	return n
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// isDitto reports whether a line of an outline has the roles of the line above it,
// see snapshot.js.
func isDitto(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, `- "`) || strings.HasPrefix(line, "- [")
}
