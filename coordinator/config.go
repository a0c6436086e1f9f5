package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/config"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/policy"
)

// configured are the commands that take flags from config.toml too.
var configured = []string{"mcp", "serve", "run", "window"}

// Annotations of flags.
const (
	ofVariable = "variable"                            // the variable that sets it where the command line does not
	ofFile     = "file"                                // the file that has set it
	ofRivals   = "cobra_annotation_mutually_exclusive" // the flags that it excludes, by cobra
)

// setByVariable declares the variable of a flag.
func setByVariable(cmd *cobra.Command, flag, variable string) {
	if err := cmd.Flags().SetAnnotation(flag, ofVariable, []string{variable}); err != nil {
		panic(err) // only for a flag that is not there
	}
}

// restrictive is the value of a flag that a project's file may set: it takes permissions away,
// and gives none.
type restrictive struct {
	pflag.Value
	narrow func(texts []string) error // adds what the file wants to what the user wants
}

// restricts declares that a flag is restrictive.
func restricts(cmd *cobra.Command, flag string, narrow func(texts []string) error) {
	f := cmd.Flags().Lookup(flag)
	f.Value = restrictive{f.Value, narrow}
	if f.DefValue == "[]" {
		f.DefValue = "" // which the help omits
	}
}

// restrictsAccess declares that --access is restrictive: the stricter mode counts.
func restrictsAccess(cmd *cobra.Command, mode *string) {
	restricts(cmd, "access", func(texts []string) error {
		limit := slices.Index(policy.Modes, policy.Mode(texts[0]))
		given := slices.Index(policy.Modes, policy.Mode(*mode))
		switch {
		case limit < 0:
			return fmt.Errorf("%q: want one of full, ask, view", texts[0])
		case given >= 0 && limit > given: // a wrong one is refused later
			*mode = string(policy.Modes[limit])
		}
		return nil
	})
}

// switchesOn declares that a flag is restrictive when it is given.
func switchesOn(cmd *cobra.Command, flag string, value *bool) {
	restricts(cmd, flag, func(texts []string) error {
		if !slices.Equal(texts, []string{"true"}) {
			return errors.New("a project's file may only set it to true")
		}
		*value = true
		return nil
	})
}

// listOf is the value of a flag that takes a list; nil: it takes none.
func listOf(f *pflag.Flag) pflag.SliceValue {
	value := f.Value
	if r, isRestrictive := value.(restrictive); isRestrictive {
		value = r.Value
	}
	list, _ := value.(pflag.SliceValue)
	return list
}

// configuredAs is the command whose flags a command has: those of a session are of mcp.
func configuredAs(cmd *cobra.Command) string {
	if cmd.Name() == sessionName {
		return "mcp"
	}
	return cmd.Name()
}

// limits are those of the projects' files that hold for every browser, whatever flags a command has.
type limits struct {
	access   policy.Mode // in any browser; empty: there is none
	noLaunch string      // the file that forbids to launch one; empty: none does
}

// add adds those of a file for a command. restrict has checked it.
func (l *limits) add(cmd *cobra.Command, file *config.File) {
	for _, table := range []map[string]any{file.Flags, file.Commands[configuredAs(cmd)]} {
		if mode, isText := table["access"].(string); isText {
			l.access = policy.Mode(mode).Within(l.access)
		}
		if table["no-launch"] == true {
			l.noLaunch = file.Path
		}
	}
}

// launches returns an error if no browser may be launched. next is how to do without.
func (l *limits) launches(next string) error {
	if l.noLaunch == "" {
		return nil
	}
	return wrongUse("%s has no-launch, so no browser is launched in this project: %s", l.noLaunch, next)
}

// applyConfig sets the flags that neither the command line nor a variable has set, by the
// user's file. Then the files of the project restrict them.
func (p *program) applyConfig(cmd *cobra.Command) error {
	if cmd.Parent() != cmd.Root() || !slices.Contains(configured, configuredAs(cmd)) {
		return nil
	}
	user, err := config.User()
	if err == nil && user != nil {
		err = setFlags(cmd, user)
	}
	if err != nil {
		return wrongUse("%w", err)
	}
	workspace := cmd.Flag("workspace").Value.String()
	if from := cmd.Flag("from"); from != nil { // of a session
		workspace = from.Value.String()
	}
	workspace, err = canonicalWorkspace(workspace)
	if err != nil {
		return err
	}
	projects, err := config.Projects(fspath.FolderOf(workspace))
	for _, file := range projects {
		if err == nil {
			err = restrict(cmd, file)
		}
		if err != nil {
			break
		}
		p.limits.add(cmd, file)
		for _, name := range []string{"allowed-origins", "blocked-origins"} {
			if file.Flags[name] != nil && cmd.Flag(name) == nil {
				p.notice("%s has %s, which limits agents. The CDP clients of `%s` may open any address.\n", file.Path, name,
					cmd.CommandPath())
			}
		}
	}
	if err != nil {
		return wrongUse("%w", err)
	}
	return nil
}

// valuesFor are the values of a file for a command. Each name in the file must be a flag, also
// those for other commands.
func valuesFor(cmd *cobra.Command, file *config.File) (map[string]any, error) {
	var all []string // names of flags
	values := map[string]any{}
	for _, name := range configured {
		c, _, err := cmd.Root().Find([]string{name})
		if err != nil {
			return nil, err
		}
		own := settable(c)
		if c.Name() == configuredAs(cmd) {
			maps.Copy(values, file.Flags)
			maps.DeleteFunc(values, func(flag string, _ any) bool { return !slices.Contains(own, flag) })
			maps.Copy(values, file.Commands[name])
		}
		for _, flag := range slices.Sorted(maps.Keys(file.Commands[name])) {
			if !slices.Contains(own, flag) {
				return nil, unknownKey(file, flag, fmt.Sprintf("no flag of `coordinator %s`", name), own)
			}
		}
		all = append(all, own...)
	}
	for _, flag := range slices.Sorted(maps.Keys(file.Flags)) {
		if !slices.Contains(all, flag) {
			return nil, unknownKey(file, flag, "no flag of "+strings.Join(configured, ", "), all)
		}
	}
	for _, command := range slices.Sorted(maps.Keys(file.Commands)) {
		if !slices.Contains(configured, command) {
			return nil, fmt.Errorf("%s: [%s] is no command with flags to set; those are %s", file.Path, command,
				strings.Join(configured, ", "))
		}
	}
	return values, nil
}

// settable are the names of the flags that a file can set. With --listen there, no host could
// launch mcp.
func settable(cmd *cobra.Command) (names []string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != listenFlag {
			names = append(names, f.Name)
		}
	})
	return names
}

func unknownKey(file *config.File, key, reason string, known []string) error {
	slices.Sort(known)
	if near := nearest(key, slices.Compact(known)); len(near) > 0 {
		reason += "; did you mean " + strings.Join(near, ", or ") + "?"
	}
	return fmt.Errorf("%s: %s is %s", file.Path, key, reason)
}

// setFlags sets the flags of a command by the user's file. The command line and variables take
// precedence, also over flags that they exclude.
func setFlags(cmd *cobra.Command, file *config.File) error {
	values, err := valuesFor(cmd, file)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f := cmd.Flag(name)
		rivals := strings.Fields(strings.Join(f.Annotations[ofRivals], " "))
		if slices.ContainsFunc(append(rivals, name), func(n string) bool { return isGiven(cmd, n) }) {
			continue
		}
		texts, isList, err := config.Texts(values[name])
		switch {
		case err != nil:
		case listOf(f) != nil:
			texts = []string{strings.Join(texts, ",")}
		case isList && f.Value.Type() != "func":
			err = errors.New("want one value, not a list")
		}
		for _, text := range texts {
			if err == nil {
				err = cmd.Flags().Set(name, text)
			}
		}
		if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = invalid.Unwrap()
		}
		if err == nil {
			err = cmd.Flags().SetAnnotation(name, ofFile, []string{file.Path})
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", file.Path, name, err)
		}
	}
	return nil
}

// isTyped reports whether the command line sets a flag.
func isTyped(cmd *cobra.Command, name string) bool {
	return cmd.Flags().Changed(name) && cmd.Flag(name).Annotations[ofFile] == nil
}

// isGiven reports whether the command line, or a variable, sets a flag.
func isGiven(cmd *cobra.Command, name string) bool {
	isSet := func(variable string) bool { return os.Getenv(variable) != "" }
	return isTyped(cmd, name) || slices.ContainsFunc(cmd.Flag(name).Annotations[ofVariable], isSet)
}

// restrict restricts the flags of a command by a project's file.
func restrict(cmd *cobra.Command, file *config.File) error {
	values, err := valuesFor(cmd, file)
	if err != nil {
		return err
	}
	for _, table := range append(slices.Collect(maps.Values(file.Commands)), file.Flags) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			if !slices.Contains(restrictions(cmd.Root()), name) {
				return fmt.Errorf("%s: %s could give more rights, and a project's file may only restrict (%s): move it to "+
					"your own file, %s", file.Path, name, strings.Join(restrictions(cmd.Root()), ", "), config.UserPath())
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts, _, err := config.Texts(values[name])
		switch {
		case err != nil:
		case strings.TrimSpace(strings.Join(texts, "")) == "":
			err = errors.New("it is empty: give it a value, or remove the line")
		default:
			err = cmd.Flag(name).Value.(restrictive).narrow(texts)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", file.Path, name, err)
		}
	}
	return nil
}

// restrictions are the flags that a project's file may set.
func restrictions(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, is := f.Value.(restrictive); is {
				names = append(names, f.Name)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// flagName matches the name of a flag in an error.
var flagName = regexp.MustCompile(`--[a-z][a-z-]*`)

// withFiles names the file of each flag that a file has set, in an error about it.
func withFiles(cmd *cobra.Command, text string) string {
	return flagName.ReplaceAllStringFunc(text, func(name string) string {
		if f := cmd.Flag(name[2:]); f != nil && f.Annotations[ofFile] != nil {
			return name[2:] + " in " + f.Annotations[ofFile][0]
		}
		return name
	})
}

// checkConfig returns the files that count in a folder, each with what is wrong in it.
func checkConfig(folder string) map[string]error {
	found := map[string]error{}
	root := new(program).root()
	check := func(apply func(*cobra.Command, *config.File) error, file *config.File) {
		for _, name := range configured {
			if c, _, err := root.Find([]string{name}); found[file.Path] == nil && err == nil {
				found[file.Path] = apply(c, file)
			}
		}
	}
	user, err := config.User()
	switch {
	case err != nil:
		found[config.UserPath()] = err
	case user != nil:
		check(setFlags, user)
	}
	projects, err := config.Projects(folder)
	for _, file := range projects {
		check(restrict, file)
	}
	if err != nil {
		found[folder] = err
	}
	return found
}
