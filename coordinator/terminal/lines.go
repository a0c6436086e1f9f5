package terminal

import (
	"bufio"
	"os"
	"time"
)

// Lines are the lines that a user types on a terminal.
type Lines struct {
	// Typed has a line only for a reader that waits for it, so that nobody gets what was typed
	// before. It is closed when the terminal can no longer be read.
	Typed <-chan string

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
	typed := make(chan string)
	l := &Lines{Typed: typed, file: file, ended: make(chan struct{})}
	go l.read(typed)
	return l
}

// read is owned by Close.
func (l *Lines) read(typed chan<- string) {
	defer close(l.ended)
	defer close(typed)
	for lines := bufio.NewScanner(l.file); lines.Scan(); {
		select {
		case typed <- lines.Text():
		default:
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
