package pipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"browser-coordinator/cdpproxy"
)

// headroom is reserved in front of each message of the browser, for an id that is
// longer than the one on the pipe.
const headroom = 16

// Codes of JSON-RPC, as Chromium uses them.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeServer  = -32000
	codeSession = -32001
)

// failure is the error of a response.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

// command is a client's message. Raw fields are parts of it.
type command struct {
	id      int32
	hasID   bool
	session string
	method  []byte // raw, a JSON string
	params  []byte // raw, an object; nil: none
}

// parseCommand reads a client's message in full. The browser must not find an error
// in a forwarded message: its error response would come without a session.
func parseCommand(text []byte) (command, *failure) {
	var c command
	var wrong *failure
	request := func(text string) {
		if wrong == nil {
			wrong = &failure{codeRequest, text}
		}
	}
	err := cdpproxy.Members(text, func(key string, value []byte) error {
		switch key {
		case "id":
			c.id, c.hasID = integer(value)
		case "method":
			if value[0] == '"' {
				c.method = value
			}
		case "sessionId":
			if value[0] != '"' || json.Unmarshal(value, &c.session) != nil {
				request("Message may have string 'sessionId' property")
			}
		case "params":
			switch value[0] {
			case '{':
				c.params = value
			case 'n': // null
			default:
				request("Message may have object 'params' property")
			}
		default:
			request("Message has property other than 'id', 'method', 'sessionId', 'params'")
		}
		return nil
	})
	switch {
	case err != nil:
		return c, &failure{codeParse, "JSON: " + err.Error()}
	case !c.hasID:
		return c, &failure{codeRequest, "Message must have integer 'id' property"}
	case c.method == nil:
		return c, &failure{codeRequest, "Message must have string 'method' property"}
	}
	return c, wrong
}

// integer reads a number that Chromium accepts as an int32, in any spelling.
func integer(value []byte) (int32, bool) {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, false
	}
	return int32(n), true
}

// appendCommand appends a command with its terminator on the pipe. Raw parts were
// parsed as JSON, so they cannot contain the terminator.
func appendCommand(b []byte, id int32, session string, method, params []byte) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(append(b, `,"method":`...), method...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	if session != "" {
		b = append(append(append(b, `,"sessionId":"`...), session...), '"')
	}
	return append(b, '}', 0)
}

// failed is the response to a command that is not forwarded.
func failed(c *command, f *failure) []byte {
	m := struct {
		ID    *int32   `json:"id,omitempty"`
		Error *failure `json:"error"`
	}{Error: f}
	if c.hasID {
		m.ID = &c.id
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("pipe: " + err.Error()) // numbers and strings can always be encoded
	}
	return b
}

// incoming is a message of the browser.
type incoming struct {
	buf     []byte // headroom, then the message
	id      int32  // of a response
	reply   bool
	event   []byte // the name of an event, as in the message
	session string // empty: the pipe's own
	tail    int    // length of ,"sessionId":"…"} at the end; 0: no session
}

func (m *incoming) text() []byte { return m.buf[headroom:] }

const (
	idHead      = `{"id":`
	methodHead  = `{"method":"`
	sessionHead = `,"sessionId":"`
	maxID       = 11  // digits of an int32, with its sign
	maxName     = 128 // of a session's id, or an event
)

// parseIncoming reads a message of the browser. Chromium's messages begin with the
// id or the method and end with the session, so the part between need not be read.
// A message in another form is rewritten to that form first.
func parseIncoming(buf []byte) (incoming, error) {
	m := incoming{buf: buf}
	if m.head() && m.end() {
		return m, nil
	}
	text, err := usual(m.text())
	if err != nil {
		return m, err
	}
	m = incoming{buf: append(make([]byte, headroom, headroom+len(text)), text...)}
	if !m.head() {
		return m, fmt.Errorf("neither a response nor an event: %.80q", text)
	}
	m.end()
	return m, nil
}

// head reads the first member.
func (m *incoming) head() bool {
	text := m.text()
	if rest, ok := bytes.CutPrefix(text, []byte(idHead)); ok {
		n := bytes.IndexByte(rest[:min(len(rest), maxID+1)], ',')
		if n < 0 {
			return false
		}
		id, err := strconv.ParseInt(string(rest[:n]), 10, 32)
		m.id, m.reply = int32(id), true
		return err == nil
	}
	rest, ok := bytes.CutPrefix(text, []byte(methodHead))
	n := bytes.IndexByte(rest[:min(len(rest), maxName)], '"')
	if !ok || n < 0 || bytes.IndexByte(rest[:n], '\\') >= 0 {
		return false
	}
	m.event = rest[:n]
	return true
}

// end reads the last member, if that is the session. Nothing else can match: the
// first quote follows a comma and the last stands before the end of the whole
// message, so neither is escaped.
func (m *incoming) end() bool {
	text, ok := bytes.CutSuffix(m.text(), []byte(`"}`))
	if !ok {
		return false
	}
	last := text[max(0, len(text)-maxName-len(sessionHead)):]
	i := bytes.LastIndexByte(last, '"') + 1
	if !bytes.HasSuffix(last[:i], []byte(sessionHead)) || bytes.IndexByte(last[i:], '\\') >= 0 {
		return false
	}
	m.session = string(last[i:])
	m.tail = len(sessionHead) + len(m.session) + 2
	return true
}

// usual puts the members into Chromium's order.
func usual(text []byte) ([]byte, error) {
	var members [6][]byte
	names := [...]string{"id", "method", "params", "result", "error", "sessionId"}
	err := cdpproxy.Members(text, func(key string, value []byte) error {
		for i, name := range names {
			if key == name {
				members[i] = value
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(text))
	for i, value := range members {
		if value == nil {
			continue
		}
		if i == 1 || i == 5 { // without escapes
			var plain string
			if err := json.Unmarshal(value, &plain); err != nil {
				return nil, fmt.Errorf("%s: %w", names[i], err)
			}
			value = strconv.AppendQuote(nil, plain)
		}
		b = append(append(append(append(b, `,"`...), names[i]...), `":`...), value...)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("an empty message")
	}
	b[0] = '{'
	return append(b, '}'), nil
}

// withID returns a response with another id, and without its session if the client
// has none. It reuses the buffer.
func (m *incoming) withID(id int32, own bool) []byte {
	b := m.buf
	if own {
		b = m.withoutSession()
	}
	end := headroom + len(idHead) + bytes.IndexByte(b[headroom+len(idHead):], ',')
	var digits [maxID]byte
	text := strconv.AppendInt(digits[:0], int64(id), 10)
	begin := end - len(text) - len(idHead)
	copy(b[begin:], idHead)
	copy(b[begin+len(idHead):], text)
	return b[begin:]
}

// withoutSession returns the buffer without the session. It reuses the buffer.
func (m *incoming) withoutSession() []byte {
	if m.tail == 0 {
		return m.buf
	}
	return append(m.buf[:len(m.buf)-m.tail], '}')
}
