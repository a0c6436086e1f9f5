package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/registry"
)

// shutdownPatience bounds every orderly end.
const shutdownPatience = 2 * time.Second

func (p *program) serveCommand() *cobra.Command {
	var workspace string
	var guard guardFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a window's stable CDP address, without MCP",
		Long: `Serve a window's stable CDP address in the foreground, without MCP, until it is
interrupted. The window may come and go meanwhile: clients that come while there
is no browser wait for the next one.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			e, err := p.serveMeant(ctx, workspace, guard)
			if err != nil {
				return err
			}
			defer e.close()
			fmt.Fprintln(p.out, guard.url(e.Address()))
			if !e.Owner() {
				fmt.Fprintln(p.err, "Another coordinator serves it now; this one takes over when that ends.")
			}
			<-ctx.Done()
			return nil
		},
	}
	workspaceFlag(cmd, &workspace)
	guard.add(cmd)
	return cmd
}

// servedEndpoint is a window's endpoint in a command's foreground.
type servedEndpoint struct {
	*guardedEndpoint
	workspace string // canonical
	windows   *registry.Registry
}

// serveMeant serves the endpoint of the window that given means.
func (p *program) serveMeant(ctx context.Context, given string, guard guardFlags) (*servedEndpoint, error) {
	windows, err := p.openRegistry(ctx, true)
	if err != nil {
		return nil, err
	}
	meant, err := p.meantWorkspace(ctx, windows, given)
	if err != nil {
		windows.Close()
		return nil, err
	}
	e, err := p.serveEndpoint(ctx, meant, windows.Source(meant), guard)
	if err != nil {
		windows.Close()
		return nil, err
	}
	return &servedEndpoint{e, meant, windows}, nil
}

func (s *servedEndpoint) close() {
	s.guardedEndpoint.close()
	s.windows.Close()
}
