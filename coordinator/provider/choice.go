package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/internal/trusted"
)

// The variables for addresses, which may contain credentials, and for headers, one
// "Name: value" a line.
const (
	EnvGrid    = "BROWSER_COORDINATOR_GRID"
	EnvAttach  = "BROWSER_COORDINATOR_ATTACH"
	EnvHeaders = "BROWSER_COORDINATOR_HEADERS"
)

// Choice is which provider a command uses, by its flags. An empty field: the flag is not
// given.
type Choice struct {
	Grid, Attach string // addresses
	Headers      string // file
	Capabilities string // file
	// Local: another flag chooses a browser on this machine, so the variables do not count.
	Local bool
}

// address is that of a flag, or else of its variable; empty: none.
func (c *Choice) address(flag, variable string) (text string, fromCommandLine bool) {
	switch {
	case flag != "":
		return flag, true
	case c.Local || c.Grid != "" || c.Attach != "":
		return "", false
	}
	return os.Getenv(variable), false
}

// Attaches reports whether the browser is another program's, which replaces windows.
func (c *Choice) Attaches() bool {
	text, _ := c.address(c.Attach, EnvAttach)
	return text != ""
}

// Source is the source of the chosen provider; nil: none is chosen. Its errors name the
// flag or the variable, and no secret.
func (c *Choice) Source(log *slog.Logger) (launch.Source, error) {
	header, err := c.header()
	if err != nil {
		return nil, err
	}
	if text, _ := c.address(c.Attach, EnvAttach); text != "" {
		if browser, ok, err := userchrome.Parse(text); ok {
			return c.userChrome(browser, err, log)
		}
	}
	at, err := c.parse("--attach", c.Attach, EnvAttach, header, "http", "https", "ws", "wss")
	if err != nil {
		return nil, err
	}
	grid, err := c.parse("--grid", c.Grid, EnvGrid, header, "http", "https")
	switch {
	case err != nil:
		return nil, err
	case at != nil && grid != nil:
		return nil, fmt.Errorf("$%s and $%s exclude each other", EnvAttach, EnvGrid)
	case grid == nil && c.Capabilities != "":
		return nil, errors.New("--grid-capability needs --grid")
	case grid == nil && at == nil && c.Headers != "":
		return nil, errors.New("--headers needs --grid or --attach")
	case at != nil:
		warn(at, log)
		return attach(*at, log), nil
	case grid == nil:
		return nil, nil
	}
	capabilities, err := c.readCapabilities()
	if err != nil {
		return nil, err
	}
	warn(grid, log)
	return newGrid(*grid, capabilities, log), nil
}

// userChrome is the source of one of the user's own browsers.
func (c *Choice) userChrome(browser userchrome.Browser, err error, log *slog.Logger) (launch.Source, error) {
	switch grid, _ := c.address(c.Grid, EnvGrid); {
	case err != nil:
		return nil, fmt.Errorf("--attach: %w", err)
	case grid != "":
		return nil, fmt.Errorf("$%s and $%s exclude each other", EnvAttach, EnvGrid)
	case c.Headers != "":
		return nil, errors.New("--headers is for an address, and your own browser has none")
	case c.Capabilities != "":
		return nil, errors.New("--grid-capability needs --grid")
	}
	return userchrome.New(browser, log), nil
}

func warn(a *Address, log *slog.Logger) {
	if a.unencrypted() {
		log.Warn("the credentials for " + a.Place() + " are sent unencrypted: use https or wss")
	}
}

// parse reads the address of a flag, or else of its variable; nil: there is none.
func (c *Choice) parse(flag, value, variable string, header http.Header, schemes ...string) (*Address, error) {
	text, fromCommandLine := c.address(value, variable)
	if text == "" {
		return nil, nil
	}
	a, err := Parse(text, fromCommandLine, header, schemes...)
	switch {
	case errors.Is(err, errSecret):
		return nil, fmt.Errorf("%s: %w. Set $%s to the address instead, or use --headers", flag, err, variable)
	case err != nil && flag == "--attach" && !strings.Contains(text, "://"):
		err = fmt.Errorf("want one of %s, a profile folder, or %w", strings.Join(userchrome.Names, ", "),
			errors.New(strings.TrimPrefix(err.Error(), "want ")))
		if fromCommandLine && !strings.Contains(text, "@") {
			return nil, fmt.Errorf("%s %q: %w", flag, text, err)
		}
		return nil, fmt.Errorf("$%s: %w", variable, err)
	case err != nil && fromCommandLine && !strings.Contains(text, "@"): // else it may have a password
		return nil, fmt.Errorf("%s %q: %w", flag, text, err)
	case err != nil && fromCommandLine:
		return nil, fmt.Errorf("%s: %w", flag, err)
	case err != nil:
		return nil, fmt.Errorf("$%s: %w", variable, err)
	}
	return &a, nil
}

// header reads the headers of the flag, or else of the variable.
func (c *Choice) header() (http.Header, error) {
	if c.Headers != "" {
		header, err := readHeaders(c.Headers)
		if err != nil {
			return nil, fmt.Errorf("--headers: %w", err)
		}
		return header, nil
	}
	if c.Local {
		return nil, nil
	}
	header, err := parseHeaders(os.Getenv(EnvHeaders))
	if err != nil {
		return nil, fmt.Errorf("$%s: %w", EnvHeaders, err)
	}
	return header, nil
}

func (c *Choice) readCapabilities() (capabilities map[string]any, err error) {
	if c.Capabilities == "" {
		return nil, nil
	}
	text, err := trusted.ReadRegular(c.Capabilities)
	if err == nil {
		err = json.Unmarshal(text, &capabilities)
	}
	if err != nil {
		return nil, fmt.Errorf("--grid-capability %s: %w; want a JSON object, for example {\"browserName\": "+
			"\"chrome\"}", c.Capabilities, err)
	}
	return capabilities, nil
}
