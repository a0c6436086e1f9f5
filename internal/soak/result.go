//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// faults are what must never happen, in the order in which they are printed.
var faults = []string{"wrong", "lost", "doubled", "hung", "orphaned"}

// result counts the workers' actions and the faults.
type result struct {
	log    io.Writer
	agents *log.Logger // what the coordinators of the agents log
	began  time.Time

	mu      sync.Mutex // guards the fields that follow
	calls   map[string]int
	faults  map[string]int
	recent  []string           // the last disturbances, which are printed with a fault
	actions map[string]outcome // by id
}

// outcome is what the caller of an action knows about it.
type outcome int

const (
	unknown outcome = iota // it was called, and its end is unknown
	done                   // a response came
)

func newResult(out, agents io.Writer) *result {
	return &result{log: out, agents: log.New(agents, "", log.Ltime|log.Lmicroseconds), began: time.Now(),
		calls: map[string]int{}, faults: map[string]int{},
		actions: map[string]outcome{}}
}

// add counts a call or another event.
func (r *result) add(kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[kind]++
}

// disturbed counts what was done to a process.
func (r *result) disturbed(kind, name string) {
	r.add(kind)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = append(r.recent, fmt.Sprintf("%.1fs %s: %s", time.Since(r.began).Seconds(), kind, name))
	r.recent = r.recent[max(0, len(r.recent)-5):]
}

// fault counts and reports a fault.
func (r *result) fault(kind, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[kind]++
	fmt.Fprintf(r.log, "%6.1fs %s: %s; before: %s\n", time.Since(r.began).Seconds(), kind,
		fmt.Sprintf(format, args...), strings.Join(r.recent, ", "))
}

// action records what is known about an action.
func (r *result) action(id string, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actions[id] = o
}

// checkActions compares what the callers know with the actions in the pages. An action
// with a response ran once, any other at most once.
func (r *result) checkActions(s *site) {
	r.mu.Lock()
	actions := maps.Clone(r.actions)
	r.mu.Unlock()
	for id, o := range actions {
		switch n := s.done(id); {
		case n > 1:
			r.fault("doubled", "the action %s was done %d times", id, n)
		case n == 0 && o == done:
			r.fault("lost", "the action %s has a response, and was not done", id)
		}
	}
}

// ok reports whether nothing went wrong.
func (r *result) ok() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.faults) == 0
}

func (r *result) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []string
	for _, kind := range faults {
		parts = append(parts, fmt.Sprintf("%s %d", kind, r.faults[kind]))
	}
	var calls []string
	for _, kind := range slices.Sorted(maps.Keys(r.calls)) {
		calls = append(calls, fmt.Sprintf("%s %d", kind, r.calls[kind]))
	}
	return strings.Join(parts, ", ") + " (" + strings.Join(calls, ", ") + ")"
}

// response is a page's response: its mark, and the id of the question.
type response struct {
	Mark  string `json:"mark"`
	ID    string `json:"id"`
	Count int    `json:"count"`
}

// check compares a response with its question: both must be of the same page and have
// the same id.
func (r *result) check(name, mark, id string, value json.RawMessage, acts bool) {
	var got response
	if err := json.Unmarshal(value, &got); err != nil || got.Mark != mark || got.ID != id {
		r.fault("wrong", "%s asked %s in %s, and got %.300s", name, id, mark, value)
		return
	}
	if acts && got.Count > 1 {
		r.fault("doubled", "%s: the action %s was done %d times", name, id, got.Count)
	}
}
