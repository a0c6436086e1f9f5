package cdpproxy

import (
	"net"
	"syscall"
)

// reader reads one connection into pooled buffers. Windows has no readiness; Go
// waits for it with a read of zero bytes, so that an idle connection holds no
// buffer here either.
type reader struct {
	conn   *net.TCPConn
	raw    syscall.RawConn
	size   bufferSize
	waited bool
}

func newReader(conn *net.TCPConn) (*reader, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &reader{conn: conn, raw: raw}, nil
}

// read waits for data. The caller frees the buffer that it returns.
func (r *reader) read() (*buffer, []byte, error) {
	r.waited = false
	if err := r.raw.Read(r.ready); err != nil {
		return nil, nil, err
	}
	buf := r.size.take()
	n, err := r.conn.Read(buf.b)
	if err != nil {
		buf.free()
		return nil, nil, err
	}
	r.size = r.size.after(n)
	return buf, buf.b[:n], nil
}

// ready makes RawConn.Read wait exactly once.
func (r *reader) ready(uintptr) bool {
	waited := r.waited
	r.waited = true
	return waited
}

// tryWriter takes nothing: the sender's bounded wait does the work.
type tryWriter struct{}

func newTryWriter(*net.TCPConn) (*tryWriter, error) { return &tryWriter{}, nil }

func (*tryWriter) write([]byte) (int, error) { return 0, nil }
