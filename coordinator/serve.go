package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// shutdownPatience bounds every orderly end.
const shutdownPatience = 2 * time.Second

func (p *program) serveCommand() *cobra.Command {
	var workspace string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a window's stable CDP address, without MCP",
		Long: `Serve a window's stable CDP address in the foreground, without MCP, until it is
interrupted. The window may come and go meanwhile: clients that come while there
is no browser wait for the next one.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			e, err := p.serveMeant(ctx, workspace)
			if err != nil {
				return err
			}
			defer e.close()
			fmt.Fprintln(p.out, e.URL())
			if !e.Owner() {
				fmt.Fprintln(p.err, "Another coordinator serves it now; this one takes over when that ends.")
			}
			<-ctx.Done()
			return nil
		},
	}
	workspaceFlag(cmd, &workspace)
	return cmd
}

// servedEndpoint is a window's endpoint in a command's foreground.
type servedEndpoint struct {
	*endpoint.Endpoint
	workspace string // canonical
	windows   *registry.Registry
}

// serveMeant serves the endpoint of the window that given means.
func (p *program) serveMeant(ctx context.Context, given string) (*servedEndpoint, error) {
	windows, err := p.openRegistry(ctx, true)
	if err != nil {
		return nil, err
	}
	meant, err := p.meantWorkspace(ctx, windows, given)
	if err != nil {
		windows.Close()
		return nil, err
	}
	e, err := endpoint.Serve(ctx, vscodeipc.Hash(meant), windows.Source(meant), p.endpointOptions(meant))
	if err != nil {
		windows.Close()
		return nil, err
	}
	return &servedEndpoint{e, meant, windows}, nil
}

func (s *servedEndpoint) close() {
	closeEndpoint(s.Endpoint)
	s.windows.Close()
}

func (p *program) endpointOptions(workspace string) *endpoint.Options {
	return &endpoint.Options{
		Proxy:  cdpproxy.Options{NoBrowserHelp: fmt.Sprintf("Start the debug session of the window on %s (F5 in VS Code), or run `coordinator window --workspace %[1]s`.", workspace)},
		Logger: p.logger,
	}
}

func closeEndpoint(e *endpoint.Endpoint) {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	e.Close(ctx)
}
