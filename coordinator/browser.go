package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/chrome"
)

func (p *program) browserCommand() *cobra.Command {
	var quiet bool
	var executable string
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "Print the browser that would be launched when there is no window",
		Long: `Print the browser that would be launched when there is no window.

Chrome, Chromium, Edge and Brave are looked for in their usual places, after
--executable and $BROWSER_COORDINATOR_BROWSER. Exit code 1 when there is none.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := chrome.Find(chrome.FindOptions{Executable: executable})
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
	cmd.Flags().StringVar(&executable, "executable", "", "the browser's `file`")
	return cmd
}
