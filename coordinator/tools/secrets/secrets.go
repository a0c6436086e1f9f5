// Package secrets hides values from agents: an answer has the value's name in place of
// the value, however the text is encoded or cut.
package secrets

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Set is a set of values that no agent sees. When an agent types the name of a value, the
// value itself is typed.
type Set struct {
	values map[string]string // by name
	forms  atomic.Pointer[[]spelling]
	mu     sync.Mutex // held while forms is replaced
}

// Load reads a file of lines NAME=VALUE, as dotenv files have them:
// comments, "export", and quotes around values.
func Load(file string) (*Set, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	values, err := parseDotenv(data)
	if err != nil {
		return nil, fmt.Errorf("secrets %s: %w", file, err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n := utf8.RuneCountInString(values[name]); n > 0 && n < shortest {
			return nil, fmt.Errorf("secrets %s: the value of %s has fewer than %d characters: every word that holds them would be hidden. Leave it out", file, name, shortest)
		}
	}
	return New(values), nil
}

// shortest is the minimum length of a value in characters: a shorter one is part of any
// text.
const shortest = 3

// New makes a Set from values by name, without the empty ones.
func New(values map[string]string) *Set {
	s := &Set{values: map[string]string{}}
	for name, value := range values {
		if value == "" {
			continue
		}
		s.values[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		s.add(name, s.values[name])
	}
	return s
}

func (s *Set) add(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var forms []spelling
	if now := s.forms.Load(); now != nil {
		forms = *now
	}
	forms = slices.Concat(forms, formsOf(name, value))
	s.forms.Store(&forms)
}

// Learn also hides the text that a field has made of a typed secret: with a maximum
// length or a mask the field holds another text, which the page may show anywhere.
func (s *Set) Learn(name, value string) {
	if s == nil || s.values[name] == "" || s.values[name] == value || utf8.RuneCountInString(value) < shortest || s.Hide(value) != value {
		return
	}
	s.add(name, value)
}

// Value is what is typed for a text: the secret of that name, or else the text itself.
func (s *Set) Value(text string) string {
	if s == nil {
		return text
	}
	if value, ok := s.values[text]; ok {
		return value
	}
	return text
}

// Hide replaces the values in a text by their names.
func (s *Set) Hide(text string) string {
	if s == nil {
		return text
	}
	forms := s.forms.Load()
	if forms == nil || text == "" {
		return text
	}
	return hideForms(text, *forms)
}

// HideCut is Hide for a text that was cut at its end; the cut may fall into a value.
func (s *Set) HideCut(text string) string {
	if s == nil {
		return text
	}
	return strings.TrimSuffix(s.Hide(text+cutMark), cutMark)
}
