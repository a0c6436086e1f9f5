package policy

import (
	"strings"
	"testing"
)

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flag, in, out string }{
		{"local", "https://localhost/ https://a.localhost:8443/ https://127.0.0.1:1/ wss://[::1]/ https://10.1.2.3/ " +
			"https://192.168.0.1/ https://172.31.0.1/ https://[fd00::1]/ https://[fe80::1]/ https://169.254.1.1/ " +
			"https://[::ffff:127.0.0.1]/",
			"https://example.com/ https://localhost.example.com/ https://8.8.8.8/ https://172.32.0.1/ https://notlocalhost/ :"},
		{"staging.example.com, *.test:8443,https://x.dev", "https://staging.example.com/a https://staging.example.com:9/ " +
			"https://a.test:8443/ wss://x.dev/ https://x.dev/", "https://example.com/ https://a.test/ https://x.dev:8/ https://localhost/"},
		{"local,a.test", "https://a.test/ https://localhost/", "https://b.test/"},
	} {
		a, err := ParseAccepted("--flag", []string{test.flag})
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range strings.Fields(test.in) {
			if !a.Contains(url) {
				t.Errorf("%s does not accept %s", test.flag, url)
			}
		}
		for _, url := range strings.Fields(test.out) {
			if a.Contains(url) {
				t.Errorf("%s accepts %s", test.flag, url)
			}
		}
	}
	if a, err := ParseAccepted("--flag", nil); a != nil || err != nil || a.Contains("https://localhost/") {
		t.Errorf("without the flag: %v, %v", a, err)
	}
	for _, bad := range []string{"", ",", "*", "https://*", "http://a.test", "foo bar", "a.test/path", "LOCAL host"} {
		if _, err := ParseAccepted("--flag", []string{bad}); err == nil || !strings.HasPrefix(err.Error(), "--flag") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
