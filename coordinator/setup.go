package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/setup"
	"browser-coordinator/coordinator/skill"
	"browser-coordinator/coordinator/terminal"
)

// changeJSON is the output of `setup HOST --json`; the names are stable.
type changeJSON struct {
	Host     string  `json:"host"`
	Name     string  `json:"name"`
	File     string  `json:"file"` // empty: paste After, as Next says
	Scope    string  `json:"scope"`
	Before   *string `json:"before"` // null: there is no file
	After    string  `json:"after"`
	Changed  bool    `json:"changed"`
	Written  bool    `json:"written"`
	Next     string  `json:"next"`
	Note     string  `json:"note"`
	Revision string  `json:"revision"` // of Before, for --expect
}

// hostsJSON is the output of `setup --json`; the names are stable.
type hostsJSON struct {
	Hosts []setup.File `json:"hosts"`
}

type setupFlags struct {
	project, user              bool
	yes, dryRun, remove, print bool
	skill                      bool
	asJSON                     bool
	workspace, command, expect string
	args                       []string // of the entry; nil: not given
}

func (p *program) setupCommand() *cobra.Command {
	var flags setupFlags
	cmd := &cobra.Command{
		Use:        "setup [HOST] [-- ARGS...]",
		SuggestFor: []string{"init", "install", "configure", "add"},
		Short:      "Add the coordinator to your agent's MCP host",
		Long: `Add the coordinator to the configuration of an MCP host. It shows the change,
asks, and keeps everything else in the file. Without HOST it lists the hosts that
are found, and whether each has an entry that works.

An entry that works stays as it is. Of one that does not, only the command
changes. What follows -- is entered as its arguments.

With --skill it installs a skill in place of an entry, for an agent that uses
the coordinator's commands in a shell.

Hosts: ` + strings.Join(hostNames(), ", "),
		Example: `  coordinator setup
  coordinator setup claude-code
  coordinator setup cursor --user --dry-run
  coordinator setup claude-code -- mcp --caps storage
  coordinator setup claude-code --skill
  coordinator setup codex --remove`,
		Args: func(cmd *cobra.Command, args []string) error {
			hosts := args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				hosts, flags.args = args[:dash], args[dash:]
			}
			if len(hosts) > 1 {
				return wrongUse("setup: unexpected argument %q; name one host, and put arguments of the entry after --",
					hosts[1])
			}
			return checkEntryArgs(flags.args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (offers []cobra.Completion,
			_ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, h := range setup.Hosts() {
					offers = append(offers, cobra.CompletionWithDesc(h.ID, h.Name))
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := flags.folder()
			if err != nil {
				return err
			}
			entry, err := flags.entry()
			if err != nil {
				return err
			}
			if len(args) > len(flags.args) {
				h, err := findHost(args[0])
				if err != nil {
					return err
				}
				return p.setUp(cmd.Context(), h, entry, folder, &flags)
			}
			for _, name := range []string{"project", "user", "yes", "dry-run", "remove", "skill", "expect"} {
				if cmd.Flags().Changed(name) {
					return wrongUse("setup: --%s needs a host: %s", name, strings.Join(hostNames(), ", "))
				}
			}
			if flags.print {
				p.notice("Most hosts take this entry in their file of MCP servers.\n")
				_, err := fmt.Fprint(p.out, setup.Paste(entry))
				return err
			}
			return p.printHosts(cmd.Context(), folder, flags.asJSON)
		},
	}
	cmd.Flags().BoolVar(&flags.project, "project", false, "change the file in the folder, for all who work there")
	cmd.Flags().BoolVar(&flags.user, "user", false, "change your own file, for every folder")
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "only show the change")
	cmd.Flags().BoolVar(&flags.remove, "remove", false, "remove the entry")
	cmd.Flags().BoolVar(&flags.skill, "skill", false, "install the skill for an agent with a shell, not an entry")
	cmd.Flags().BoolVar(&flags.print, "print", false, "print the entry, to paste; change nothing")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON; needs --dry-run or --yes if there is a HOST")
	cmd.Flags().StringVar(&flags.command, "command", "", "let the host start `COMMAND` (default: this program)")
	cmd.Flags().StringVar(&flags.workspace, "workspace", "",
		"the `DIR` of a project's file (default: the working directory)")
	cmd.Flags().StringVar(&flags.expect, "expect", "", "write only if the file has this `REVISION`")
	cmd.Flags().Lookup("expect").Hidden = true
	for _, pair := range [][]string{{"project", "user"}, {"yes", "dry-run"}, {"print", "remove"}, {"print", "yes"},
		{"print", "dry-run"}, {"print", "json"}} {
		cmd.MarkFlagsMutuallyExclusive(pair...)
	}
	return cmd
}

func hostNames() (names []string) {
	for _, h := range setup.Hosts() {
		names = append(names, h.ID)
	}
	return names
}

func findHost(name string) (setup.Host, error) {
	if h, isKnown := setup.Find(name); isKnown {
		return h, nil
	}
	if near := nearest(name, hostNames()); len(near) > 0 {
		return setup.Host{}, wrongUse("setup: unknown host %q; did you mean %s?", name, strings.Join(near, ", or "))
	}
	return setup.Host{}, wrongUse("setup: unknown host %q: want one of %s. For another, `coordinator setup --print` "+
		"prints the entry", name, strings.Join(hostNames(), ", "))
}

// folder is the folder of a project's file.
func (f *setupFlags) folder() (string, error) {
	folder, err := filepath.Abs(f.workspace)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", wrongUse("setup: there is no folder %s: name one with --workspace", folder)
	}
	return folder, nil
}

// entry is what the host is to start.
func (f *setupFlags) entry() (setup.Entry, error) {
	entry, err := setup.Self()
	if f.command != "" {
		entry, err = setup.NewEntry(f.command), nil
	}
	if f.args != nil {
		entry = entry.WithArgs(f.args)
	}
	return entry, err
}

// commandTimeout bounds how long a program takes to print its version.
const commandTimeout = 10 * time.Second

// checkCommand refuses a command that is not the coordinator: a host would start something
// else, or nothing.
func (f *setupFlags) checkCommand(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, f.command, "--version").Output()
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return wrongUse("setup: --command: there is no program %s; install it first, or name its path", f.command)
	case errors.Is(err, fs.ErrPermission):
		return wrongUse("setup: --command: %s cannot be executed; make it executable, or name another program", f.command)
	case err != nil || !strings.HasPrefix(string(out), "coordinator "):
		return wrongUse("setup: --command: %s is not the coordinator: `%[1]s --version` does not print its version. "+
			"Omit the flag to enter this program", f.command)
	}
	return nil
}

// checkEntryArgs refuses arguments with which the entry would not serve MCP.
func checkEntryArgs(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if args[0] != "mcp" {
		return wrongUse("setup: the arguments of the entry begin with mcp: -- mcp %s", strings.Join(args, " "))
	}
	for _, arg := range args[1:] {
		name, _, _ := strings.Cut(arg, "=")
		if known, _ := setup.KnownFlag(name); strings.HasPrefix(name, "-") && !known {
			return wrongUse("setup: `coordinator mcp` has no flag %s; `coordinator mcp --help` lists them", name)
		}
	}
	return nil
}

func (f *setupFlags) scope(h setup.Host) (setup.Scope, error) {
	scope := f.scopeOr(h.Default)
	if f.skill {
		if len(h.SkillScopes()) == 0 {
			return "", wrongUse("setup: %s reads no skills; `coordinator setup %s` adds an entry", h.Name, h.ID)
		}
		return scope, nil
	}
	if !slices.Contains(h.Scopes(), scope) {
		if other := h.Scopes(); len(other) > 0 {
			return "", wrongUse("setup: %s has no file for --%s: use --%s", h.Name, scope, other[0])
		}
		if f.remove {
			return "", wrongUse("setup: %s has no file that other programs may write: remove the entry in %[1]s itself",
				h.Name)
		}
		return "", wrongUse("setup: %s has no file that other programs may write: %s", h.Name, h.Next(scope))
	}
	return scope, nil
}

// scopeOr is the selected scope.
func (f *setupFlags) scopeOr(scope setup.Scope) setup.Scope {
	if f.project {
		return setup.Project
	}
	if f.user {
		return setup.User
	}
	return scope
}

// next is what the user does then.
func (f *setupFlags) next(h setup.Host, scope setup.Scope) string {
	switch {
	case f.remove && f.skill:
		return "A session of " + h.Name + " that runs still has the skill."
	case f.remove:
		return "End sessions of " + h.Name + " that run: they still have the server."
	case f.skill:
		return h.SkillNext()
	}
	return h.Next(scope)
}

// change is what would be written.
func (f *setupFlags) change(h setup.Host, scope setup.Scope, folder string, e setup.Entry) (*setup.Change, error) {
	switch {
	case f.skill && f.remove:
		return h.RemoveSkill(scope, folder)
	case f.skill:
		return h.AddSkill(scope, folder, e)
	case f.remove:
		return h.Remove(scope, folder)
	}
	return h.Add(scope, folder, e)
}

// setUp shows the change of one host's file, and makes it if the user agrees.
func (p *program) setUp(ctx context.Context, h setup.Host, entry setup.Entry, folder string, f *setupFlags) error {
	if f.skill && len(f.args) > 0 {
		return wrongUse("setup: a skill has no arguments: omit what follows --")
	}
	if f.print || h.Default == "" && !f.remove && !f.skill {
		return p.printEntry(h, entry, folder, f)
	}
	if f.command != "" { // one to paste may be for another machine
		if err := f.checkCommand(ctx); err != nil {
			return err
		}
	}
	scope, err := f.scope(h)
	if err != nil {
		return err
	}
	if f.asJSON && !f.yes && !f.dryRun {
		return wrongUse("setup: --json asks nothing: add --dry-run or --yes")
	}
	change, err := f.change(h, scope, folder, entry)
	if err != nil {
		return err
	}
	if f.expect != "" {
		if err := change.Check(f.expect); err != nil {
			return err
		}
	}
	if f.asJSON {
		if f.yes && change.Changed() {
			if err := change.Write(); err != nil {
				return err
			}
		}
		return terminal.JSON(p.out, describe(ctx, change, folder, f))
	}
	if !change.Changed() {
		p.notice("%s\n", f.unchanged(ctx, change, folder))
		return nil
	}
	if err := p.printDiff(change); err != nil {
		return err
	}
	if target := change.LinkTarget(); target != "" {
		p.notice("%s is a link: this changes %s.\n", change.File, target)
	}
	if change.Note != "" {
		p.notice("%s\n", change.Note)
	}
	if f.dryRun {
		return nil
	}
	if !f.yes {
		if err := p.ask(ctx, change); err != nil {
			return err
		}
	}
	if err := change.Write(); err != nil {
		return err
	}
	done := "written"
	if change.Removes {
		done = "removed"
	}
	p.notice("%s is %s.\n%s\n", change.File, done, f.next(h, scope))
	return nil
}

func (f *setupFlags) unchanged(ctx context.Context, change *setup.Change, folder string) string {
	switch {
	case f.skill && f.remove:
		return change.File + " does not exist."
	case f.skill:
		return change.File + " has the skill already. " + change.Host.SkillNext()
	case f.remove:
		return change.File + " has no entry of the coordinator."
	}
	d, _ := change.Host.Examine(ctx, change.Scope, change.State, folder)
	next := change.Host.Next(change.Scope)
	if d.Fix != "" {
		next = d.Advice()
	}
	return fmt.Sprintf("%s has an entry already: %s. It %s. %s", change.File, change.State.Name, d.Text, next)
}

// printEntry prints the entry alone, also for a host without a file, and says where to
// paste it.
func (p *program) printEntry(h setup.Host, entry setup.Entry, folder string, f *setupFlags) error {
	text, next := h.Paste(entry), h.PasteAdvice(f.scopeOr(h.Default), folder)
	if f.skill {
		scope, err := f.scope(h)
		if err != nil {
			return err
		}
		text, next = skill.Installed(entry.CommandLine()), h.SkillAdvice(scope, folder)
	}
	if f.asJSON {
		return terminal.JSON(p.out, changeJSON{Host: h.ID, Name: h.Name, After: text, Next: next})
	}
	p.notice("%s\n", next)
	_, err := fmt.Fprint(p.out, terminal.Printable(text))
	return err
}

func (p *program) printDiff(change *setup.Change) error {
	for line := range strings.Lines(terminal.Printable(change.Diff())) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "+"):
			text = terminal.Colour(p.out, terminal.Green, text)
		case strings.HasPrefix(line, "-"):
			text = terminal.Colour(p.out, terminal.Red, text)
		}
		if _, err := fmt.Fprintln(p.out, text); err != nil {
			return err
		}
	}
	return nil
}

// ask returns an error unless the user agrees.
func (p *program) ask(ctx context.Context, change *setup.Change) error {
	if !terminal.Is(p.in) {
		return wrongUse("setup: standard input is not a terminal, so nobody can agree: add --yes to write this, or " +
			"--dry-run")
	}
	p.notice("Write this to %s? [y/N] ", change.File)
	answer := make(chan string, 1)
	go readAnswer(p.in, answer)
	select {
	case line := <-answer:
		if line = strings.ToLower(strings.TrimSpace(line)); line == "y" || line == "yes" {
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(p.err)
	}
	return errors.New("nothing was written")
}

// readAnswer reads a line. Nothing can end a read of a terminal, so an interrupted
// command does not wait for it: the process ends.
func readAnswer(in io.Reader, answer chan<- string) {
	line, _ := bufio.NewReader(in).ReadString('\n') // an end of the input is no consent
	answer <- line
}

func describe(ctx context.Context, change *setup.Change, folder string, f *setupFlags) changeJSON {
	before, after := change.Redacted()
	next := f.next(change.Host, change.Scope)
	if !change.Changed() {
		next = f.unchanged(ctx, change, folder)
	}
	out := changeJSON{
		Host: change.Host.ID, Name: change.Host.Name, File: change.File, Scope: string(change.Scope),
		After: after, Changed: change.Changed(), Written: f.yes && change.Changed(),
		Next: next, Note: change.Note, Revision: change.Revision(),
	}
	if change.Exists {
		out.Before = &before
	}
	return out
}

// printHosts lists the hosts, and what they have of the coordinator.
func (p *program) printHosts(ctx context.Context, folder string, asJSON bool) error {
	files := setup.List(ctx, folder)
	if asJSON {
		return terminal.JSON(p.out, hostsJSON{files})
	}
	rows, colours, missing := setup.Table(files, setup.Skills(folder))
	if len(rows) > 1 {
		if err := terminal.ColouredTable(p.out, rows, colours); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		p.notice("Not found on this machine: %s.\n", strings.Join(missing, ", "))
	}
	p.notice("`coordinator setup HOST` adds the entry; `coordinator setup --print` prints it for another host.\n")
	return nil
}
