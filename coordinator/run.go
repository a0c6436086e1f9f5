package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/child"
)

func (p *program) runCommand() *cobra.Command {
	var flags serveFlags
	var allowToken bool
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT ...]",
		Short: "Run a CDP program on a window's browser",
		Long: `Run a CDP program on a window's browser, and exit with its exit code.

The window's stable CDP address is served while the program runs. The program
gets it in $` + child.EnvEndpoint + `, and in place of
` + child.Placeholder + ` in its arguments and the values of its environment.

If the address contains the secret token (with --require-token, and on all
systems but Linux), arguments with ` + child.Placeholder + ` are refused, because every
user of the machine can read them.

If another coordinator serves the address already, the program uses the browser
of that one. So several "run --launch" in one folder share the browser of the
first, which ends with the first program. For a browser that outlives them, start
"coordinator serve --launch" first.`,
		Example: `  coordinator run -- npx @playwright/mcp --cdp-endpoint {cdp_endpoint}
  coordinator run -- node scrape.js
  PLAYWRIGHT_MCP_CDP_ENDPOINT={cdp_endpoint} coordinator run -- npx @playwright/mcp`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUse("run: name the program, as in `coordinator run -- node script.js`")
			}
			return nil
		},
		ValidArgsFunction: completeProgram,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runProgram(cmd, &flags, allowToken, args)
		},
	}
	cmd.Flags().SetInterspersed(false) // the arguments after the command belong to it
	flags.add(cmd)
	allowTokenFlag(cmd, &allowToken)
	return cmd
}

func (p *program) runProgram(cmd *cobra.Command, flags *serveFlags, allowToken bool, args []string) error {
	ctx := context.WithoutCancel(cmd.Context()) // the program decides when it ends
	e, err := p.serveWorkspace(ctx, cmd, flags)
	if err != nil {
		return err
	}
	defer e.close()
	if err := context.Cause(cmd.Context()); err != nil {
		return err
	}

	if !e.Owner() {
		p.reportStandby(cmd, flags.browser.launch)
	}
	args, env, err := child.Command(args, e.workspace, e.Address(), allowToken)
	if err != nil {
		return wrongUse("%w", err)
	}
	program := exec.Command(args[0], args[1:]...)
	program.Env = env
	program.Stdin, program.Stdout, program.Stderr = p.in, p.out, p.err
	err = child.Run(program)
	if errors.As(err, new(*exec.ExitError)) {
		return &exitError{code: child.ExitCode(err)}
	}
	if start, ok := errors.AsType[*os.PathError](err); ok { // which names the program again
		err = start.Err
	}
	if err != nil {
		err = fmt.Errorf("run %s: %w", args[0], err)
		if program.Process == nil {
			return &exitError{child.ExitCode(err), err}
		}
	}
	return err
}

// completeProgram offers the programs on PATH, and then files.
func completeProgram(
	_ *cobra.Command, args []string, prefix string,
) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 || strings.ContainsRune(prefix, os.PathSeparator) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(dir) // PATH may name folders that are not there
		for _, e := range entries {
			if _, err := exec.LookPath(filepath.Join(dir, e.Name())); err == nil &&
				strings.HasPrefix(e.Name(), prefix) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveDefault
}

// allowTokenFlag adds the flag that permits the secret token in arguments.
func allowTokenFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, child.AllowTokenFlag, false,
		"replace "+child.Placeholder+" in arguments also if the address contains the secret token, which every user "+
			"of this machine can then read")
}
