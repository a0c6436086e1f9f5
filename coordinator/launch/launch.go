package launch

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/chrome"
)

// Find looks for the browser to launch.
type Find func() (chrome.Installation, error)

// Browser finds a browser and launches it. advice is the next step for the user
// where the browser has no display to show its window on.
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
