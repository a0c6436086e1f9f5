package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/vscodeipc"
)

// endpointJSON is the answer of `endpoint --json`; the names are stable.
type endpointJSON struct {
	Workspace string `json:"workspace"`
	URL       string `json:"url"`
	TokenURL  string `json:"tokenUrl"`
	Served    bool   `json:"served"`
}

// endpointLines are the lines to paste into a client's code or configuration.
var endpointLines = map[string]string{
	"":           "%s",
	"playwright": `const browser = await chromium.connectOverCDP("%s");`,
	"puppeteer":  `const browser = await puppeteer.connect({ browserURL: "%s", defaultViewport: null });`,
	"chromedp":   `ctx, cancel := remote.NewAllocator(context.Background(), "%s")`,
	"mcp":        `{ "mcpServers": { "playwright": { "command": "npx", "args": ["@playwright/mcp", "--cdp-endpoint", "%s"] } } }`,
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
any other CDP client. It stays the same when the browser, the window or the
coordinator restarts, so it can stand in a workspace's configuration.

Any running "coordinator mcp", "serve" or "window" of that window serves it.`,
		Example: `  chromium.connectOverCDP(process.env.CDP)   with   CDP=$(coordinator endpoint)`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			windows, err := p.openRegistry(cmd.Context(), false)
			if err != nil {
				return err
			}
			defer windows.Close()
			meant, err := p.meantWorkspace(cmd.Context(), windows, workspace)
			if err != nil {
				return err
			}
			a, err := endpoint.Address(vscodeipc.Hash(meant))
			if err != nil {
				return err
			}
			address := a.URL
			if withToken {
				address = a.TokenURL
			}
			line, known := endpointLines[format]
			switch {
			case !known:
				return &exitError{exitUsage, fmt.Errorf("--format %q: want one of %s", format, strings.Join(formats(), ", "))}
			case asJSON:
				return printJSON(p.out, endpointJSON{meant, a.URL, a.TokenURL, a.Served})
			default:
				fmt.Fprintf(p.out, line+"\n", address)
			}
			if !a.Served {
				fmt.Fprintf(p.err, "Nothing serves it now: run `coordinator serve --workspace %s`, or let an MCP host start the coordinator there.\n", meant)
			}
			return nil
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().StringVar(&format, "format", "", "the line to paste, for `CLIENT`: "+strings.Join(formats(), ", "))
	complete(cmd, "format", formats()...)
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.Flags().BoolVar(&withToken, "token", false, "print the address with its secret token, for clients of another user or system")
	return cmd
}
