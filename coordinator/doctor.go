package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/doctor"
	"browser-coordinator/coordinator/terminal"
)

func (p *program) doctorCommand() *cobra.Command {
	var fix, asJSON bool
	var bundle, workspace string
	cmd := &cobra.Command{
		Use:        "doctor",
		SuggestFor: []string{"check", "diagnose"},
		Short:      "Find out why something does not work",
		Long: `Find out why something does not work. It examines the program, the hosts'
entries, directories, windows, endpoints, browsers and the machine, and prints a
line for each finding, with the command or the setting that solves a problem.

It starts this program as each entry of a host does, to see whether it responds. It
runs no other program that a host's file names.

--fix makes the directories of the coordinator and of windows private. It deletes the
sockets of windows that are gone, and the ports and tokens of folders that no longer
exist. It ends no program, and changes no file of another one.

--bundle writes the report for others: without secrets, addresses of pages, and
the names of you, your home folder and this machine.

The exit code is 1 if there is a problem.`,
		Example: `  coordinator doctor
  coordinator doctor --fix
  coordinator doctor --bundle report.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := canonicalWorkspace(workspace)
			switch {
			case err != nil && cmd.Flags().Changed("workspace"):
				return err
			case err != nil:
				folder = workspace // by the variable, which the report shows
			}
			report := doctor.Examine(cmd.Context(), doctor.Options{
				Version: version(), Client: peer(), Folder: folder, Fix: fix, Config: checkConfig,
			})
			switch {
			case bundle == "-":
				err = terminal.JSON(p.out, doctor.NewBundle(report))
			case asJSON:
				err = terminal.JSON(p.out, report)
			default:
				err = p.printReport(report)
			}
			if err == nil && bundle != "" && bundle != "-" {
				if err = doctor.WriteBundle(bundle, report); err == nil {
					p.notice("Wrote %s. Read it before you send it to others.\n", bundle)
				}
			}
			if err == nil && report.Problems > 0 {
				return &exitError{code: exitFailure}
			}
			return err
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().BoolVar(&fix, "fix", false, "solve the problems that are safe to solve")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write a report without personal data to the new `FILE`, for a bug "+
		"report; - is standard output")
	return cmd
}

// marks are the signs and colours of the verdicts.
var marks = map[doctor.Verdict]struct{ sign, colour string }{
	doctor.OK:      {"✓", terminal.Green},
	doctor.Unknown: {"?", terminal.Yellow},
	doctor.Warning: {"!", terminal.Yellow},
	doctor.Problem: {"✗", terminal.Red},
}

func (p *program) printReport(report doctor.Report) error {
	var text strings.Builder
	for _, r := range report.Repairs {
		if r.Done != "" {
			fmt.Fprintf(&text, "Fixed (%s): %s\n", r.Check, terminal.PrintableLine(r.Done))
		}
		if r.Error != "" {
			fmt.Fprintf(&text, "Not fixed (%s): %s\n", r.Check, terminal.PrintableLine(r.Error))
		}
	}
	group, width, margin := "", terminal.Width(p.out), 16
	if width < 70 {
		margin = 4
	}
	for _, c := range report.Checks {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&text, "%s%s\n", map[bool]string{true: "\n"}[text.Len() > 0], group)
		}
		for _, f := range c.Findings {
			mark := marks[f.Verdict]
			line := fmt.Sprintf("  %s %-11s %s\n", mark.sign, c.ID, terminal.PrintableLine(f.Text))
			if f.Fix != "" {
				line += fmt.Sprintf("%*s Fix: %s\n", margin-1, "", terminal.PrintableLine(f.Fix))
			}
			if terminal.Is(p.out) {
				line = terminal.Fold(line, width, margin)
			}
			text.WriteString(strings.Replace(line, mark.sign, terminal.Colour(p.out, mark.colour, mark.sign), 1))
		}
	}
	fmt.Fprintf(&text, "\n%s, %s", terminal.Count(report.Problems, "problem", "problems"),
		terminal.Count(report.Warnings, "warning", "warnings"))
	if report.Unknown > 0 {
		fmt.Fprintf(&text, ", %d unknown", report.Unknown)
	}
	text.WriteString(".\n")
	_, err := io.WriteString(p.out, text.String())
	return err
}
