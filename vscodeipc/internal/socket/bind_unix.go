//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"browser-coordinator/internal/usersocket"
)

// Binding is a name in the file system and the socket that listens behind it.
type Binding struct {
	Listener net.Listener
	Address  Address
	info     fs.FileInfo // identifies our file
}

// Bind listens for the window that key names, by the rules of spec 2.1.
func Bind(ctx context.Context, key string) (*Binding, error) {
	data, err := dataDir()
	if err != nil {
		return nil, err
	}
	dir, err := usable(ctx, data)
	if err != nil {
		return nil, err
	}
	lock, err := LockDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()

	folder := filepath.Join(dir, ".bind-"+usersocket.Unique())
	defer removeNewSocket(folder)
	listener, err := listenPrivate(ctx, folder)
	if err != nil {
		return nil, err
	}
	path, err := linkName(ctx, dir, key, filepath.Join(folder, newSocket))
	if err != nil {
		listener.Close()
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("look at the socket just made: %w", err)
	}
	return &Binding{listener, Address(path), info}, nil
}

// newSocket is a socket's first name, in a folder of its own.
const newSocket = "s"

// listenPrivate makes the folder and listens on a socket of mode 0600 in it. The system
// creates a socket's file with the umask's mode, and the umask applies to the whole
// process. The folder therefore excludes others until the mode is set.
func listenPrivate(ctx context.Context, folder string) (net.Listener, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the socket: %w", err)
	}
	path := filepath.Join(folder, newSocket)
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen in %s: %w", folder, err)
	}
	// Only Unbind removes the name, after it has checked that it is ours.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("make the socket private: %w", err)
	}
	return listener, nil
}

// removeNewSocket removes the files of listenPrivate, as far as they exist. The socket
// keeps its other name.
func removeNewSocket(folder string) {
	os.Remove(filepath.Join(folder, newSocket))
	os.Remove(folder)
}

// linkName links the socket to the first of its names that no live window has.
func linkName(ctx context.Context, dir, key, temporary string) (string, error) {
	for n := 1; n <= maxSuffix; n++ {
		name := "ipc-" + key + ".sock"
		if n > 1 {
			name = "ipc-" + key + "-" + strconv.Itoa(n) + ".sock"
		}
		path := filepath.Join(dir, name)
		err := os.Link(temporary, path)
		if errors.Is(err, fs.ErrExist) {
			if usersocket.RemoveDead(ctx, path) == nil {
				err = os.Link(temporary, path)
			}
		}
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("name the socket: %w", err)
		}
	}
	return "", fmt.Errorf("name the socket: %d windows or foreign files have the names ipc-%s… in %s already; close "+
		"one, or run: coordinator probe", maxSuffix, key, dir)
}

// Unbind removes the name if it is still ours, and then stops listening. In the other
// order, the name would look dead (spec 2.1).
func (b *Binding) Unbind(ctx context.Context) error {
	path := string(b.Address)
	lock, err := LockDir(ctx, filepath.Dir(path))
	if err == nil {
		if now, statErr := os.Lstat(path); statErr == nil && usersocket.IsSameFile(now, b.info) {
			err = os.Remove(path)
		}
		lock.Unlock()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the directory or the name is already gone
	}
	return errors.Join(err, b.Listener.Close())
}

// RemoveStale deletes a socket, if it is still dead, by the rules of spec 2.3. The error is
// why it did not.
func RemoveStale(ctx context.Context, a Address) error {
	if a.Key() == "" {
		return fmt.Errorf("keep %s: no window has such a name", a)
	}
	lock, err := LockDir(ctx, filepath.Dir(string(a)))
	if err != nil {
		return fmt.Errorf("not deleted: %w", err)
	}
	defer lock.Unlock()
	return usersocket.RemoveDead(ctx, string(a))
}
