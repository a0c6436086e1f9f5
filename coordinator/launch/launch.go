package launch

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/chrome"
)

// Find searches for the browser to launch.
type Find func() (chrome.Installation, error)

// Browser finds a browser and launches it. advice is the next step for the user if there
// is no display for the browser's window.
func Browser(ctx context.Context, find Find, options chrome.Options, advice string) (*chrome.Browser, error) {
	installed, err := find()
	if err != nil {
		return nil, err
	}
	options.Executable = installed.Path
	browser, err := chrome.Launch(ctx, options)
	if errors.As(err, new(*chrome.NoDisplayError)) {
		return nil, fmt.Errorf("%w: %s", err, advice)
	}
	return browser, err
}
