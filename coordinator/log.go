package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

// logFlags are what a person wants to see of the traffic.
type logFlags struct {
	json, full       bool
	record           string
	domains, methods []string
	client           string
}

// tidy takes away what a list has besides its names.
func (f *logFlags) tidy() {
	for _, list := range []*[]string{&f.domains, &f.methods} {
		names := *list
		*list = nil
		for _, name := range names {
			if name = strings.TrimSpace(name); name != "" {
				*list = append(*list, name)
			}
		}
	}
}

// check refuses what cannot be meant. given says which flags are.
func (f *logFlags) check(given func(flag string) bool) error {
	for _, flag := range []struct {
		name  string
		empty bool
		want  string
	}{
		{"record", f.record == "", "the name of a file"},
		{"domain", len(f.domains) == 0, "names, for example Page,Network"},
		{"method", len(f.methods) == 0, "names, for example Page.navigate or 'Runtime.*'"},
	} {
		if flag.empty && given(flag.name) {
			return wrongUse("log: --%s wants %s", flag.name, flag.want)
		}
	}
	if f.record == "-" {
		return wrongUse("log: --record -: a recording is a file: name one; --json shows the same lines")
	}
	if f.record != "" && (len(f.domains) > 0 || len(f.methods) > 0 || f.client != "" || f.full || f.json) {
		return wrongUse("log: --record writes everything: run a second `coordinator log` to see a part of it")
	}
	for _, pattern := range f.methods {
		if _, err := path.Match(pattern, ""); err != nil {
			return wrongUse("log: --method %q: not a pattern", pattern)
		}
	}
	if given("client") && !isClient(f.client) {
		return wrongUse("log: --client %q: a client is called as in Playwright, or Playwright#1, and a session of it as in Playwright#1.2", f.client)
	}
	return nil
}

// isClient says whether a client, or one of its sessions, may be called so. Names may
// have a # themselves.
func isClient(who string) bool {
	at := strings.LastIndexByte(who, '#')
	if at < 0 {
		return who != ""
	}
	name, number := who[:at], who[at+1:]
	if name == "" || number == "" {
		return false
	}
	if number[0] < '0' || number[0] > '9' {
		return true // of the name
	}
	client, session, ofSession := strings.Cut(number, ".")
	return counts(client) && (!ofSession || counts(session))
}

// counts says whether a number is one of those that count things.
func counts(number string) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n > 0 && strconv.Itoa(n) == number
}

func (p *program) logCommand() *cobra.Command {
	var workspace string
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the CDP traffic of a window as it passes, or record it",
		Long: `Show the CDP traffic that passes a window's endpoint from now on, until it is
interrupted, also when another coordinator takes over the endpoint. With
--record it goes to a file as JSON lines, which "coordinator replay" serves as a
browser, and ends with that coordinator.

The traffic holds what the pages hold: treat a recording as you would the pages.`,
		Example: `  coordinator log --domain Page,Network
  coordinator log --method 'Runtime.*' --client Playwright
  coordinator log --record session.jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.tidy()
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return p.runLog(cmd.Context(), workspace, f)
		},
	}
	workspaceFlag(cmd, &workspace)
	cmd.Flags().StringVar(&f.record, "record", "", "write everything to this `file`, which must not exist")
	cmd.Flags().StringSliceVar(&f.domains, "domain", nil, "show only these `domains`, for example Page,Network")
	cmd.Flags().StringSliceVar(&f.methods, "method", nil, "show only these `methods`, or also these where there is --domain; * stands for any letters")
	cmd.Flags().StringVar(&f.client, "client", "", "show only clients of this `name`, or the second of all clients, Playwright#2, or the first of its sessions, Playwright#2.1")
	cmd.Flags().BoolVar(&f.full, "full", false, "show messages in full, however long")
	cmd.Flags().BoolVar(&f.json, "json", false, "show JSON lines, as they are recorded")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	if err := cmd.RegisterFlagCompletionFunc("domain", completeDomains); err != nil {
		panic(err) // only for a flag that is not there
	}
	complete(cmd, "method")
	complete(cmd, "client")
	return cmd
}

func (p *program) runLog(ctx context.Context, workspace string, f logFlags) (err error) {
	windows := p.openRegistry(ctx, false)
	meant, err := resolveWorkspace(ctx, windows, workspace)
	windows.Close()
	if err != nil {
		return err
	}
	hash := vscodeipc.Hash(meant)
	for _, name := range f.unknown() {
		p.notice("Chromium has no %s: it may be that nothing is shown of it.\n", name)
	}
	var patience time.Duration // for what passed before the interruption
	if f.record != "" {
		patience = lastWords
	}
	stream, err := endpoint.Log(ctx, hash, patience)
	if errors.Is(err, endpoint.ErrNotServed) {
		return fmt.Errorf("nobody serves the endpoint of %s now: start an agent there, or `coordinator serve --workspace %s`", meant, terminal.Word(meant))
	}
	if err != nil {
		return err
	}
	defer func() { stream.Close() }() // the last one
	// A recording waits for the last of the traffic: a second Ctrl+C does not.
	defer context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()

	view := newTrafficView(p.out, f)
	sink := view.show
	if f.record != "" {
		var recording *recording
		if recording, err = p.record(hash, f.record); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, recording.end(err)) }()
		// What passed before the interruption is kept.
		adding := context.WithoutCancel(ctx)
		sink = func(l cdplog.Line) error { return recording.add(adding, l) }
	}
	p.notice("Listening to the clients of %s; end it with Ctrl+C.\n", meant)
	for {
		err = eachLine(stream, sink)
		if ctx.Err() != nil && (err == nil || f.record == "") {
			return nil // interrupted, which is how it ends
		}
		if err != nil && !errors.Is(err, errServerEnded) {
			return err
		}
		if f.record != "" {
			// A recording would have a gap, and another coordinator's clients.
			return errServerEnded
		}
		next, err := endpoint.NextLog(ctx, hash, patience)
		if ctx.Err() != nil {
			if err == nil {
				next.Close()
			}
			return nil
		}
		if errors.Is(err, endpoint.ErrNotServed) {
			return errServerEnded
		}
		if err != nil {
			return err
		}
		stream.Close()
		stream = next
		view.begin()
		fmt.Fprintln(p.err, "The coordinator that served the endpoint has ended; another one serves it now.")
	}
}

// bare is what the system says, without the operation and the name that it is about.
func bare(err error) error {
	var system syscall.Errno
	if errors.As(err, &system) {
		return system
	}
	return err
}

// lastWords is how long a coordinator may be silent that is to tell what passed
// before a recording was interrupted.
const lastWords = 5 * time.Second

var errServerEnded = errors.New("the coordinator that served the endpoint has ended")

// eachLine calls sink with each line of a stream. errServerEnded: it was cut off.
func eachLine(stream io.Reader, sink func(cdplog.Line) error) error {
	lines := json.NewDecoder(stream)
	for {
		var l cdplog.Line
		if err := lines.Decode(&l); err != nil {
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case errors.Is(err, io.ErrUnexpectedEOF):
				return errServerEnded
			default:
				return err
			}
		}
		if err := sink(l); err != nil {
			return err
		}
	}
}
