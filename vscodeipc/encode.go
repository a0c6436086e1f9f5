package vscodeipc

import (
	"encoding/json"
	"fmt"
)

// noPayload is the payload of responses that only confirm.
var noPayload = json.RawMessage("{}")

func encodeRequest(n int64, kind string, version int, payload any) ([]byte, error) {
	return endLine(fmt.Appendf(nil, `{"id":%d,"type":%q,"version":%d`, n, kind, version), "payload", payload)
}

// encodeEvent returns an event's line; seq is 0 for an event without a number.
func encodeEvent(event string, seq int64, payload any) ([]byte, error) {
	b := fmt.Appendf(nil, `{"type":%q`, event)
	if seq > 0 {
		b = fmt.Appendf(b, `,"seq":%d`, seq)
	}
	return endLine(b, "payload", payload)
}

// encodeBye returns the last line of a connection.
func encodeBye(reason, message string) []byte {
	line, _ := encodeEvent("bye", 0, bye{reason, message}) // two short strings
	return line
}

// encodeAnswer returns the line of a response. A payload that cannot be encoded becomes
// the error internal, since every request gets exactly one response (spec 4).
func encodeAnswer(to id, payload any, fault *Error) []byte {
	if fault == nil {
		line, err := endLine(fmt.Appendf(nil, `{"id":%s,"success":true`, to), "payload", payload)
		if err == nil {
			return line
		}
		fault = errorf(codeInternal, nil, "the answer cannot be sent: %v", err)
	}
	head := fmt.Appendf(nil, `{"id":%s,"success":false`, to)
	line, err := endLine(head, "error", fault)
	if err != nil {
		line, _ = endLine(head, "error", errorf(fault.Code, nil, "the error's text and data cannot be sent"))
	}
	return line
}

// endLine completes a message with its last member, unless that is nil, and the end of
// the line. It fails if the line exceeds the limit.
func endLine(head []byte, member string, value any) ([]byte, error) {
	if value != nil {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		head = append(fmt.Appendf(head, `,%q:`, member), text...)
	}
	line := append(head, '}', '\n')
	if len(line) > maxLine {
		return nil, fmt.Errorf("the message has %d bytes: %w", len(line), errTooLarge)
	}
	return line, nil
}
