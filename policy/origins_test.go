package policy

import (
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	o, err := ParseOrigins([]string{"https://example.com", "http://localhost:*;*.test", "api.dev:8443"},
		[]string{"evil.test, http://localhost:666"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"https://example.com/a?b":        "",
		"https://EXAMPLE.com:443/":       "",
		"https://example.com./":          "",
		"https://example.com:8443/":      "does not list",
		"http://example.com/":            "does not list",
		"https://sub.example.com/":       "does not list",
		"https://example.com.evil.org/":  "does not list",
		"https://example.com@evil.org/":  "does not list",
		"http://localhost:3000/":         "",
		"ws://localhost:3000/":           "does not list",
		"http://localhost:666/":          "--blocked-origins lists http://localhost:666",
		"https://a.b.test:1/":            "",
		"https://test/":                  "does not list",
		"https://evil.test/":             "--blocked-origins",
		"http://api.dev:8443/":           "",
		"https://api.dev/":               "does not list",
		"about:blank":                    "",
		"data:text/html,x":               "",
		"":                               "",
		"http://[::1]:80/":               "does not list",
		"https://exa%mple.com/":          "cannot be read",
		"view-source:https://evil.test/": "--blocked-origins",
		"blob:https://evil.test/0a1b":    "--blocked-origins",
		"blob:https://example.com/0a1b":  "",
		"filesystem:http://no.org/x":     "does not list",
		"blob:null/0a1b":                 "",
	} {
		d := o.Decide(address)
		if want == "" && d.Outcome != Allow || want != "" && (d.Outcome != Deny || !strings.Contains(d.Denied.Reason,
			want)) {
			t.Errorf("%s: %+v, want %q", address, d, want)
		}
	}
	blocked, err := ParseOrigins(nil, []string{"http://[::1]:8080"})
	if err != nil || blocked.Decide("http://[::1]:8080/").Outcome == Allow ||
		blocked.Decide("http://[::1]/").Outcome != Allow || blocked.Decide("https://anything.org").Outcome != Allow {
		t.Errorf("only blocked ones: %v", err)
	}
	if none, err := ParseOrigins(nil, nil); none != nil || err != nil || none.Decide("https://x.org").Outcome != Allow {
		t.Errorf("none: %v %v", none, err)
	}
	mapped, err := ParseOrigins(nil, []string{"127.0.0.1,http://[::FFFF:7f00:2]:80"})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"http://127.0.0.1/", "http://127.0.0.1./", "http://[::ffff:7f00:1]:8080/",
		"http://127.0.0.2/", "http://[::ffff:7f00:2]/"} {
		if mapped.Decide(address).Outcome == Allow {
			t.Errorf("%s is not refused", address)
		}
	}
	// No browser has parsed these.
	for address, allowed := range map[string]bool{
		"https://example.com/a?b#c": true, "http://localhost:3000": true, "": true,
		"HTTPS://example.com/": false, "http://2130706433:3000/": false, "http://0x7f.1:3000/": false,
		"http://0177.0.0.1/": false, `http:\\localhost:3000`: false,
		"http://localhost:3000\t/": false, "http://user@localhost:3000/": false, "http://ｌocalhost:3000/": false,
		"http:/localhost:3000/": false,
		"//localhost:3000/":     false, "view-source:http://localhost:3000/": false, "http://localhost:03000/": false,
		"http://evil.org/": false, "http://b%C3%BCcher.test/": false,
	} {
		if d := o.DecideTyped(address); (d.Outcome == Allow) != allowed {
			t.Errorf("%q as it was typed: %+v", address, d)
		}
	}
	for _, bad := range []string{"https://", "", " ,;\t", "ftp://x", "ftp://x:21", "http://a:0", "http://a:65536",
		"http://a:99999999999", "a:-1", "a:+1", "https://a/b", "a*b.com", "*.*.com", "http://2130706433", "http://0x7f.1",
		"http://127.1:80", "http://0177.0.0.1", "https://bücher.example", "http://%6cocalhost", "http://localhost:080",
		"foo bar", "http://x y", "https://a.example https://b.example", "a\tb", "a\nb", "http://a:b:80", "::1", "[::1",
		"::1]", "[localhost]", "[127.0.0.1]", "[fe80::1%25eth0]", "*.[::1]", "a..b", ".example.com", "*..a", ".", "http://.", "a<b",
		"a>b", "a^b", "a|b", "a[b", "a]b", "[]", "http://a\\b", "a\x7fb", "a\"b c"} {
		if _, err := ParseOrigins([]string{bad}, nil); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

// An address is within the limits of both, and no limit is none.
func TestOriginsAnd(t *testing.T) {
	parse := func(allowed, blocked string) *Origins {
		o, err := ParseOrigins(strings.Fields(allowed), strings.Fields(blocked))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	both := parse("a.example *.b.example", "").And(nil).And(parse("a.example x.b.example", "x.b.example"))
	if both = (*Origins)(nil).And(both); both == nil {
		t.Fatal("a limit is lost")
	}
	for address, want := range map[string]Outcome{
		"http://a.example/": Allow, "http://x.b.example/": Deny, "http://y.b.example/": Deny, "http://c.example/": Deny,
	} {
		if got := both.Decide(address).Outcome; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if both.DecideCookie("y.b.example", true).Outcome != Deny || both.DecideCookie("a.example", true).Outcome != Allow {
		t.Error("a cookie's domain is decided otherwise")
	}
}

// A cookie goes to any port, and to http unless it is secure; on this machine browsers send secure ones there too.
func TestDecideCookie(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allowed, domain string
		secure          bool
		want            Outcome
	}{
		{"http://a.example", "a.example", false, Allow},
		{"http://a.example", "a.example", true, Deny},
		{"https://a.example", "a.example", false, Allow},
		{"https://a.example:8443", "a.example", true, Allow},
		{"http://localhost:3000", "localhost", true, Allow},
		{"http://shop.localhost", "shop.localhost", true, Allow},
		{"http://127.0.0.1", "127.0.0.1", true, Allow},
		{"http://notlocalhost", "notlocalhost", true, Deny},
		{"https://x.a.example", ".a.example", true, Allow},
		{"https://*.a.example", ".a.example", true, Allow},
		{"https://x.a.example", "a.example", true, Deny},
		{"https://a.example", ".b.example", true, Deny},
	} {
		o, err := ParseOrigins([]string{c.allowed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := o.DecideCookie(c.domain, c.secure); d.Outcome != c.want {
			t.Errorf("%s, the cookie of %s, secure %t: %+v, want %v", c.allowed, c.domain, c.secure, d, c.want)
		}
	}
}
