package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) browserCommand() *cobra.Command {
	var quiet bool
	var browser browserFlags
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "Print the browser that would be launched when there is no window",
		Long: `Print the browser that would be launched when there is no window.

Chrome, Chromium, Edge and Brave are looked for in their usual places, after
--browser, --executable and $BROWSER_COORDINATOR_BROWSER. Exit code 1 when there
is none.`,
		Args: cobra.NoArgs,
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
			case !quiet:
				fmt.Fprintln(p.out, found.Path)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing, only set the exit code")
	browser.whichBrowser(cmd)
	return cmd
}
