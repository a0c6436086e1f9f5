package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"browser-coordinator/vscodeipc"
)

// ready is what a session's process writes to its standard output when commands can connect.
// Anything else is why it has failed.
const ready = "ready\n"

// StartError reports a session that could not be started.
type StartError struct {
	Reason string
	Code   int // of its process
}

func (e *StartError) Error() string { return e.Reason }

// Command starts the program of this process as a session, with these arguments, apart from the
// terminal and the commands.
func Command(arguments ...string) Starter {
	return func(ctx context.Context, place Place) error {
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("start the session: %w", err)
		}
		log, err := os.OpenFile(place.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("start the session: %w", err)
		}
		defer log.Close()
		cmd := exec.Command(program)
		cmd.Args = append([]string{os.Args[0]}, arguments...)
		cmd.Stderr = log
		cmd.SysProcAttr = detached()
		out, err := cmd.StdoutPipe()
		if err != nil {
			return fmt.Errorf("start the session: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start the session: %w", err)
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
			return &StartError{strings.TrimSpace(string(text)), exit.ExitCode()}
		}
		return fmt.Errorf("the session's process has not started (%w): see %s", ended, place.Log())
	}
}

// Self is the place of the session that this process is, as its starter has found it.
func Self(name, folder string) (Place, error) {
	p, err := Find(name, folder)
	if name == "" {
		p.Folder, p.hash = folder, vscodeipc.Hash(folder)
	}
	return p, err
}

// Log is a session's log file: of a bounded size.
type Log struct {
	mu   sync.Mutex // guards the fields that follow
	file *os.File
	size int64
}

// longestLog bounds the log, in bytes.
const longestLog = 256 << 10

// OpenLog opens the log of a session's process. The process writes there too when it crashes.
func OpenLog(place Place) (*Log, error) {
	file, err := os.OpenFile(place.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Log{file: file, size: info.Size()}, nil
}

// Write adds to the log. A full log begins again.
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(text)) > longestLog {
		if err := l.file.Truncate(0); err != nil {
			return 0, err
		}
		l.size = 0
	}
	n, err := l.file.Write(text)
	l.size += int64(n)
	return n, err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Ready reports to the starter that commands can connect.
func Ready() error { return report(ready) }

// Fail reports to the starter why the session cannot start.
func Fail(reason string) error { return report(reason + "\n") }

func report(text string) error {
	_, err := io.WriteString(os.Stdout, text)
	return errors.Join(err, os.Stdout.Close())
}
