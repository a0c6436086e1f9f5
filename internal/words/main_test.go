package main

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	const source = `package x
var c = &cobra.Command{Use: "run", Short: "Run a program"}
func f(name string) error {
	cmd.Flags().StringVar(&v, "name", "", "use ` + "`NAME`" + `")
	if name == "" { return errors.New("a name" + " is missing") }
	return fmt.Errorf("cannot open "+name+" now: %w", open("not for a user"))
}`
	want := []string{"x.go:2:43: Run a program", "x.go:4:40: use `NAME`", "x.go:5:36: a name is missing",
		"x.go:6:20: cannot open … now: %w"}
	if got := words("x.go", []byte(source)); !slices.Equal(got, want) {
		t.Errorf("the words are %q", got)
	}
}
