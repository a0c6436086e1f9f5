package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/mcphttp"
	"browser-coordinator/coordinator/serving"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/tools"
)

const listenFlag = "listen"

// listenMCP serves hosts over HTTP until the command is interrupted.
func (p *program) listenMCP(cmd *cobra.Command, flags *mcpFlags, options tools.Options, serve serving.Options,
	address string) error {
	at, err := loopbackAddress(address)
	if err != nil {
		return err
	}
	token, file, err := mcphttp.Token()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", at.String())
	switch {
	case errors.Is(err, endpoint.ErrAddrInUse):
		return fmt.Errorf("cannot listen at %s: another program has the port. Choose another port, or 0 for a free one",
			address)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot listen at %s: the system reserves that port. Choose one above 1023", address)
	case err != nil:
		return fmt.Errorf("cannot listen at %s: %w", address, errors.Unwrap(err))
	}
	ctx := cmd.Context()
	defer p.openWindows(ctx, &options, serve)()
	server := mcphttp.New(mcphttp.Options{Token: token, Logger: p.logger,
		Open: func() (*tools.Server, func() error, error) {
			o := options
			end := func() error { return nil }
			// Over stdio each host has its own private browser, which ends with it. So it is here.
			if o.Launcher != nil && !o.Attached && !flags.launchForClients {
				own, err := flags.browser.onDemand(cmd, "", p.logger)
				if err != nil {
					return nil, nil, err
				}
				o.Launcher, end = own, own.End
			}
			return tools.NewServer(o), end, nil
		},
	})
	defer status.ServeAgents(p.logger, server.Unlisted)()
	if _, err := fmt.Fprintf(p.out, "http://%s%s\n", listener.Addr(), mcphttp.Path); err != nil {
		listener.Close()
		return err // without its address it is useless
	}
	p.notice("Hosts send the header \"Authorization: Bearer TOKEN\", with the token in %s.\n", file)
	return server.Serve(ctx, listener)
}

// loopbackAddress is the address that --listen has.
func loopbackAddress(text string) (netip.AddrPort, error) {
	text = strings.Replace(text, "localhost:", "127.0.0.1:", 1)
	at, err := netip.ParseAddrPort(text)
	if err == nil && at.Addr().IsLoopback() && at.Addr().Zone() == "" {
		return at, nil
	}
	return at, wrongUse("--listen %s: want 127.0.0.1:PORT. Only programs of this machine may connect; a container "+
		"connects by the host's network, or by a port that you forward to it", text)
}
