package main

import (
	"fmt"

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

func (p *program) endpointCommand() *cobra.Command {
	var workspace string
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
			switch {
			case asJSON:
				return printJSON(p.out, endpointJSON{meant, a.URL, a.TokenURL, a.Served})
			case withToken:
				fmt.Fprintln(p.out, a.TokenURL)
			default:
				fmt.Fprintln(p.out, a.URL)
			}
			if !a.Served {
				fmt.Fprintf(p.err, "Nothing serves it now: run `coordinator serve --workspace %s`, or let an MCP host start the coordinator there.\n", meant)
			}
			return nil
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.Flags().BoolVar(&withToken, "token", false, "print the address with its secret token, for clients of another user or system")
	return cmd
}
