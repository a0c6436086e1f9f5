package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/serving"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/window"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

func (p *program) windowCommand() *cobra.Command {
	var workspace, startURL string
	var browser browserFlags
	var mode string
	var serve endpointFlags
	cmd := &cobra.Command{
		Use:   "window",
		Short: "Make this terminal a window, with its own browser",
		Long: `Make this terminal a window, with its own browser, as the VS Code extension
makes its editor one. Agents find it by its folder; CDP clients use the address
that is printed first.

The command runs until you interrupt it or close the browser. Then it ends the
browser and removes its private profile.

With --grid or --attach the browser runs elsewhere. When it has ended, the
window opens the next one at the same address.`,
		Example: `  coordinator window
  coordinator window --url http://localhost:5173 --workspace ~/shop
  coordinator window --grid http://localhost:4444`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(policy.Modes, policy.Mode(mode)) {
				return wrongUse("--access %q: want one of full, ask, view", mode)
			}
			workspace, err := canonicalWorkspace(workspace)
			if err != nil {
				return err
			}
			if err := checkWorkspace(workspace); err != nil {
				return err
			}
			if startURL != "" {
				value := startURL
				var err error
				if startURL, err = address.Normalize(value, ""); err == nil {
					_, err = url.Parse(startURL)
				}
				if err != nil || strings.HasPrefix(value, "-") {
					return wrongUse("--url %q: want an address, for example http://localhost:5173", value)
				}
			}
			onDemand, err := browser.onDemand(cmd, startURL, p.logger)
			if err != nil {
				return err
			}
			if onDemand.Kind() == launch.Launched {
				if err := p.limits.launches("use --attach, or debug in VS Code"); err != nil {
					return err
				}
			}
			if onDemand.Kind() == launch.Personal && mode == string(policy.ModeFull) && !cmd.Flags().Changed("access") {
				mode = string(policy.ModeAsk)
			}
			options := window.Options{
				Workspace: workspace, Browser: onDemand, Access: vscodeipc.AccessMode(mode),
				Version: version(), Logger: p.logger,
			}
			if options.Access == vscodeipc.AccessAsk || onDemand.Kind() == launch.Personal { // an agent may ask for a tab
				p.askOnTerminal(&options)
			}
			return p.runWindow(cmd, options, serve)
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().StringVar(&mode, "access", string(policy.ModeFull),
		"allow clients everything (`MODE` full), only reading (view), or what you allow on this terminal or with "+
			"coordinator show (ask; the default in your own browser)")
	complete(cmd, "access", "full", "ask", "view")
	restrictsAccess(cmd, &mode)
	serve.add(cmd)
	cmd.Flags().StringVar(&startURL, "url", "", "open `URL` as the first page")
	browser.add(cmd, true, "url")
	return cmd
}

// askOnTerminal has the window's user asked on this terminal too.
func (p *program) askOnTerminal(options *window.Options) {
	asks := options.Access == vscodeipc.AccessAsk
	var lines *terminal.Lines
	if terminal.Is(p.err) {
		lines = terminal.ReadLines(p.in)
	}
	switch {
	case lines != nil:
		options.Terminal = window.NewTerminal(lines.Next, p.err)
		if !asks {
			return
		}
		p.notice("You are asked here, and in the page of `coordinator show`, before an agent acts and when a CDP client " +
			"connects.\n")
	case asks:
		p.notice("There is no terminal to ask you on. Run `coordinator show` in one: its page asks you before an agent " +
			"acts, and when a CDP client connects. Until then they only read.\n")
	}
}

func (p *program) runWindow(cmd *cobra.Command, options window.Options, serve endpointFlags) (err error) {
	ctx := cmd.Context()
	w, err := window.Launch(ctx, &options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	windows := p.openRegistry(ctx, true)
	defer windows.Close()
	listing, err := windows.List(ctx)
	if err != nil {
		return err
	}
	if err := w.Serve(ctx, &options); err != nil {
		return err
	}
	source := windows.Source(options.Workspace)
	if err := source.Wait(ctx); err != nil {
		return err
	}
	endpoint := serve.options(p, nil, "")
	e, err := serving.Serve(ctx, options.Workspace, source, &endpoint)
	if err != nil {
		return err
	}
	defer e.Close()

	if _, err := fmt.Fprintln(p.out, e.Address().ClientURL()); err != nil {
		return err // without its address it is useless
	}
	if !e.Owner() {
		p.reportStandby(cmd, false)
	}
	same := func(w registry.Window) bool { return w.Workspace == options.Workspace }
	if index := slices.IndexFunc(listing.Windows, same); index >= 0 {
		other := listing.Windows[index]
		p.notice("Another window has this folder already (%s, process %d). While both are open, the address leads to "+
			"the browser of the window that opened first. An agent stays in the window that it uses; a new one must "+
			"name a window if both have a browser.\n",
			other.Server.Kind, other.PID)
	}
	product := w.Product
	if provider := options.Browser.Provider(); provider != "" {
		product += " of " + provider
	}
	p.notice("%s for %s is ready; press Ctrl+C to end.\n", product, options.Workspace)
	if options.Access != vscodeipc.AccessAsk { // else the user knows already
		p.notice("To watch it and to change what clients may do, run `coordinator show`.\n")
	}
	if err := w.Run(ctx); err != nil {
		return fmt.Errorf("the browser ended: %w", err)
	}
	if ctx.Err() == nil {
		fmt.Fprintln(p.err, "The browser was closed, so the window ends.")
	}
	return nil
}
