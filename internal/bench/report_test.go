//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAims: a figure is compared with its reference or with ReverseProxy of the same
// round.
func TestAims(t *testing.T) {
	b := &bench{samples: map[string]map[string][][]float64{
		"evaluate":   {"direct": {{10}, {20}}, "endpoint": {{13}, {26}}, "ReverseProxy": {{13}, {26}}},
		"screenshot": {"direct": {{100}}, "endpoint": {{60}}, "ReverseProxy": {{100}}},
		"peak":       {"endpoint": {{0}, {3}}, "ReverseProxy": {{0}, {1}}},
	}}
	r := &report{Rows: b.rows()}
	r.aims()
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	text := r.markdown()
	for _, want := range []string{
		"evaluate in Chromium, p50: at the most 1.03 × ReverseProxy: 1.00, held",
		"1080: at the most 0.55 × direct: 0.60, **missed**",
		"more memory while 50 MB pass: at the most 16.00 MB: 3.00, held",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
