package usersocket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipeBuffer is the size of a pipe's buffers in each direction.
const pipeBuffer = 64 << 10

// pipePrefix begins the names of the pipes of Listen. The rest is random, so that no
// other user can take the name first.
const pipePrefix = `\\.\pipe\browser-coordinator-`

// listener is a pipe whose name a file has.
type listener struct {
	net.Listener
	path string
}

// Listen listens at a pipe whose name it writes to the file path.
func Listen(path string) (net.Listener, error) {
	name := pipePrefix + rand.Text()
	ln, err := listenPipe(name, true)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		ln.Close()
		return nil, err
	}
	return &listener{ln, path}, nil
}

func (l *listener) Close() error {
	_ = os.Remove(l.path)
	return l.Listener.Close()
}

// Dial connects to the process that listens at path, if it is the user's.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	name, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(name), pipePrefix) {
		return nil, fmt.Errorf("%s has no name of a pipe", path)
	}
	return DialPipe(ctx, string(name))
}

// ServerPID is the process that listens at path, also if it is stopped.
func ServerPID(ctx context.Context, path string) (int, error) {
	conn, err := Dial(ctx, path)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	pipe, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return 0, errors.ErrUnsupported
	}
	var pid uint32
	err = windows.GetNamedPipeServerProcessId(windows.Handle(pipe.Fd()), &pid)
	return int(pid), err
}

// IsDead reports whether an error of Dial proves that no process listens.
func IsDead(err error) bool { return errors.Is(err, windows.ERROR_FILE_NOT_FOUND) }

// RemoveDead removes the file with the name of a pipe at which no process listens.
func RemoveDead(ctx context.Context, path string) error {
	conn, err := Dial(ctx, path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("keep %s: a process listens there", path)
	}
	if !IsDead(err) {
		return err
	}
	return os.Remove(path)
}

// ListenPipe listens at a pipe that admits the user only. The system grants the name to
// one process.
func ListenPipe(name string) (net.Listener, error) { return listenPipe(name, false) }

// listenPipe is ListenPipe. With halves each side can close its direction alone.
func listenPipe(name string, halves bool) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("ask who the user is: %w", err)
	}
	sid := user.User.Sid.String()
	return winio.ListenPipe(name, &winio.PipeConfig{
		SecurityDescriptor: "O:" + sid + "D:P(A;;GA;;;" + sid + ")",
		MessageMode:        halves,
		InputBufferSize:    pipeBuffer,
		OutputBufferSize:   pipeBuffer,
	})
}

// DialPipe connects to a pipe of the user. go-winio retries a busy pipe until the
// context ends.
func DialPipe(ctx context.Context, name string) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := checkOwner(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// CheckPeer does nothing: the pipe's security descriptor admits its owner only.
func CheckPeer(net.Conn) error { return nil }

// checkOwner refuses a pipe unless its owner is the user, or the administrators, as for
// an elevated editor.
func checkOwner(conn net.Conn) error {
	handle, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return nil
	}
	descriptor, err := windows.GetSecurityInfo(windows.Handle(handle.Fd()), windows.SE_KERNEL_OBJECT,
		windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("ask who owns the pipe: %w", err)
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return fmt.Errorf("ask who owns the pipe: %w", err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("ask who the user is: %w", err)
	}
	if !owner.Equals(user.User.Sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		return fmt.Errorf("refuse the pipe: it belongs to %s: %w", owner, ErrForeign)
	}
	return nil
}
