package vscodeipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readLoop is owned by the client and ends with the connection.
func (c *Client) readLoop() {
	defer c.ended.Done()
	defer close(c.events)
	lines := newLineReader(c.conn)
	for {
		line, err := lines.next()
		if err == nil {
			err = c.receive(line)
		}
		if err != nil {
			switch {
			case errors.Is(err, io.EOF):
				err = errors.New("the window hung up")
			case errors.Is(err, errTooLarge):
				err = fmt.Errorf("%w: %w", ErrIncompatible, err)
			}
			c.fail(err)
			return
		}
	}
}

// receive handles one line, whose memory is reused for the next. An error ends the
// connection.
func (c *Client) receive(line []byte) error {
	e, ok := scanEnvelope(line)
	if !ok {
		return fmt.Errorf("%w: it sent what is not a JSON object", ErrIncompatible)
	}
	if e.success != nil {
		return c.receiveAnswer(e)
	}
	event, err := decodeEvent(e)
	if err != nil {
		return err
	}
	if event.Type == "bye" {
		var last bye
		if err := json.Unmarshal(e.payload, &last); err != nil {
			return fmt.Errorf("%w: it sent a bye without a reason: %w", ErrIncompatible, err)
		}
		return &ByeError{last.Reason, last.Message}
	}
	select {
	case c.events <- event:
		return nil
	default:
		return fmt.Errorf("this program left %d events unread", eventRoom)
	}
}

func decodeEvent(e envelope) (Event, error) {
	kind, ok := decodeString(e.kind)
	if !ok || kind == "" {
		return Event{}, fmt.Errorf("%w: it sent a line that is neither a response nor an event", ErrIncompatible)
	}
	event := Event{Type: kind, Payload: bytes.Clone(e.payload)}
	if e.seq != nil {
		if event.Seq, ok = decodeInteger(e.seq, 1); !ok {
			return Event{}, fmt.Errorf("%w: it sent an event whose seq is no number", ErrIncompatible)
		}
	}
	return event, nil
}

func (c *Client) receiveAnswer(e envelope) error {
	var a answer
	switch string(e.success) {
	case "true":
		if a.payload = noPayload; !bytes.Equal(e.payload, noPayload) {
			a.payload = bytes.Clone(e.payload)
		}
	case "false":
		a.fault = &Error{}
		if err := decodeStrict(e.fault, a.fault); err != nil || a.fault.Code == "" {
			return fmt.Errorf("%w: it sent a failure without an error", ErrIncompatible)
		}
	default:
		return fmt.Errorf("%w: it sent a response whose success is neither true nor false", ErrIncompatible)
	}
	n, ok := decodeInteger(e.id, 0)
	if !ok {
		// A response without a request: the fault concerns the connection.
		if a.fault != nil {
			c.log.Warn("window could not read a request", "error", a.fault)
			return nil
		}
		return fmt.Errorf("%w: it sent a response without an id", ErrIncompatible)
	}
	c.mu.Lock()
	w := c.waiting[n]
	delete(c.waiting, n)
	c.mu.Unlock()
	if w == nil {
		c.log.Debug("window answers a request that has ended", "id", n)
		return nil
	}
	w.answer <- a
	return nil
}
