package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipeBuffer is the size of a pipe's buffers in each direction.
const pipeBuffer = 64 << 10

// searchDirs returns none: pipes have no directory.
func searchDirs() []string { return nil }

func dataDirs() []string { return nil }

// Dirs returns none, as searchDirs.
func Dirs() ([]Dir, error) { return nil, nil }

// List returns the windows' pipes in the pipe namespace.
func List() ([]Address, error) {
	const root = `\\.\pipe\`
	pattern, err := windows.UTF16PtrFromString(root + "*")
	if err != nil {
		return nil, err
	}
	var found windows.Win32finddata
	handle, err := windows.FindFirstFile(pattern, &found)
	if err != nil {
		return nil, fmt.Errorf("list the named pipes: %w", err)
	}
	defer windows.FindClose(handle)
	var all []Address
	for {
		if a := Address(root + windows.UTF16ToString(found.FileName[:])); a.Key() != "" && strings.HasPrefix(string(a), pipePrefix) {
			all = append(all, a)
		}
		if err := windows.FindNextFile(handle, &found); err != nil {
			if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
				return all, nil
			}
			return all, fmt.Errorf("list the named pipes: %w", err)
		}
	}
}

// Connect dials a window's pipe. Between two clients a pipe briefly has no free
// instance. go-winio therefore retries a busy pipe until the context ends. Connect also
// retries a name that is missing, for the same time.
func Connect(ctx context.Context, a Address) (net.Conn, error) {
	if a.Key() == "" {
		return nil, fmt.Errorf("refuse %s: it is no window's pipe: %w", a, ErrForeign)
	}
	conn, err := winio.DialPipeContext(ctx, string(a))
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		select {
		case <-time.After(20 * time.Millisecond):
			conn, err = winio.DialPipeContext(ctx, string(a))
		case <-ctx.Done():
		}
	}
	if err != nil {
		return nil, err
	}
	if err := checkOwner(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// checkOwner refuses a pipe unless its owner is the user, or the administrators, as for
// an elevated editor.
func checkOwner(conn net.Conn) error {
	handle, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return nil
	}
	descriptor, err := windows.GetSecurityInfo(windows.Handle(handle.Fd()), windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
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

// CheckPeer does nothing: the pipe's security descriptor admits its owner only.
func CheckPeer(net.Conn) error { return nil }

// Binding is a pipe that listens.
type Binding struct {
	Listener net.Listener
	Address  Address
}

// Bind listens on the first free name of the window: go-winio requests the first
// instance of a name, which the system grants to one process only.
func Bind(_ context.Context, key string) (*Binding, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("ask who the user is: %w", err)
	}
	sid := user.User.Sid.String()
	config := &winio.PipeConfig{
		SecurityDescriptor: "O:" + sid + "D:P(A;;GA;;;" + sid + ")",
		InputBufferSize:    pipeBuffer,
		OutputBufferSize:   pipeBuffer,
	}
	for n := 1; n <= maxSuffix; n++ {
		name := pipePrefix + key
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		listener, err := winio.ListenPipe(name, config)
		if err == nil {
			return &Binding{listener, Address(name)}, nil
		}
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_PIPE_BUSY) && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
			return nil, fmt.Errorf("listen on %s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("name the pipe: %d windows have the names %s%s… already; close one", maxSuffix, pipePrefix, key)
}

// Unbind stops listening; the name disappears with the last handle.
func (b *Binding) Unbind(context.Context) error { return b.Listener.Close() }

// TryWriter returns a function that writes nothing: every write to a pipe may wait.
func TryWriter(net.Conn) func([]byte) int { return func([]byte) int { return 0 } }
