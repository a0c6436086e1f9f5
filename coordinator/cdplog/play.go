package cdplog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// play serves one client's part of a recording. A command of the client is matched by
// session, method and parameters with the first recorded one that is not used up.
// Then the browser's messages follow, in their recorded order, up to the next
// command that the recorded client sent. A response never precedes its command.
type play struct {
	log     *slog.Logger
	warn    func(text, method string, more ...any)
	steps   []step
	reached int // index of the furthest step that a command was matched with; -1: none
	// ids are the client's ids of commands for the recorded ones, and names the
	// client's generated names for the recorded ones.
	ids, names map[string]string
}

type step struct {
	byClient bool
	used     bool
	command  command
	message  json.RawMessage
}

type command struct {
	ID      json.RawMessage `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  any             `json:"params"`
}

func newPlay(lines []Line, log *slog.Logger, warn func(text, method string, more ...any)) *play {
	p := &play{log: log, warn: warn, reached: -1, ids: map[string]string{}, names: map[string]string{}}
	for _, l := range lines {
		s := step{byClient: l.From == "client", message: l.Message}
		if json.Unmarshal(l.Message, &s.command) == nil {
			p.steps = append(p.steps, s)
		}
	}
	return p
}

// run plays until the client leaves or ctx ends.
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

// receive returns what the browser sends after a message of the client.
func (p *play) receive(text []byte) []json.RawMessage {
	var c command
	if err := json.Unmarshal(text, &c); err != nil {
		return []json.RawMessage{refusal(c, "this is no command")}
	}
	at := p.find(c, func(s step) bool { return reflect.DeepEqual(s.command.Params, c.Params) })
	if at < 0 {
		at = p.find(c, func(s step) bool { return p.alike(s.command.Params, c.Params) })
	}
	if at < 0 {
		return []json.RawMessage{p.refuseUnknown(c)}
	}
	recorded := &p.steps[at]
	recorded.used = true
	p.learn(recorded.command.Params, c.Params)
	p.ids[string(recorded.command.ID)] = string(c.ID)
	p.reached = max(p.reached, at)
	out := p.due()
	if !p.hasResponse(recorded.command.ID) {
		p.warn("the recording has no response to this command, perhaps because it was cut off: the client gets an error", c.Method)
		out = append(out, refusal(c, "the recording has no response to this: "+c.Method))
	}
	return out
}

// due returns the browser's messages up to the client's next command, and marks them
// as used.
func (p *play) due() []json.RawMessage {
	var all []json.RawMessage
	for i := range p.steps {
		s := &p.steps[i]
		if s.byClient && i > p.reached {
			p.log.Debug("waiting for the client", "method", s.command.Method, "session", s.command.Session, "step", i, "of", len(p.steps))
			break
		}
		if s.byClient || s.used || p.isEarly(*s) {
			continue
		}
		s.used = true
		all = append(all, p.translate(*s))
	}
	return all
}

// isEarly reports whether a step responds to a command that the client has not sent.
func (p *play) isEarly(s step) bool {
	_, sent := p.ids[string(s.command.ID)]
	return s.isResponse() && !sent
}

func (s step) isResponse() bool {
	return !s.byClient && s.command.Method == "" && len(s.command.ID) > 0
}

func (p *play) hasResponse(id json.RawMessage) bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.isResponse() && string(s.command.ID) == string(id) })
}

// find returns the index of the first recorded command that fits, -1 if there is none.
func (p *play) find(c command, fits func(step) bool) int {
	return slices.IndexFunc(p.steps, func(s step) bool {
		return s.byClient && !s.used && s.command.Method == c.Method && p.name(s.command.Session) == c.Session && fits(s)
	})
}

// refuseUnknown is the error for a command that is not in the recording. A client may
// report something else because of it, so whoever serves the recording is warned.
func (p *play) refuseUnknown(c command) json.RawMessage {
	reason, more := "not in the recording: ", []any(nil)
	if near := p.find(c, func(step) bool { return true }); near >= 0 {
		reason = "not in the recording with these parameters: "
		more = []any{"sent", brief(c.Params), "recorded", brief(p.steps[near].command.Params)}
	}
	p.warn("a client sends a command that is not in the recording, or more often than there: it gets an error", c.Method, more...)
	return refusal(c, reason+c.Method)
}

// brief is the beginning of parameters, for people.
func brief(params any) string {
	text, _ := json.Marshal(params) // of what was decoded
	const most = 200
	if len(text) <= most {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:most]), "") + "…"
}

func refusal(c command, reason string) json.RawMessage {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, _ := json.Marshal(struct { // of strings and JSON that was read
		ID      json.RawMessage `json:"id,omitempty"`
		Error   fault           `json:"error"`
		Session string          `json:"sessionId,omitempty"`
	}{c.ID, fault{-32000, reason}, c.Session})
	return text
}

// generated are the names that programs generate at each run: 32 hexadecimal digits,
// as Playwright's and Chromium's ids are, and UUIDs.
var generated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{32}`)
})

// temporary are absolute paths, in JSON, with the six letters that make the name of
// a temporary folder, as Playwright's of downloads.
var temporary = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"((?:/|[A-Za-z]:\\\\)[^"]*-)[0-9A-Za-z]{6}((?:[/\\][^"]*)?)"`)
})

// alike reports whether two values differ in nothing but generated names and the
// names of temporary folders.
func (p *play) alike(recorded, live any) bool {
	a, errA := json.Marshal(recorded)
	b, errB := json.Marshal(live)
	return errA == nil && errB == nil && normalize(a) == normalize(b)
}

// normalize replaces what differs from run to run.
func normalize(text []byte) string {
	return temporary().ReplaceAllString(generated().ReplaceAllString(string(text), "#"), `"$1#$2"`)
}

// learn notes which of the client's generated names stand for which recorded ones.
func (p *play) learn(recorded, live any) {
	a, errA := json.Marshal(recorded)
	b, errB := json.Marshal(live)
	if errA != nil || errB != nil {
		return
	}
	recordedNames, names := generated().FindAllString(string(a), -1), generated().FindAllString(string(b), -1)
	if len(recordedNames) != len(names) {
		return
	}
	for i, name := range recordedNames {
		if name != names[i] {
			p.names[name] = names[i]
		}
	}
}

// name is the client's name for a recorded one.
func (p *play) name(recorded string) string {
	if name, ok := p.names[recorded]; ok {
		return name
	}
	return recorded
}

// translate returns a message of the browser with the client's names and its id.
func (p *play) translate(s step) json.RawMessage {
	text := string(s.message)
	if len(p.names) > 0 {
		text = generated().ReplaceAllStringFunc(text, p.name)
	}
	if s.command.Method != "" || len(s.command.ID) == 0 {
		return json.RawMessage(text)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil {
		return json.RawMessage(text)
	}
	if id, ok := p.ids[string(s.command.ID)]; ok {
		members["id"] = json.RawMessage(id)
	}
	out, err := json.Marshal(members)
	if err != nil {
		panic(fmt.Sprintf("cdplog: encode what was decoded: %v: %s", err, strings.ToValidUTF8(text, "?")))
	}
	return out
}
