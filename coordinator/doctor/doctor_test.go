package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestTroubleshooting: each check has a section in the documentation, in the same order,
// and each section has a check.
func TestTroubleshooting(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections, ids []string
	for _, c := range checks() {
		ids = append(ids, c.id)
	}
	for _, m := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(string(text), -1) {
		sections = append(sections, m[1])
	}
	sections = slices.DeleteFunc(sections, func(id string) bool {
		return runtime.GOOS != "linux" && !slices.Contains(ids, id) // it is one of Linux
	})
	if !slices.Equal(sections, ids) {
		t.Errorf("the sections are\n%v, the checks\n%v", sections, ids)
	}
	spec, err := os.ReadFile("../../specs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks() {
		if c.title == "" || c.group == "" || !strings.Contains(string(spec), "`"+c.id+"`") {
			t.Errorf("%+v is not in the spec, or has no title", c)
		}
	}
}

func TestRedaction(t *testing.T) {
	t.Setenv("HOME", "/home/zoe")
	t.Setenv("USER", "zoe")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	redact := redactor()
	for text, want := range map[string]string{
		"/home/zoe/shop":                                        "~/shop",
		"file:///home/zoe/index.html.":                          "ADDRESS",
		"Zoe's, zoe-work, " + host + ":0":                       "USER's, USER-work, HOST:0",
		"http://127.0.0.1:21000, http://127.0.0.1:21000/secret": "http://127.0.0.1:21000, ADDRESS",
		"ws://127.0.0.1:9/x/devtools/browser/y":                 "ADDRESS",
		strings.Repeat("0f", 32) + " 0123456789abcdef":          "SECRET 0123456789abcdef",
		"/mnt/c/Users/Zora Bell/AppData:/usr/bin":               "/mnt/c/Users/USER/AppData:/usr/bin",
		"7D5E0D4C-91C5-4E4B-8C6A-0123456789AB":                  "SECRET",
		"/srv/xQ2rT9vLp0aZs8KdWm4n/bin:/a/ghp_0123456789abcd/b": "/srv/SECRET/bin:/a/SECRET/b",
		"/x/sk-ant-0123456789-abc, AKIA0123456789ABCDEF":        "/x/SECRET, SECRET",
		"/opt/browser-coordinator-0.1.0-linux-amd64/X2":         "/opt/browser-coordinator-0.1.0-linux-amd64/X2",
		"/opt/CoordinatorOfTheBrowser2":                         "/opt/CoordinatorOfTheBrowser2",
	} {
		if got := redact(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestRedactionOfOtherAlphabets: a name may begin or end with any letter.
func TestRedactionOfOtherAlphabets(t *testing.T) {
	t.Setenv("HOME", "/home/zoé")
	t.Setenv("USER", "Ömer")
	redact := redactor()
	for text, want := range map[string]string{
		"/home/zoé/shop":          "~/shop",
		"/srv/ömer/x, of Ömer's.": "/srv/USER/x, of USER's.",
	} {
		if got := redact(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestBundleIsPrintable: a terminal shows it, and does not interpret it.
func TestBundleIsPrintable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	report := Report{Checks: []Check{{Findings: []Finding{ok("%s", "a\u009b2J\u202eb")}}}}
	if err := WriteBundle(file, report); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"a\u009b2J\u202eb"`) {
		t.Errorf("it has %q, %v", text, err)
	}
}

func TestSameRelease(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"0.1.0-dev+0123456789ab", "0.1.0", true},
		{"0.1.0-linux-x64", "0.1.0", true}, // the folder of an extension
		{"0.1.0", "0.2.0", false},
		{"", "0.1.0", false},
	} {
		if sameRelease(c.a, c.b) != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, !c.same)
		}
	}
}
