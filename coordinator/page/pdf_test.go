package page

import (
	"bytes"
	"testing"
)

func TestPDF(t *testing.T) {
	p, _ := open(t, "<!doctype html><p>paper")
	if data, err := p.PDF(t.Context()); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("%.20q %v", data, err)
	}
}
