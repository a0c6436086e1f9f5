// Package secrets hides values from agents: an answer has the value's name in place of
// the value, however the text is encoded or cut.
package secrets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"browser-coordinator/internal/trusted"
)

// Set is a set of values that no agent sees. When an agent types the name of a value, the
// value itself is typed.
type Set struct {
	values map[string]string // by name
	mu     sync.RWMutex
	// mu guards these.
	forms   []spelling
	learned map[string]int // by name: texts that fields have made of the value
}

// Load reads a file of lines NAME=VALUE, as dotenv files have them:
// comments, "export", and quotes around values.
func Load(file string) (*Set, error) {
	data, err := trusted.ReadRegular(file)
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	values, err := parseDotenv(data)
	if err != nil {
		return nil, fmt.Errorf("secrets %s: %w", file, err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n := utf8.RuneCountInString(values[name]); n > 0 && n < shortest {
			return nil, fmt.Errorf("secrets %s: the value of %s has fewer than %d characters: every word that holds "+
				"them would be hidden. Leave it out", file, name, shortest)
		}
	}
	all := New(values)
	if len(all.values) == 0 {
		return nil, fmt.Errorf("secrets %s: it has no values, so nothing would be hidden: add lines NAME=VALUE, or "+
			"omit the file", file)
	}
	return all, nil
}

// shortest is the minimum length of a value in characters: a shorter one is part of any
// text.
const shortest = 3

// New makes a Set from values by name, without the empty ones.
func New(values map[string]string) *Set {
	s := &Set{values: maps.Clone(values)}
	maps.DeleteFunc(s.values, func(_, value string) bool { return value == "" })
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		s.add(name, s.values[name])
	}
	return s
}

func (s *Set) add(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forms = slices.Concat(s.forms, formsOf(name, value))
}

// Extend is the set with further values, without those that are too short to search for.
func (s *Set) Extend(values map[string]string) *Set {
	all := New(map[string]string{})
	if s != nil {
		maps.Copy(all.values, s.values)
		s.mu.RLock()
		all.forms = s.forms
		s.mu.RUnlock()
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value := values[name]; utf8.RuneCountInString(value) >= shortest {
			all.values[name] = value
			all.add(name, value)
		}
	}
	return all
}

// Learn also hides what a field has made of a typed secret: with a maximum length or a mask
// the field holds another text, which the page may show anywhere. The page chooses that text,
// so only what can come from the value is hidden.
func (s *Set) Learn(name, value string) {
	if s == nil || s.values[name] == "" {
		return
	}
	if value = derived(value, s.values[name]); value != "" && s.Hide(value) == value {
		s.add(name, value)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.learned == nil {
			s.learned = map[string]int{}
		}
		s.learned[name]++
	}
}

// maxLearned bounds what is learned of a value: every answer is searched for all of it.
const maxLearned = 200

// Typable refuses to type a secret once its fields have made too many texts of it: another one
// could not be hidden.
func (s *Set) Typable(name string) error {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.learned[name] < maxLearned {
		return nil
	}
	return fmt.Errorf("%s is not typed: the page has made %d other texts of it, and no more can be hidden. Ask the "+
		"user to type it", name, maxLearned)
}

// derived is what can come from a value in the text that a field made of it: the longest part
// whose letters and digits are all from the value, none more often than there, without regard
// to case and order. Other characters may be between them. It is empty for less than half of
// the value, unless that is a piece of the value: a page would hide common words by it.
func derived(text, value string) string {
	remaining, of := map[rune]int{}, 0
	for _, r := range value {
		if !unicode.IsSpace(r) {
			remaining[unicode.ToLower(r)]++
			of++
		}
	}
	runes := []rune(text)
	from, best := 0, ""
	used, limit := 0, shortest-1     // characters from the value
	uses := make([]bool, len(runes)) // which they are
	for index, r := range runes {
		r = unicode.ToLower(r)
		if uses[index] = unicode.IsLetter(r) || unicode.IsDigit(r) || remaining[r] > 0; !uses[index] {
			continue
		}
		used++
		remaining[r]--
		for ; remaining[r] < 0 || from <= index && !uses[from]; from++ { // begin with one that is needed
			if uses[from] {
				used--
				remaining[unicode.ToLower(runes[from])]++
			}
		}
		if used > limit {
			limit, best = used, string(runes[from:index+1])
		}
	}
	if 2*limit < of && !strings.Contains(alphanumeric(value), cmp.Or(alphanumeric(best), " ")) {
		return ""
	}
	return best
}

// alphanumeric is the letters and digits of a text, in lower case.
func alphanumeric(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Value is what is typed for a text: the secret of that name, or else the text itself.
func (s *Set) Value(text string) string {
	if s != nil && s.values[text] != "" {
		return s.values[text]
	}
	return text
}

// Hide replaces the values in a text by their names.
func (s *Set) Hide(text string) string {
	var b strings.Builder
	for _, part := range s.Split(text) {
		b.WriteString(part.Redacted())
	}
	return b.String()
}

// Part is a part of a text.
type Part struct {
	Text string // as it is in the text
	Name string // of the value that the part contains, in any spelling; empty: none
	// Whole: the part is that value as it is, and not another spelling, or a part of it.
	Whole bool
}

// Redacted is what an agent may see of the part.
func (p Part) Redacted() string {
	if p.Name == "" {
		return p.Text
	}
	return "<secret>" + p.Name + "</secret>"
}

// Split separates the values in a text from the rest.
func (s *Set) Split(text string) []Part {
	if s == nil {
		return []Part{{Text: text}}
	}
	s.mu.RLock()
	forms := s.forms
	s.mu.RUnlock()
	parts := splitForms(text, forms)
	for i, part := range parts {
		parts[i].Whole = part.Name != "" && part.Text == s.values[part.Name]
	}
	return parts
}

// HideCut is Hide for a text that was cut at its end; the cut may fall into a value.
func (s *Set) HideCut(text string) string {
	return strings.TrimSuffix(s.Hide(text+cutMark), cutMark)
}
