package export

import (
	"strings"
	"testing"
)

// internal/conformance runs whole tests with Playwright. Here is what Playwright cannot
// tell: that no text gets out of its literal, and no secret into the file.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	const hostile = "'); require('fs').rm(`x`) //\n\u2028\\"
	var test Test
	page := Page{ID: "1", URL: "http://shop.test/" + hostile}
	add := func(code string, came Outcome) {
		test.Add(page, func(string) Step { return Step{Code: []string{code}, Comment: hostile} }, came)
	}
	message := hostile
	add(ExpectText("page", hostile, ""), Outcome{Dialog: &message, URL: "http://shop.test/?" + hostile, Opened: []string{"2"}, Chooser: true, Shown: []Expectation{Expect("getByRole("+Quote(hostile)+")", "toHaveText("+Quote(hostile)+")")}})
	test.Add(page, func(string) Step { return Step{Answer: &Answer{}} }, Outcome{URL: hostile})
	test.Add(page, func(string) Step { return Step{Files: []string{hostile}} }, Outcome{})
	add(ExpectPartOfURL("page", hostile, ""), Outcome{})
	source := File(test.Source(), func(s string) string { return s }, func(string) bool { return false })
	outside := literals().ReplaceAllString(source, "")
	for line := range strings.Lines(outside) {
		if strings.Contains(line, "require") && !strings.HasPrefix(line, "  // ") {
			t.Errorf("code of others: %q in %s", line, source)
		}
	}
}

func TestSecretsAreVariables(t *testing.T) {
	t.Parallel()
	hide := func(s string) string { return strings.ReplaceAll(s, "s3cret", "<secret>TOKEN</secret>") }
	isSecret := func(name string) bool { return name == "TOKEN" || name == "my-key" }
	for source, want := range map[string]string{
		"fill(" + Secret("TOKEN") + ")":  "fill(process.env.TOKEN!)",
		"fill(" + Secret("my-key") + ")": "fill(process.env['my-key']!)",
		"goto('/a?t=s3cret&b')":          "goto('/a?t=' + process.env.TOKEN! + '&b')",
		"fill('<secret>HOME</secret>')":  "fill('<secret>HOME</secret>')", // a text that only looks like one
		"fill('plain')":                  "fill('plain')",
	} {
		file := File(source, hide, isSecret)
		if got := file[strings.LastIndex(file, "\n")+1:]; got != want {
			t.Errorf("%s: %s, want %s", source, file, want)
		}
	}
}
