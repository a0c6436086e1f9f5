package chrome

import "testing"

func TestParseSize(t *testing.T) {
	if w, h, err := ParseSize("1280x800"); w != 1280 || h != 800 || err != nil {
		t.Error(w, h, err)
	}
	for _, bad := range []string{"", "wide", "1280", "1280x", "0x10", "-5x10", "10x10x10", "10 x 10 apples"} {
		if _, _, err := ParseSize(bad); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}
