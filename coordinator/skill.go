package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/skill"
)

func (p *program) skillCommand() *cobra.Command {
	pages := skill.Pages()
	var names []string
	list := ""
	for _, page := range pages {
		names = append(names, page.Name)
		list += fmt.Sprintf("  %-10s %s\n", page.Name, page.Title)
	}
	return &cobra.Command{
		Use:   "skill [PAGE]",
		Short: "Teach an agent how to use the browser from a shell",
		Long: `Print a text for an agent with a shell: how it uses the browser with the commands of
this version. Without PAGE it is a skill in the form of agentskills.io.
` + "`coordinator setup HOST --skill`" + ` installs one that has the agent run this command.

Pages:
` + strings.TrimSuffix(list, "\n"),
		Example: `  coordinator skill
  coordinator skill network`,
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return wrongUse("skill: unexpected argument %q: name one page", args[1])
			case len(args) == 1 && !slices.Contains(names, args[0]):
				return wrongUse("skill: there is no page %q: want one of %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text := skill.Main()
			if len(args) > 0 {
				text = pages[slices.Index(names, args[0])].Text
			}
			_, err := io.WriteString(p.out, text)
			return err
		},
	}
}
