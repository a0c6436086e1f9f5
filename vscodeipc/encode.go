package vscodeipc

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// noPayload is the payload of responses that only confirm.
var noPayload = json.RawMessage("{}")

func encodeRequest(n int64, kind string, payload any) ([]byte, error) {
	head := `{"id":` + strconv.FormatInt(n, 10) + `,"type":"` + kind + `","version":` + strconv.Itoa(version)
	return endLine(head, "payload", payload)
}

// encodeEvent returns an event's line; seq is 0 for an event without a number.
func encodeEvent(event string, seq int64, payload any) ([]byte, error) {
	head := `{"type":"` + event + `"`
	if seq > 0 {
		head += `,"seq":` + strconv.FormatInt(seq, 10)
	}
	return endLine(head, "payload", payload)
}

// encodeBye returns the last line of a connection.
func encodeBye(reason, message string) []byte {
	line, _ := encodeEvent("bye", 0, bye{reason, message}) // two short strings
	return line
}

// encodeAnswer returns the line of a response. A payload that cannot be encoded becomes
// the error internal, since every request gets exactly one response (spec 4).
func encodeAnswer(request id, payload any, fault *Error) []byte {
	if fault == nil {
		line, err := endLine(`{"id":`+string(request)+`,"success":true`, "payload", payload)
		if err == nil {
			return line
		}
		fault = errorf(codeInternal, nil, "the answer cannot be sent: %v", err)
	}
	head := `{"id":` + string(request) + `,"success":false`
	line, err := endLine(head, "error", fault)
	if err != nil {
		line, _ = endLine(head, "error", errorf(fault.Code, nil, "the error's text and data cannot be sent"))
	}
	return line
}

// endLine completes the head of a message with its last member, unless that is nil, and
// the end of the line. It fails if the line exceeds the limit.
func endLine(head, member string, value any) ([]byte, error) {
	text, raw := value.(json.RawMessage)
	if !raw && value != nil {
		var err error
		if text, err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	line := []byte(head)
	if text != nil {
		line = append(append(line, `,"`+member+`":`...), text...)
	}
	line = append(line, '}', '\n')
	if len(line) > maxLine {
		return nil, fmt.Errorf("the message has %d bytes: %w", len(line), ErrTooLarge)
	}
	return line, nil
}
