package secrets

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDotenv(t *testing.T) {
	got, err := parseDotenv([]byte("\uFEFF# comment\n\nA=plain\nexport B = spaced out # comment\nC=\"quoted " +
		"\\\"x\\\" \\n\\\\\" # c\nD='raw \\n # x'\nE=\nF=a#b=c\n"))
	want := map[string]string{"A": "plain", "B": "spaced out", "C": "quoted \"x\" \n\\", "D": `raw \n # x`, "E": "",
		"F": "a#b=c"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
	for _, bad := range []string{"no value", "A=\"open", "1A=x", "=x"} {
		if _, err := parseDotenv([]byte("# first\n" + bad)); err == nil || !strings.Contains(err.Error(), "line 2") ||
			strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	file := filepath.Join(t.TempDir(), "s.env")
	if err := os.WriteFile(file, []byte("P=xyz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(file); err != nil || s.Value("P") != "xyz" || s.Value("Q") != "Q" {
		t.Errorf("%+v %v", s, err)
	}
	if err := os.WriteFile(file, []byte("NONE=\nLONG=abc\nSHORT=äb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "SHORT") ||
		strings.Contains(err.Error(), "äb") {
		t.Errorf("a value of two letters: %v", err)
	}
	if _, err := Load(file + "x"); err == nil {
		t.Error("a file that is not there is no error")
	}
}

func TestHide(t *testing.T) {
	s := New(map[string]string{"PASSWORD": `pa"ss&<w>ö rd`, "LONG": "abcdef", "SHORT": "abc", "EMPTY": ""})
	for _, c := range []struct{ text, want string }{
		{`it is pa"ss&<w>ö rd.`, "it is <secret>PASSWORD</secret>."},
		{`{"v":"pa\"ss&<w>ö rd"}`, `{"v":"<secret>PASSWORD</secret>"}`},
		{"?q=pa%22ss%26%3Cw%3E%C3%B6+rd&x", "?q=<secret>PASSWORD</secret>&x"},
		{"/pa%22ss&%3Cw%3E%C3%B6%20rd/", "/<secret>PASSWORD</secret>/"},
		{"?q=pa%22ss%26%3Cw%3E%C3%B6%20rd", "?q=<secret>PASSWORD</secret>"},
		{"?pa%22ss&%3Cw%3E%C3%B6%20rd", "?<secret>PASSWORD</secret>"},
		{"pa&#34;ss&amp;&lt;w&gt;ö rd", "<secret>PASSWORD</secret>"},
		{"abcdef abc", "<secret>LONG</secret> <secret>SHORT</secret>"},
		{`{"v":"pa\"ss\u0026\u003cw\u003e\u00F6 rd"}`, `{"v":"<secret>PASSWORD</secret>"}`},
		{`<b title="pa&quot;ss&amp;&lt;w&gt;ö&nbsp;rd">pa"ss&amp;&lt;w&gt;ö rd</b>`,
			`<b title="<secret>PASSWORD</secret>"><secret>PASSWORD</secret></b>`},
		{`**pa"ss&\<w\>ö rd**`, "**<secret>PASSWORD</secret>**"},
		{`"{\"v\":\"pa\\\"ss&<w>ö rd\"}"`, `"{\"v\":\"<secret>PASSWORD</secret>\"}"`},
		{`pa"ss&<w>o rd, pass`, `pa"ss&<w>o rd, pass`},
		{"nothing", "nothing"},
	} {
		if got := s.Hide(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	for data, want := range map[any]string{
		`a"abc`: `"a\"\u003csecret\u003eSHORT\u003c/secret\u003e"`,
		17:      "17",
		3.25:    `"\u003csecret\u003ePIN\u003c/secret\u003e"`,
	} {
		got, err := json.Marshal(New(map[string]string{"SHORT": "abc", "PIN": "3.25"}).HideData(data))
		if err != nil || string(got) != want {
			t.Errorf("%v: %s %v, want %s", data, got, err, want)
		}
	}
	var none *Set
	if none.Hide("x") != "x" || none.Value("y") != "y" {
		t.Error("no secrets change a text")
	}
}

// The page chooses what a field makes of a secret. Of that only what can come from the secret
// is hidden, so that a page cannot hide what it wants.
func TestLearnOnlyWhatComesFromTheValue(t *testing.T) {
	for _, c := range []struct{ value, held, want string }{
		{"correct-horse-77", "CORRECT HORSE 77", "CORRECT HORSE 77"},
		{"correct-horse-77", "77-esroh-tcerroc", "77-esroh-tcerroc"},
		{"correct-horse-77", "corre", "corre"},
		{"4111111111111111", "4111 1111 1111 1111", "4111 1111 1111 1111"},
		{"4111111111111111", "Card •••• 1111!", "1111"},
		{"1234", "$1,234.00", "1,234"},
		{"01022020", "01/02/2020", "01/02/2020"},
		{"p@$$", "P@$$", "P@$$"},
		{"sésame-öffne", "SÉSAM", "SÉSAM"},
		{"correct-horse-77", "nXY", ""},
		{"correct-horse-77", "');", ""},
		{"correct-horse-77", "torch", ""},
		{"correct-horse-77", "co", ""},
		{"correct-horse-77", "----", ""},
		{"x';y", "';\n", ""},
		{"correct-horse-77", "", ""},
	} {
		s := New(map[string]string{"NAME": c.value})
		s.Learn("NAME", c.held)
		want := c.held
		if c.want != "" {
			want = strings.ReplaceAll(c.held, c.want, "<secret>NAME</secret>")
		}
		if got := s.Hide(c.held); got != want {
			t.Errorf("%q of %q: %q, want %q", c.held, c.value, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	s := New(map[string]string{"A": "abcdef", "B": "efgh"}).Extend(map[string]string{"C": "with more", "SHORT": "xy"})
	for text, want := range map[string][]Part{
		"":              {{Text: ""}},
		"xy":            {{Text: "xy"}},
		"-abcdef-":      {{Text: "-"}, {"abcdef", "A", true}, {Text: "-"}},
		"abcdefgh":      {{"abcdefgh", "A", false}},
		"abcdefefgh":    {{"abcdef", "A", true}, {"efgh", "B", true}},
		"a%62cdef":      {{"a%62cdef", "A", false}},
		"it is abcd…":   {{Text: "it is "}, {"abcd", "A", false}, {Text: "…"}},
		"with  more":    {{"with  more", "C", false}},
		"say with more": {{Text: "say "}, {"with more", "C", true}},
	} {
		if got := s.Split(text); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// A page that makes ever new texts of a value cannot make the search of answers endless: the
// value is no longer typed then, and all that was learned stays hidden.
func TestLearnIsBounded(t *testing.T) {
	s := New(map[string]string{"NAME": "correct-horse-77", "OTHER": "battery-staple"})
	made := 0
	for ; s.Typable("NAME") == nil && made <= maxLearned; made++ {
		s.Learn("NAME", fmt.Sprintf("correct%shorse", strings.Repeat(".", made+2)))
	}
	if made != maxLearned {
		t.Errorf("it is typed until %d texts are learned, want %d", made, maxLearned)
	}
	for n := range made {
		if text := fmt.Sprintf("correct%shorse", strings.Repeat(".", n+2)); s.Hide(text) == text {
			t.Fatalf("%q is shown", text)
		}
	}
	if err := s.Typable("OTHER"); err != nil {
		t.Error(err)
	}
}

// A file that nobody may ever write to is refused, and not waited for.
func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder, not a regular file") {
		t.Error(err)
	}
}
