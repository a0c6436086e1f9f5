// Package cdplog defines the lines of a log of CDP traffic (specs/cdp-log.md): those that
// the coordinator which serves an endpoint sends, and that `coordinator log --json` prints.
package cdplog

import (
	"encoding/json"
	"errors"
	"io"
	"time"
)

// Line is one line of a log. It has a Client and one of the other fields, or Lost.
type Line struct {
	Time    time.Time       `json:"time,omitzero"`
	Client  string          `json:"client,omitempty"` // its id
	Joined  *Client         `json:"joined,omitempty"` // before the client's first message
	From    string          `json:"from,omitempty"`   // client, browser or endpoint
	Message json.RawMessage `json:"message,omitempty"`
	Text    string          `json:"text,omitempty"` // in place of a Message that is not JSON
	Missing int             `json:"lost,omitempty"` // messages that are missing here
}

// Client describes a client. Path is its WebSocket's: that of the browser or of a page.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
}

// SetMessage stores a message as it was sent.
func (l *Line) SetMessage(text []byte) {
	if json.Valid(text) {
		l.Message = text
	} else {
		l.Text = string(text)
	}
}

// Decode calls each with every line. It returns [io.ErrUnexpectedEOF] if the last line is
// incomplete, because the program that sent it was killed.
func Decode(r io.Reader, each func(Line) error) error {
	lines := json.NewDecoder(r)
	for {
		var l Line
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(l); err != nil {
			return err
		}
	}
}
