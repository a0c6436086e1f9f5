package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
)

// windowJSON is one window in `windows --json`; the names are stable.
type windowJSON struct {
	status.Identity
	Session  string       `json:"session"`
	Browser  *browserJSON `json:"browser"`
	Pages    int          `json:"pages"` // page-level endpoints
	Endpoint string       `json:"endpoint"`
}

type browserJSON struct {
	URL     string `json:"url"`
	Product string `json:"product"`
	Via     string `json:"via"`
}

func (p *program) windowsCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:        "windows",
		Short:      "List the open windows and their browsers",
		SuggestFor: []string{"list", "ls", "window_list", "window-list"},
		Long: `List the open windows and their browsers.

A window is a VS Code window with the Browser Coordinator extension, or a
terminal in which "coordinator window" runs. With --watch the list follows them
until you press Ctrl+C.`,
		Example: `  coordinator windows
  coordinator windows --watch
  coordinator windows --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			windows := p.openRegistry(cmd.Context(), false)
			defer windows.Close()
			if watch {
				return p.watchWindows(cmd.Context(), windows, asJSON)
			}
			listing, err := windows.List(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printWindowsJSON(p.out, listing)
			}
			for _, u := range listing.Unreachable {
				p.notice("%s: %s\n", u.Address, u.Reason)
			}
			if len(listing.Windows) == 0 {
				fmt.Fprintln(p.err, noWindow)
				return nil
			}
			return printWindows(p.out, listing)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&watch, "watch", false, "print the list again at each change; on a terminal, in its place")
	return cmd
}

const noWindow = "No window is open. Open a folder in VS Code with the Browser Coordinator extension, or run `coordinator window`."

// watchWindows shows the windows until the user interrupts it.
func (p *program) watchWindows(ctx context.Context, windows *registry.Registry, asJSON bool) error {
	show := func(text string) error {
		_, err := io.WriteString(p.out, text)
		return err
	}
	if !asJSON && terminal.CanRedraw(p.out) {
		screen := terminal.OpenScreen(p.out)
		defer screen.Close()
		show = screen.Show
	}
	last := ""
	return windows.Watch(ctx, 0, func(listing registry.Listing) error {
		var text strings.Builder
		print := printWindows
		if asJSON {
			print = printWindowsJSON
		}
		if len(listing.Windows) == 0 && !asJSON {
			fmt.Fprintln(&text, terminal.Wrap(noWindow, terminal.Width(p.out)))
		} else if err := print(&text, listing); err != nil {
			return err
		}
		if text.String() == last {
			return nil
		}
		last = text.String()
		return show(last)
	})
}

func printWindows(w io.Writer, listing registry.Listing) error {
	rows := [][]string{{"WORKSPACE", "KIND", "PID", "BROWSER", "ENDPOINT"}}
	for _, w := range listing.Windows {
		browser := ""
		if b := w.State.Browser; b != nil {
			browser = b.Product
			if browser == "" {
				browser = b.Via
			}
		} else if len(w.State.Pages) > 0 {
			browser = "pages"
		}
		rows = append(rows, []string{w.Label(), w.Kind, strconv.Itoa(w.PID), browser, endpoint.URL(w.Hash())})
	}
	return terminal.Table(w, rows)
}

func printWindowsJSON(to io.Writer, listing registry.Listing) error {
	out := struct {
		Windows     []windowJSON         `json:"windows"`
		Unreachable []status.Unreachable `json:"unreachable"`
	}{[]windowJSON{}, status.UnreachableIn(listing)}
	for _, w := range listing.Windows {
		j := windowJSON{Identity: status.Identify(w), Session: w.Session, Pages: len(w.State.Pages), Endpoint: endpoint.URL(w.Hash())}
		if b := w.State.Browser; b != nil {
			j.Browser = &browserJSON{b.URL, b.Product, b.Via}
		}
		out.Windows = append(out.Windows, j)
	}
	return terminal.JSON(to, out)
}
