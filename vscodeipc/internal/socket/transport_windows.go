package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/windows"

	"browser-coordinator/internal/usersocket"
)

// searchDirs returns none: pipes have no directory.
func searchDirs() []string { return nil }

func dataDirs() []string { return nil }

// RemoveStale is never needed: pipes leave no files.
func RemoveStale(context.Context, Address) error { return errors.ErrUnsupported }

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
		if a := Address(root + windows.UTF16ToString(found.FileName[:])); a.Key() != "" &&
			strings.HasPrefix(string(a), pipePrefix) {
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
// instance, so Connect also retries a name that is missing.
func Connect(ctx context.Context, a Address) (net.Conn, error) {
	if a.Key() == "" {
		return nil, fmt.Errorf("refuse %s: it is no window's pipe: %w", a, ErrForeign)
	}
	conn, err := usersocket.DialPipe(ctx, string(a))
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		select {
		case <-time.After(20 * time.Millisecond):
			conn, err = usersocket.DialPipe(ctx, string(a))
		case <-ctx.Done():
		}
	}
	return conn, err
}

// Binding is a pipe that listens.
type Binding struct {
	Listener net.Listener
	Address  Address
}

// Bind listens on the first free name of the window: go-winio requests the first
// instance of a name, which the system grants to one process only.
func Bind(_ context.Context, key string) (*Binding, error) {
	for n := 1; n <= maxSuffix; n++ {
		name := pipePrefix + key
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		listener, err := usersocket.ListenPipe(name)
		if err == nil {
			return &Binding{listener, Address(name)}, nil
		}
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_PIPE_BUSY) &&
			!errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
			return nil, fmt.Errorf("listen on %s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("name the pipe: %d windows have the names %s%s… already; close one", maxSuffix, pipePrefix,
		key)
}

// Unbind stops listening; the name disappears with the last handle.
func (b *Binding) Unbind(context.Context) error { return b.Listener.Close() }
