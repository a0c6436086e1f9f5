package cdplog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// play is one client's way through its part. What the client says is looked up
// among what is still to be said; what it hears comes in the recorded order, as
// soon as all that was said before it has been said again, or the client is silent
// for much longer than it was: not every run of a program says the same. An answer
// never comes before its command.
type play struct {
	log   *slog.Logger
	warn  func(text, method string, more ...any)
	steps []step
	next  int // the first step that has not been taken
	// ids are the client's ids for the recorded ones, and words what the client
	// says in place of a recorded word: names that are made anew at each run.
	ids   map[string]json.RawMessage
	words map[string]string
	// owed are what was said, of which the recording has no answer.
	owed []command
	// answerable counts what was said and is yet to be answered: the client may be
	// waiting for that.
	answerable int
}

type step struct {
	said    bool // by the client
	command command
	message json.RawMessage
	after   time.Duration // of the step before, when it was recorded
	taken   bool
	passed  bool // the client did not say it in time
}

type command struct {
	ID      json.RawMessage `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  any             `json:"params"`
}

func newPlay(lines []Line, log *slog.Logger, warn func(text, method string, more ...any)) *play {
	p := &play{log: log, warn: warn, ids: map[string]json.RawMessage{}, words: map[string]string{}}
	for i, l := range lines {
		s := step{said: l.From == "client", message: l.Message}
		if i > 0 {
			s.after = l.Time.Sub(lines[i-1].Time)
		}
		if json.Unmarshal(l.Message, &s.command) == nil {
			p.steps = append(p.steps, s)
		}
	}
	return p
}

// run plays until the client goes or done is closed.
func (p *play) run(ctx context.Context, conn *websocket.Conn, done <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go cancelWhen(done, stop, cancel)
	heard, failed := make(chan []byte), make(chan error, 1)
	go listen(ctx, conn, heard, failed)
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	var lapse <-chan time.Time // nil: nothing is owed, or something is still to come
	for {
		for _, text := range p.due() {
			if err := conn.Write(ctx, websocket.MessageText, text); err != nil {
				return err
			}
		}
		if p.next < len(p.steps) {
			quiet.Reset(p.patience())
		} else {
			quiet.Stop()
		}
		if p.next == len(p.steps) && len(p.owed) > 0 && lapse == nil {
			lapse = time.After(despair)
		}
		var answers []json.RawMessage
		select {
		case text := <-heard:
			answers = p.hear(text)
		case <-quiet.C:
			p.pass()
		case <-lapse:
			answers, lapse = p.giveUp(), nil
		case err := <-failed:
			return err
		}
		for _, answer := range answers {
			if err := conn.Write(ctx, websocket.MessageText, answer); err != nil {
				return err
			}
		}
	}
}

const (
	// silence is how much longer than in the recording a client that waits for an
	// answer may be silent, until it is taken to have nothing more to say before it
	// hears something; reflection, one that waits for none: it sleeps, thinks or is
	// held up, as a rule, and what it has not said yet would be heard too late.
	silence    = time.Second
	reflection = 10 * time.Second
	// despair is how long a client at the end of its part may wait for what the
	// recording does not have.
	despair = 2 * time.Second
)

// patience is how long the client's next step is waited for.
func (p *play) patience() time.Duration {
	recorded := max(0, p.steps[p.next].after)
	if p.answerable > 0 {
		return recorded + silence
	}
	return recorded + reflection
}

// listen is owned by run, and ends with its context or the connection.
func listen(ctx context.Context, conn *websocket.Conn, heard chan<- []byte, failed chan<- error) {
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			failed <- err
			return
		}
		select {
		case heard <- text:
		case <-ctx.Done():
			failed <- ctx.Err()
			return
		}
	}
}

// cancelWhen is owned by run, which closes stop.
func cancelWhen(done, stop <-chan struct{}, cancel context.CancelFunc) {
	select {
	case <-done:
		cancel()
	case <-stop:
	}
}

// due takes the steps that the browser can take now.
func (p *play) due() []json.RawMessage {
	var all []json.RawMessage
	for ; p.next < len(p.steps); p.next++ {
		s := &p.steps[p.next]
		if s.taken || s.passed || p.early(*s) {
			continue
		}
		if s.said {
			p.log.Debug("the client has to speak", "method", s.command.Method, "session", s.command.Session, "step", p.next, "of", len(p.steps))
			break
		}
		s.taken = true
		if s.answers() {
			p.answerable--
		}
		all = append(all, p.translate(*s))
	}
	return all
}

// pass goes on without what the client should say next; it may say it later.
func (p *play) pass() {
	if p.next < len(p.steps) {
		p.steps[p.next].passed = true
		p.warn("a client is silent where it said this when it was recorded: what came after it is told now", p.steps[p.next].command.Method)
	}
}

// early says whether a step answers a command that has not been said again.
func (p *play) early(s step) bool {
	_, asked := p.ids[string(s.command.ID)]
	return s.answers() && !asked
}

func (s step) answers() bool { return !s.said && s.command.Method == "" && len(s.command.ID) > 0 }

// hear takes the step that the client took, or gives the error that says that it
// never did. An answer that was passed over comes at once.
func (p *play) hear(text []byte) []json.RawMessage {
	var c command
	if err := json.Unmarshal(text, &c); err != nil {
		return []json.RawMessage{refusal(c, "this is no command")}
	}
	at := p.find(c, func(s step) bool { return reflect.DeepEqual(s.command.Params, c.Params) })
	if at < 0 {
		at = p.find(c, func(s step) bool { return p.alike(s.command.Params, c.Params) })
	}
	if at < 0 {
		p.log.Debug("a client says what was not recorded", "method", c.Method, "session", c.Session)
		reason, recorded := "not in the recording: ", []any(nil)
		if near := p.find(c, func(step) bool { return true }); near >= 0 {
			reason = "not in the recording with these parameters: "
			recorded = []any{"said", brief(c.Params), "recorded", brief(p.steps[near].command.Params)}
		}
		// What a client makes of the error may say something else.
		p.warn("a client says what is not in the recording, or says it once more: it is answered with an error, and may fail for reasons that it makes of that", c.Method, recorded...)
		return []json.RawMessage{refusal(c, reason+c.Method)}
	}
	s := &p.steps[at]
	s.taken = true
	p.learn(s.command.Params, c.Params)
	p.ids[string(s.command.ID)] = c.ID
	for i := at; i < len(p.steps); i++ {
		if answer := &p.steps[i]; !answer.taken && answer.answers() && string(answer.command.ID) == string(s.command.ID) {
			if i >= p.next {
				p.answerable++
				return nil // in its turn
			}
			answer.taken = true
			return []json.RawMessage{p.translate(*answer)}
		}
	}
	p.owed = append(p.owed, c)
	return nil
}

// giveUp answers what was never answered: the recording was cut off, or the one who
// was recorded did not wait, as this one does.
func (p *play) giveUp() []json.RawMessage {
	var all []json.RawMessage
	for _, c := range p.owed {
		p.warn("a client waits for an answer that is not in the recording, which may have been cut off: it is answered with an error", c.Method)
		all = append(all, refusal(c, "the recording has no answer to this: "+c.Method))
	}
	p.owed = nil
	return all
}

func (p *play) find(c command, fits func(step) bool) int {
	for i := range p.steps {
		s := p.steps[i]
		if s.said && !s.taken && s.command.Method == c.Method && p.word(s.command.Session) == c.Session && fits(s) {
			return i
		}
	}
	return -1
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

// made are the words that programs make anew at each run: 32 hexadecimal digits,
// as Playwright's and Chromium's ids are, and UUIDs.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{32}`)
})

// temporary are absolute paths, in JSON, with the six letters that make the name of
// a temporary folder, as Playwright's of downloads.
var temporary = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"((?:/|[A-Za-z]:\\\\)[^"]*-)[0-9A-Za-z]{6}((?:[/\\][^"]*)?)"`)
})

// alike says whether two values differ in nothing but made words and the names of
// temporary folders.
func (p *play) alike(recorded, live any) bool {
	a, errA := json.Marshal(recorded)
	b, errB := json.Marshal(live)
	return errA == nil && errB == nil && lasting(a) == lasting(b)
}

// lasting is what does not differ from run to run.
func lasting(text []byte) string {
	return temporary().ReplaceAllString(made().ReplaceAllString(string(text), "#"), `"$1#$2"`)
}

// learn notes which of the client's made words stand for which recorded ones.
func (p *play) learn(recorded, live any) {
	a, errA := json.Marshal(recorded)
	b, errB := json.Marshal(live)
	if errA != nil || errB != nil {
		return
	}
	words, now := made().FindAllString(string(a), -1), made().FindAllString(string(b), -1)
	if len(words) != len(now) {
		return
	}
	for i, word := range words {
		if word != now[i] {
			p.words[word] = now[i]
		}
	}
}

func (p *play) word(s string) string {
	if now, ok := p.words[s]; ok {
		return now
	}
	return s
}

// translate is a browser's step in the client's words.
func (p *play) translate(s step) json.RawMessage {
	text := string(s.message)
	if len(p.words) > 0 {
		text = made().ReplaceAllStringFunc(text, p.word)
	}
	if s.command.Method != "" || len(s.command.ID) == 0 {
		return json.RawMessage(text)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil {
		return json.RawMessage(text)
	}
	if id, ok := p.ids[string(s.command.ID)]; ok {
		members["id"] = id
	}
	out, err := json.Marshal(members)
	if err != nil {
		panic(fmt.Sprintf("cdplog: encode what was decoded: %v: %s", err, strings.ToValidUTF8(text, "?")))
	}
	return out
}
