package tools_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/shell"
	"browser-coordinator/coordinator/tools"
)

func TestInShell(t *testing.T) {
	for text, want := range map[string]string{
		"12 more: browser_console_messages.":                   "12 more: `coordinator console`.",
		"answer it with browser_handle_dialog, then try again": "answer it with `coordinator dialog`, then try again",
		"open one with browser_tabs, action new, or with `browser_navigate`": "open one with `coordinator tab new`, or " +
			"with `coordinator open`",
		"select it (browser_tabs)":               "select it (`coordinator tabs`)",
		"With new: true, this waits":             "With --new, this waits",
		"with fullPage: true":                    "with --full-page",
		"do browser_steps, or debug_start":       "do `coordinator do`, or `coordinator debug start`",
		`button "browser_click", "new: true"`:    `button "browser_click", "new: true"`,
		"/tmp/browser_click.png and browser_not": "/tmp/browser_click.png and browser_not",
		"https://a.test/?browser_click":          "https://a.test/?browser_click",
	} {
		if got := tools.InShell(text); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// What the help of the commands says names no tool.
func TestHelpNamesNoTool(t *testing.T) {
	for _, c := range tools.Commands() {
		flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
		shell.AddFlags(flags, c)
		text := c.Summary + flags.FlagUsages()
		for _, tool := range tools.All() {
			if strings.Contains(text, tool.Name) {
				t.Errorf("%s: the help names %s", c.Name, tool.Name)
			}
		}
	}
}

// Each flag of a command has a text in the help.
func TestFlagsHaveTexts(t *testing.T) {
	for _, c := range tools.Commands() {
		flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
		shell.AddFlags(flags, c)
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" && !f.Hidden {
				t.Errorf("%s: --%s has no text", c.Name, f.Name)
			}
		})
	}
}
