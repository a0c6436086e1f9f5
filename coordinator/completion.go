package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/setup"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/vscodeipc"
)

// initCompletion adds the completion command.
func initCompletion(root *cobra.Command) {
	root.SetCompletionCommandGroupID(maintenance)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		// without this it accepts any argument
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if c, _, err := root.Find([]string{"completion", "bash"}); err == nil {
		generate := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if _, err := io.WriteString(cmd.OutOrStdout(), bashFunctions); err != nil {
				return err
			}
			return generate(cmd, args)
		}
	}
}

// bashFunctions are what the generated script takes from the package bash-completion, for a bash without it. The
// package replaces them where it is loaded later.
const bashFunctions = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]} prev=${words[cword - 1]}
    }
    _filedir()
    {
        local kind=-f entry
        compopt -o filenames 2>/dev/null
        [[ $1 == -d ]] && kind=-d
        while IFS= read -r entry; do COMPREPLY+=("$entry"); done < <(compgen "$kind" -- "$cur")
    }
fi
`

// completionTimeout bounds how long a shell waits for what depends on the windows.
const completionTimeout = time.Second

// completeClients offers the connected clients of the endpoint of a workspace.
func (p *program) completeClients(
	workspace *string,
) func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
		defer cancel()
		if found, err := p.findWorkspace(ctx, *workspace); err == nil {
			status, _ := endpoint.ReadStatus(ctx, vscodeipc.Hash(found)) // empty if it is not served
			seen := map[string]bool{}
			for _, c := range status.Clients {
				if !seen[c.Name] {
					seen[c.Name] = true
					names = append(names, cobra.CompletionWithDesc(c.Name, c.Version))
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// envCaps is the variable with the default of --caps.
const envCaps = setup.EnvCaps

// capsFlag adds --caps to a command. checkCaps checks it, not pflag: a wrong variable
// must not break the other commands.
func capsFlag(cmd *cobra.Command, value *[]string) {
	cmd.Flags().StringSliceVar(value, "caps", splitCaps(os.Getenv(envCaps)),
		"add `SETS` of tools, separated by commas: "+strings.Join(tools.CapNames(), ", ")+" (default: $"+envCaps+")")
	setByVariable(cmd, "caps", envCaps)
	cmd.Flags().Lookup("caps").DefValue = "[]" // help does not depend on the variable
	completeList(cmd, "caps", func() (offers []cobra.Completion) {
		for _, c := range tools.Caps {
			offers = append(offers, cobra.CompletionWithDesc(c.Name, c.Purpose))
		}
		return offers
	})
}

func splitCaps(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkCaps sorts the names of --caps, or of its variable, and refuses unknown ones.
func checkCaps(cmd *cobra.Command, names []string) ([]string, error) {
	source := "$" + envCaps
	if cmd.Flags().Changed("caps") {
		source = "--caps"
	}
	caps := splitCaps(strings.Join(names, ","))
	slices.Sort(caps)
	caps = slices.Compact(caps)
	if err := tools.CheckCaps(caps); err != nil {
		return nil, wrongUse("%s: %w", source, err)
	}
	return caps, nil
}
