package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
)

// statusInterval is the time after which `status --watch` asks windows and endpoints again:
// there is no event for what their clients do.
const statusInterval = time.Second

func (p *program) statusCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the windows, their browsers, and what each client did last",
		Long: `Show what is going on now: the open windows, their browsers, what clients may do
there, who serves the endpoints, and the connected agents and CDP clients with
what each did last. A window is a VS Code window with the Browser Coordinator
extension, or a terminal in which "coordinator window" runs. Endpoints that are served without a window are there too,
and agents that drive a browser of their own.

With --watch it stays up to date until you press Ctrl+C, or until nobody reads
its output.`,
		Example: `  coordinator status
  coordinator status --watch
  coordinator status --json`,
		SuggestFor: []string{"stat", "top", "ps", "clients", "agents", "list", "ls", "window_list", "window-list"},
		Args:       noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			windows := p.openRegistry(ctx, false)
			defer windows.Close()
			if watch {
				return p.watchStatus(ctx, windows, asJSON)
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
			}
			return p.printStatus(p.out, report)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; with --watch, a line at each change")
	cmd.Flags().BoolVar(&watch, "watch", false, "stay, and show each change")
	return cmd
}

// printStatus writes a report for people.
func (p *program) printStatus(w io.Writer, report status.Report) error {
	if report.Empty() {
		p.notice("%s\n", status.Nothing)
		return nil
	}
	return report.Write(w, time.Now())
}

// watchStatus shows the status until the user interrupts it, or nobody reads it any longer. A terminal is redrawn
// each second; elsewhere each change is printed below the last one.
func (p *program) watchStatus(ctx context.Context, windows *registry.Registry, asJSON bool) error {
	show := p.statusChanges(ctx, asJSON)
	if !asJSON && terminal.CanRedraw(p.out) {
		screen := terminal.OpenScreen(p.out)
		defer screen.Close()
		show = func(report status.Report) error { return drawStatus(screen, report, terminal.Width(p.out)) }
	}
	err := windows.Watch(ctx, statusInterval, func(listing registry.Listing) error {
		if !terminal.HasReader(p.out) {
			return syscall.EPIPE
		}
		report, err := status.Read(ctx, windows, listing)
		if err != nil {
			return err
		}
		return show(report)
	})
	if p.isUnread(err) {
		return nil
	}
	return err
}

func drawStatus(screen *terminal.Screen, report status.Report, width int) error {
	if report.Empty() {
		return screen.Show(terminal.Wrap(status.Nothing, width) + "\n")
	}
	var text strings.Builder
	if err := report.Write(&text, time.Now()); err != nil {
		return err
	}
	return screen.Show(text.String())
}

// statusChanges prints each report that differs from the one before.
func (p *program) statusChanges(ctx context.Context, asJSON bool) func(status.Report) error {
	var last []byte
	return func(report status.Report) error {
		if asJSON {
			report.CountPages(ctx)
		}
		line, err := json.Marshal(report)
		if err != nil || bytes.Equal(line, last) {
			return err
		}
		isFirst := last == nil
		last = line
		switch {
		case asJSON:
			_, err = p.out.Write(append(terminal.PrintableJSON(line), '\n'))
			return err
		case !isFirst && !report.Empty():
			if _, err := io.WriteString(p.out, "\n"); err != nil {
				return err
			}
		}
		return p.printStatus(p.out, report)
	}
}
