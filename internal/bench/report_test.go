//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

// TestAims: each figure is compared with the best Go or Node peer, in the direction that
// counts. What remains after idle connections is compared with none.
func TestAims(t *testing.T) {
	b := &bench{samples: map[string]map[string][][]float64{
		"echo":        {"floor": {{10}, {20}}, "endpoint": {{12}, {24}}, "ReverseProxy": {{12}, {24}}, "whole messages": {{20}, {40}}},
		"down":        {"direct": {{3}}, "endpoint": {{1.4}}, "ReverseProxy": {{1.5}}, "http-proxy": {{0.7}}},
		"left":        {"endpoint": {{0}, {3}}, "ReverseProxy": {{0}, {0}}},
		"left memory": {"endpoint": {{-0.5}, {-0.1}}, "ReverseProxy": {{2}, {3}}}, // a value below 0 is held
		"peak":        {"endpoint": {{2}, {3}}, "ReverseProxy": {{0}, {1}}},       // 0 in one round has no ratio
	}}
	r := &report{Rows: b.rows()}
	r.aims()
	text := r.markdown()
	for _, want := range []string{
		"echo of 100 bytes, p50: at the most 1.00 × the best Go or Node peer (ReverseProxy): 1.00, held",
		"frames of 1 MB: at least 1.00 × the best Go or Node peer (ReverseProxy): 0.93, **missed**",
		"memory left for each then: at the most 1.00 × the best Go or Node peer (ReverseProxy): 0.00, held",
		"descriptors left when all are closed: at the most 0.00: 3.00, **missed**",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Inf") {
		t.Errorf("a ratio to nothing in\n%s", text)
	}
}

// TestAtRest: the memory at rest is the least value, and the wait for it ends.
func TestAtRest(t *testing.T) {
	values := []float64{9, 5, 7, 4, 8}
	now := func() float64 {
		value := values[0]
		if len(values) > 1 {
			values = values[1:]
		}
		return value
	}
	if least := leastOf(now, time.Millisecond, 200*time.Millisecond, time.Minute); least != 4 {
		t.Errorf("%v is the least of 9, 5, 7, 4 and 8", least)
	}
	falls := 0.0
	less := func() float64 { falls--; return falls }
	if leastOf(less, time.Millisecond, time.Minute, 20*time.Millisecond); falls > -2 {
		t.Errorf("asked %v times", -falls)
	}
}
