package multiplex

import (
	"bytes"
	"fmt"
	"strconv"
)

// incoming is a message of the browser. Chromium's begin with the id or the method
// and end with the session, so what is between these is not read.
type incoming struct {
	text    []byte
	id      int32 // of a response
	reply   bool
	event   string // the name of an event
	session string // empty: the connection's own
	head    int    // length of {"id":…
	tail    int    // length of ,"sessionId":"…"}; without a session that of }
}

const (
	idHead      = `{"id":`
	methodHead  = `{"method":"`
	sessionHead = `,"sessionId":"`
	maxID       = 11  // digits of an int32, with its sign
	maxName     = 128 // of a session's id, or an event
)

// parse reads the ends of a message.
func parse(text []byte) (incoming, error) {
	m := incoming{text: text, tail: len("}")}
	if rest, ok := bytes.CutPrefix(text, []byte(idHead)); ok {
		digits, _, _ := bytes.Cut(rest[:min(len(rest), maxID+1)], []byte(","))
		id, err := strconv.ParseInt(string(digits), 10, 32)
		if err != nil {
			return m, fmt.Errorf("a response without an id: %.80q", text)
		}
		m.reply, m.id, m.head = true, int32(id), len(idHead)+len(digits)
	} else {
		rest, ok := bytes.CutPrefix(text, []byte(methodHead))
		name, _, whole := bytes.Cut(rest[:min(len(rest), maxName)], []byte(`"`))
		if !ok || !whole {
			return m, fmt.Errorf("neither a response nor an event: %.80q", text)
		}
		m.event = string(name)
	}
	// Nothing else can match: the first quote follows a comma and the last stands
	// before the end of the whole message, so neither is escaped.
	end := text[max(0, len(text)-maxName-len(sessionHead)-len(`"}`)):]
	if i := bytes.LastIndex(end, []byte(sessionHead)); i >= 0 {
		if id, ok := bytes.CutSuffix(end[i+len(sessionHead):], []byte(`"}`)); ok && bytes.IndexByte(id, '"') < 0 {
			m.session, m.tail = string(id), len(end)-i
		}
	}
	return m, nil
}

// withID returns a response with another id, and with its session if the client has
// one.
func (m *incoming) withID(id []byte, session bool) []byte {
	b := make([]byte, 0, len(m.text)+len(id))
	b = append(append(b, idHead...), id...)
	if session {
		return append(b, m.text[m.head:]...)
	}
	return append(append(b, m.text[m.head:len(m.text)-m.tail]...), '}')
}

// withoutSession returns an event without its session. It reuses the text.
func (m *incoming) withoutSession() []byte { return append(m.text[:len(m.text)-m.tail], '}') }
