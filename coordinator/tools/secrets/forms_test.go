package secrets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	entities "html"
	"net/url"
	"strings"
	"testing"
)

// encodings are the ways in which programs write a text.
var encodings = map[string]func(string) string{
	"plain":       func(s string) string { return s },
	"query":       url.QueryEscape,
	"path":        url.PathEscape,
	"lower query": func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
	"all percent": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		return b.String()
	},
	"html":    entities.EscapeString,
	"decimal": func(s string) string { return each(s, "&#%d;") },
	"padded":  func(s string) string { return each(s, "&#0000%d;") },
	"hex":     func(s string) string { return each(s, "&#x%x;") },
	"HEX":     func(s string) string { return each(s, "&#X%X;") },
	"no semicolon": func(s string) string {
		return strings.ReplaceAll(each(s, "&#%d;"), ";&", "&") + " "
	},
	"named": func(s string) string {
		return strings.NewReplacer(`"`, "&quot;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "ß", "&szlig;", "_",
			"&lowbar;", " ", "&nbsp;").Replace(s)
	},
	"json": func(s string) string {
		encoded, _ := json.Marshal(s)
		return strings.Trim(string(encoded), `"`)
	},
	"json units":       func(s string) string { return units(s, `\u%04x`) },
	"JSON units":       func(s string) string { return units(s, `\u%04X`) },
	"json in json":     func(s string) string { return strings.ReplaceAll(units(s, `\u%04x`), `\`, `\\`) },
	"json in an entry": func(s string) string { return url.QueryEscape(units(s, `\u%04x`)) },
	"query in html":    func(s string) string { return entities.EscapeString(url.QueryEscape(url.QueryEscape(s))) },
	"markdown": func(s string) string {
		return strings.NewReplacer("_", `\_`, "<", `\<`, "*", `\*`, "[", `\[`).Replace(s)
	},
}

func each(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func units(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xffff {
			fmt.Fprintf(&b, format+format, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			continue
		}
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func lowerEscapes(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' {
			s = s[:i] + strings.ToLower(s[i:i+3]) + s[i+3:]
		}
	}
	return s
}

var hiddenValues = []string{"hunter22", `p4_"ß'&<x>*[y] z😀`, "a+b c%41d&amp;e", `DOM\next\u0041`,
	strings.Repeat("jwt.", 600) + "end"}

// A value is hidden in every encoding, and nothing beside it is.
func TestHideInEachForm(t *testing.T) {
	for _, value := range hiddenValues {
		s := New(map[string]string{"NAME": value})
		for form, encode := range encodings {
			text := "it is " + encode(value) + ", said"
			got := s.Hide(text)
			if want := "it is <secret>NAME</secret>, said"; strings.ReplaceAll(got, "> ,", ">,") != want {
				t.Errorf("%s of %.40q: %.200q", form, value, got)
			}
		}
	}
}

// A value is hidden too where a page has split it by markup, or by what nobody sees.
func TestHideWhatIsSplit(t *testing.T) {
	for _, value := range []string{"hunter22", `p4_"ß'&<x>*[y] z😀`} {
		s := New(map[string]string{"NAME": value})
		runes := []rune(value)
		for _, between := range []string{"\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\ufe0f", "\u202e", "\u034f",
			"&shy;", "&ZeroWidthSpace;", "&#8203;", `\u00ad`} {
			for index := 1; index < len(runes); index++ {
				if got := s.Hide("it is " + string(runes[:index]) + between + string(runes[index:]) +
					", said"); got != "it is <secret>NAME</secret>, said" {
					t.Errorf("%q at %d of %q: %q", between, index, value, got)
				}
			}
		}
		html, encodedJSON := encodings["html"], encodings["json"]
		for _, between := range []string{"<b>", "</b>", "<wbr>", "<!-- a > b -->", `<i class="a>b">`, "<I\nid='<x>'>",
			"</b><b>"} {
			for index := 1; index < len(runes); index++ {
				text := html(string(runes[:index])) + between + html(string(runes[index:]))
				for form, text := range map[string]string{"html": text, "json": encodedJSON(text)} {
					if got := s.Hide("<p>it is " + text +
						", said</p>"); got != "<p>it is <secret>NAME</secret>, said</p>" {
						t.Errorf("%s, %q at %d of %q: %q", form, between, index, value, got)
					}
				}
			}
		}
		markdown := encodings["markdown"]
		for _, between := range []string{"**", "*", "_", "***", "`", "~~", "[", "](http://shop.test/x_y)"} {
			for index := 1; index < len(runes); index++ {
				if got := s.Hide("it is " + markdown(string(runes[:index])) + between + markdown(string(runes[index:])) +
					", said"); got != "it is <secret>NAME</secret>, said" {
					t.Errorf("%q at %d of %q: %q", between, index, value, got)
				}
			}
		}
	}
	s := New(map[string]string{"PIN": "1234"})
	for _, text := range []string{"<td>12</td><td>34</td>", "12_34", "a < 12, b > 34", "[1](/1)[2](/2)[3](/3)[4](/4)"} {
		if got := s.Hide(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// At a cut, a part of a value is hidden too, in each form and wherever the cut is. Only
// parts shorter than the shortest secret stay visible.
func TestHideAtCutEdges(t *testing.T) {
	for _, value := range hiddenValues[:4] {
		s := New(map[string]string{"NAME": value})
		for form, encode := range encodings {
			encoded := encode(value)
			for index := 1; index < len(encoded); index++ {
				if got, plain := s.Hide("it is "+encoded[:index]+"…"), newLayer(encoded[:index]); seen(got, value) {
					t.Errorf("%s of %q cut at %d (%q): %q", form, value, index, plain.text, got)
				}
			}
		}
		for index := range value {
			if got := s.Hide("…" + value[index:] + " is it"); len(value)-index >= shortest &&
				strings.Contains(got, value[index:]) {
				t.Errorf("the end of %q from %d: %q", value, index, got)
			}
			if got := s.HideCut("it is " + value[:index]); index >= shortest && strings.Contains(got, value[:index]) {
				t.Errorf("%q cut at %d: %q", value, index, got)
			}
		}
	}
	if got := New(map[string]string{"A": "abcdef"}).Hide("abc and def… or …abc"); got != "abc and def… or …abc" {
		t.Errorf("what is no part at an edge is hidden: %q", got)
	}
}

// seen reports whether a text, decoded in any way, shows four characters of a value's
// beginning.
func seen(text, value string) bool {
	runes := []rune(value)
	for n, l := 0, newLayer(text); n < mostLayers; n++ {
		for _, wanted := range formsOf("", string(runes[:4])) {
			if !wanted.encoded && strings.Contains(l.fold().text, wanted.text) {
				return true
			}
		}
		next, changed := l.unescape()
		if !changed {
			break
		}
		l = next
	}
	return false
}

func TestHideInBase64(t *testing.T) {
	for _, value := range []string{"hunter22", "hunter2", "hunter", `p4_"ß'&<x>`} {
		s := New(map[string]string{"NAME": value})
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			for _, before := range []string{"", "u", "us", "user:", "ada:x"} {
				for _, after := range []string{"", "1", "12", "123"} {
					text := "Authorization: Basic " + encoding.EncodeToString([]byte(before+value+after)) + "\n"
					got := s.Hide(text)
					if !strings.Contains(got, "<secret>NAME</secret>") ||
						!strings.HasPrefix(got, "Authorization: Basic ") {
						t.Errorf("%q after %q: %q", value, before, got)
					}
				}
			}
		}
	}
}

func TestHideSeveral(t *testing.T) {
	s := New(map[string]string{"A": "abcdef", "B": "efgh", "C": "secret"})
	for text, want := range map[string]string{
		"abcdefgh":        "<secret>A</secret>",
		"abcdef efgh":     "<secret>A</secret> <secret>B</secret>",
		"secret":          "<secret>C</secret>",
		"abcdefabcdef":    "<secret>A</secret><secret>A</secret>",
		"a\xffabcdef\xff": "a\xff<secret>A</secret>\xff",
	} {
		if got := s.Hide(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	s.Learn("A", "abc")
	s.Learn("A", "ab")
	s.Learn("Z", "zzzz")
	if got := s.Hide("abc ab zzzz"); got != "<secret>A</secret> ab zzzz" {
		t.Errorf("what a field made of it: %q", got)
	}
}

func BenchmarkHide(b *testing.B) {
	text := strings.Repeat(`<p class="row">Tea &amp; coffee %20 for \"two\"</p>`+"\n", 800)
	s := New(map[string]string{"A": "hunter22", "B": `p4_"ß'&<x>`, "C": "another secret"})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Hide(text)
	}
}
