package tools

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// secretForm finds a value in whatever form a text holds it.
type secretForm struct {
	name, value string
	// plain is the longest part of the value that has one form only. A text
	// without it holds no form of the value, which is quickly seen.
	plain string
	forms *regexp.Regexp
}

// newSecretForm makes the form of a value, nil for one of nothing but white space.
// Each character may stand as itself or in an escape of its own, since no two
// programs escape the same ones: JSON, HTML, Markdown, addresses.
func newSecretForm(name, value string) *secretForm {
	// White space around it is lost wherever it is shown.
	trimmed := strings.TrimSpace(value)
	if trimmed == "" {
		return nil
	}
	f := &secretForm{name: name, value: value}
	var pattern, run strings.Builder
	space := false
	for _, r := range trimmed {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			run.WriteRune(r)
			pattern.WriteRune(r)
			space = false
			continue
		}
		if run.Len() > len(f.plain) {
			f.plain = run.String()
		}
		run.Reset()
		switch {
		case !unicode.IsSpace(r):
			pattern.WriteString(character(r))
		case !space: // pages show a run of white space as one space
			pattern.WriteString(whiteSpace)
		}
		space = unicode.IsSpace(r)
	}
	if run.Len() > len(f.plain) {
		f.plain = run.String()
	}
	f.forms = regexp.MustCompile(pattern.String())
	return f
}

func (f *secretForm) hide(text string) string {
	if !strings.Contains(text, f.plain) {
		return text
	}
	return f.forms.ReplaceAllLiteralString(text, "<secret>"+f.name+"</secret>")
}

// whiteSpace is one or more characters of it, in any form.
const whiteSpace = `(?:[\s\x{A0}+]|\\+[nrt]|\\+u00(?i:a0|09|0a|0d|20)|(?i:%c2%a0|%20|%09|%0a|%0d)|&nbsp;|&#(?:160|32|10|13|9);)+`

// htmlNames are the entities that programs write.
var htmlNames = map[rune]string{'&': "amp", '<': "lt", '>': "gt", '"': "quot", '\'': "apos"}

// character is the pattern of one character in any form.
func character(r rune) string {
	var forms []string
	add := func(format string, args ...any) { forms = append(forms, fmt.Sprintf(format, args...)) }
	if name := htmlNames[r]; name != "" { // before the & itself
		add("&%s;", name)
	}
	add("&#0*%d;", r)
	add("&#[xX]0*(?i:%x);", r)
	var unit strings.Builder
	for _, u := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&unit, `\\+u(?i:%04x)`, u)
	}
	add("%s", unit.String())
	var octets strings.Builder
	for _, b := range []byte(string(r)) {
		fmt.Fprintf(&octets, "%%(?i:%02x)", b)
	}
	add("%s", octets.String())
	switch {
	case r == '\\':
		add(`\\+`)
	case r < utf8.RuneSelf:
		add(`\\*%s`, regexp.QuoteMeta(string(r)))
	default:
		add("%s", regexp.QuoteMeta(string(r)))
	}
	return "(?:" + strings.Join(forms, "|") + ")"
}
