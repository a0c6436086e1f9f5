package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/tools"
)

// envCaps says which more tools an agent gets where --caps does not.
const envCaps = "BROWSER_COORDINATOR_CAPS"

// capsFlag adds --caps to a command. It is checked by checkCaps, not here: an
// environment that is wrong must not break the other commands.
func capsFlag(cmd *cobra.Command, value *[]string) {
	var names []string
	for _, c := range tools.Caps() {
		names = append(names, c.Name)
	}
	cmd.Flags().StringSliceVar(value, "caps", splitCaps(os.Getenv(envCaps)),
		"more tools, `several` with commas or repeated: "+strings.Join(names, ", ")+" (default: $"+envCaps+")")
	cmd.Flags().Lookup("caps").DefValue = "[]" // help is the same for everybody
	if err := cmd.RegisterFlagCompletionFunc("caps", completeCaps); err != nil {
		panic(err) // only for a flag that is not there
	}
}

func splitCaps(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkCaps tidies what was given and refuses what does not exist.
func checkCaps(given []string) ([]string, error) {
	caps := splitCaps(strings.Join(given, ","))
	slices.Sort(caps)
	caps = slices.Compact(caps)
	if err := tools.CheckCaps(caps); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return caps, nil
}

// completeCaps offers the names that are not in the list yet.
func completeCaps(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	begun := typed[:strings.LastIndex(typed, ",")+1]
	var offers []cobra.Completion
	for _, c := range tools.Caps() {
		if !slices.Contains(strings.Split(begun, ","), c.Name) {
			offers = append(offers, cobra.CompletionWithDesc(begun+c.Name, c.What))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
