package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/background"
)

// Exit codes.
const (
	exitFailure = 1 // the command failed, or found a problem
	exitUsage   = 2 // the command line is wrong
	exitDenied  = 3 // the user, the mode or a limit has denied it
	exitNoPage  = 4 // no browser or window can be reached
)

// exitError ends the program with its own exit code. A nil cause prints nothing: the
// command's output is enough.
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

// program contains what the subcommands share.
type program struct {
	stdio
	verbose   bool
	command   string                    // that runs, with the program's name
	arguments []string                  // of the command line
	unused    map[*cobra.Command]func() // add the flags of a command, see whenUsed
	logger    *slog.Logger
	limits    limits // of the project
}

// notice writes a message for the user to standard error.
func (p *program) notice(format string, args ...any) {
	text := terminal.Printable(fmt.Sprintf(format, args...))
	if terminal.Is(p.err) {
		text = terminal.Fold(text, terminal.Width(p.err), 0)
	}
	io.WriteString(p.err, text)
}

// checkedWriter keeps the first error of a write, which cobra ignores.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// isUnread reports whether err is that of a write of the output, which nobody reads any longer.
func (p *program) isUnread(err error) bool {
	return errors.Is(err, syscall.EPIPE) && !terminal.HasReader(p.out)
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, streams stdio) int {
	p := &program{stdio: streams}
	root := p.otherCommands()
	args = joinPort(args)
	if startsMCP(root, args, p.in) {
		args = append([]string{"mcp"}, args...)
	}
	if cmd, _, err := root.Find(args); err != nil || cmd == root {
		p.addBrowserCommands(root)
	}
	root.SetArgs(args)
	p.arguments = args
	p.use(root, args)
	help := &checkedWriter{to: p.out}
	root.SetOut(help)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.err
	}
	if err == nil {
		return 0
	}
	if p.isUnread(err) {
		return exitFailure
	}
	code := exitFailure
	err = ownWords(err)
	if exit, ok := errors.AsType[*exitError](err); ok {
		code, err = exit.code, exit.cause
	}
	err = withVariable(err)
	if err != nil {
		p.notice("coordinator: %s\n", withFiles(cmd, plain(err.Error())))
		if code == exitUsage {
			p.notice("%s\n", hint(cmd))
		}
	}
	return code
}

// startsMCP reports whether a command line without a command is that of an MCP host.
func startsMCP(root *cobra.Command, args []string, in io.Reader) bool {
	if len(args) == 0 {
		return !terminal.Is(in)
	}
	if args[0] == "-v" || args[0] == "--verbose" { // of every command
		return startsMCP(root, args[1:], in)
	}
	flag, isFlag := strings.CutPrefix(args[0], "--")
	flag, _, _ = strings.Cut(flag, "=")
	mcp, _, err := root.Find([]string{"mcp"})
	return isFlag && err == nil && mcp.LocalNonPersistentFlags().Lookup(flag) != nil
}

// The groups of commands in the help.
const (
	inBrowser   = "browser"
	forAgents   = "agents"
	forClients  = "clients"
	forWindows  = "windows"
	maintenance = "maintenance"
)

func (p *program) root() *cobra.Command {
	root := p.otherCommands()
	p.addBrowserCommands(root)
	return root
}

// addBrowserCommands adds the commands that call tools. They are many: a command line that names
// another one does without.
func (p *program) addBrowserCommands(root *cobra.Command) {
	for _, c := range p.browserCommands() {
		c.GroupID = inBrowser
		root.AddCommand(c)
	}
}

// otherCommands are all commands but those that call tools.
func (p *program) otherCommands() *cobra.Command {
	var printVersion bool
	root := &cobra.Command{
		Use:   "coordinator",
		Short: "Let an AI agent drive the browser that you debug in a VS Code window",
		Long: `Let an AI agent drive the browser that you debug in a VS Code window.

An MCP host launches "coordinator mcp", which is also the default if standard
input is not a terminal. The other commands are for people and scripts.`,
		Example: `  coordinator setup claude-code
  coordinator status
  coordinator endpoint --format playwright`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if printVersion {
				_, err := fmt.Fprintln(p.out, "coordinator", version())
				return err
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			p.command = cmd.CommandPath()
			p.logger = slog.New(terminal.NewSentences(p.err))
			if p.verbose {
				p.logger = slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
			err := p.applyConfig(cmd)
			if err == nil {
				err = refuseEmpty(cmd)
			}
			if err != nil && cmd.Name() == sessionName { // the command that starts it reports the reason
				err = errors.Join(err, background.Fail(plain(withFiles(cmd, withVariable(err).Error()))))
			}
			return err
		},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(unknownFlag)
	root.SetUsageFunc(p.usage)
	root.SetHelpFunc(p.help)
	// Cobra's own version flag uses text/template, which calls methods by name. The
	// linker could then not remove unused methods.
	root.Flags().BoolVar(&printVersion, "version", false, "print the version")
	root.PersistentFlags().BoolVarP(&p.verbose, "verbose", "v", false, "write a log to standard error")
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{inBrowser, "In the browser", nil},
		{forAgents, "Agents", []*cobra.Command{p.mcpCommand(), p.setupCommand(), p.skillCommand(), p.startCommand(),
			p.sessionsCommand(), p.closeCommand()}},
		{forClients, "Clients", []*cobra.Command{p.endpointCommand(), p.serveCommand(), p.runCommand(),
			p.logCommand()}},
		{forWindows, "Windows", []*cobra.Command{p.windowCommand(), p.statusCommand(), p.showCommand(),
			p.attachCommand(), p.handOverCommand()}},
		{maintenance, "Maintenance", []*cobra.Command{p.doctorCommand(), p.probeCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(p.sessionCommand(), p.ownChromeCommand())
	root.SetHelpCommandGroupID(maintenance)
	initCompletion(root)
	return root
}
