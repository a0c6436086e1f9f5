package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
)

// wrongUse is an error in the command line, with exit code 2.
func wrongUse(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// refuseEmpty refuses flags with an empty value, as --allowed-origins "$UNSET" gives them: a
// limit that somebody meant to set would not exist. Without a set of tools (--caps) the
// agent has the least.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if list := listOf(f); list != nil {
			value = strings.Join(list.GetSlice(), "")
		} else if f.Value.Type() != "string" {
			return // it has refused an empty value itself
		}
		if err == nil && f.Name != "caps" && strings.TrimSpace(value) == "" {
			err = wrongUse("--%s is empty: give it a value, or omit it", f.Name)
		}
	})
	return err
}

// noArguments is for commands that take only flags.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Lookup("workspace") != nil:
		return wrongUse("%s: unexpected argument %q; select a folder with --workspace", cmd.Name(), args[0])
	}
	return wrongUse("%s: unexpected argument %q", cmd.Name(), args[0])
}

// unknownCommand is the error for an unknown command, with the nearest ones.
func unknownCommand(root *cobra.Command, name string) error {
	if name == "version" {
		return wrongUse("unknown command %q; did you mean `coordinator --version`?", name)
	}
	root.SuggestionsMinimumDistance = distance(name)
	if near := root.SuggestionsFor(name); len(near) > 0 {
		slices.Sort(near)
		return wrongUse("unknown command %q; did you mean `coordinator %s`?", name,
			strings.Join(near, "`, or `coordinator "))
	}
	return wrongUse("unknown command %q", name)
}

// distance is in how many letters a wrong name may differ from a suggested one: in two of a
// short name, all are near.
func distance(name string) int { return min(max(1, len(name)/3), 2) }

// exclusive matches cobra's error for flags that exclude each other.
var exclusive = regexp.MustCompile(`^if any flags in the group .*\[(.*)\] were all set$`)

// ownWords rewrites cobra's errors in the style of ours. Other errors stay unchanged.
func ownWords(err error) error {
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return wrongUse("--%s exclude each other", strings.Join(strings.Fields(m[1]), " and --"))
	}
	if strings.HasPrefix(err.Error(), "unknown command") { // from cobra's own commands
		return wrongUse("%w", err)
	}
	return err
}

// flagNames matches the flags in cobra's list of them.
var flagNames = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)

// unknownFlag adds the nearest flags to the error for an unknown one.
func unknownFlag(cmd *cobra.Command, err error) error {
	var named interface {
		GetSpecifiedName() string
		GetSpecifiedShortnames() string
	}
	if !errors.As(err, &named) || named.GetSpecifiedShortnames() != "" ||
		cmd.Flags().Lookup(named.GetSpecifiedName()) != nil {
		return wrongUse("%w", err)
	}
	if cmd.Name() == "do" {
		return wrongUse("%w: the flags of a command go behind it, as in: coordinator do 'click e3 --tab 1'", err)
	}
	var names []string
	for _, name := range flagNames.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		names = append(names, name[1])
	}
	if near := nearest(named.GetSpecifiedName(), names); len(near) > 0 {
		return wrongUse("%w; did you mean --%s?", err, strings.Join(near, ", or --"))
	}
	return wrongUse("%w", err)
}

// nearest returns the names that a wrong one may mean, by the distance that cobra uses
// for the names of commands.
func nearest(typo string, names []string) []string {
	commands := &cobra.Command{SuggestionsMinimumDistance: distance(typo)}
	for _, name := range names {
		commands.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	near := commands.SuggestionsFor(typo)
	slices.Sort(near)
	return near
}

// help writes the help of a command as cobra does, but wraps its text to the terminal.
func (p *program) help(cmd *cobra.Command, _ []string) {
	p.addFlags(cmd)
	description := cmp.Or(cmd.Long, cmd.Short)
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", terminal.Wrap(strings.TrimSpace(description), terminal.Width(p.out)))
	_ = p.usage(cmd)
}

// usage writes the usage of a command as cobra does, but wraps the flags to the terminal.
func (p *program) usage(cmd *cobra.Command) error {
	w, width := cmd.OutOrStdout(), terminal.Width(p.out)
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if commands := cmd.Commands(); cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", cmd.CommandPath())
		for _, group := range append(cmd.Groups(), &cobra.Group{Title: "Commands"}) {
			title := "\n" + group.Title + ":\n"
			for _, c := range commands {
				if c.GroupID == group.ID && (c.IsAvailableCommand() || c.Name() == "help") {
					line := fmt.Sprintf("  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
					fmt.Fprint(w, title, terminal.Fold(line, width, c.NamePadding()+len("   ")))
					title = ""
				}
			}
		}
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", flags.FlagUsagesWrapped(width))
	}
	if flags := cmd.InheritedFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nGlobal Flags:\n%s", flags.FlagUsagesWrapped(width))
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	return nil
}

// hint names the help for a command.
func hint(cmd *cobra.Command) string {
	if cmd.HasParent() && !cmd.Hidden && cmd.Name() != "help" {
		return fmt.Sprintf("Run `coordinator help %s` for usage.",
			strings.TrimPrefix(cmd.CommandPath(), "coordinator "))
	}
	return "Run `coordinator help` for usage."
}

// helpCommand is `coordinator help`; cobra's own accepts any argument.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string,
			_ cobra.ShellCompDirective) {
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

// goWords matches how Go's library begins an error: by the function or system call that
// failed.
var goWords = regexp.MustCompile(`\b(?:fork/exec|l?stat|readlink|mkdir|chdir|unlinkat) (/|\.|[A-Za-z]:\\)`)

// libraryTexts are errors of Go's library and of the system in our words.
var libraryTexts = strings.NewReplacer(
	"getwd: no such file or directory", "the working directory no longer exists: cd to a folder that exists",
	"too many levels of symbolic links", "its links lead in a circle",
)

// notBool matches pflag's error for a flag without a value.
var notBool = regexp.MustCompile(`strconv\.ParseBool: parsing "[^"]*": invalid syntax`)

// plain is an error's text in the words of people.
func plain(text string) string {
	text = notBool.ReplaceAllString(libraryTexts.Replace(text), "want true or false")
	return goWords.ReplaceAllString(text, "$1")
}

// joinPort makes one argument of --debugging-port and its value: pflag takes none from the
// next argument, since the value may be omitted. What follows the name of a program is not
// ours.
func joinPort(args []string) []string {
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case arg == "--debugging-port" && i+1 < len(args) && isNumber(args[i+1]):
			return slices.Concat(args[:i], []string{arg + "=" + args[i+1]}, args[i+2:])
		}
	}
	return args
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// homes are the variables that name the folders of our files.
var homes = []string{"XDG_STATE_HOME", "XDG_DATA_HOME"}

// withVariable adds the variable with a file's folder, or one to set, to an error about one of our
// files.
func withVariable(err error) error {
	var file *fs.PathError
	if !errors.As(err, &file) {
		return err
	}
	for _, variable := range homes {
		dir := os.Getenv(variable)
		if filepath.IsAbs(dir) && isOurs(file.Path, filepath.Clean(dir)) {
			return fmt.Errorf("%w; $%s is %s: set it to a folder that exists or can be made, or unset it", err,
				variable, dir)
		}
	}
	if errors.As(err, new(*statedir.Error)) && !errors.Is(err, trusted.ErrForeign) { // below the home
		return fmt.Errorf("%w; set XDG_STATE_HOME to a folder that can be written", err)
	}
	return err
}

// isOurs reports whether path is dir, one of its parents, or one of our files in it.
func isOurs(path, dir string) bool {
	separator := string(os.PathSeparator)
	return path == dir || strings.HasPrefix(dir, path+separator) ||
		strings.HasPrefix(path, filepath.Join(dir, "browser-coordinator-"))
}
