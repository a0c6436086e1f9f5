package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/serving"
)

func (p *program) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a window's stable CDP address, without MCP",
		Long: `Serve a window's stable CDP address in the foreground, without MCP, until you
interrupt the command. The window may open and close meanwhile. A client that
finds no browser waits for the next one. With --launch a browser is started for
it.`,
		Example: `  coordinator serve
  coordinator serve --launch --workspace ~/shop`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			e, err := p.serveWorkspace(ctx, cmd, &flags)
			if err != nil {
				return err
			}
			defer e.close()
			if _, err := fmt.Fprintln(p.out, e.Address().ClientURL()); err != nil {
				return err // without its address it is useless
			}
			if changed := e.OwnerChanged(); !e.Owner() {
				fmt.Fprintln(p.err, "Another coordinator already serves this address. This one takes over when that "+
					"one ends."+useless(cmd))
				select {
				case <-changed:
					fmt.Fprintln(p.err, "The other coordinator has ended. This one serves the address now: "+
						e.Address().ClientURL())
				case <-ctx.Done():
				}
			}
			<-ctx.Done()
			return nil
		},
	}
	flags.add(cmd)
	return cmd
}

// serveFlags are the flags of the commands that serve the endpoint of one workspace.
type serveFlags struct {
	workspace string
	endpoint  endpointFlags
	browser   launchFlags
}

func (f *serveFlags) add(cmd *cobra.Command) {
	workspaceFlag(cmd, &f.workspace)
	f.endpoint.add(cmd)
	f.browser.add(cmd)
}

// served is a window's endpoint in a command's foreground.
type served struct {
	*serving.Endpoint
	workspace string // canonical
	windows   *registry.Registry
	onDemand  *launch.OnDemand // nil: nothing is launched
	log       *slog.Logger
}

// serveWorkspace serves the endpoint of the window that --workspace resolves to.
func (p *program) serveWorkspace(ctx context.Context, cmd *cobra.Command, flags *serveFlags) (*served, error) {
	onDemand, err := flags.browser.onDemand(p, cmd)
	if err != nil {
		return nil, err
	}
	windows := p.openRegistry(ctx, true)
	workspace, err := resolveWorkspace(ctx, windows, flags.workspace)
	if err != nil {
		windows.Close()
		return nil, err
	}
	options := flags.endpoint.options(p, onDemand, flags.browser.browser.mode(onDemand, p.limits.access))
	e, err := serving.Serve(ctx, workspace, windows.Source(workspace), &options)
	if err != nil {
		windows.Close()
		return nil, err
	}
	return &served{e, workspace, windows, onDemand, p.logger}, nil
}

func (s *served) close() {
	s.Endpoint.Close()
	s.windows.Close()
	if s.onDemand != nil {
		if err := s.onDemand.End(); err != nil {
			s.log.Warn("the launched browser did not end cleanly", "error", err)
		}
	}
}
