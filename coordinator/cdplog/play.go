package cdplog

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/devtools"
)

// play replays one client's part of a recording. A command of the client is matched by
// session, method and parameters with the first unused recorded one. Then the browser's
// messages follow in their recorded order, up to the next command that the recorded
// client sent. A response never precedes its command.
type play struct {
	warn    func(text, method string, more ...any)
	steps   []step
	reached int // index of the furthest step that a command was matched with; -1: none
	// ids maps recorded command ids to the client's, and names maps recorded generated names
	// to the client's.
	ids, names map[string]string
}

// step is a recorded message.
type step struct {
	devtools.Message
	byClient, used bool
	text           json.RawMessage
}

// params is the JSON of a message's parameters with their names sorted.
func params(m *devtools.Message) string {
	var params any
	_ = json.Unmarshal(m.Params, &params) // nil where there are none
	text, _ := json.Marshal(params)
	return string(text)
}

func newPlay(lines []Line, warn func(text, method string, more ...any)) *play {
	p := &play{warn: warn, reached: -1, ids: map[string]string{}, names: map[string]string{}}
	for _, l := range lines {
		s := step{byClient: l.From == "client", text: l.Message}
		if json.Unmarshal(l.Message, &s.Message) == nil {
			p.steps = append(p.steps, s)
		}
	}
	return p
}

// run plays until the client disconnects or ctx ends.
func (p *play) run(ctx context.Context, conn *websocket.Conn) error {
	out := p.due()
	for {
		for _, text := range out {
			if err := conn.Write(ctx, websocket.MessageText, text); err != nil {
				return err
			}
		}
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		out = p.receive(text)
	}
}

// receive returns the browser's messages after a message of the client.
func (p *play) receive(text []byte) []json.RawMessage {
	var c devtools.Message
	if err := json.Unmarshal(text, &c); err != nil {
		return []json.RawMessage{errorResponse(c, "this is no command")}
	}
	sent := params(&c)
	at := p.find(c, func(recorded string) bool { return recorded == sent })
	if at < 0 {
		at = p.find(c, func(recorded string) bool { return normalize(recorded) == normalize(sent) })
	}
	if at < 0 {
		return []json.RawMessage{p.unknown(c)}
	}
	recorded := &p.steps[at]
	recorded.used = true
	p.learn(params(&recorded.Message), sent)
	p.ids[string(recorded.ID)] = string(c.ID)
	p.reached = max(p.reached, at)
	out := p.due()
	if !p.isAnswered(recorded) {
		p.warn("the recording has no response to this command, perhaps because it was cut off: the client gets an error", c.Method)
		out = append(out, errorResponse(c, "the recording has no response to this: "+c.Method))
	}
	return out
}

// isAnswered reports whether the recording settles the command: by a response, or by
// the end of its session. Chromium sends no response in a session that has ended.
func (p *play) isAnswered(c *step) bool {
	return slices.ContainsFunc(p.steps, func(s step) bool {
		return s.isResponse() && string(s.ID) == string(c.ID) || c.Session != "" && s.endsSession() == c.Session
	})
}

// find returns the index of the first recorded command that fits, -1 if there is none.
func (p *play) find(c devtools.Message, fits func(params string) bool) int {
	return slices.IndexFunc(p.steps, func(s step) bool {
		return s.byClient && !s.used && s.Method == c.Method && p.name(s.Session) == c.Session && fits(params(&s.Message))
	})
}

// due returns the browser's messages up to the client's next command, and marks them
// as used.
func (p *play) due() (out []json.RawMessage) {
	for i := range p.steps {
		s := &p.steps[i]
		if s.byClient && i > p.reached {
			break
		}
		id, sent := p.ids[string(s.ID)]
		if s.byClient || s.used || s.isResponse() && !sent {
			continue
		}
		s.used = true
		out = append(out, p.translate(s, id))
	}
	return out
}

// endsSession returns the session whose end the message reports, if it reports one.
func (s *step) endsSession() string {
	if s.byClient || s.Method != "Target.detachedFromTarget" {
		return ""
	}
	var ended struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(s.Params, &ended) // without an id it ends none
	return ended.SessionID
}

func (s *step) isResponse() bool { return !s.byClient && s.Method == "" && len(s.ID) > 0 }

// unknown is the error for a command that is not in the recording. The client may report
// another error because of it, so the log gets a warning.
func (p *play) unknown(c devtools.Message) json.RawMessage {
	reason, more := "not in the recording: ", []any(nil)
	if near := p.find(c, func(string) bool { return true }); near >= 0 {
		reason = "not in the recording with these parameters: "
		const most = 200
		more = []any{"sent", Truncate(params(&c), most), "recorded", Truncate(params(&p.steps[near].Message), most)}
	}
	p.warn("a client sends a command that is not in the recording, or more often than there: it gets an error", c.Method, more...)
	return errorResponse(c, reason+c.Method)
}

func errorResponse(c devtools.Message, reason string) json.RawMessage {
	m := devtools.Message{ID: c.ID, Session: c.Session}
	m.Error, _ = json.Marshal(devtools.Error{Code: devtools.CodeServer, Message: reason}) // of a number and a string
	return m.Encode()
}

// generated matches names that programs generate anew in each run: 32 hexadecimal digits,
// such as Playwright's and Chromium's ids, and UUIDs.
var generated = regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{32}`)

// temporary matches absolute paths, in JSON, with the six random letters of a temporary
// folder, such as Playwright's for downloads.
var temporary = regexp.MustCompile(`"((?:/|[A-Za-z]:\\\\)[^"]*-)[0-9A-Za-z]{6}((?:[/\\][^"]*)?)"`)

// normalize replaces what differs from run to run.
func normalize(params string) string {
	return temporary.ReplaceAllString(generated.ReplaceAllString(params, "#"), `"$1#$2"`)
}

// learn records which generated names of the client stand for which recorded ones.
func (p *play) learn(recorded, sent string) {
	from, to := generated.FindAllString(recorded, -1), generated.FindAllString(sent, -1)
	for i := range min(len(from), len(to)) {
		p.names[from[i]] = to[i]
	}
}

// name is the client's name for a recorded one.
func (p *play) name(recorded string) string {
	return cmp.Or(p.names[recorded], recorded)
}

// translate returns a message of the browser with the client's names, and a response
// with the client's id.
func (p *play) translate(s *step, id string) json.RawMessage {
	text := s.text
	if len(p.names) > 0 {
		text = generated.ReplaceAllFunc(text, func(name []byte) []byte { return []byte(p.name(string(name))) })
	}
	var m devtools.Message
	if !s.isResponse() || json.Unmarshal(text, &m) != nil {
		return text
	}
	m.ID = []byte(id)
	return m.Encode()
}
