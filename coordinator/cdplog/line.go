package cdplog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Format and Version stand in the first line of a recording.
const (
	Format  = "cdp-log"
	Version = 1
)

// Line is one line of a recording. The first has Format and what describes the
// browser; the others have a Client and one of the rest.
type Line struct {
	Format  string          `json:"format,omitempty"`
	Version int             `json:"version,omitempty"`
	Browser json.RawMessage `json:"browser,omitempty"` // /json/version
	Targets json.RawMessage `json:"targets,omitempty"` // /json/list

	Time    time.Time       `json:"time,omitzero"`
	Client  string          `json:"client,omitempty"` // its id
	Joined  *Client         `json:"joined,omitempty"` // before the client's first message
	From    string          `json:"from,omitempty"`   // client, browser or endpoint
	Message json.RawMessage `json:"message,omitempty"`
	Text    string          `json:"text,omitempty"` // in place of a Message that is not JSON
	Lost    int             `json:"lost,omitempty"` // messages that are missing here
	Cut     string          `json:"cut,omitempty"`  // why it ends too early, at its end
}

// Client describes a client; Path is the WebSocket's, which says whether it speaks
// to the browser or to a page.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
}

// Head gives the first line of a recording.
func Head(browser, targets json.RawMessage) Line {
	return Line{Format: Format, Version: Version, Browser: browser, Targets: targets}
}

// SetMessage stores what was said.
func (l *Line) SetMessage(text []byte) {
	if json.Valid(text) {
		l.Message = text
	} else {
		l.Text = string(text)
	}
}

// longestLine is more than the largest message (100 MiB) takes.
const longestLine = 512 << 20

var (
	// ErrTorn reports a recording that ends in the middle of a line, as where the
	// disk was full. What stands before is good.
	ErrTorn = errors.New("its last line is not whole")

	errForeign = errors.New("this is no recording of `coordinator log --record`, or one of a newer version")
)

// Read reads the lines of a recording and calls each with them; the first has to
// be a recording's.
func Read(r io.Reader, each func(Line) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	begun := false
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var l Line
		err := json.Unmarshal(lines.Bytes(), &l)
		switch {
		case !begun && (err != nil || l.Format != Format || l.Version != Version):
			return errForeign
		case err != nil && !lines.Scan():
			return fmt.Errorf("line %d: %w (%w)", n, ErrTorn, err)
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		}
		begun = true
		if err := each(l); err != nil {
			return err
		}
	}
	if lines.Err() == nil && !begun {
		return errForeign
	}
	return lines.Err()
}
