package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/registry"
)

// shutdownPatience bounds every orderly end.
const shutdownPatience = 2 * time.Second

func (p *program) serveCommand() *cobra.Command {
	var workspace string
	var guard guardFlags
	var launch launchFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a window's stable CDP address, without MCP",
		Long: `Serve a window's stable CDP address in the foreground, without MCP, until it is
interrupted. The window may come and go meanwhile: clients that come while there
is no browser wait for the next one, or, with --launch, have one started.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			e, err := p.serveMeant(ctx, workspace, guard, &launch)
			if err != nil {
				return err
			}
			defer e.close()
			if _, err := fmt.Fprintln(p.out, e.Address().ClientURL()); err != nil {
				return err // nobody would know where it is
			}
			if !e.Owner() {
				fmt.Fprintln(p.err, standsBy+useless(cmd))
				select {
				case <-e.Owned():
					fmt.Fprintln(p.err, "That has ended: this one serves it now, at "+e.Address().ClientURL()+".")
				case <-ctx.Done():
				}
			}
			<-ctx.Done()
			return nil
		},
	}
	workspaceFlag(cmd, &workspace)
	guard.add(cmd)
	launch.add(cmd)
	return cmd
}

// servedEndpoint is a window's endpoint in a command's foreground.
type servedEndpoint struct {
	*guardedEndpoint
	workspace string // canonical
	windows   *registry.Registry
	own       *ownBrowser // nil: nothing is launched
	log       *slog.Logger
}

// serveMeant serves the endpoint of the window that given means.
func (p *program) serveMeant(ctx context.Context, given string, guard guardFlags, launch *launchFlags) (*servedEndpoint, error) {
	own, err := launch.own(p)
	if err != nil {
		return nil, err
	}
	windows := p.openRegistry(ctx, true)
	meant, err := p.meantWorkspace(ctx, windows, given)
	if err != nil {
		windows.Close()
		return nil, err
	}
	e, err := p.serveEndpoint(ctx, meant, windows.Source(meant), guard, own)
	if err != nil {
		windows.Close()
		return nil, err
	}
	return &servedEndpoint{e, meant, windows, own, p.logger}, nil
}

func (s *servedEndpoint) close() {
	s.guardedEndpoint.close()
	s.windows.Close()
	if s.own != nil {
		if err := s.own.End(); err != nil {
			s.log.Warn("a browser of its own did not end well", "error", err)
		}
	}
}
