package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// flagNames finds the flags in a list of them, as people read it.
var flagNames = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)

// unknownFlag says which flag may be meant by one that is none of a command's.
func unknownFlag(cmd *cobra.Command, err error) error {
	var named interface {
		GetSpecifiedName() string
		GetSpecifiedShortnames() string
	}
	if !errors.As(err, &named) || named.GetSpecifiedShortnames() != "" || cmd.Flags().Lookup(named.GetSpecifiedName()) != nil {
		return wrongUse("%w", err)
	}
	// Near is what cobra holds for near in the names of commands.
	flags := &cobra.Command{SuggestionsMinimumDistance: cmd.Root().SuggestionsMinimumDistance}
	for _, name := range flagNames.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		flags.AddCommand(&cobra.Command{Use: name[1], Run: func(*cobra.Command, []string) {}})
	}
	if near := flags.SuggestionsFor(named.GetSpecifiedName()); len(near) > 0 {
		slices.Sort(near)
		return wrongUse("%w; is it --%s?", err, strings.Join(near, ", or --"))
	}
	return wrongUse("%w", err)
}

// placesOfOurs are the variables that say where we keep files.
var placesOfOurs = []string{"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}

// placed adds to the error of a file of ours which variable has put it there.
func placed(err error) error {
	var file *fs.PathError
	if !errors.As(err, &file) {
		return err
	}
	for _, variable := range placesOfOurs {
		dir := os.Getenv(variable)
		if filepath.IsAbs(dir) && isOurs(file.Path, filepath.Clean(dir)) {
			return fmt.Errorf("%w; $%s is %s: set it to a folder that is there or can be made, or unset it", err, variable, dir)
		}
	}
	return err
}

// isOurs says whether path is dir, on the way to it, or what we keep in it.
func isOurs(path, dir string) bool {
	separator := string(os.PathSeparator)
	return path == dir || strings.HasPrefix(dir, path+separator) ||
		strings.HasPrefix(path, filepath.Join(dir, "browser-coordinator-"))
}
