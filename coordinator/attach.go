package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/coordinator/window"
	"browser-coordinator/internal/background"
)

func (p *program) attachCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "attach [WHICH]",
		Short: "Keep a connection to your own browser",
		Long: `Connect to your own browser, and keep the connection until you interrupt the
command. Programs with --attach then join it, and the browser does not ask you
again when they start or end.

WHICH is one of ` + strings.Join(userchrome.Names, ", ") + `, or a
profile folder. Without it the command takes the one that lets programs connect.`,
		Example: `  coordinator attach
  coordinator attach chrome-beta`,
		ValidArgs: userchrome.Names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return noArguments(cmd, args[1:])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			browser, err := ownBrowser(args)
			if err != nil {
				return err
			}
			attached := launch.New(userchrome.New(browser, p.logger))
			defer attached.End() // the browser lives on
			ctx := cmd.Context()
			connected, err := attached.Open(ctx)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			var requests <-chan string
			if asJSON {
				product, err := window.ProductOf(ctx, connected.URL())
				if err != nil {
					return err
				}
				if err := json.NewEncoder(p.out).Encode(map[string]string{"url": connected.URL(), "product": product}); err != nil {
					return err
				}
				requests = readRequests(p.in)
			} else {
				p.notice("%s is connected. Programs with --attach join without a question; press Ctrl+C to end.\n",
					strings.ToUpper(browser.Name()[:1])+browser.Name()[1:])
			}
			for {
				select {
				case request, ok := <-requests:
					if !ok {
						return nil
					}
					if err := json.NewEncoder(p.out).Encode(browser.Respond(ctx, request)); err != nil {
						return err
					}
				case <-connected.Done():
					return connected.Err()
				case <-ctx.Done():
					return nil
				}
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the connection as JSON, and read requests, for an editor")
	return cmd
}

// ownChromeCommand is the process that owns a connection. The first program that needs it starts it.
func (p *program) ownChromeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    userchrome.OwnerCommand + " PROFILE PRODUCT",
		Short:  "Keep the connection to your own browser for the programs that use it, which start it themselves",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			isReady := false
			err := userchrome.Own(cmd.Context(), args[0], args[1], func() error {
				isReady = true
				return background.Ready()
			}, p.logger)
			if err != nil && !isReady {
				err = errors.Join(err, background.Fail(plain(err.Error())))
			}
			return err
		},
	}
}

// ownBrowser is the browser that the command line names, or the one that lets programs connect.
func ownBrowser(args []string) (userchrome.Browser, error) {
	if len(args) == 0 {
		return userchrome.Find()
	}
	browser, ok, err := userchrome.Parse(args[0])
	if err == nil && !ok {
		err = wrongUse("attach: %q is none of %s, and no profile folder", args[0], strings.Join(userchrome.Names, ", "))
	}
	return browser, err
}

// readRequests returns the lines of a stream, in a channel that is closed at its end. The reader
// ends with the stream, or else with the process.
func readRequests(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}
