package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/userchrome"
)

func (p *program) handOverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hand-over",
		Short: "Let agents use one of the tabs in your own browser, or take it back",
		Long: `Let agents and CDP clients use one of the tabs in your own browser (--attach
chrome). They see only the tabs that they opened. This command lists the others
and hands over the one that you choose, until you close that tab, or run the
command again and choose it once more.

It needs a terminal, so that no script hands over a tab by mistake. A program
that runs as you can do it all the same.`,
		Example: `  coordinator hand-over`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines := terminal.ReadLines(p.in)
			if lines == nil {
				return errors.New("a tab is chosen in a terminal: run `coordinator hand-over` there")
			}
			ctx := cmd.Context()
			type choice struct {
				in  userchrome.Shared
				tab userchrome.Tab
			}
			var choices []choice
			for _, in := range userchrome.Connections(ctx) {
				tabs, err := in.Tabs(ctx)
				if err != nil {
					return fmt.Errorf("list the tabs of %s: %w", in.Browser, err)
				}
				for _, tab := range tabs {
					choices = append(choices, choice{in, tab})
					fmt.Fprintf(p.err, "%3d  %s\n", len(choices), tab.Line())
				}
			}
			if len(choices) == 0 {
				return errors.New("there is no tab to hand over: no agent or client is connected to your own browser, or " +
					"it has no other tab. An agent connects with its first call")
			}
			input := lines.Next()
			fmt.Fprint(p.err, "Which tab may agents use, or no longer use? Its number, or nothing: ")
			var line string
			select {
			case line = <-input:
			case <-ctx.Done():
				return nil
			}
			if line = strings.TrimSpace(line); line == "" {
				return nil
			}
			n, err := strconv.Atoi(line)
			if err != nil || n < 1 || n > len(choices) {
				return wrongUse("hand-over: %q is no number from 1 to %d", line, len(choices))
			}
			chosen := choices[n-1]
			if chosen.tab.HandedOver {
				if err := chosen.in.TakeBack(ctx, chosen.tab.ID); err != nil {
					return err
				}
				p.notice("Agents can no longer use the tab %q.\n", chosen.tab.Title)
				return nil
			}
			if err := chosen.in.HandOver(ctx, chosen.tab.ID); err != nil {
				return err
			}
			p.notice("Agents may use the tab %q until you close it, or choose it here again.\n", chosen.tab.Title)
			return nil
		},
	}
}
