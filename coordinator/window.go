package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/vscodeipc"
)

// headlessSize is the outer size of a browser that nobody sees: a laptop's.
const headlessSize = "1280x900"

func (p *program) windowCommand() *cobra.Command {
	var workspace, startURL string
	var headless bool
	var browser browserFlags
	cmd := &cobra.Command{
		Use:   "window",
		Short: "Make this terminal a window, with a browser of its own",
		Long: `Make this terminal a window, with a browser of its own: what the VS Code
extension does for an editor, for any terminal or other editor. Agents find it
by its folder; CDP clients use the address that is printed first.

It runs until it is interrupted or its browser is closed, and ends the browser
and removes its private profile then.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := browser.check(); err != nil {
				return err
			}
			options := browser.options(headless, p.logger)
			options.URL = startURL
			return p.runWindow(cmd.Context(), workspace, browser.find, options)
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().BoolVar(&headless, "headless", false, "run the browser without a visible window")
	browser.launch(cmd)
	cmd.Flags().StringVar(&startURL, "url", "", "the first page")
	return cmd
}

func (p *program) runWindow(ctx context.Context, given string, find func() (chrome.Installation, error), options chrome.Options) (err error) {
	workspace, err := canonicalWorkspace(given)
	if err != nil {
		return err
	}
	installed, err := find()
	if err != nil {
		return err
	}
	options.Executable = installed.Path
	browser, err := chrome.Launch(ctx, options)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
		defer cancel()
		err = errors.Join(err, endBrowser(ctx, browser, options.KeepsProfile()))
	}()
	product, err := browserProduct(ctx, browser.URL())
	if err != nil {
		return err
	}

	server, err := vscodeipc.Serve(ctx, vscodeipc.ServerOptions{
		Workspace: workspace,
		Folders:   []string{workspace},
		Kind:      "terminal",
		Name:      "coordinator",
		Version:   version(),
		Logger:    p.logger,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
		defer cancel()
		err = errors.Join(err, server.Close(ctx))
	}()
	if err := server.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: browser.URL(), Product: product, Via: "launched"},
	}); err != nil {
		return err
	}

	windows, err := p.openRegistry(ctx, true)
	if err != nil {
		return err
	}
	defer windows.Close()
	source := windows.Source(workspace)
	if err := source.Wait(ctx); err != nil {
		return err
	}
	e, err := endpoint.Serve(ctx, vscodeipc.Hash(workspace), source, p.endpointOptions(workspace))
	if err != nil {
		return err
	}
	defer closeEndpoint(e)

	fmt.Fprintln(p.out, e.URL())
	fmt.Fprintf(p.err, "%s for %s is ready; end it with Ctrl+C.\n", product, workspace)
	select {
	case <-ctx.Done():
		return nil
	case <-browser.Done():
		if err := browser.Err(); err != nil {
			return fmt.Errorf("the browser ended: %w", err)
		}
		fmt.Fprintln(p.err, "The browser was closed, so the window ends.")
		return nil
	}
}
