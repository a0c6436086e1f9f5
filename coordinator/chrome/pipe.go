package chrome

import "os"

// pipeEnds are the ends of a browser's two debugging pipes. The zero value has none.
type pipeEnds struct {
	in, out *os.File    // ours: the browser's messages, and commands for it
	browser [2]*os.File // where it reads commands, and where it writes
}

// leaveToBrowser closes the browser's ends in this process, so that they close with the
// browser.
func (e *pipeEnds) leaveToBrowser() {
	for _, f := range e.browser {
		if f != nil {
			f.Close()
		}
	}
	e.browser = [2]*os.File{}
}

func (e *pipeEnds) close() {
	e.leaveToBrowser()
	for _, f := range []*os.File{e.in, e.out} {
		if f != nil {
			f.Close()
		}
	}
}
