package javascript

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// awkward are texts that end literals, escapes, lines or scripts, or are no Unicode.
var awkward = []string{
	"", "'", `"`, "`", `\`, `\\`, `\'`, `'\`, "\n", "\r", "\r\n", "\t", "\x00", "\x001", "\x7f", "\u0085", "\u2028",
	"\u2029", "\u00a0", "\u00ad", "\u200b", "\u202e", "\ufeff",
	"${x}", "`${x}`", "*/", "/*", "//", "<!--", "-->", "</script>", "\xff", "a\xffb", "\xed\xa0\x80", "\xc3", "\ufffd",
	"\uffff", "\U0001f600", "\U0010ffff", `\u0027`, `\x27`, `\u{27}`, "$", "$$", "$&", "__proto__",
}

// random are texts of the awkward ones, and of any bytes.
func random(n int) (texts []string) {
	source := rand.New(rand.NewPCG(1, 2))
	for range n {
		var text string
		for range source.IntN(6) {
			if source.IntN(3) == 0 {
				text += string([]byte{byte(source.IntN(256)), byte(source.IntN(256))})
			} else {
				text += awkward[source.IntN(len(awkward))]
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// Every text comes back from a JavaScript engine as it was, in a literal, as a key, in a list
// and from a pattern, and a comment with it ends with its line. What is no Unicode is U+FFFD.
func TestEngineReadsEveryText(t *testing.T) {
	t.Parallel()
	texts := slices.Concat(awkward, random(3000))
	w := Writer{Split: func(text string) []Piece { // every text with a dollar sign has a variable in it
		before, after, is := strings.Cut(text, "$")
		if !is {
			return []Piece{{Text: text}}
		}
		return []Piece{{Text: before}, {Variable: "DOLLAR"}, {Text: after}}
	}}
	var program strings.Builder
	program.WriteString("const all = [];\n")
	for _, text := range texts {
		program.WriteString(Comment(text) + "\nall.push(")
		source := w.Source(Format("[$, ...Object.keys({ $: $ }), $[0], String($.test($))]", text, Key(text), 1,
			[]string{text}, Pattern{Before: "^", Text: text, After: "$"}, text))
		program.WriteString(strings.ReplaceAll(source, "!", "") + ");\n") // of TypeScript alone
		if strings.ContainsFunc(source, func(r rune) bool { return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Cc, r) }) {
			t.Errorf("%q: the code has characters that a reader does not see: %q", text, source)
		}
	}
	program.WriteString("console.log(JSON.stringify(all));\n")
	node := exec.Command("node", "-")
	node.Env = append(node.Environ(), "DOLLAR=$")
	node.Stdin = strings.NewReader(program.String())
	var failure bytes.Buffer
	node.Stderr = &failure
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, failure.String())
	}
	var got [][]string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(texts) {
		t.Fatalf("%v: %d of %d texts", err, len(got), len(texts))
	}
	for i, text := range texts {
		want := strings.ReplaceAll(strings.ToValidUTF8(text, string(utf8.RuneError)), "!", "")
		if !slices.Equal(got[i], []string{want, want, want, "true"}) {
			t.Errorf("%q: %q", text, got[i])
		}
	}
}

// FuzzQuote: a literal is one line of visible characters, and has no quote and no backslash
// beside those that the escapes consist of.
func FuzzQuote(f *testing.F) {
	for _, text := range awkward {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		literal := quote(text)
		inside, opened := strings.CutPrefix(literal, "'")
		inside, closed := strings.CutSuffix(inside, "'")
		for i := 0; opened && closed && i < len(inside); i++ {
			switch inside[i] {
			case '\\':
				if i++; i == len(inside) || strings.IndexByte(`\'nrtu`, inside[i]) < 0 {
					t.Fatalf("%q: %s", text, literal)
				}
			case '\'':
				t.Fatalf("%q: %s", text, literal)
			}
		}
		if !opened || !closed || strings.ContainsFunc(literal, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", text, literal)
		}
		if comment := Comment(text); strings.ContainsFunc(comment, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", text, comment)
		}
	})
}

func TestOf(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Expression{
		"":                              {},
		"page.goto('a')":                Format("$.goto($)", Format("page"), "a"),
		"f(1, -2.5, true)":              Format("f($)", []Expression{Format("$", 1), Format("$", -2.5), Format("$", true)}),
		"f(['a', 'b'], [])":             Format("f($, $)", []string{"a", "b"}, []string{}),
		"f({ ['__proto__']: 1e+30 })":   Format("f({ $: $ })", Key("__proto__"), 1e30),
		"f(new RegExp('^a\\\\.b$'))":    Format("f($)", Pattern{"^", "a.b", "$"}),
		"f(process.env.A!)":             Format("f($)", Variable("A")),
		`f(process.env['\'+pwned()']!)`: Format("f($)", Variable("'+pwned()")),
	} {
		if got := e.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestPatternEnds: a page chooses how often a secret is in its address. The pattern for that
// has one part that matches anything, since each further one multiplies its time.
func TestPatternEnds(t *testing.T) {
	t.Parallel()
	w := Writer{Split: func(text string) (pieces []Piece) {
		for i, part := range strings.Split(text, "$") {
			if i > 0 {
				pieces = append(pieces, Piece{Text: "<secret>", Placeholder: i%2 == 0, Variable: []string{"", "DOLLAR"}[i%2]})
			}
			pieces = append(pieces, Piece{Text: part})
		}
		return pieces
	}}
	for text, want := range map[string]string{
		"a.b": `a\\.b`, "$": ".+", "a$b": "a.+b", "a$b$c.d": `a.+c\\.d`, strings.Repeat("$-", 30): ".+-", "$$": ".+",
	} {
		if got := w.Source(Format("$", Pattern{"^", text, "$"})); got != "new RegExp('^"+want+"$')" {
			t.Errorf("%q: %s", text, got)
		}
	}
}
