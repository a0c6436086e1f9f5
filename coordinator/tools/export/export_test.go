package export

import (
	"strings"
	"testing"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/tools/secrets"
)

// coordinator/tools exports whole sessions, and internal/conformance runs them with
// Playwright. Here is what neither can tell.

func fileOf(hidden *secrets.Set, steps ...Step) string {
	var test Test
	for _, s := range steps {
		test.Add(Page{ID: "1", URL: "http://shop.test/"}, func(javascript.Expression) Step { return s }, Outcome{})
	}
	return test.File(hidden)
}

// Only a whole value is read from the environment. A page cannot make the test send a secret
// elsewhere by a part of one, or by its name.
func TestSecretsAreVariables(t *testing.T) {
	t.Parallel()
	hidden := secrets.New(map[string]string{"TOKEN": "s3cret", "my-key": "other value"})
	hidden.Learn("TOKEN", "s3c")
	for _, c := range []struct {
		code javascript.Expression
		want string
	}{
		{javascript.Format("fill($)", javascript.Variable("TOKEN")), "fill(process.env.TOKEN!)"},
		{javascript.Format("fill($)", javascript.Variable("my-key")), "fill(process.env['my-key']!)"},
		{javascript.Format("goto($)", "/a?t=s3cret&b"), "goto('/a?t=' + process.env.TOKEN! + '&b')"},
		{javascript.Format("goto($)", "/a?t=s3c-news"), "goto('/a?t=<secret>TOKEN</secret>-news')"},
		{javascript.Format("goto($)", "/a?t=s3%63ret"), "goto('/a?t=<secret>TOKEN</secret>')"},
		// a text that only looks like one
		{javascript.Format("goto($)", "/<secret>TOKEN</secret>"), "goto('/<secret>TOKEN</secret>')"},
		{javascript.Format("fulfill({ headers: { $: $ } })", javascript.Key("x-s3cret"), "1"),
			"fulfill({ headers: { ['x-' + process.env.TOKEN!]: '1' } })"},
		{javascript.Format("expect(page).toHaveURL($)", javascript.Pattern{Before: "^", Text: "/a.b/s3cret/c"}),
			`expect(page).toHaveURL(new RegExp('^/a\\.b/.+/c'))`},
		{javascript.Format("fill($)", "plain"), "fill('plain')"},
	} {
		if file := fileOf(hidden, Step{Code: []javascript.Expression{c.code}}); !strings.Contains(file,
			"  await "+c.want+";\n") {
			t.Errorf("want %s: %s", c.want, file)
		}
	}
	file := fileOf(hidden, Step{Code: []javascript.Expression{ExpectText(javascript.Format("page"), "s3c-news"),
		ExpectText(javascript.Format("page"), "news")}, Comment: "it is s3cret"})
	if strings.Contains(file, "secret>-news") || !strings.Contains(file, "'news'") ||
		!strings.Contains(file, "// it is <secret>TOKEN</secret>\n") {
		t.Errorf("nobody can expect a placeholder: %s", file)
	}
}

// What was typed into a password field is nowhere in the file.
func TestPasswordsAreVariables(t *testing.T) {
	t.Parallel()
	var test Test
	page := Page{ID: "1", URL: "http://shop.test/"}
	isSecret := func(name string) bool { return name == "TYPED_PASSWORD2" }
	typed := func(text string) {
		test.Add(page, func(javascript.Expression) Step {
			return Step{Code: []javascript.Expression{javascript.Format("fill($)", test.Password(text, isSecret))}}
		}, Outcome{})
	}
	message := "Is hunter22 right?"
	test.Add(page, func(javascript.Expression) Step {
		// before it was known to be one
		return Step{Code: []javascript.Expression{javascript.Format("fill($)", "hunter22")}}
	}, Outcome{})
	typed("hunter22")
	test.Add(page, func(javascript.Expression) Step {
		return Step{Code: []javascript.Expression{javascript.Format("click()")}}
	}, Outcome{Dialog: &message})
	test.Add(page, func(javascript.Expression) Step { return Step{Answer: &Answer{Message: message}} }, Outcome{})
	typed("1")
	typed("hunter22")
	file := test.File(nil)
	for _, want := range []string{
		"// Set in the environment: TYPED_PASSWORD, TYPED_PASSWORD3\n",
		"// What was typed into password fields is not in this file: TYPED_PASSWORD, TYPED_PASSWORD3\n",
		"toBe('Is ' + process.env.TYPED_PASSWORD! + ' right?')", "fill(process.env.TYPED_PASSWORD3!)",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("%q is missing: %s", want, file)
		}
	}
	if strings.Contains(file, "hunter22") || strings.Count(file, "fill(process.env.TYPED_PASSWORD!)") != 3 {
		t.Error(file)
	}
}

// The variable of a page is declared once, also of a page that a call without a page opened.
func TestVariablesOfPages(t *testing.T) {
	t.Parallel()
	var test Test
	code := func(page javascript.Expression) Step {
		return Step{Code: []javascript.Expression{javascript.Format("$.reload()", page)}}
	}
	test.Add(Page{}, code, Outcome{Opened: []string{"a"}})
	test.Add(Page{ID: "b", URL: "http://b.test/"}, code, Outcome{})
	test.Add(Page{ID: "a"}, code, Outcome{})
	file := test.File(nil)
	for _, want := range []string{"const page1 = await opened1;", "const page2 = await page.context().newPage();",
		"await page2.goto('http://b.test/');", "await page1.reload();"} {
		if strings.Count(file, want) != 1 {
			t.Errorf("%q: %s", want, file)
		}
	}
}
