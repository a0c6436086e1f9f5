package snapshot

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/frame"
)

// landmarks are the parts that the pages of a site share, as the agent was last shown them in this
// tab: headers, navigations, footers and asides. The beginning of the next document has one line
// for each that is as it was, and the refs in it stay valid.
type landmarks struct {
	origin string              // of the document that they are of
	lines  map[string][]string // lines, by role, name and place
}

// maxLandmarks bounds how many are kept.
const maxLandmarks = 100

// landmarkMark comes before the ref of a landmark, which has none where it is printed whole.
const landmarkMark = " \x06"

var (
	landmarkLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^ *- (banner|navigation|contentinfo|complementary)\b( "(?:[^"\\]|\\.)*")?`)
	})
	landmarkRef   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(landmarkMark + `\[ref=e\d+\]`) })
	passingStates = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(` \[(current|active|selected|expanded|collapsed|inert)\]`)
	})
)

// landmark is one in the text of a document.
type landmark struct {
	key        string
	start, end int // its lines
}

// landmarksIn finds the landmarks of a document, each before those in it. It leaves out those of
// frames, and what may not be whole. cut: there are more lines.
func landmarksIn(lines []string, cut bool) []landmark {
	var found []landmark
	counts := map[string]int{}
	for i := 0; i < len(lines); i++ {
		end := i + 1
		for end < len(lines) && indentOf(lines[end]) > indentOf(lines[i]) {
			end++
		}
		if frameLine().MatchString(lines[i]) {
			i = end - 1
			continue
		}
		match := landmarkLine().FindStringSubmatch(lines[i])
		if match == nil {
			continue
		}
		key := match[1] + match[2]
		counts[key]++
		part := func(line string) bool {
			return frameLine().MatchString(line) || strings.Contains(line, frameMark) ||
				strings.HasSuffix(line, "…\n")
		}
		if !(cut && end == len(lines)) && !slices.ContainsFunc(lines[i:end], part) {
			found = append(found, landmark{fmt.Sprint(key, " ", counts[key]), i, end})
		}
	}
	return found
}

// dedent are the lines of a landmark without the indentation of the first, and without its mark.
func dedent(lines []string) []string {
	out, indent := make([]string, len(lines)), indentOf(lines[0])
	for i, line := range lines {
		out[i] = landmarkRef().ReplaceAllString(line[indent:], "")
	}
	return out
}

// Give notes what the agent has been shown of the main document, as lines of a snapshot.
func (r *Reader) Give(text string) { r.give(splitLines(text), false) }

func (r *Reader) give(lines []string, cut bool) {
	origin := r.origin()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.landmarks.origin != origin || len(r.landmarks.lines) > maxLandmarks || r.landmarks.lines == nil {
		r.landmarks = landmarks{origin, map[string][]string{}}
	}
	for _, l := range landmarksIn(lines, cut) {
		r.landmarks.lines[l.key] = dedent(lines[l.start:l.end])
	}
}

// origin is that of the main document; empty if it has none that other documents share.
func (r *Reader) origin() string {
	main, _ := r.page.Frames.Frame(r.page.Frames.Main())
	return address.Origin(main.URL)
}

// forget drops the landmarks that a diff shows: the agent knows them otherwise now. r.mu is held.
func (r *Reader) forget(diff string) {
	roles := map[string]bool{}
	for line := range strings.Lines(diff) {
		if match := landmarkLine().FindStringSubmatch(line[min(2, len(line)):]); match != nil {
			roles[match[1]] = true
		}
	}
	maps.DeleteFunc(r.landmarks.lines, func(key string, lines []string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			match := landmarkLine().FindStringSubmatch(line)
			return match != nil && roles[match[1]]
		})
	})
}

// asBefore is the text of a document with one line for each landmark that is as the agent was
// shown it before. full has all lines, with the refs that are valid, and ends how many of them
// each of those stands for, with those before it.
func (r *Reader) asBefore(ctx context.Context, lines []string, cut bool) (short []string, ends []int, full []string) {
	origin := r.origin()
	r.mu.Lock()
	known := map[string][]string{}
	if r.landmarks.origin == origin && origin != "" {
		known = maps.Clone(r.landmarks.lines)
	}
	r.mu.Unlock()
	folds, numbers, end := map[int]fold{}, map[int]int{}, 0
	for _, l := range landmarksIn(lines, cut) {
		if l.start < end {
			continue
		}
		f, same := compare(lines[l.start:l.end], known[l.key])
		if !same {
			continue
		}
		end = l.end
		f.end = l.end
		folds[l.start] = f
		maps.Copy(numbers, f.numbers)
	}
	if len(folds) > 0 && !r.renumber(ctx, numbers) {
		clear(folds)
		clear(numbers)
	}
	renamed := func(line string) string {
		return refPattern().ReplaceAllStringFunc(line, func(ref string) string {
			n, _ := strconv.Atoi(refPattern().FindStringSubmatch(ref)[1])
			if then, ok := numbers[n]; ok {
				return strings.Replace(ref, strconv.Itoa(n), strconv.Itoa(then), 1)
			}
			return ref
		})
	}
	for i := 0; i < len(lines); i++ {
		f, folded := folds[i]
		if !folded {
			line := landmarkRef().ReplaceAllString(lines[i], "")
			short, full = append(short, line), append(full, line)
			ends = append(ends, len(full))
			continue
		}
		indent := strings.Repeat(" ", indentOf(lines[i]))
		for _, line := range lines[i:f.end] {
			full = append(full, renamed(landmarkRef().ReplaceAllString(line, "")))
		}
		text := indent + f.line
		for _, line := range f.changed {
			text += indent + "  " + renamed(line)
		}
		short, ends = append(short, text), append(ends, len(full)) // nothing cuts it
		i = f.end - 1
	}
	return short, ends, full
}

// fold stands for the lines of a landmark.
type fold struct {
	line    string
	changed []string    // lines with another state
	numbers map[int]int // the refs that the elements had before, by those of now
	end     int
}

// minFolded is how much shorter than a landmark the line for it must be.
const minFolded = 40

// compare reports whether a landmark is as it was but for its refs, and for the state of a few
// of its elements: the link of the page that is current.
func compare(lines, before []string) (f fold, same bool) {
	head, ref, marked := strings.Cut(lines[0], landmarkMark)
	if !marked || len(lines) != len(before) {
		return f, false
	}
	ref, _, _ = strings.Cut(ref, "]")
	now := dedent(lines)
	bare := func(line string) string { return refPattern().ReplaceAllString(line, " [ref]") }
	f.numbers = map[int]int{}
	for i, line := range now {
		previous, current := bare(before[i]), bare(line)
		if previous != current {
			if passingStates().ReplaceAllString(previous, "") != passingStates().ReplaceAllString(current, "") {
				return f, false
			}
			f.changed = append(f.changed, strings.TrimLeft(line, " "))
		}
		then := refPattern().FindAllStringSubmatch(before[i], -1)
		for n, found := range refPattern().FindAllStringSubmatch(line, -1) {
			number, _ := strconv.Atoi(found[1])
			f.numbers[number], _ = strconv.Atoi(then[n][1])
		}
	}
	f.line = fmt.Sprintf("%s %s]: as before (%d lines)", strings.TrimLeft(head, " "), ref, len(lines))
	if len(f.changed) > 0 {
		f.line += ", but for:"
	}
	f.line += "\n"
	return f, len(f.line)+len(strings.Join(f.changed, ""))+minFolded < len(strings.Join(now, ""))
}

// renumber gives elements of the main document the refs that the same ones had in the last.
func (r *Reader) renumber(ctx context.Context, numbers map[int]int) bool {
	main, _ := r.page.Frames.Frame(r.page.Frames.Main())
	var pairs [][2]int
	var refs []frame.Ref
	for now, then := range numbers {
		label, known := r.page.Frames.Label(now)
		if !known {
			return false
		}
		pairs, refs = append(pairs, [2]int{now, then}), append(refs, frame.Ref{Number: then, Label: label})
	}
	if len(pairs) == 0 {
		return true
	}
	r.numbering.Lock()
	defer r.numbering.Unlock()
	var done bool
	err := r.page.Frames.Run(ctx, main.ID, renumberFunction, map[string]any{
		"generation": main.Generation, "numbers": pairs,
	}, &done)
	return err == nil && done && r.page.Frames.AddRefs(main.ID, 0, 0, refs) == nil
}
