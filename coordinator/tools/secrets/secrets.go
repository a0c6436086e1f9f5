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
	"unicode/utf8"
)

// Set is a set of values that no agent sees. When an agent types the name of a value, the
// value itself is typed.
type Set struct {
	values map[string]string // by name
	mu     sync.RWMutex
	forms  []spelling // guarded by mu
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
	if s != nil && s.values[text] != "" {
		return s.values[text]
	}
	return text
}

// Hide replaces the values in a text by their names.
func (s *Set) Hide(text string) string {
	if s == nil {
		return text
	}
	s.mu.RLock()
	forms := s.forms
	s.mu.RUnlock()
	return hideForms(text, forms)
}

// HideCut is Hide for a text that was cut at its end; the cut may fall into a value.
func (s *Set) HideCut(text string) string {
	return strings.TrimSuffix(s.Hide(text+cutMark), cutMark)
}
