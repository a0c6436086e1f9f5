package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

// probeJSON is the output of `probe --json`; the names are stable.
type probeJSON struct {
	Sockets []verdictJSON `json:"sockets"`
}

// verdictJSON is one socket's.
type verdictJSON struct {
	Address       string `json:"address"`
	Verdict       string `json:"verdict"`
	Reason        string `json:"reason"`
	Deleted       bool   `json:"deleted"`
	*status.Hello        // of a live window
}

func (p *program) probeCommand() *cobra.Command {
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Check the socket of each window, and delete stale ones",
		Long: `Check the socket of each window, and delete stale ones. Each gets a verdict:

  live          it responded
  busy          it accepted the connection, but did not respond in time
  stale         no process listens; deleted, unless --dry-run is given
  incompatible  it speaks another protocol or version, or agents cannot use it
  foreign       it is not a socket of yours, and stays

The exit code is 0 if all are live or deleted, else 1.`,
		Example: `  coordinator probe
  coordinator probe --dry-run --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Directories that could not be searched, and sockets that could not be
			// deleted, are reported after the verdicts.
			verdicts, amiss := vscodeipc.Probe(cmd.Context(), vscodeipc.ProbeOptions{
				DryRun: dryRun,
				Dial:   vscodeipc.DialOptions{Client: peer(), Logger: p.logger},
			})
			print := p.printVerdicts
			if asJSON {
				print = func(v []vscodeipc.Verdict) error { return terminal.JSON(p.out, probeJSON{describeVerdicts(v)}) }
			}
			if err := errors.Join(print(verdicts), amiss); err != nil {
				return err
			}
			for _, v := range verdicts {
				if v.Verdict != vscodeipc.Live && !v.Deleted {
					return &exitError{code: exitFailure}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "delete nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) printVerdicts(verdicts []vscodeipc.Verdict) error {
	if len(verdicts) == 0 {
		_, err := fmt.Fprintln(p.out, "No window socket exists.")
		return err
	}
	rows, colours := [][]string{{"VERDICT", "WORKSPACE", "BROWSER", "ADDRESS", "REASON"}}, []string{""}
	for _, v := range verdicts {
		row, colour := []string{v.Verdict, "", "", string(v.Address), v.Reason}, terminal.Yellow
		switch {
		case v.Verdict == vscodeipc.Live:
			colour = terminal.Green
			row[1] = v.Hello.Workspace
			if b := v.Hello.State.Browser; b != nil {
				row[2] = b.Product
			}
		case v.Deleted:
			row[0] += " (deleted)"
		case v.Verdict == vscodeipc.Foreign, v.Verdict == vscodeipc.Incompatible:
			colour = terminal.Red
		}
		rows, colours = append(rows, row), append(colours, colour)
	}
	return terminal.ColouredTable(p.out, rows, colours)
}

func describeVerdicts(verdicts []vscodeipc.Verdict) []verdictJSON {
	out := make([]verdictJSON, 0, len(verdicts))
	for _, v := range verdicts {
		j := verdictJSON{Address: string(v.Address), Verdict: v.Verdict, Reason: v.Reason, Deleted: v.Deleted}
		if v.Hello != nil {
			j.Hello = new(status.HelloOf(*v.Hello))
		}
		out = append(out, j)
	}
	return out
}
