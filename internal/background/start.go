// Package background starts this program as a process of its own, apart from the terminal and from the
// process that needs it, and reports when it is ready:
//
//	err := background.Start(ctx, logFile, "session", "--folder=/shop")  // in the one
//	background.Ready()                                                  // in the other
package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// ready is what a process writes to its standard output when it is ready. Anything else is why it has
// failed.
const ready = "ready\n"

// Error reports a process that could not start.
type Error struct {
	Reason string
	Code   int // of its process
}

func (e *Error) Error() string { return e.Reason }

// Start starts the program of this process with these arguments, and returns when it is ready. If ctx
// ends before, it ends the process. Its standard error is the log.
func Start(ctx context.Context, log string, arguments ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.Command(program)
	cmd.Args = append([]string{os.Args[0]}, arguments...)
	cmd.Stderr = file
	cmd.SysProcAttr = detached()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may have ended
	text, err := io.ReadAll(out)
	if stop() && err == nil && string(text) == ready {
		return cmd.Process.Release()
	}
	ended := cmd.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](ended); ok && len(text) > 0 {
		return &Error{strings.TrimSpace(string(text)), exit.ExitCode()}
	}
	return fmt.Errorf("its process has not started (%w): see %s", ended, log)
}

// Ready reports to the starter that this process is ready.
func Ready() error { return report(ready) }

// Fail reports to the starter why this process cannot start.
func Fail(reason string) error { return report(reason + "\n") }

func report(text string) error {
	_, err := io.WriteString(os.Stdout, text)
	return errors.Join(err, os.Stdout.Close())
}
