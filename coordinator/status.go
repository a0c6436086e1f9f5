package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
)

// statusInterval is the time after which `status` asks windows and endpoints again: there
// is no event for what their clients do.
const statusInterval = time.Second

func (p *program) statusCommand() *cobra.Command {
	var asJSON, once bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the windows, their browsers, and what each client did last",
		Long: `Show what is going on now: the open windows, their browsers, what clients may do
there, who serves the endpoints, and the connected agents and CDP clients with
what each did last. A window is a VS Code window with the Browser Coordinator
extension, or a terminal in which "coordinator window" runs. Endpoints that are served without a window are there too,
and agents that drive a browser of their own.

On a terminal it stays up to date until you press Ctrl+C. Otherwise, and with
--once or --json, it prints once.`,
		Example: `  coordinator status
  coordinator status --json`,
		SuggestFor: []string{"stat", "top", "ps", "clients", "agents", "list", "ls", "window_list", "window-list"},
		Args:       noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			windows := p.openRegistry(ctx, false)
			defer windows.Close()
			if !asJSON && !once && terminal.CanRedraw(p.out) {
				return p.followStatus(ctx, windows)
			}
			listing, err := windows.List(ctx)
			if err != nil {
				return err
			}
			report, err := status.Read(ctx, windows, listing)
			switch {
			case err != nil:
				return err
			case asJSON:
				report.CountPages(ctx)
				return terminal.JSON(p.out, report)
			case report.Empty():
				p.notice("%s\n", status.Nothing)
				return nil
			}
			return report.Write(p.out, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, once")
	cmd.Flags().BoolVar(&once, "once", false, "print once, also on a terminal")
	return cmd
}

// followStatus shows the status until the user interrupts it.
func (p *program) followStatus(ctx context.Context, windows *registry.Registry) error {
	screen := terminal.OpenScreen(p.out)
	defer screen.Close()
	return windows.Watch(ctx, statusInterval, func(listing registry.Listing) error {
		report, err := status.Read(ctx, windows, listing)
		switch {
		case err != nil:
			return err
		case report.Empty():
			return screen.Show(terminal.Wrap(status.Nothing, terminal.Width(p.out)) + "\n")
		}
		var text strings.Builder
		if err := report.Write(&text, time.Now()); err != nil {
			return err
		}
		return screen.Show(text.String())
	})
}
