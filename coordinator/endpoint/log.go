package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"browser-coordinator/internal/usersocket"
)

// ErrNotServed reports that no coordinator serves a window's endpoint now.
var ErrNotServed = errors.New("no coordinator serves this window's endpoint now")

// Log opens the stream of a window's traffic from now on, as cdplog.Lines. It ends with
// the coordinator that serves the endpoint, when its caller closes it, and with ctx.
// Traffic until then still comes before EOF, as long as that takes at most drainTimeout;
// 0: none comes.
func Log(ctx context.Context, hash string, drainTimeout time.Duration) (io.ReadCloser, error) {
	f, err := filesOf(hash)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	res, conn, err := usersocket.Get(reading, f.path("sock"), logPath)
	if err == nil && !stop() {
		res.Body.Close()
		err = ctx.Err()
	}
	if err != nil {
		stop()
		cancel()
		return nil, f.notServed(fmt.Errorf("the coordinator that serves %s does not log: %w", f.addr(f.Port).URL, err))
	}
	unbind := context.AfterFunc(ctx, func() {
		time.AfterFunc(drainTimeout, cancel)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite() // fails where the owner has ended
		}
	})
	return &logStream{res.Body, cancel, unbind}, nil
}

// logStream is the owner's response. The end of its context closes the request's
// direction, which ends the response.
type logStream struct {
	io.ReadCloser
	cancel context.CancelFunc
	unbind func() bool // detaches it from its context
}

func (s *logStream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if errors.Is(err, context.Canceled) {
		err = errors.New("log: the coordinator does not send the last of the traffic")
	}
	return n, err
}

func (s *logStream) Close() error {
	s.unbind()
	s.cancel()
	return s.ReadCloser.Close()
}

// notServed is the reason why there is no response: ErrNotServed if there is no owner.
func (f *files) notServed(err error) error {
	if served, lockErr := f.isServed(); lockErr != nil || !served {
		return errors.Join(ErrNotServed, lockErr)
	}
	return err
}
