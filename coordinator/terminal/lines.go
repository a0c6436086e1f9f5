package terminal

import (
	"bufio"
	"os"
)

// Lines are the lines that a user types on a terminal. Nothing but the process's end ends
// their reading: not every system can interrupt a read of a terminal.
type Lines struct {
	queue chan string // those that nobody has received; closed when no more can come
	file  *os.File
}

// ReadLines begins to read a stream's lines; nil: it is no terminal.
func ReadLines(stream any) *Lines {
	if !Is(stream) {
		return nil
	}
	ignoreBackground()
	l := &Lines{queue: make(chan string, unread), file: stream.(*os.File)}
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
		case _, ok := <-l.queue:
			if !ok {
				return l.queue
			}
		default:
			return l.queue
		}
	}
}

// read is owned by the process.
func (l *Lines) read() {
	defer close(l.queue)
	for lines := bufio.NewScanner(l.file); lines.Scan(); {
		select {
		case l.queue <- lines.Text():
		default: // nobody asks
		}
	}
}
