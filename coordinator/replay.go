package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/endpoint"
)

func (p *program) replayCommand() *cobra.Command {
	var port int
	var requireToken bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Serve a recording as a browser",
		Long: `Serve a recording of "coordinator log --record" as a browser on a loopback port,
for tests without a browser, until you interrupt the command. It prints the
address first, and admits programs of the same user.

A client that sends the recorded commands gets the recorded responses and events,
in the same order. A command that was not recorded, or has no recorded response,
gets an error.`,
		Example: `  coordinator replay session.jsonl
  coordinator replay --port 9222 session.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return wrongUse("replay: want one recording, as in `coordinator replay session.jsonl`; %d were given", len(args))
			}
			if args[0] == "" {
				return wrongUse("replay: the name of the recording is empty: name one, as in `coordinator replay session.jsonl`")
			}
			if port < 0 || port > math.MaxUint16 {
				return wrongUse("replay: --port %d: want one from 1 to %d, or 0 for a free one", port, math.MaxUint16)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runReplay(cmd.Context(), args[0], port, requireToken)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "listen on `PORT` (default: a free one)")
	cmd.Flags().BoolVar(&requireToken, "require-token", false, requireTokenHelp)
	return cmd
}

func (p *program) runReplay(ctx context.Context, name string, port int, requireToken bool) error {
	player, err := openRecording(name)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	player.Log = p.logger
	mount := ""
	if requireToken || !cdpproxy.PeerProof {
		token := rand.Text()
		mount = "/" + token
		player.Admission = cdpproxy.NewAdmission(&cdpproxy.Options{Token: token, RequireToken: true})
	}
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if errors.Is(err, endpoint.ErrAddrInUse) {
			return fmt.Errorf("replay: port %d is taken by another program: choose another with --port", port)
		}
		return fmt.Errorf("replay: port %d cannot be served (%w): choose another with --port", port, err)
	}
	defer context.AfterFunc(ctx, player.Close)()
	if _, err := fmt.Fprintf(p.out, "http://%s%s\n", ln.Addr(), mount); err != nil {
		ln.Close()
		return err // without its address it is useless
	}
	return player.Serve(ln)
}

func openRecording(name string) (*cdplog.Player, error) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: name a recording of `coordinator log --record`", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): name a recording that you may read", name, errors.Unwrap(err))
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name a recording in it", name)
	}
	player, err := cdplog.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return player, nil
}
