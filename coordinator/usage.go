package main

import (
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// wrongUse is an error of the command line, with exit code 2.
func wrongUse(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// noArguments is for commands that take flags alone.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Lookup("workspace") != nil:
		return wrongUse("%s: takes no %q; --workspace chooses the folder", cmd.Name(), args[0])
	}
	return wrongUse("%s: takes no %q", cmd.Name(), args[0])
}

// unknownCommand says which one may be meant.
func unknownCommand(root *cobra.Command, name string) error {
	if near := root.SuggestionsFor(name); len(near) > 0 {
		slices.Sort(near)
		return wrongUse("there is no command %q; is it `coordinator %s`?", name, strings.Join(near, "`, or `coordinator "))
	}
	return wrongUse("there is no command %q", name)
}

// together finds the flags of which cobra says, in a way of its own, that they
// were set and must not be together.
var together = regexp.MustCompile(`^if any flags in the group .*\[(.*)\] were all set$`)

// readable puts cobra's complaints as ours are; others stay.
func readable(err error) error {
	if m := together.FindStringSubmatch(err.Error()); m != nil {
		return wrongUse("--%s exclude each other", strings.Join(strings.Fields(m[1]), " and --"))
	}
	if strings.HasPrefix(err.Error(), "unknown command") { // of cobra's own commands
		return wrongUse("%w", err)
	}
	return err
}

// shellWord is the name of a file or folder as one word of a command line that a
// person may paste.
func shellWord(name string) string { return wordFor(runtime.GOOS, name) }

func wordFor(system, name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name // no flag, on Windows too
	}
	special := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./:@%+=,-", c) && !(c == '\\' && system == "windows")
	}
	switch {
	case name != "" && strings.IndexFunc(name, special) < 0:
		return name
	case system == "windows": // where no file's name has a quote
		end := name[len(strings.TrimRight(name, `\`)):] // would take the quote for a letter
		return `"` + name + end + `"`
	default:
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
}

// hint is where to read how a command is used.
func hint(cmd *cobra.Command) string {
	if cmd.HasParent() && cmd.Name() != "help" {
		return fmt.Sprintf("Run `coordinator help %s` for what there is.", strings.TrimPrefix(cmd.CommandPath(), "coordinator "))
	}
	return "Run `coordinator help` for what there is."
}

// helpCommand is `coordinator help`; cobra's own takes any word.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err == nil {
				for _, c := range about.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// checkCDPURL refuses what is no address of a browser, before it is dialed.
func checkCDPURL(flag, given string) error {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme) {
		return wrongUse("--%s %q: want a browser's CDP URL, for example http://127.0.0.1:9222 or ws://127.0.0.1:9222/devtools/browser/…", flag, given)
	}
	return nil
}
