// Package child runs a program on a window's browser: it gives the program the stable CDP
// address, and returns the program's exit code.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
)

const (
	// Placeholder stands for the address in the program's arguments and in the values
	// of its environment.
	Placeholder = "{cdp_endpoint}"
	// EnvEndpoint is the variable with the address.
	EnvEndpoint = "BROWSER_COORDINATOR_CDP_ENDPOINT"
	// AllowTokenFlag permits the secret token in arguments.
	AllowTokenFlag = "allow-token-in-arguments"
)

// Command returns a program's arguments and environment with the address of the
// workspace's browser. Every user of the machine can read arguments, but only the same
// user the environment. So the only error is a token in arguments if that is not allowed.
func Command(command []string, workspace string, a endpoint.Addr, allowToken bool) (args, env []string, err error) {
	address := a.ClientURL()
	for _, arg := range command {
		if strings.Contains(arg, Placeholder) && a.RequiresToken && !allowToken {
			return nil, nil, fmt.Errorf("the address of the browser is not put in place of %[1]s in the arguments of "+
				"%[2]s: it holds a secret token here, and every user of this machine can read arguments. Let the "+
				"program read $%[3]s, which is set for it; or set the variable that it reads, and leave the argument "+
				"out, as in PLAYWRIGHT_MCP_CDP_ENDPOINT=%[1]s for @playwright/mcp. --%[4]s permits it",
				Placeholder, command[0], EnvEndpoint, AllowTokenFlag)
		}
		args = append(args, strings.ReplaceAll(arg, Placeholder, address))
	}
	for _, variable := range os.Environ() {
		env = append(env, strings.ReplaceAll(variable, Placeholder, address))
	}
	return args, append(env, EnvEndpoint+"="+address, registry.EnvWorkspace+"="+workspace), nil
}

// Exit codes of a program that could not be started, as in shells and env.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// ExitCode is a shell's exit code for a program's end, or for a failed start: 128 plus
// the signal's number if a signal ended it.
func ExitCode(err error) int {
	var exited *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return exitNotFound
	case !errors.As(err, &exited):
		return exitCannotRun
	}
	if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return max(exited.ExitCode(), 1)
}
