//go:build unix

package cdpproxy

import (
	"io"
	"net"
	"syscall"
)

// reader reads one connection into pooled buffers. It takes the buffer only once
// the socket is readable, so that an idle connection holds none.
type reader struct {
	raw  syscall.RawConn
	fn   func(fd uintptr) bool // readNow, bound once: no allocation per read
	size bufferSize

	// The result of readNow.
	buf *buffer
	n   int
	err error
}

func newReader(conn *net.TCPConn) (*reader, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &reader{raw: raw}
	r.fn = r.readNow
	return r, nil
}

// read waits for data. The caller frees the buffer that it returns.
func (r *reader) read() (*buffer, []byte, error) {
	r.buf, r.n, r.err = nil, 0, nil
	if err := r.raw.Read(r.fn); err != nil {
		return nil, nil, err
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	r.size = r.size.after(r.n)
	return r.buf, r.buf.b[:r.n], nil
}

func (r *reader) readNow(fd uintptr) bool {
	buf := r.size.take()
	for {
		n, err := syscall.Read(int(fd), buf.b)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			buf.free()
			return false // wait until readable
		case err != nil:
			buf.free()
			r.err = err
		case n == 0:
			buf.free()
			r.err = io.EOF
		default:
			r.buf, r.n = buf, n
		}
		return true
	}
}

// tryWriter writes what a socket takes at once.
type tryWriter struct {
	raw syscall.RawConn
	fn  func(fd uintptr) bool

	b   []byte
	n   int
	err error
}

func newTryWriter(conn *net.TCPConn) (*tryWriter, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	w := &tryWriter{raw: raw}
	w.fn = w.writeNow
	return w, nil
}

// write returns how much of b the socket took without waiting.
func (w *tryWriter) write(b []byte) (int, error) {
	w.b, w.n, w.err = b, 0, nil
	err := w.raw.Write(w.fn)
	w.b = nil
	if err != nil {
		return w.n, err
	}
	return w.n, w.err
}

func (w *tryWriter) writeNow(fd uintptr) bool {
	for w.n < len(w.b) {
		n, err := syscall.Write(int(fd), w.b[w.n:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return true
		case err != nil:
			w.err = err
			return true
		default:
			w.n += n
		}
	}
	return true
}
