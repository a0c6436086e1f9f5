// Package cdplog defines the format of recorded CDP traffic, and replays a recording as a
// browser (specs/cdp-log.md).
//
//	player, err := cdplog.Open(file)
//	err = player.Serve(listener) // until player.Close
package cdplog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Format and Version are in the first line of a recording.
const (
	Format  = "cdp-log"
	Version = 1
)

// Line is one line of a recording. The first has Format and the description of the
// browser; the others have a Client and one of the other fields.
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

// Client describes a client. Path is its WebSocket's: that of the browser or of a page.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
}

// Truncate shortens text for display.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}

// SetMessage stores a message as it was sent.
func (l *Line) SetMessage(text []byte) {
	if json.Valid(text) {
		l.Message = text
	} else {
		l.Text = string(text)
	}
}

var (
	// ErrTorn reports that the last line is incomplete, for example because the disk was
	// full. The lines before it are valid.
	ErrTorn = errors.New("its last line is not whole")

	errForeign = errors.New("this is no recording of `coordinator log --record`, or one of a newer version")
)

// Decode calls each with every line.
func Decode(r io.Reader, each func(Line) error) error {
	lines := json.NewDecoder(r)
	for n := 1; ; n++ {
		var l Line
		err := lines.Decode(&l)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("line %d: %w", n, ErrTorn)
		case errors.As(err, &syntax):
			return fmt.Errorf("line %d: %w", n, err)
		case err != nil:
			return err
		}
		if err := each(l); err != nil {
			return err
		}
	}
}

// Read is Decode for a recording, whose first line has its format.
func Read(r io.Reader, each func(Line) error) error {
	begun := false
	err := Decode(r, func(l Line) error {
		if !begun && (l.Format != Format || l.Version != Version) {
			return errForeign
		}
		begun = true
		return each(l)
	})
	if !begun {
		return errForeign
	}
	return err
}
