//go:build linux

package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFaults: each fault is counted.
func TestFaults(t *testing.T) {
	s, err := startSite()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	r := newResult(io.Discard, io.Discard)
	act := func(id string) {
		t.Helper()
		res, err := http.Post(s.url+"/act?id="+id, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	for _, id := range []string{"once", "twice", "twice", "unknown once"} {
		act(id)
	}
	for id, o := range map[string]outcome{"once": done, "twice": done, "never": done, "unknown once": unknown,
		"unknown never": unknown} {
		r.action(id, o)
	}
	r.checkActions(s)
	r.check("a0", "w0-a0-1", "a0-1", json.RawMessage(`{"mark":"w0-a0-1","id":"a0-1"}`), false)
	if want := map[string]int{"lost": 1, "doubled": 1}; !maps.Equal(r.faults, want) {
		t.Errorf("counted %v, want %v", r.faults, want)
	}
	for _, other := range []string{`{"mark":"w1-a0-1","id":"a0-1"}`, `{"mark":"w0-a0-1","id":"a0-2"}`, `null`, ``} {
		r.check("a0", "w0-a0-1", "a0-1", json.RawMessage(other), false)
	}
	if r.faults["wrong"] != 4 || r.ok() {
		t.Errorf("counted %v", r.faults)
	}
}

// TestLeftBehind: a remaining process, socket folder and temporary file are counted and
// removed.
func TestLeftBehind(t *testing.T) {
	p, err := newPlace("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	sleep := exec.Command("sleep", "600")
	sleep.Env = p.env
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "tm", "left"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newResult(io.Discard, io.Discard)
	p.checkLeft(r, 0)
	sleep.Wait()
	if r.faults["orphaned"] != 2 {
		t.Errorf("counted %v", r.faults)
	}
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("the run's folder: %v", err)
	}
}
