package tools

import (
	"errors"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
)

func TestOrigins(t *testing.T) {
	o, err := ParseOrigins([]string{"https://example.com", "http://localhost:*;*.test", "api.dev:8443"}, []string{"evil.test, http://localhost:666"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"https://example.com/a?b":       "",
		"https://EXAMPLE.com:443/":      "",
		"https://example.com./":         "",
		"https://example.com:8443/":     "does not list",
		"http://example.com/":           "does not list",
		"https://sub.example.com/":      "does not list",
		"https://example.com.evil.org/": "does not list",
		"https://example.com@evil.org/": "does not list",
		"http://localhost:3000/":        "",
		"ws://localhost:3000/":          "does not list",
		"http://localhost:666/":         "--blocked-origins lists http://localhost:666",
		"https://a.b.test:1/":           "",
		"https://test/":                 "does not list",
		"https://evil.test/":            "--blocked-origins",
		"http://api.dev:8443/":          "",
		"https://api.dev/":              "does not list",
		"about:blank":                   "",
		"data:text/html,x":              "",
		"":                              "",
		"http://[::1]:80/":              "does not list",
		"https://exa%mple.com/":         "cannot be read",
	} {
		err := o.Check(address)
		var refused *page.OriginError
		if want == "" && err != nil || want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	blocked, err := ParseOrigins(nil, []string{"http://[::1]:8080"})
	if err != nil || blocked.Check("http://[::1]:8080/") == nil || blocked.Check("http://[::1]/") != nil || blocked.Check("https://anything.org") != nil {
		t.Errorf("only blocked ones: %v", err)
	}
	if none, err := ParseOrigins(nil, []string{" "}); none != nil || err != nil || none.Check("https://x.org") != nil {
		t.Errorf("none: %v %v", none, err)
	}
	for _, bad := range []string{"https://", "ftp://x", "https://a/b", "a*b.com", "*.*.com"} {
		if _, err := ParseOrigins([]string{bad}, nil); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}
