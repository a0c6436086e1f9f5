package chrome

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"time"
)

// versionTimeout bounds how long a browser takes to print its version.
const versionTimeout = 10 * time.Second

// fourNumbers matches what Chromium and its kin print: four numbers.
var fourNumbers = regexp.MustCompile(`[0-9]+(\.[0-9]+){3}`)

// Check runs a program of the user's choice for its version, and returns an error if it is no
// browser. On Windows browsers print none.
func Check(ctx context.Context, program string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil || !fourNumbers.Match(out) {
		return fmt.Errorf("%s is no browser: `%[1]s --version` does not print the version of one", program)
	}
	return nil
}
