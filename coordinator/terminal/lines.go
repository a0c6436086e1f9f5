package terminal

import (
	"bufio"
	"os"
	"time"
)

// Lines are the lines that a user types on a terminal.
type Lines struct {
	typed chan string // those that nobody has received; closed when no more can come
	file  *os.File
	ended chan struct{} // closed when read has returned
}

// ReadLines begins to read a stream's lines; nil: it is no terminal that can be read.
func ReadLines(stream any) *Lines {
	if !Is(stream) {
		return nil
	}
	file, err := reopen(stream.(*os.File))
	if err != nil {
		return nil
	}
	l := &Lines{typed: make(chan string, unread), file: file, ended: make(chan struct{})}
	go l.read()
	return l
}

// unread is how many lines are kept that nobody has received.
const unread = 16

// Next returns the lines that are typed from now on, so that nothing typed before answers a
// question that was not shown yet. The channel is closed when the terminal can no longer be read.
func (l *Lines) Next() <-chan string {
	if conn, err := l.file.SyscallConn(); err == nil { // an error of a terminal that ends closes the channel
		conn.Control(func(fd uintptr) { flush(fd) })
	}
	for {
		select {
		case _, ok := <-l.typed:
			if !ok {
				return l.typed
			}
		default:
			return l.typed
		}
	}
}

// read is owned by Close.
func (l *Lines) read() {
	defer close(l.ended)
	defer close(l.typed)
	for lines := bufio.NewScanner(l.file); lines.Scan(); {
		select {
		case l.typed <- lines.Text():
		default: // nobody asks
		}
	}
}

// Close ends the reading. Where the system cannot interrupt a read of a terminal, that ends
// with the process.
func (l *Lines) Close() {
	if l.file.SetReadDeadline(time.Now()) == nil {
		<-l.ended
		l.file.Close()
	}
}
