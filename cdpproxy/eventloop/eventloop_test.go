package eventloop

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// echo is a handler that sends back what it receives.
type echo struct {
	mu     sync.Mutex // guards the fields that follow
	conn   Conn
	unsent []byte
	over   bool
	work   func(data []byte) // before the response; nil: none
}

func (e *echo) Received(data []byte, err error) Next {
	if e.work != nil {
		e.work(data)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.over = true
		e.conn.Close()
		return Next{}
	}
	e.unsent = append(e.unsent, data...)
	e.send()
	return Next{}
}

func (e *echo) Writable() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send()
}

// send is called with e.mu held.
func (e *echo) send() {
	if e.over {
		return
	}
	n, err := e.conn.Write(e.unsent)
	if err != nil {
		e.over = true
		e.conn.Close()
		return
	}
	e.unsent = e.unsent[n:]
	e.conn.Read(len(e.unsent) == 0)
}

// tcp returns the two ends of a connection.
func tcp(t testing.TB) (near, far *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialed, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close() })
	dialed.SetDeadline(time.Now().Add(time.Minute))
	return accepted.(*net.TCPConn), dialed.(*net.TCPConn)
}

// startLoop starts a loop that ends with the test.
func startLoop(t testing.TB) *Loop {
	t.Helper()
	l, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// join adds a connection that echoes, and returns its other end. work, which may be
// nil, is called with what it receives.
func join(t testing.TB, l *Loop, work func([]byte)) *net.TCPConn {
	t.Helper()
	near, far := tcp(t)
	add(t, l, near, work)
	return far
}

func add(t testing.TB, l *Loop, near *net.TCPConn, work func([]byte)) {
	t.Helper()
	e := &echo{work: work}
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.conn, err = l.Add(near, e); err != nil {
		t.Fatal(err)
	}
	e.conn.Read(true)
}

// talk sends a message and requires it back.
func talk(t testing.TB, conn net.Conn, text string) {
	t.Helper()
	if err := exchange(conn, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func exchange(conn net.Conn, text []byte) error {
	if _, err := conn.Write(text); err != nil {
		return err
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if !bytes.Equal(got, text) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// TestEcho: what is not accepted at once is reported as writable later, and nothing
// is lost.
func TestEcho(t *testing.T) {
	conn := join(t, startLoop(t), nil)
	talk(t, conn, "small")
	much := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	go conn.Write(much) // ends with the connection
	got := make([]byte, len(much))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, much) {
		t.Errorf("%v, or other bytes", err)
	}
}

// apart is a handler that blocks in its second call.
type apart struct {
	conn    Conn
	calls   int
	entered chan []byte
	leave   chan struct{}
}

func (a *apart) Received(data []byte, err error) Next {
	if a.calls++; a.calls > 1 {
		a.entered <- bytes.Clone(data)
		<-a.leave
	}
	return Next{Apart: true}
}

func (a *apart) Writable() {}

// TestApart: a handler that blocks in a call of its own goroutine delays no other
// connection, and is not called a second time meanwhile.
func TestApart(t *testing.T) {
	l := startLoop(t)
	near, far := tcp(t)
	a := &apart{entered: make(chan []byte, 10), leave: make(chan struct{})}
	var err error
	if a.conn, err = l.Add(near, a); err != nil {
		t.Fatal(err)
	}
	a.conn.Read(true)
	beside := join(t, l, nil)
	talk(t, beside, "one")
	io.WriteString(far, "1")
	talk(t, beside, "two")
	io.WriteString(far, "2")
	<-a.entered
	io.WriteString(far, "3")
	for range 10 {
		talk(t, beside, "three")
	}
	if len(a.entered) > 0 {
		t.Error("two calls at a time")
	}
	a.conn.Close() // during the call
	close(a.leave)
}
