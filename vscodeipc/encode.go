package vscodeipc

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// noPayload is the payload of responses that only confirm.
var noPayload = json.RawMessage("{}")

// done is noPayload as a result.
var done any = noPayload

// encodeRequest appends a request's line to b.
func encodeRequest(b []byte, n int64, kind string, version int, payload any) ([]byte, error) {
	b = append(b[:0], `{"id":`...)
	b = strconv.AppendInt(b, n, 10)
	b = append(b, `,"type":"`...)
	b = append(b, kind...)
	b = append(b, `","version":`...)
	b = strconv.AppendInt(b, int64(version), 10)
	return endLine(b, payload)
}

func encodeSuccess(to id, payload any) ([]byte, error) {
	b := append(make([]byte, 0, 64), `{"id":`...)
	b = to.append(b)
	b = append(b, `,"success":true`...)
	return endLine(b, payload)
}

func encodeFailure(to id, fault *Error) ([]byte, error) {
	text, err := json.Marshal(fault)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, 64+len(text)), `{"id":`...)
	b = to.append(b)
	b = append(b, `,"success":false,"error":`...)
	b = append(b, text...)
	return endLine(b, nil)
}

// encodeEvent returns an event's line; seq is 0 for an event without a number.
func encodeEvent(event string, seq int64, payload any) ([]byte, error) {
	name, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, 256), `{"type":`...)
	b = append(b, name...)
	if seq > 0 {
		b = append(b, `,"seq":`...)
		b = strconv.AppendInt(b, seq, 10)
	}
	return endLine(b, payload)
}

// endLine completes a message that is begun with the payload, unless that is nil, and
// the end of the line. It fails if the line exceeds the limit.
func endLine(b []byte, payload any) ([]byte, error) {
	if payload != nil {
		text, raw := payload.(json.RawMessage)
		if !raw {
			var err error
			if text, err = json.Marshal(payload); err != nil {
				return nil, err
			}
		}
		b = append(b, `,"payload":`...)
		b = append(b, text...)
	}
	b = append(b, '}', '\n')
	if len(b) > maxLine {
		return nil, fmt.Errorf("the message has %d bytes: %w", len(b), errTooLarge)
	}
	return b, nil
}

// encodeAnswer returns the line of a response. A payload that cannot be encoded becomes
// the error internal, since every request gets exactly one response (spec 4).
func encodeAnswer(to id, payload any, fault *Error) []byte {
	if fault == nil {
		line, err := encodeSuccess(to, payload)
		if err == nil {
			return line
		}
		fault = errorf(CodeInternal, nil, "the answer cannot be sent: %v", err)
	}
	line, err := encodeFailure(to, fault)
	if err != nil {
		line, _ = encodeFailure(to, errorf(fault.Code, nil, "the error's text and data cannot be sent"))
	}
	return line
}
