package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/tools"
)

func (p *program) mcpCommand() *cobra.Command {
	var workspace, outputDir, attach, secrets string
	var noLaunch, headed, launch, allowToken bool
	var guard guardFlags
	var caps, allowed, blocked []string
	var browser browserFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags] [-- COMMAND [ARGUMENT ...]]",
		Short: "Serve MCP over stdio: what an MCP host launches",
		Long: `Serve MCP over standard input and output: what an MCP host launches.

The window is the one whose folder contains the host's roots, or else the
working directory. While it runs, the window's stable CDP address is served too.
Without a window the first tool that needs one launches a browser of its own,
which ends with the session; a window that opens before anything was done there
is used instead.

With a COMMAND, another MCP server that works over CDP, its tools are offered
too, under their own names, but for those that have the name of one of ours. It
is started when it is needed, and again when it has died; the window's stable
CDP address stands in $` + envEndpoint + `, and in place of
` + endpointPlaceholder + ` in every argument and every value of the environment. Where
the address holds the secret token (with --require-token, and on all systems but
Linux), arguments with it are refused: every user of the machine can read them.`,
		Example: `  claude mcp add browser -- coordinator mcp
  coordinator mcp -- npx @playwright/mcp --cdp-endpoint {cdp_endpoint}
  { "mcpServers": { "browser": { "command": "coordinator", "args": ["mcp"] } } }`,
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at > 0 || at < 0 && len(args) > 0 {
				return &exitError{exitUsage, fmt.Errorf("mcp: %q is no flag; the command of an added server stands behind --", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, added []string) error {
			caps, err := checkCaps(caps)
			if err != nil {
				return err
			}
			if err := browser.check(); err != nil {
				return err
			}
			if attach != "" {
				if err := checkCDPURL("attach", attach); err != nil {
					return err
				}
			}
			origins, err := tools.ParseOrigins(allowed, blocked)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			hidden, err := loadSecrets(secrets)
			if err != nil {
				return err
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			if outputDir != "" && !filepath.IsAbs(outputDir) {
				outputDir = filepath.Join(dir, outputDir)
			}
			options := tools.Options{
				Workspace: workspace, Dir: dir, OutputDir: outputDir, Caps: caps, Attach: attach, Origins: origins, Secrets: hidden, Version: version(), Logger: p.logger,
			}
			var own *ownBrowser
			if !noLaunch && attach == "" {
				own = &ownBrowser{find: browser.find, options: browser.options(!headed, p.logger)}
				options.Launcher = own
				options.Viewport = browser.viewport
			}
			var forClients *ownBrowser
			if launch || len(added) > 0 {
				forClients = own
			}
			err = p.runMCP(cmd.Context(), options, guard, forClients, added, allowToken)
			if own != nil {
				err = errors.Join(err, own.End())
			}
			return err
		},
	}
	workspaceFlag(cmd, &workspace)
	addAllowToken(cmd.Flags(), &allowToken)
	capsFlag(cmd, &caps)
	guard.add(cmd)
	cmd.Flags().StringVar(&outputDir, "output-dir", "", "save files to this `folder`, in place of .browser-coordinator in the workspace")
	cmd.Flags().StringSliceVar(&allowed, "allowed-origins", nil, "the only `origins` that agents may open and fetch from: https://example.com, http://localhost:*, *.example.com")
	cmd.Flags().StringSliceVar(&blocked, "blocked-origins", nil, "`origins` that they may not, also where they are allowed")
	complete(cmd, "allowed-origins", "http://localhost:*")
	complete(cmd, "blocked-origins")
	cmd.Flags().StringVar(&secrets, "secrets", "", "a dotenv `file` whose values agents see and give by their names only")
	browser.launch(cmd)
	cmd.Flags().BoolVar(&headed, "headed", false, "show the window of a browser of its own")
	cmd.Flags().BoolVar(&launch, "launch", false, launchHelp)
	cmd.Flags().BoolVar(&noLaunch, "no-launch", false, "never launch a browser of its own")
	cmd.Flags().StringVar(&attach, "attach", "", "use the browser that runs at this CDP `URL` (http or ws), and no window")
	complete(cmd, "attach", "http://127.0.0.1:9222")
	for _, launches := range []string{"launch", "browser", "executable", "headed", "profile", "isolated", "proxy-server", "viewport"} {
		cmd.MarkFlagsMutuallyExclusive("attach", launches)
	}
	cmd.MarkFlagsMutuallyExclusive("launch", "no-launch")
	return cmd
}

// loadSecrets reads the file of --secrets; without one there are none.
func loadSecrets(file string) (*tools.Secrets, error) {
	if file == "" {
		return nil, nil
	}
	return tools.LoadSecrets(file)
}

func (p *program) runMCP(ctx context.Context, options tools.Options, guard guardFlags, own *ownBrowser, added []string, allowToken bool) error {
	windows := p.openRegistry(ctx, true)
	defer windows.Close()
	endpoints := newEndpoints(p, windows, guard, own)
	defer endpoints.close()
	options.Windows, options.Claims = windows, newPageClaims(p.logger)
	options.Endpoint = endpoints.url
	options.Chosen = endpoints.serve
	endpoints.follow(ctx, options.Workspace, options.Dir)
	if len(added) > 0 {
		var err error
		options.Added, err = p.addedServer(ctx, endpoints, options.Workspace, added, allowToken)
		if errors.As(err, new(*endpoint.StateDirError)) {
			p.logger.Error("the added server is left out", "error", err)
		} else if err != nil {
			return err
		}
	}

	err := tools.NewServer(options).Run(ctx, &patientStdio{})
	if errors.Is(err, context.Canceled) {
		return nil // interrupted, which is how some hosts end their servers
	}
	return err
}
