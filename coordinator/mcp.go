package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/mcpstdio"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/serving"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

func (p *program) mcpCommand() *cobra.Command {
	var workspace, outputDir, secrets string
	var noLaunch, headed, launchForClients bool
	var serve endpointFlags
	var caps, allowed, blocked []string
	var browser browserFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP over stdio, for an MCP host",
		Long: `Serve MCP over standard input and output. An MCP host launches this command.

The window is the one whose folder contains the host's roots, or else the
working directory. Its stable CDP address is served too. If no window is open,
the first tool that needs a browser launches a private one, which ends with the
session. If a window opens before a tool has changed anything, it takes over.
With --grid the private browser is a session of a Selenium Grid. With --attach
the agent works in the browser at a CDP address, in place of any window's.`,
		Example: `  claude mcp add browser -- coordinator mcp
  { "mcpServers": { "browser": { "command": "coordinator", "args": ["mcp"] } } }`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return wrongUse("mcp: unexpected argument %q. To use another MCP server too, list it in the host beside this one; `coordinator run -- COMMAND` gives a program the address of the window's browser", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			caps, err := checkCaps(cmd, caps)
			if err != nil {
				return err
			}
			own, err := browser.onDemand(cmd, local{headless: !headed, noDisplay: leaveHeadedAway}, p.logger)
			if err != nil {
				return err
			}
			origins, err := policy.ParseOrigins(allowed, blocked)
			if err != nil {
				return wrongUse("%w", err)
			}
			hidden, err := loadSecrets(secrets)
			if err != nil {
				return err
			}
			if workspace != "" {
				if _, err := canonicalWorkspace(workspace); err != nil {
					return err
				}
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			if outputDir, err = makeOutputDir(dir, outputDir); err != nil {
				return err
			}
			if terminal.Is(p.in) {
				fmt.Fprintln(p.err, atTerminal)
			}
			options := tools.Options{Caps: caps, Version: version(), Options: agent.Options{
				Workspace: workspace, Dir: dir, OutputDir: outputDir, Origins: origins, Secrets: hidden, Logger: p.logger,
			}}
			attached := browser.choice(cmd).Attaches()
			if noLaunch && !attached {
				own = nil
			} else {
				options.Launcher, options.Attached = own, attached
				if width, height, err := chrome.ParseSize(browser.viewport); err == nil { // checked above
					options.Viewport = &emulation.Viewport{Width: width, Height: height}
				}
			}
			var forClients *launch.OnDemand
			if launchForClients {
				forClients = own
			}
			err = p.runMCP(cmd.Context(), options, serve.options(p, forClients))
			if own != nil {
				err = errors.Join(err, own.End())
			}
			return err
		},
	}
	workspaceFlag(cmd, &workspace)
	capsFlag(cmd, &caps)
	serve.add(cmd)
	cmd.Flags().StringVar(&outputDir, "output-dir", "", "save files in `DIR` instead of .browser-coordinator in the workspace")
	cmd.Flags().StringSliceVar(&allowed, "allowed-origins", nil, "allow agents only `ORIGINS`, for example https://example.com, http://localhost:*, *.example.com")
	cmd.Flags().StringSliceVar(&blocked, "blocked-origins", nil, "deny agents `ORIGINS`, also those that are allowed")
	complete(cmd, "allowed-origins", "http://localhost:*")
	complete(cmd, "blocked-origins")
	cmd.Flags().StringVar(&secrets, "secrets", "", "show agents the values of the dotenv `FILE` only by their names")
	browser.launch(cmd)
	cmd.Flags().BoolVar(&headed, "headed", false, headedHelp)
	cmd.Flags().BoolVar(&launchForClients, "launch", false, launchHelp)
	cmd.Flags().BoolVar(&noLaunch, "no-launch", false, "never launch a private browser")
	browser.elsewhere(cmd, "headed")
	cmd.MarkFlagsMutuallyExclusive("grid", "no-launch")
	cmd.MarkFlagsMutuallyExclusive("launch", "no-launch")
	return cmd
}

// atTerminal is for a user who starts the command by hand.
const atTerminal = "Waiting for an MCP host on standard input; Ctrl+D ends. A host starts this command itself:\n" +
	"  claude mcp add browser -- coordinator mcp\n" +
	`  { "mcpServers": { "browser": { "command": "coordinator", "args": ["mcp"] } } }`

// makeOutputDir creates the folder of --output-dir, if one is given, and returns its
// absolute path.
func makeOutputDir(dir, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	if !filepath.IsAbs(given) {
		given = filepath.Join(dir, given)
	}
	if err := os.MkdirAll(given, 0o700); err != nil {
		return "", wrongUse("--output-dir: %w", err)
	}
	return given, nil
}

// loadSecrets reads the file of --secrets; without one there are none.
func loadSecrets(file string) (*secrets.Set, error) {
	if file == "" {
		return nil, nil
	}
	set, err := secrets.Load(file)
	if err != nil {
		return nil, wrongUse("%w", err)
	}
	return set, nil
}

func (p *program) runMCP(ctx context.Context, options tools.Options, serve serving.Options) error {
	windows := p.openRegistry(ctx, true)
	defer windows.Close()
	endpoints := serving.NewSet(windows, serve)
	defer endpoints.Close()
	options.Windows, options.Claims = windows, claim.NewPages(p.logger)
	options.Endpoint = func(workspace string) string { return endpoint.URL(vscodeipc.Hash(workspace)) }
	options.Chosen = endpoints.ServeWindow
	endpoints.Follow(ctx, registry.Want{Explicit: options.Workspace, Dir: options.Dir})

	server := tools.NewServer(options)
	defer status.ServeAgents(p.logger, server.Alone)()
	err := server.Run(ctx, &mcpstdio.Transport{})
	if errors.Is(err, context.Canceled) {
		return nil // interrupted: some hosts end their servers this way
	}
	return err
}
