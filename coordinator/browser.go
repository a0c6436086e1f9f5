package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/terminal"
)

func (p *program) browserCommand() *cobra.Command {
	var quiet, asJSON bool
	var browser browserFlags
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "Print the browser that is launched if no window is open",
		Long: `Print the browser that is launched if no window is open.

--browser and --executable come first, then $BROWSER_COORDINATOR_BROWSER. Without
them it is the first of Chrome, Chromium, Edge and Brave that is installed in a
usual place. The exit code is 1 if there is none.`,
		Example: `  coordinator browser
  coordinator browser --browser msedge --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := browser.check(); err != nil {
				return err
			}
			found, err := browser.find()
			switch {
			case err != nil && quiet:
				return &exitError{code: exitFailure}
			case err != nil:
				return err
			case quiet:
				return nil
			case asJSON:
				return terminal.JSON(p.out, foundJSON{found.Name, found.Path})
			}
			_, err = fmt.Fprintln(p.out, found.Path)
			return err
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing; only set the exit code")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("json", "quiet")
	browser.whichBrowser(cmd)
	return cmd
}

// foundJSON is one browser in the stable JSON output.
type foundJSON struct {
	Name string `json:"name"` // as --browser takes it; empty for an executable that was given
	Path string `json:"path"`
}
