package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/tools"
)

// envCaps is the variable with the default of --caps.
const envCaps = "BROWSER_COORDINATOR_CAPS"

// capsFlag adds --caps to a command. checkCaps checks it, not pflag: a wrong variable
// must not break the other commands.
func capsFlag(cmd *cobra.Command, value *[]string) {
	cmd.Flags().StringSliceVar(value, "caps", splitCaps(os.Getenv(envCaps)),
		"add `SETS` of tools, separated by commas: "+strings.Join(tools.CapNames(), ", ")+" (default: $"+envCaps+")")
	cmd.Flags().Lookup("caps").DefValue = "[]" // help does not depend on the variable
	completeList(cmd, "caps", func() (offers []cobra.Completion) {
		for _, c := range tools.Caps() {
			offers = append(offers, cobra.CompletionWithDesc(c.Name, c.What))
		}
		return offers
	})
}

func splitCaps(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkCaps sorts the given names and refuses unknown ones.
func checkCaps(given []string) ([]string, error) {
	caps := splitCaps(strings.Join(given, ","))
	slices.Sort(caps)
	caps = slices.Compact(caps)
	if err := tools.CheckCaps(caps); err != nil {
		return nil, wrongUse("%w", err)
	}
	return caps, nil
}
