//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestAims: each figure is judged by the best Go or Node peer, in the direction
// that counts, and what is left after idle connections by nothing at all.
func TestAims(t *testing.T) {
	b := &bench{samples: map[string]map[string][][]float64{
		"echo": {"floor": {{10}, {20}}, "endpoint": {{12}, {24}}, "ReverseProxy": {{12}, {24}}, "whole messages": {{20}, {40}}},
		"down": {"direct": {{3}}, "endpoint": {{1.4}}, "ReverseProxy": {{1.5}}, "http-proxy": {{0.7}}},
		"left": {"endpoint": {{0}, {3}}, "ReverseProxy": {{0}, {0}}},
		"peak": {"endpoint": {{2}, {3}}, "ReverseProxy": {{0}, {1}}}, // nothing in one round is no ratio
	}}
	r := &report{Rows: b.rows()}
	r.aims()
	text := r.markdown()
	for _, want := range []string{
		"echo of 100 bytes, p50: at the most 1.00 × the best Go or Node peer (ReverseProxy): 1.00, held",
		"frames of 1 MB: at least 1.00 × the best Go or Node peer (ReverseProxy): 0.93, **missed**",
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
