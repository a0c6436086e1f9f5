package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
)

// cleanedJSON is the output of `clean --json`; the names are stable.
type cleanedJSON struct {
	Path      string `json:"path"`
	Workspace string `json:"workspace"` // empty: of no certain one
	Removed   bool   `json:"removed"`
	Would     bool   `json:"wouldBeRemoved,omitempty"` // with --dry-run
	Reason    string `json:"reason"`                   // why it is removed, or why not
}

func (p *program) cleanCommand() *cobra.Command {
	var all, dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove the state of folders that no longer exist",
		Long: `Remove what is kept for folders that no longer exist: the port and the token of
the CDP address. With --all it removes everything, before an uninstall: then
every folder's address and token change. What a running coordinator uses stays.

"coordinator probe" deletes the dead sockets of windows.`,
		Example: `  coordinator clean --dry-run
  coordinator clean --all`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			cleaned, err := clean(all, dryRun)
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(p.out, append([]cleanedJSON{}, cleaned...))
			}
			if len(cleaned) == 0 {
				fmt.Fprintln(p.err, "Nothing to remove.")
				return nil
			}
			rows := [][]string{{"FILE", "WORKSPACE", "REMOVED", "REASON"}}
			for _, c := range cleaned {
				removed := map[bool]string{true: "yes", false: "no"}[c.Removed]
				if c.Would {
					removed = "would be"
				}
				rows = append(rows, []string{c.Path, c.Workspace, removed, c.Reason})
			}
			return terminal.Table(p.out, rows)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove the state of every folder")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only print what would be removed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// clean removes state, and returns what it did about each file.
func clean(all, dryRun bool) (cleaned []cleanedJSON, err error) {
	add := func(path, workspace, reason string) {
		cleaned = append(cleaned, cleanedJSON{Path: path, Workspace: workspace, Removed: !dryRun, Would: dryRun, Reason: reason})
	}
	kept, err := endpoint.List()
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		reason := "the folder no longer exists"
		if !k.Gone() {
			if reason = "--all"; !all {
				continue
			}
		}
		remove := k.Remove
		if dryRun {
			remove = k.IsServed
		}
		served, err := remove()
		if err != nil {
			return nil, err
		}
		for _, file := range k.Files {
			if served {
				cleaned = append(cleaned, cleanedJSON{Path: file, Workspace: k.Workspace, Reason: "a coordinator serves this address now"})
			} else {
				add(file, k.Workspace, reason)
			}
		}
	}
	for _, path := range status.DeadSockets(context.Background()) {
		add(path, "", "its agent's program was killed")
		if !dryRun {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return cleaned, err
}
