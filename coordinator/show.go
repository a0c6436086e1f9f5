package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/show"
	"browser-coordinator/coordinator/terminal"
)

func (p *program) showCommand() *cobra.Command {
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show all windows and browsers in a page, and answer agents there",
		Long: `Show all windows and private browsers in a page of your web browser: their pages
as live pictures, the errors in their consoles, and the agents and CDP clients
with what each did last. There you answer what agents ask, change what they may
do, stop them, use a page yourself, and close its tab.

The page is served on this machine only, until you interrupt the command. The
link works once, within two minutes. It is printed only on a terminal.`,
		Example: `  coordinator show
  coordinator show --no-open`,
		SuggestFor: []string{"dashboard", "ui", "view", "watch", "live"},
		Args:       noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hasTerminal := terminal.Is(p.out)
			if noOpen && !hasTerminal {
				return wrongUse("--no-open: the link is printed only on a terminal")
			}
			ctx := cmd.Context()
			windows := p.openRegistry(ctx, false)
			defer windows.Close()
			s, err := show.Serve(windows, p.logger)
			if err != nil {
				return err
			}
			defer s.Close()
			if !noOpen {
				err = show.Open(s.Link())
			}
			switch {
			case hasTerminal:
				if _, err := fmt.Fprintln(p.out, s.Link()); err != nil {
					return err
				}
			case err != nil:
				return fmt.Errorf("cannot open a web browser: %w. Run `coordinator show` in a terminal, which prints "+
					"the link", err)
			}
			switch {
			case noOpen:
				p.notice("Open this link within two minutes; it works once. Press Ctrl+C to end.\n")
			case err != nil:
				p.notice("No web browser could be opened (%v). Open this link within two minutes; it works once. Press "+
					"Ctrl+C to end.\n", err)
			default:
				p.notice("Your web browser shows the page. The link is for another one: it works once, within two " +
					"minutes. Press Ctrl+C to end.\n")
			}
			<-ctx.Done()
			return nil
		},
	}
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "print the link, and open no web browser")
	return cmd
}
