package browser

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"browser-coordinator/internal/strictjson"
)

// Message is a command, a response or an event.
type Message struct {
	ID      jsontext.Value `json:"id"` // of a command and its response
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"` // nil if there are none
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
	Session string         `json:"sessionId"` // empty for the connection's own target
	Text    []byte         `json:"-"`         // of a command, as its client has sent it
}

// maxBeside bounds what a command has beside its parameters: the policy bounds only these,
// and Chromium reads all of a message while its other clients wait.
const maxBeside = 64 << 10

// ParseCommand reads a client's command at least as strictly as Chromium. Keys match
// exactly once they are decoded, and occur once, so that a rule and the browser see the
// same method. With an [Error] it returns the id alone, if that was read and is short: the
// client gets it back.
func ParseCommand(text []byte) (Message, error) {
	m := Message{Text: text}
	err := m.parse()
	if err == nil {
		return m, nil
	}
	if len(m.ID) > maxBeside/2 {
		m.ID = nil
	}
	return Message{ID: m.ID}, &Error{Code: codeParse, Message: err.Error() + "; the endpoint's rules apply to what " +
		"they can read"}
}

func (m *Message) parse() error {
	if !utf8.Valid(m.Text) {
		return errors.New("not UTF-8") // Chromium refuses it too
	}
	var method []byte
	err := strictjson.Members(m.Text, func(key string, value []byte) (err error) {
		switch key {
		case "id":
			m.ID = value
		case "method":
			method = value
		case "params":
			m.Params = value
		case "sessionId":
			if m.Session, err = strictjson.String(value); err != nil {
				return fmt.Errorf("sessionId: %w", err)
			}
		} // Chromium refuses any other
		return nil
	})
	if err != nil {
		return err
	}
	if m.Method, err = strictjson.String(method); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	if len(m.Text)-len(m.Params) > maxBeside {
		return fmt.Errorf("more than %d kB beside the parameters", maxBeside>>10)
	}
	return nil
}

// SessionOf is the session of a message of the browser, which stands at its end; empty: the
// connection's own.
func SessionOf(message []byte) string {
	const head = `,"sessionId":"`
	if index := bytes.LastIndex(message, []byte(head)); index >= 0 {
		id, ok := bytes.CutSuffix(message[index+len(head):], []byte(`"}`))
		if ok && bytes.IndexByte(id, '"') < 0 {
			return string(id)
		}
	}
	return ""
}

// Normalize spells a command's id and parameters as Chromium does. It has Chromium's
// [Error] if Chromium would not execute such a command.
func (m *Message) Normalize() error {
	m.ID = integer(m.ID)
	if string(m.Params) == "null" {
		m.Params = nil
	}
	switch {
	case m.ID == nil:
		return &Error{Code: codeRequest, Message: "Message must have integer 'id' property"}
	case m.Method == "":
		return &Error{Code: codeRequest, Message: "Message must have string 'method' property"}
	case len(m.Params) > 0 && m.Params[0] != '{':
		return &Error{Code: codeRequest, Message: "Message may have object 'params' property"}
	}
	return nil
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

// DecodeParams reads the parameters of a command into v. As in Chromium, names must match exactly. Its
// error is the response.
func DecodeParams(params jsontext.Value, v any) error {
	if len(params) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, v, lenient); err != nil {
		return &Error{Code: CodeParams, Message: "Invalid parameters: " + err.Error()}
	}
	return nil
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
