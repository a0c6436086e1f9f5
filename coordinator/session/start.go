package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"browser-coordinator/internal/background"
	"browser-coordinator/vscodeipc"
)

// Command starts the program of this process as a session, with these arguments.
func Command(arguments ...string) Starter {
	return func(ctx context.Context, place Place) error {
		err := background.Start(ctx, place.Log(), arguments...)
		if err != nil && ctx.Err() == nil && !errors.As(err, new(*background.Error)) {
			return fmt.Errorf("start the session: %w", err)
		}
		return err
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
