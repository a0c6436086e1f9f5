package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/mcpstdio"
	outputs "browser-coordinator/coordinator/output"
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

// mcpFlags are the flags of the command mcp.
type mcpFlags struct {
	workspace, outputDir, secrets string
	caps, allowed, blocked        []string
	limits                        *policy.Origins // those of projects
	noLaunch, launchForClients    bool
	serve                         endpointFlags
	browser                       browserFlags
}

func (f *mcpFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	workspaceFlag(cmd, &f.workspace)
	capsFlag(cmd, &f.caps)
	f.serve.add(cmd)
	flags.StringVar(&f.outputDir, "output-dir", "",
		"save files in `DIR` instead of .browser-coordinator in the workspace")
	flags.StringSliceVar(&f.allowed, "allowed-origins", nil,
		"allow agents only `ORIGINS`, for example https://example.com, http://localhost:*, *.example.com")
	flags.StringSliceVar(&f.blocked, "blocked-origins", nil, "deny agents `ORIGINS`, also those that are allowed")
	complete(cmd, "allowed-origins", "http://localhost:*")
	complete(cmd, "blocked-origins")
	restricts(cmd, "allowed-origins", func(origins []string) error { return f.limit(origins, nil) })
	restricts(cmd, "blocked-origins", func(origins []string) error { return f.limit(nil, origins) })
	flags.StringVar(&f.secrets, "secrets", "", "show agents the values of the dotenv `FILE` only by their names")
	f.browser.add(cmd, false)
	flags.BoolVar(&f.launchForClients, "launch", false, launchHelp)
	flags.BoolVar(&f.noLaunch, "no-launch", false, "never launch a private browser")
	switchesOn(cmd, "no-launch", &f.noLaunch)
	cmd.MarkFlagsMutuallyExclusive("grid", "no-launch")
	cmd.MarkFlagsMutuallyExclusive("launch", "no-launch")
}

// limit adds the limits of a project to those of the flags.
func (f *mcpFlags) limit(allowed, blocked []string) error {
	more, err := policy.ParseOrigins(allowed, blocked)
	f.limits = f.limits.And(more)
	return err
}

// options checks the flags, and makes the options of the server's agents. The registry and the
// endpoints are not in them.
func (f *mcpFlags) options(p *program, cmd *cobra.Command) (o tools.Options, err error) {
	log := p.logger
	if o.Caps, err = checkCaps(cmd, f.caps); err != nil {
		return o, err
	}
	own, err := f.browser.onDemand(cmd, "", log)
	if err != nil {
		return o, err
	}
	o.Options = agent.Options{Version: version(), Workspace: f.workspace, Logger: log,
		Attached: f.browser.choice(cmd).Attaches(), Access: f.browser.mode(own, p.limits.access)}
	if o.Origins, err = policy.ParseOrigins(f.allowed, f.blocked); err != nil {
		return o, wrongUse("%w", err)
	}
	o.Origins = o.Origins.And(f.limits)
	if o.Secrets, err = loadSecrets(f.secrets); err != nil {
		return o, err
	}
	if f.workspace != "" {
		if _, err := canonicalWorkspace(f.workspace); err != nil {
			return o, err
		}
	}
	if o.Dir, err = os.Getwd(); err != nil {
		return o, err
	}
	if o.OutputDir, err = makeOutputDir(o.Dir, f.outputDir); err != nil {
		return o, err
	}
	if f.noLaunch && !o.Attached {
		if o.NoLauncher = "--no-launch forbids it"; p.limits.noLaunch != "" {
			o.NoLauncher = p.limits.noLaunch + " has no-launch"
		}
		return o, nil
	}
	o.Launcher = own
	if width, height, err := chrome.ParseSize(f.browser.viewport); err == nil { // onDemand has checked it
		o.Viewport = &emulation.Viewport{Width: width, Height: height}
	}
	return o, nil
}

func (p *program) mcpCommand() *cobra.Command {
	var flags mcpFlags
	var listen string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP over stdio, for an MCP host",
		Long: `Serve MCP over standard input and output. An MCP host launches this command.
With --listen it serves any number of hosts over HTTP: those that cannot start a
program, for example in a container.

The window is the one whose folder contains the host's roots, or else the
working directory. Its stable CDP address is served too. If no window is open,
the first tool that needs a browser launches a private one, which ends with the
session. If a window opens before a tool has changed anything, it takes over.
With --grid the private browser is a session of a Selenium Grid. With --attach
the agent works in the browser at a CDP address, in place of any window's.`,
		Example: `  claude mcp add browser -- coordinator mcp
  { "mcpServers": { "browser": { "command": "coordinator", "args": ["mcp"] } } }
  coordinator mcp --listen 127.0.0.1:9300`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return wrongUse("mcp: unexpected argument %q. To use another MCP server too, list it in the host "+
					"beside this "+
					"one; `coordinator run -- COMMAND` gives a program the address of the window's browser", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.options(p, cmd)
			if err != nil {
				return err
			}
			var forClients *launch.OnDemand
			if flags.launchForClients {
				forClients = options.Launcher
			}
			serve := flags.serve.options(p, forClients, options.Access)
			if listen != "" {
				err = p.listenMCP(cmd, &flags, options, serve, listen)
			} else {
				err = p.runMCP(cmd.Context(), options, serve)
			}
			if options.Launcher != nil {
				err = errors.Join(err, options.Launcher.End())
			}
			return err
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&listen, listenFlag, "", "serve hosts over HTTP at `ADDRESS`, 127.0.0.1:PORT, in place of stdio")
	complete(cmd, listenFlag, "127.0.0.1:9300")
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
	if err := outputs.In(dir, given).Make(); err != nil {
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
	if terminal.Is(p.in) {
		fmt.Fprintln(p.err, atTerminal)
	}
	err := p.serveTools(ctx, options, serve, func(server *tools.Server) error {
		return server.Run(ctx, &mcpstdio.Transport{})
	})
	if errors.Is(err, context.Canceled) {
		return nil // interrupted: some hosts end their servers this way
	}
	return err
}

// serveTools runs a server of tools with all that belongs to it: the windows, their endpoints,
// and the list of agents for `coordinator status`.
func (p *program) serveTools(ctx context.Context, options tools.Options, serve serving.Options,
	run func(*tools.Server) error) error {
	defer p.openWindows(ctx, &options, serve)()
	server := tools.NewServer(options)
	defer status.ServeAgents(p.logger, server.Unlisted)()
	return run(server)
}

// openWindows adds to the options of agents what those of one program share: the windows and their
// endpoints, until close is called.
func (p *program) openWindows(ctx context.Context, options *tools.Options, serve serving.Options) (close func()) {
	windows := p.openRegistry(ctx, true)
	endpoints := serving.NewSet(windows, serve)
	options.Windows, options.Claims = windows, serve.Claims
	options.Endpoint = func(workspace string) string { return endpoint.URL(vscodeipc.Hash(workspace)) }
	options.OnChoice = endpoints.ServeWindow
	endpoints.Follow(ctx, registry.Want{Explicit: options.Workspace, Dir: options.Dir})
	return func() {
		endpoints.Close()
		windows.Close()
	}
}
