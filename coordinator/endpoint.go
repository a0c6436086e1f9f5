package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

// endpointJSON is the output of `endpoint --json`; the names are stable.
type endpointJSON struct {
	Workspace string `json:"workspace"`
	URL       string `json:"url"`
	TokenURL  string `json:"tokenUrl"`
	Served    bool   `json:"served"`
	// TokenRequired reports that URL, which has no token, admits no client.
	TokenRequired bool `json:"tokenRequired"`
}

// clientLine is the line to paste into a client's code or configuration.
type clientLine struct {
	line string // with the http address
	// ws is the line with the WebSocket's address, for a client that drops the path of
	// an http address and with it the token. It is empty for other clients.
	ws string
	// token is the line for the http address with the token, where it differs. It keeps
	// the token out of a program's arguments.
	token string
}

var endpointLines = map[string]clientLine{
	"":           {line: "%s"},
	"playwright": {line: `const browser = await chromium.connectOverCDP("%s");`},
	"puppeteer": {
		line: `const browser = await puppeteer.connect({ browserURL: "%s", defaultViewport: null });`,
		ws:   `const browser = await puppeteer.connect({ browserWSEndpoint: "%s", defaultViewport: null });`,
	},
	"chromedp": {
		line: `ctx, cancel := remote.NewAllocator(context.Background(), "%s")`,
		ws:   `ctx, cancel := remote.NewAllocator(context.Background(), "%s")`,
	},
	"mcp": {
		line: `{ "mcpServers": { "playwright": { "command": "npx", ` +
			`"args": ["@playwright/mcp", "--cdp-endpoint", "%s"] } } }`,
		token: `{ "mcpServers": { "playwright": { "command": "npx", "args": ["@playwright/mcp"], ` +
			`"env": { "PLAYWRIGHT_MCP_CDP_ENDPOINT": "%s" } } } }`,
	},
	// VS Code's mcp.json uses another name for the servers.
	"vscode": {
		line: `{ "servers": { "playwright": { "command": "npx", ` +
			`"args": ["@playwright/mcp", "--cdp-endpoint", "%s"] } } }`,
		token: `{ "servers": { "playwright": { "command": "npx", "args": ["@playwright/mcp"], ` +
			`"env": { "PLAYWRIGHT_MCP_CDP_ENDPOINT": "%s" } } } }`,
	},
}

func (l clientLine) format(a endpoint.Addr, withToken bool) string {
	switch {
	case !withToken:
		return fmt.Sprintf(l.line, a.URL)
	case l.token != "":
		return fmt.Sprintf(l.token, a.TokenURL)
	case l.ws == "":
		return fmt.Sprintf(l.line, a.TokenURL)
	default:
		return fmt.Sprintf(l.ws, a.WebSocketURL())
	}
}

func formats() []string {
	names := slices.Sorted(maps.Keys(endpointLines))
	return names[1:] // the first is the plain address
}

func (p *program) endpointCommand() *cobra.Command {
	var workspace string
	var format string
	var asJSON, withToken bool
	cmd := &cobra.Command{
		Use:   "endpoint",
		Short: "Print the stable CDP address of a window",
		Long: `Print the stable CDP address of a window, for Playwright, Puppeteer, chromedp or
any other CDP client. The address stays the same when the browser, the window or
the coordinator restarts, so a workspace's configuration can contain it.

If the coordinator that serves the address requires the secret token, the
address contains it. Some clients drop the path of an http address, and the
token with it: the line for those contains the address of the WebSocket.

Each running "coordinator mcp", "serve", "run" or "window" of that window can
serve the address; one of them does.`,
		Example: `  CDP=$(coordinator endpoint) node test.js   # chromium.connectOverCDP(process.env.CDP)
  coordinator endpoint --format puppeteer
  coordinator endpoint --workspace ~/shop --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			workspace, err := p.findWorkspace(cmd.Context(), workspace)
			if err != nil {
				return err
			}
			a, err := endpoint.Ask(cmd.Context(), vscodeipc.Hash(workspace))
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("token") {
				withToken = a.RequiresToken
			}
			if a.TokenURL == "" && (withToken || asJSON) {
				// A token that is printed must stay: make it.
				if a, err = endpoint.Address(vscodeipc.Hash(workspace)); err != nil {
					return err
				}
				if err := endpoint.Remember(vscodeipc.Hash(workspace), workspace); err != nil {
					return err
				}
			}
			line, known := endpointLines[format]
			switch {
			case !known:
				return wrongUse("--format %q: want one of %s", format, strings.Join(formats(), ", "))
			case asJSON:
				return terminal.JSON(p.out, endpointJSON{workspace, a.URL, a.TokenURL, a.Served, a.RequiresToken})
			}
			if _, err := fmt.Fprintln(p.out, line.format(a, withToken)); err != nil {
				return err
			}
			switch {
			case a.Served:
			case endpoint.PortInUse(cmd.Context(), vscodeipc.Hash(workspace), a.Port):
				p.notice("Another program listens on port %d, so the address will change when a coordinator serves it. "+
					"Run `coordinator serve --workspace %s`, or let an MCP host start the coordinator there, and then "+
					"this command again.\n", a.Port, terminal.Word(workspace))
			default:
				p.notice("Nothing serves this address now: run `coordinator serve --workspace %s`, or let an MCP host "+
					"start the coordinator there.\n", terminal.Word(workspace))
			}
			return nil
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().StringVar(&format, "format", "", "print the line to paste for `CLIENT`: "+strings.Join(formats(), ", "))
	complete(cmd, "format", formats()...)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&withToken, "token", false,
		"print the address with its secret token (default: if it is required; clients of another user always need it)")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.MarkFlagsMutuallyExclusive("json", "token")
	return cmd
}
