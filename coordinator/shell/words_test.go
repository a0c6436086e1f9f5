package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		``:                         nil,
		"  \t ":                    nil,
		`click e3`:                 {"click", "e3"},
		"click\te3\r":              {"click", "e3"},
		`type e4 "Ada Lovelace"`:   {"type", "e4", "Ada Lovelace"},
		`click 'button "Order"'`:   {"click", `button "Order"`},
		`click "button \"Order\""`: {"click", `button "Order"`},
		`click button\ \"Order\"`:  {"click", `button "Order"`},
		`type e4 ''`:               {"type", "e4", ""},
		`type e4 a""b'c d'`:        {"type", "e4", "abc d"},
		`eval 'a\n' "b\n" "\\"`:    {"eval", `a\n`, `b\n`, `\`},
		`type e4 'naïve – ✓'`:      {"type", "e4", "naïve – ✓"},
		`type e4 $HOME *`:          {"type", "e4", "$HOME", "*"},
	} {
		if got, err := Words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{
		`type e4 "Ada`: `the quote " is not closed`,
		`type e4 'Ada`: "the quote ' is not closed",
		`type e4 \`:    `nothing follows the last \`,
	} {
		if _, err := Words(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
