package chrome

import (
	"bufio"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// ErrNoDisplay reports that a browser needs a display for its window, and there is none.
var ErrNoDisplay = errors.New("the browser has no display to show its window on")

// output is what a browser writes to its standard error.
type output struct {
	file *os.File
	log  *slog.Logger

	listening chan struct{} // closed when url is known
	drained   chan struct{} // closed when no process has the file open
	url       string        // of its debugging port; read after listening
	last      string        // line before a failed start; read after drained
	noDisplay string        // the line by which a Chromium on Linux reports that there is none; read after drained
}

func newOutput(file *os.File, log *slog.Logger) *output {
	o := &output{file: file, log: log, listening: make(chan struct{}), drained: make(chan struct{})}
	go o.read()
	return o
}

// read keeps reading until the end: a full pipe would block the browser.
func (o *output) read() {
	defer close(o.drained)
	r := bufio.NewReader(o.file)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			o.add(line)
		}
		if err != nil {
			return
		}
	}
}

func (o *output) add(line string) {
	o.log.Debug("browser", "stderr", line)
	if o.url != "" {
		return
	}
	// Every Chromium with a debugging port prints this line.
	if url, ok := strings.CutPrefix(line, "DevTools listening on "); ok {
		o.url = url
		close(o.listening)
	} else if line = withoutDetails(line); line != "" {
		o.last = line
		for _, cause := range []string{"Missing X server", "cannot open display",
			"Failed to connect to Wayland display"} {
			if strings.Contains(line, cause) {
				o.noDisplay = line
			}
		}
	}
}

// drain waits for the end of the output, at most as long as timeout.
func (o *output) drain(timeout time.Duration) {
	timer := time.AfterFunc(timeout, func() { o.file.Close() })
	<-o.drained
	timer.Stop()
	o.file.Close()
}

// cause is the last line, for the error of a failed start. The logger has all lines.
func (o *output) cause() string {
	if o.last == "" {
		return ""
	}
	return "; its last output: " + o.last
}

// logPrefix is the prefix of each line in Chromium's log: processes, time, severity and
// the place in its sources.
var logPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[0-9:/.]+:[A-Z]+:([^\]]+)\] *`) })

// withoutDetails is a line without details for Chromium's developers; empty if nothing is
// left. Without a desktop every Chromium complains about its message bus, and continues.
func withoutDetails(line string) string {
	prefix := logPrefix().FindStringSubmatch(line)
	switch {
	case prefix == nil:
		return line
	case strings.HasPrefix(prefix[1], "dbus/"):
		return ""
	}
	return line[len(prefix[0]):]
}
