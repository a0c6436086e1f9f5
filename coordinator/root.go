package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Exit codes.
const (
	exitFailure = 1 // the command could not do its work, or found something amiss
	exitUsage   = 2 // the command line is wrong
)

// exitError ends the program with a code of its own; a nil cause says nothing
// more, because the command's output has said it.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// isTerminal says whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// program is what the subcommands share.
type program struct {
	stdio
	verbose bool
	logger  *slog.Logger
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, io stdio) int {
	p := &program{stdio: io}
	root := p.root()
	if len(args) == 0 && !isTerminal(io.in) {
		args = []string{"mcp"}
	}
	root.SetArgs(args)
	help := &heededWriter{to: io.out}
	root.SetOut(help)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.failed
	}
	if err == nil {
		return 0
	}
	code := exitFailure
	err = readable(err)
	var exit *exitError
	if errors.As(err, &exit) {
		code, err = exit.code, exit.cause
	}
	err = placed(err)
	if err != nil {
		fmt.Fprintf(io.err, "coordinator: %s\n", printable(err.Error()))
		if code == exitUsage {
			fmt.Fprintln(io.err, hint(cmd))
		}
	}
	return code
}

func (p *program) root() *cobra.Command {
	var tellVersion bool
	root := &cobra.Command{
		Use:   "coordinator",
		Short: "Let an AI agent drive the browser that you debug in a VS Code window",
		Long: `Let an AI agent drive the browser that you debug in a VS Code window.

An MCP host launches "coordinator mcp" (also the default when standard input is
not a terminal). The other commands are for people and scripts.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		// Letters that differ in a command that does not exist and one that is meant.
		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tellVersion {
				_, err := fmt.Fprintln(p.out, "coordinator", version())
				return err
			}
			return cmd.Help()
		},
		PersistentPreRun: func(*cobra.Command, []string) {
			level := slog.LevelWarn
			if p.verbose {
				level = slog.LevelDebug
			}
			p.logger = slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: level}))
		},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(unknownFlag)
	// Not cobra's own: a version template brings text/template, which calls methods
	// by name, so that the linker could leave none out of the program.
	root.Flags().BoolVar(&tellVersion, "version", false, "version for coordinator")
	root.PersistentFlags().BoolVarP(&p.verbose, "verbose", "v", false, "log what happens to standard error")
	root.AddCommand(
		p.mcpCommand(),
		p.windowsCommand(),
		p.probeCommand(),
		p.endpointCommand(),
		p.serveCommand(),
		p.runCommand(),
		p.logCommand(),
		p.replayCommand(),
		p.windowCommand(),
		p.browserCommand(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" { // which takes any word without this
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}
