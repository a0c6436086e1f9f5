package vscodeipc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// writeLoop is owned by the client and ends with the connection.
func (c *client) writeLoop() {
	defer c.loops.Done()
	if c.out.drain() != nil {
		// The window may have sent a reason before it closed: the read loop gets it first.
		c.conn.SetReadDeadline(time.Now().Add(goodbyeTime))
		return
	}
	c.fail(fmt.Errorf("the window does not read: %d bytes wait for it", maxWaiting))
}

// readLoop is owned by the client and ends with the connection.
func (c *client) readLoop() {
	defer c.loops.Done()
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
				err = errors.New("the window closed the connection")
			case errors.Is(err, ErrTooLarge):
				err = fmt.Errorf("%w: %w", errIncompatible, err)
			}
			c.fail(err)
			return
		}
	}
}

// receive handles one line, whose memory is reused for the next. An error ends the
// connection.
func (c *client) receive(line []byte) error {
	e, ok := scanEnvelope(line)
	if !ok {
		return fmt.Errorf("%w: it sent something that is not a JSON object", errIncompatible)
	}
	if e.success != nil {
		return c.receiveAnswer(e)
	}
	received, err := decodeEvent(e)
	if err != nil {
		return err
	}
	if received.kind == "bye" {
		var last bye
		if err := json.Unmarshal(e.payload, &last); err != nil {
			return fmt.Errorf("%w: it sent a bye without a reason: %w", errIncompatible, err)
		}
		return &byeError{last.Reason, last.Message}
	}
	select {
	case c.events <- received:
		return nil
	default:
		return fmt.Errorf("this program left %d events unread", eventRoom)
	}
}

// event is one event of a window.
type event struct {
	kind    string
	seq     int64
	payload json.RawMessage
}

func decodeEvent(e envelope) (event, error) {
	kind, ok := decodeString(e.kind)
	if !ok || kind == "" {
		return event{}, fmt.Errorf("%w: it sent a line that is neither a response nor an event", errIncompatible)
	}
	decoded := event{kind: kind, payload: e.payload}
	if e.seq != nil {
		if decoded.seq, ok = decodeInteger(e.seq, 1); !ok {
			return event{}, fmt.Errorf("%w: it sent an event whose seq is no number", errIncompatible)
		}
	}
	return decoded, nil
}

func (c *client) receiveAnswer(e envelope) error {
	var a answer
	switch string(e.success) {
	case "true":
		a.payload = e.payload
	case "false":
		a.fault = &Error{}
		if err := decodeStrict(e.fault, a.fault); err != nil {
			return fmt.Errorf("%w: it sent a failure without an error", errIncompatible)
		}
	default:
		return fmt.Errorf("%w: it sent a response whose success is neither true nor false", errIncompatible)
	}
	n, ok := decodeInteger(e.id, 0)
	if !ok {
		// A response without a request: the fault concerns the connection.
		if a.fault != nil {
			c.log.Warn("window could not read a request", "error", a.fault)
			return nil
		}
		return fmt.Errorf("%w: it sent a response without an id", errIncompatible)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if response := c.waiting[n]; response != nil {
		delete(c.waiting, n)
		response <- a
	}
	return nil
}
