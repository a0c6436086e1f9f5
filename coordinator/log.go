package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/traffic"
	"browser-coordinator/vscodeipc"
)

// logFlags choose which traffic is shown, and where.
type logFlags struct {
	output string
	view   traffic.View
}

// check trims the lists and rejects impossible combinations. given reports which flags
// are set.
func (f *logFlags) check(given func(flag string) bool) error {
	f.view.Filter.Trim()
	filter := f.view.Filter
	switch {
	case f.output == "-":
		return wrongUse("log: --output wants the name of a new file; --json prints the lines")
	case given("client") && !traffic.IsClient(filter.Client):
		return wrongUse("log: --client %q: want a client such as Playwright or Playwright#1, or a session such as "+
			"Playwright#1.2", filter.Client)
	}
	for _, pattern := range filter.Methods {
		if _, err := path.Match(pattern, ""); err != nil {
			return wrongUse("log: --method %q: not a pattern", pattern)
		}
	}
	return nil
}

func (p *program) logCommand() *cobra.Command {
	var workspace string
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the CDP traffic of a window as it passes",
		Long: `Show the CDP traffic between a window's endpoint and its clients from now on,
until you interrupt the command or the coordinator that serves the endpoint ends.

With --json the traffic is printed as JSON lines, for programs. With --output
these go to a new file that only you can read.

The traffic contains the contents of the pages: protect it like them.`,
		Example: `  coordinator log --domain Page,Network
  coordinator log --method 'Runtime.*' --client Playwright
  coordinator log --output session.jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return p.runLog(cmd.Context(), workspace, f)
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().StringSliceVar(&f.view.Filter.Domains, "domain", nil, "show only `DOMAINS`, for example Page,Network")
	cmd.Flags().StringSliceVar(&f.view.Filter.Methods, "method", nil,
		"show only `METHODS`, in addition to those of --domain; * matches any letters")
	cmd.Flags().StringVar(&f.view.Filter.Client, "client", "",
		"show only the client `NAME`: Playwright, or Playwright#2 (the second of all clients), or Playwright#2.1 (its "+
			"first session)")
	cmd.Flags().BoolVar(&f.view.Full, "full", false, "show long messages in full")
	cmd.Flags().BoolVar(&f.view.JSON, "json", false, "print JSON lines")
	cmd.Flags().StringVar(&f.output, "output", "", "write JSON lines to the new `FILE`")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	completeList(cmd, "domain", traffic.Domains)
	completeList(cmd, "method", traffic.Methods)
	if err := cmd.RegisterFlagCompletionFunc("client", p.completeClients(&workspace)); err != nil {
		panic(err) // only for a flag that is not there
	}
	return cmd
}

// drainTimeout bounds how long the coordinator may take to send the traffic from before
// the interruption of a log for programs.
const drainTimeout = 5 * time.Second

func (p *program) runLog(ctx context.Context, workspace string, f logFlags) (logged error) {
	workspace, err := p.findWorkspace(ctx, workspace)
	if err != nil {
		return err
	}
	hash := vscodeipc.Hash(workspace)
	for _, name := range f.view.Filter.Unknown() {
		p.notice("Chromium does not know %s, so there may be nothing to show of it.\n", name)
	}
	var drain time.Duration
	if f.output != "" || f.view.JSON {
		drain = drainTimeout
	}
	stream, err := endpoint.Log(ctx, hash, drain)
	if errors.Is(err, endpoint.ErrNotServed) {
		return fmt.Errorf("log: no coordinator serves the endpoint of %s now: start an agent there, or run "+
			"`coordinator serve --workspace %s`", workspace, terminal.Word(workspace))
	}
	if err != nil {
		return err
	}
	defer stream.Close()
	// A log for programs waits for the last of the traffic. A second Ctrl+C ends it at once.
	defer context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()

	view := &f.view
	view.Out = p.out
	view.Begin()
	if f.output != "" {
		file, err := os.OpenFile(f.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("log: cannot make the file %s: %w. Name a new file, in a folder that exists", f.output,
				errors.Unwrap(err))
		}
		defer func() { logged = errors.Join(logged, file.Close()) }()
		view.Out, view.JSON = file, true
	}
	p.notice("Listening to the clients of %s; press Ctrl+C to end.\n", workspace)
	err = cdplog.Decode(stream, view.Show)
	switch {
	case ctx.Err() != nil && (err == nil || drain == 0), p.isUnread(err):
		return nil // interrupted or no longer read, the normal end
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	// Another one may serve the endpoint by now. Its clients have other numbers.
	return errors.New("the coordinator that served the endpoint has ended: run `coordinator log` again to follow the " +
		"next one")
}
