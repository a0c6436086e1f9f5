package javascript_test

import (
	"fmt"
	"strings"

	"browser-coordinator/coordinator/javascript"
)

// Code is constant, and texts are values: no text can become code.
func ExampleFormat() {
	name := "Tea'); alert('1"
	button := javascript.Format("page.getByRole($, { name: $ })", "button", name)
	fmt.Println(javascript.Format("await $.click()", button))
	fmt.Println(javascript.Format("await expect($).toHaveValue($)", button, javascript.Pattern{Before: "^", Text: "1.5"}))
	// Output:
	// await page.getByRole('button', { name: 'Tea\'); alert(\'1' }).click()
	// await expect(page.getByRole('button', { name: 'Tea\'); alert(\'1' })).toHaveValue(new RegExp('^1\\.5'))
}

// A secret is read from the environment where the code runs.
func ExampleWriter() {
	w := javascript.Writer{Split: func(text string) []javascript.Piece {
		before, after, found := strings.Cut(text, "hunter2")
		if !found {
			return []javascript.Piece{{Text: text}}
		}
		return []javascript.Piece{{Text: before}, {Variable: "PASSWORD"}, {Text: after}}
	}}
	fmt.Println(w.Source(javascript.Format("await field.fill($)", "user:hunter2")))
	fmt.Println(w.Variables)
	// Output:
	// await field.fill('user:' + process.env.PASSWORD!)
	// map[PASSWORD:true]
}
