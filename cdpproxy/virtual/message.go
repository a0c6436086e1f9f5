package virtual

import (
	"strconv"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// command is a client's message. Its keys are matched exactly and occur once, as
// for the endpoint's rules.
type command struct {
	ID      json.Value `json:"id"`
	Session string     `json:"sessionId"`
	Method  string     `json:"method"`
	Params  json.Value `json:"params"`
}

// incoming is a message of a page: a response has an id, an event a method.
type incoming struct {
	ID     int64      `json:"id"`
	Method string     `json:"method"`
	Params json.Value `json:"params"`
	Result json.Value `json:"result"`
	Error  json.Value `json:"error"`
}

// lenient accepts lone surrogates, which a page's text may contain.
var lenient = json.AllowInvalidUTF8(true)

// Codes of JSON-RPC, as Chromium uses them.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeNotFound = -32601
	codeParams   = -32602
	codeServer   = -32000
	codeSession  = -32001
)

// failure is the error of a response.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

func refused(text string) *failure { return &failure{codeServer, text} }

var empty = json.Value("{}")

// encode is for values of this package, which can always be encoded.
func encode(v any) json.Value {
	b, err := json.Marshal(v, lenient)
	if err != nil {
		panic("virtual: " + err.Error())
	}
	return b
}

// decode reads params into v; an error becomes the response.
func decode(params json.Value, v any) *failure {
	if len(params) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, v, lenient); err != nil {
		return &failure{codeParams, "Invalid parameters: " + err.Error()}
	}
	return nil
}

func replyMessage(id json.Value, session, kind string, value json.Value) []byte {
	b := make([]byte, 0, len(id)+len(value)+len(session)+48)
	b = append(append(b, `{"id":`...), id...)
	b = append(append(append(b, `,"`...), kind...), `":`...)
	b = append(b, value...)
	return append(appendSession(b, session), '}')
}

// commandMessage is a command for a page.
func commandMessage(id int64, method string, params json.Value) []byte {
	if len(params) == 0 {
		params = empty
	}
	b := make([]byte, 0, len(method)+len(params)+48)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":`...)
	b = append(b, encode(method)...)
	return append(append(append(b, `,"params":`...), params...), '}')
}

func eventMessage(session, method string, params json.Value) []byte {
	b := make([]byte, 0, len(method)+len(params)+len(session)+48)
	b = append(b, `{"method":`...)
	b = append(b, encode(method)...)
	if len(params) == 0 {
		params = empty
	}
	b = append(append(b, `,"params":`...), params...)
	return append(appendSession(b, session), '}')
}

func appendSession(b []byte, session string) []byte {
	if session == "" {
		return b
	}
	b = append(b, `,"sessionId":`...)
	return append(b, encode(session)...)
}

// isInteger reports whether an id is one that CDP allows.
func isInteger(id json.Value) bool {
	_, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil
}
