package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/session"
	"browser-coordinator/coordinator/shell"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/catalog"
	"browser-coordinator/internal/background"
	"browser-coordinator/internal/fspath"
)

// envSession is the variable with the default of --session.
const envSession = "BROWSER_COORDINATOR_SESSION"

// sessionFlags choose a session.
type sessionFlags struct{ session, workspace, agent string }

func (f *sessionFlags) add(cmd *cobra.Command) {
	workspaceFlag(cmd, &f.workspace)
	f.addNames(cmd)
}

// addNames adds the flags without --workspace.
func (f *sessionFlags) addNames(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.session, "session", os.Getenv(envSession),
		"use the session `NAME` (default: $"+envSession+", else that of the folder)")
	cmd.Flags().Lookup("session").DefValue = ""
	cmd.Flags().StringVar(&f.agent, "name", "", "start a session as the agent `NAME` (default: the agent whose command "+
		"it is, else Shell)")
	complete(cmd, "session")
	complete(cmd, "name")
}

// place is where the session is.
func (f *sessionFlags) place() (session.Place, error) {
	folder, err := canonicalWorkspace(f.workspace)
	if err != nil {
		return session.Place{}, err
	}
	return session.Find(f.session, folder)
}

// options are those of a command of the session. arguments are further ones of a session that
// it starts.
func (f *sessionFlags) options(p *program, arguments ...string) session.Options {
	agent := cmp.Or(f.agent, shell.AgentName(os.Getenv))
	return session.Options{
		Agent: agent, Version: version(), Notice: p.notice,
		Start: func(ctx context.Context, place session.Place) error {
			from, err := canonicalWorkspace(f.workspace)
			if err != nil {
				return err
			}
			own := []string{sessionName, "--folder=" + place.Folder, "--from=" + from, "--agent=" + agent}
			if place.Name != "" {
				own = append(own, "--session-name="+place.Name)
			}
			if f.workspace != "" {
				own = append(own, "--workspace="+place.Folder)
			}
			return session.Command(append(own, arguments...)...)(ctx, place)
		},
	}
}

// open connects to the session, which it starts if there is none.
func (f *sessionFlags) open(ctx context.Context, p *program) (*session.Client, error) {
	place, err := f.place()
	if err != nil {
		return nil, err
	}
	options := f.options(p)
	start := options.Start
	options.Start = func(ctx context.Context, place session.Place) error {
		others := p.otherSessions(ctx, place)
		err := start(ctx, place)
		if err == nil && others != "" {
			p.notice("The session %s is new. Others run already: %s.\n", place, others)
		}
		return err
	}
	client, err := session.Open(ctx, place, options)
	if failed, ok := errors.AsType[*background.Error](err); ok {
		return nil, &exitError{failed.Code, err}
	}
	if err != nil {
		return nil, err
	}
	if err := f.checkConfig(ctx, client, place); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// commandFlags are the flags of all commands in the browser.
type commandFlags struct {
	sessionFlags
	json, all bool
	file      string
}

func (f *commandFlags) add(cmd *cobra.Command) {
	f.sessionFlags.add(cmd)
	f.addForms(cmd)
	cmd.Flags().StringVar(&f.file, "file", "", "write the result to `FILE`")
}

// addForms adds the flags for the form of the result.
func (f *commandFlags) addForms(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print an object: text, data, files, failure")
	cmd.Flags().BoolVar(&f.all, "all", false, "print a long result to its end")
}

// print prints a result. The error of a call that failed has its exit code.
func (f *commandFlags) print(ctx context.Context, p *program, client *session.Client, call tools.Call,
	result *mcp.CallToolResult) error {
	printer := &shell.Printer{Out: p.out, Err: p.err, JSON: f.json, All: f.all, File: f.file, SaveAs: call.SaveAs,
		Folder: func() (workspace, dir string, err error) {
			state, err := client.State(ctx)
			return fspath.FolderOf(state.Folder), state.Output, err
		}}
	failure, err := printer.Print(result)
	if err != nil {
		return err
	}
	return failed(failure)
}

// failed is the error of a call that has failed, whose result was printed.
func failed(failure answer.Failure) error {
	if failure == "" {
		return nil
	}
	code, known := map[answer.Failure]int{
		answer.Invalid: exitUsage, answer.Denied: exitDenied, answer.NoBrowser: exitNoPage,
	}[failure]
	if !known {
		code = exitFailure
	}
	return &exitError{code, nil}
}

// browserCommands are the commands that call tools.
func (p *program) browserCommands() []*cobra.Command {
	groups := map[string]*cobra.Command{}
	var all []*cobra.Command
	for _, c := range tools.Commands() {
		group, name, grouped := strings.Cut(c.Name, " ")
		if !grouped {
			cmd := p.browserCommand(c, c.Name)
			groups[c.Name] = cmd
			all = append(all, cmd)
			continue
		}
		if groups[group] == nil {
			groups[group] = &cobra.Command{Use: group, Args: cobra.NoArgs, RunE: showHelp}
			all = append(all, groups[group])
		}
		sub := p.browserCommand(c, name)
		groups[group].AddCommand(sub)
	}
	for _, cmd := range groups {
		if cmd.Short == "" {
			cmd.Short = summary(cmd)
		}
	}
	return append(all, p.callCommand(), p.doCommand())
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// summary is what a group of commands is for.
func summary(group *cobra.Command) string {
	var names []string
	for _, c := range group.Commands() {
		names = append(names, c.Name())
	}
	return strings.ToUpper(group.Name()[:1]) + group.Name()[1:] + ": " + strings.Join(names, ", ")
}

// browserCommand is a command that calls a tool.
func (p *program) browserCommand(c *tools.Command, name string) *cobra.Command {
	var flags commandFlags
	var values func() tools.Values
	cmd := &cobra.Command{
		Use:                   strings.TrimSpace(name+" "+c.Usage()) + " [flags]",
		Short:                 c.Summary,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			call, err := c.Call(words, values(), p.readFile)
			if err != nil {
				return wrongUse("%w", err)
			}
			return p.call(cmd.Context(), &flags, call)
		},
	}
	p.whenUsed(cmd, func() {
		flags.add(cmd)
		values = shell.AddFlags(cmd.Flags(), c)
		p.completeBrowser(cmd, c, &flags)
	})
	return cmd
}

// completeBrowser offers values for the arguments and flags of a command.
func (p *program) completeBrowser(cmd *cobra.Command, c *tools.Command, flags *commandFlags) {
	offer := func(parameter catalog.Parameter, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case len(parameter.Values) > 0:
			return parameter.Values, cobra.ShellCompDirectiveNoFileComp
		case parameter.Is(catalog.File), parameter.Name == "filename":
			return nil, cobra.ShellCompDirectiveDefault
		case strings.HasSuffix(strings.ToLower(parameter.Name), "target"), parameter.Name == "fields":
			return p.refs(flags, prefix), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, words []string, prefix string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		for i, arg := range c.Args {
			switch {
			case arg.OfFile:
				return nil, cobra.ShellCompDirectiveDefault
			case i == len(words), arg.Rest:
				return offer(arg.Parameter, prefix)
			}
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, parameter := range c.Flags {
		name := tools.Words(parameter.Name, "-")
		if _, taken := cmd.GetFlagCompletionFunc(name); taken || parameter.Type == "boolean" {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, prefix string) (
			[]cobra.Completion, cobra.ShellCompDirective,
		) {
			return offer(parameter, prefix)
		})
		if err != nil {
			panic(err) // only for a flag that is not there
		}
	}
}

// refs are those of the last snapshot of the session, if one runs.
func (p *program) refs(flags *commandFlags, prefix string) (offers []cobra.Completion) {
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	place, err := flags.place()
	if err != nil {
		return nil
	}
	client, err := session.Dial(ctx, place, flags.options(p))
	if err != nil {
		return nil
	}
	defer client.Close()
	state, _ := client.State(ctx) // empty if it does not answer
	marker := ""
	if strings.HasPrefix(prefix, "@") {
		marker = "@"
	}
	for _, ref := range state.Refs {
		offers = append(offers, cobra.CompletionWithDesc(marker+ref.Ref, terminal.PrintableLine(ref.Line)))
	}
	return offers
}

// call calls a tool, and prints the result.
func (p *program) call(ctx context.Context, flags *commandFlags, call tools.Call) error {
	client, err := flags.open(ctx, p)
	if err != nil {
		return err
	}
	defer client.Close()
	result, err := client.Call(ctx, call.Tool.Name, call.Arguments)
	if err != nil {
		return err
	}
	return flags.print(ctx, p, client, call, result)
}

// readFile is the text of a file that a command line names; "-" is the standard input.
func (p *program) readFile(name string) (string, error) {
	if name == "-" {
		text, err := io.ReadAll(p.in)
		return string(text), err
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

func (p *program) callCommand() *cobra.Command {
	var flags commandFlags
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON]",
		Short: "Call any tool by its name, with its arguments as JSON",
		Long: `Call any tool by its name, with its arguments as JSON, or as JSON from standard
input with "-". docs/tools.md has all tools.`,
		Example: `  coordinator call browser_tabs '{"action": "list"}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return wrongUse("call: want the name of a tool and its arguments as JSON")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []cobra.Completion,
			_ cobra.ShellCompDirective) {
			for _, t := range tools.All() {
				if len(args) == 0 {
					names = append(names, cobra.CompletionWithDesc(t.Name, t.Description))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments := "{}"
			if len(args) > 1 {
				arguments = args[1]
			}
			if arguments == "-" {
				text, err := p.readFile("-")
				if err != nil {
					return err
				}
				arguments = text
			}
			call, err := shell.CallOf([]string{args[0], arguments})
			if err != nil {
				return wrongUse("call: %w", err)
			}
			return p.call(cmd.Context(), &flags, call)
		},
	}
	p.whenUsed(cmd, func() { flags.add(cmd) })
	return cmd
}

func (p *program) doCommand() *cobra.Command {
	flags := commandFlags{sessionFlags: sessionFlags{session: os.Getenv(envSession)}}
	cmd := &cobra.Command{
		Use:   "do [flags] [COMMAND...]",
		Short: "Do commands that only act in the browser, until one fails",
		Long: `Do several commands in the browser: each argument is one as you would type it,
or each line of standard input. All are checked before the first one is done.
One that fails, or a surprise, such as a dialog that the next one does not
answer, ends them, and what was not done is listed. Errors of the page's own
scripts are shown, and end nothing. If not each argument is a command, all are
the words of one.

They read or act in the browser, in the session of the folder, and save files in
the folder for files alone: the installed skill allows agents to run them
without a question. Other commands, and other flags, are those without do.`,
		Example: `  coordinator do click e3
  coordinator do 'click e3' 'type e4 Ada --submit' 'expect "Thank you"'
  coordinator do < steps.txt`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, texts []string) error {
			parse := shell.ParseArguments
			if len(texts) == 0 {
				parse = shell.ParseLines
				text, err := p.readFile("-")
				if err != nil {
					return err
				}
				texts = strings.Split(text, "\n")
			}
			lines, err := parse(texts)
			if err == nil && len(lines) == 0 {
				err = errors.New("there is no command: give them as arguments, or one a line on standard input")
			}
			if err != nil {
				return wrongUse("do: %w", err)
			}
			return p.do(cmd.Context(), &flags, lines)
		},
	}
	p.whenUsed(cmd, func() {
		cmd.Flags().SetInterspersed(false) // those behind a command are its own
		flags.addForms(cmd)
	})
	return cmd
}

// do does commands one after the other, on one connection, and with no other do in between.
func (p *program) do(ctx context.Context, flags *commandFlags, lines []shell.Line) error {
	client, err := flags.open(ctx, p)
	if err != nil {
		return err
	}
	defer client.Close()
	unlock, err := client.Alone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for len(lines) > 0 {
		call, n, err := shell.Next(lines)
		if err != nil {
			return err
		}
		result, err := client.Call(ctx, call.Tool.Name, call.Arguments)
		if err == nil {
			of := *flags
			of.all, of.json = flags.all || lines[0].All, flags.json || lines[0].JSON
			err = of.print(ctx, p, client, call, result)
		}
		lines = lines[n:]
		if err != nil {
			if len(lines) > 0 {
				p.notice("Not done: %s.\n", shell.Texts(lines))
			}
			return err
		}
	}
	return nil
}

// whenUsed adds the flags of a command only when it is used: those of all would cost every start
// of the program a millisecond.
func (p *program) whenUsed(cmd *cobra.Command, add func()) {
	if p.unused == nil {
		p.unused = map[*cobra.Command]func(){}
	}
	p.unused[cmd] = add
}

// use completes the command that a command line names.
func (p *program) use(root *cobra.Command, args []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = args[1:]
	}
	if cmd, _, err := root.Find(args); err == nil {
		p.addFlags(cmd)
	}
}

// addFlags adds the flags of a command that has none yet.
func (p *program) addFlags(cmd *cobra.Command) {
	if add := p.unused[cmd]; add != nil {
		delete(p.unused, cmd)
		add()
	}
}
