package devtools

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"browser-coordinator/cdpproxy"
)

// Message is a command, a response or an event.
type Message struct {
	ID      jsontext.Value `json:"id"` // of a command and its response
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
	Session string         `json:"sessionId"`
}

// Encode returns the message as Chromium writes it.
func (m *Message) Encode() []byte {
	b := make([]byte, 0, len(m.Method)+len(m.Params)+len(m.Result)+len(m.Error)+len(m.Session)+64)
	add := func(name string, value []byte) {
		if len(value) > 0 {
			b = append(append(append(b, name...), value...), ',')
		}
	}
	b = append(b, '{')
	add(`"id":`, m.ID)
	add(`"method":`, quote(m.Method))
	add(`"params":`, m.Params)
	add(`"result":`, m.Result)
	add(`"error":`, m.Error)
	add(`"sessionId":`, quote(m.Session))
	b[len(b)-1] = '}'
	return b
}

// quote encodes a text; nil: there is none.
func quote(text string) []byte {
	if text == "" {
		return nil
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // what is not UTF-8 is replaced
	return quoted
}

// Codes of JSON-RPC, as Chromium uses them.
const (
	codeParse    = -32700
	codeRequest  = -32600
	CodeNotFound = -32601
	CodeParams   = -32602
	CodeServer   = -32000
	codeSession  = -32001
)

// Error is the error of a response.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ErrNoSession is the error for a command to a session that the client does not have.
var ErrNoSession = &Error{Code: codeSession, Message: "Session with given id not found."}

// parseCommand reads a client's message. It has an error for what is no command, with
// the id if there is one.
func parseCommand(text []byte) (Message, *Error) {
	c, err := cdpproxy.ParseCommand(text)
	m := Message{ID: integer(c.ID), Method: c.Method, Params: jsontext.Value(c.Params), Session: c.Session}
	if string(m.Params) == "null" {
		m.Params = nil
	}
	switch {
	case err != nil:
		return m, &Error{Code: codeParse, Message: "JSON: " + err.Error()}
	case m.ID == nil:
		return m, &Error{Code: codeRequest, Message: "Message must have integer 'id' property"}
	case m.Method == "":
		return m, &Error{Code: codeRequest, Message: "Message must have string 'method' property"}
	case len(m.Params) > 0 && m.Params[0] != '{':
		return m, &Error{Code: codeRequest, Message: "Message may have object 'params' property"}
	}
	return m, nil
}

// integer returns a number that Chromium accepts as an int32, in any spelling, as
// Chromium spells it; nil: it is none.
func integer(value []byte) jsontext.Value {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || n < math.MinInt32 || n > math.MaxInt32 {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}
