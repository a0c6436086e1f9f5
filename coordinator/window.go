package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// headlessSize is the outer size of a browser that nobody sees: a laptop's.
const headlessSize = "1280x900"

func (p *program) windowCommand() *cobra.Command {
	var workspace, startURL string
	var headless bool
	var browser browserFlags
	var mode string
	var guard guardFlags
	cmd := &cobra.Command{
		Use:   "window",
		Short: "Make this terminal a window, with a browser of its own",
		Long: `Make this terminal a window, with a browser of its own: what the VS Code
extension does for an editor, for any terminal or other editor. Agents find it
by its folder; CDP clients use the address that is printed first.

It runs until it is interrupted or its browser is closed, and ends the browser
and removes its private profile then.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := browser.check(); err != nil {
				return err
			}
			if !slices.Contains(access.Modes, access.Mode(mode)) {
				return &exitError{exitUsage, fmt.Errorf("--access %q: want one of full, ask, view", mode)}
			}
			options := browser.options(headless, p.logger)
			options.URL = startURL
			return p.runWindow(cmd, workspace, browser.find, options, vscodeipc.AccessMode(mode), guard)
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().StringVar(&mode, "access", string(access.Full), "what clients may do: everything (full), act when they were allowed to (ask; here nobody can be asked), only look (view)")
	complete(cmd, "access", "full", "ask", "view")
	guard.add(cmd)
	cmd.Flags().BoolVar(&headless, "headless", false, "run the browser without a visible window")
	browser.launch(cmd)
	cmd.Flags().StringVar(&startURL, "url", "", "the first page")
	return cmd
}

func (p *program) runWindow(cmd *cobra.Command, given string, find func() (chrome.Installation, error), options chrome.Options, mode vscodeipc.AccessMode, guard guardFlags) (err error) {
	ctx := cmd.Context()
	workspace, err := canonicalWorkspace(given)
	if err != nil {
		return err
	}
	if err := checkWorkspace(workspace); err != nil {
		return err
	}
	installed, err := find()
	if err != nil {
		return err
	}
	options.Executable = installed.Path
	browser, err := chrome.Launch(ctx, options)
	if err != nil {
		return launchError(err, "add --headless")
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

	other, err := p.windowOn(ctx, workspace)
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
		Access:  vscodeipc.Access{Mode: mode},
	}); err != nil {
		return err
	}

	windows := p.openRegistry(ctx, true)
	defer windows.Close()
	source := windows.Source(workspace)
	if err := source.Wait(ctx); err != nil {
		return err
	}
	e, err := p.serveEndpoint(ctx, workspace, source, guard, nil)
	if err != nil {
		return err
	}
	defer e.close()

	if _, err := fmt.Fprintln(p.out, e.Address().ClientURL()); err != nil {
		return err // nobody would know where it is
	}
	if !e.Owner() {
		p.tell(standsByFor(cmd, false))
	}
	if other != nil {
		p.say("Another window has this folder already (%s, process %d): while both are open the address leads to the browser of the one that was there first, not to this one's.\n", other.Kind, other.PID)
	}
	p.say("%s for %s is ready; end it with Ctrl+C.\n", product, workspace)
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

// windowOn is a window that is open on the workspace now; nil: there is none.
func (p *program) windowOn(ctx context.Context, workspace string) (*registry.Window, error) {
	windows := p.openRegistry(ctx, false)
	defer windows.Close()
	listing, err := windows.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range listing.Windows {
		if w.Workspace == workspace {
			return &w, nil
		}
	}
	return nil, nil
}
