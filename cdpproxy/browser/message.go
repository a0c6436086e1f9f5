package browser

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// Response encodes the response to a command: the result, or {} without one, or the
// error.
func (m *Message) Response(result jsontext.Value, err error) []byte {
	r := Message{ID: m.ID, Session: m.Session}
	switch {
	case err == nil && len(result) == 0:
		r.Result = jsontext.Value("{}")
	case err == nil:
		r.Result = result
	default:
		var e *Error
		if !errors.As(err, &e) {
			e = &Error{Code: CodeServer, Message: err.Error()}
		}
		r.Error, _ = json.Marshal(e, lenient) // of a number, a string and JSON
	}
	return r.Encode()
}

// quote encodes a text; nil: there is none.
func quote(text string) []byte {
	if text == "" {
		return nil
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // what is not UTF-8 is replaced
	return quoted
}

// NewID is a secret of 128 bits, in the form of Chromium's ids.
func NewID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return fmt.Sprintf("%X", b)
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

// lenient accepts lone surrogates, which a page's text may contain.
var lenient = jsontext.AllowInvalidUTF8(true)

// ParseCommand reads a client's message, whose keys match exactly and occur once. It has
// an [Error] for what is no command, with the id if there is one and no session.
func ParseCommand(text []byte) (Message, error) {
	var m Message
	err := json.Unmarshal(text, &m, lenient)
	m.ID = integer(m.ID)
	if string(m.Params) == "null" {
		m.Params = nil
	}
	problem := &Error{Code: codeRequest}
	switch {
	case err != nil:
		problem = &Error{Code: codeParse, Message: "JSON: " + err.Error()}
	case m.ID == nil:
		problem.Message = "Message must have integer 'id' property"
	case m.Method == "":
		problem.Message = "Message must have string 'method' property"
	case len(m.Params) > 0 && m.Params[0] != '{':
		problem.Message = "Message may have object 'params' property"
	default:
		m.Result, m.Error = nil, nil
		return m, nil
	}
	return Message{ID: m.ID}, problem
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
