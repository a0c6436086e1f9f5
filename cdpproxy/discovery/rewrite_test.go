package discovery

import "testing"

// TestNewAddress: the address is read as Chromium reads it.
func TestNewAddress(t *testing.T) {
	for query, want := range map[string]string{
		"": "", "a.test": "a.test", "a+b": "a+b", "a%20b%26c&for_tab": "a b&c", "%": "%", "%4": "%4", "%zz": "%zz",
		"%%41": "%A", "%2541": "%41",
		"chrome%3A//crash/%zz": "chrome://crash/%zz", "%c3%a4%": "ä%",
	} {
		if got := NewAddress(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
