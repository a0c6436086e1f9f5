package vscodeipc

import (
	"encoding/json"
	"fmt"
)

// wireRequest, wireSuccess, wireFailure are the frames as they are written.
type wireRequest struct {
	ID      id     `json:"id"`
	Type    string `json:"type"`
	Version int    `json:"version"`
	Payload any    `json:"payload,omitempty"`
}

type wireSuccess struct {
	ID      id   `json:"id"`
	Success bool `json:"success"`
	Payload any  `json:"payload"`
}

type wireFailure struct {
	ID      id     `json:"id"`
	Success bool   `json:"success"`
	Error   *Error `json:"error"`
}

type wireEvent struct {
	Type    string `json:"type"`
	Seq     int64  `json:"seq,omitempty"`
	Payload any    `json:"payload"`
}

// encodeLine gives message as one line with its end, if it is within the limit.
func encodeLine(message any) ([]byte, error) {
	line, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if len(line)+1 > maxLine {
		return nil, fmt.Errorf("the message has %d bytes: %w", len(line)+1, errTooLarge)
	}
	return append(line, '\n'), nil
}

// encodeAnswer gives the line that answers a request; a payload that cannot be
// sent becomes the error internal, since exactly one answer is owed (spec 4).
func encodeAnswer(to id, payload any, fault *Error) []byte {
	if fault == nil {
		line, err := encodeLine(wireSuccess{to, true, payload})
		if err == nil {
			return line
		}
		fault = errorf(CodeInternal, nil, "the answer cannot be sent: %v", err)
	}
	line, err := encodeLine(wireFailure{to, false, fault})
	if err != nil {
		line, _ = encodeLine(wireFailure{to, false, errorf(fault.Code, nil, "the error's text and data cannot be sent")})
	}
	return line
}
