package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func (p *program) runCommand() *cobra.Command {
	var workspace string
	var guard guardFlags
	var launch launchFlags
	var allowToken bool
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT ...]",
		Short: "Run any CDP program on a window's browser",
		Long: `Run any CDP program on a window's browser.

The window's stable CDP address is served while the program runs. It stands in
$` + envEndpoint + `, and in place of ` + endpointPlaceholder + ` in every
argument and every value of the environment. The exit code is the program's.

Where the address holds the secret token (with --require-token, and on all systems
but Linux), arguments with ` + endpointPlaceholder + ` are refused: every user of
the machine can read them.

Where another coordinator serves the address, the program uses the browser of
that one, whatever this one was told. So several "run --launch" in one folder
share the browser of the first, which ends it when its program has ended: start
"coordinator serve --launch" before them for a browser that outlives each.`,
		Example: `  coordinator run -- npx @playwright/mcp --cdp-endpoint {cdp_endpoint}
  coordinator run -- node scrape.js
  PLAYWRIGHT_MCP_CDP_ENDPOINT={cdp_endpoint} coordinator run -- npx @playwright/mcp`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &exitError{exitUsage, errors.New("run: no command given, as in: coordinator run -- node script.js")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runProgram(cmd, workspace, guard, &launch, allowToken, args)
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the command is the command's
	workspaceFlag(cmd, &workspace)
	guard.add(cmd)
	launch.add(cmd)
	addAllowToken(cmd.Flags(), &allowToken)
	return cmd
}

func (p *program) runProgram(cmd *cobra.Command, workspace string, guard guardFlags, launch *launchFlags, allowToken bool, args []string) error {
	ctx := cmd.Context()
	e, err := p.serveMeant(ctx, workspace, guard, launch)
	if err != nil {
		return err
	}
	defer e.close()

	if !e.Owner() {
		p.tell(standsByFor(cmd, launch.launch))
	}
	args, env, err := childCommand(args, e.workspace, e.Address(), allowToken)
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, args[0], args[1:]...)
	child.Env = env
	child.Stdin, child.Stdout, child.Stderr = p.in, p.out, p.err
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = 5 * time.Second
	err = child.Run()
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		return &exitError{code: codeOf(exited)}
	}
	if err != nil {
		err = fmt.Errorf("run %s: %w", args[0], err)
		if child.Process == nil && ctx.Err() == nil {
			return &exitError{codeOfNone(err), err}
		}
		return err
	}
	return nil
}

// Exit codes of a program that could not be started, as shells and env have them.
const (
	exitNoProgram = 126 // it is there, but cannot be run
	exitNotFound  = 127
)

func codeOfNone(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitNotFound
	}
	return exitNoProgram
}

// codeOf is what a shell would make of a program's end: 128 and the signal's number
// where a signal ended it.
func codeOf(exited *exec.ExitError) int {
	if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return max(exited.ExitCode(), exitFailure)
}
