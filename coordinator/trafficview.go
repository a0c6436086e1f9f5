package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/terminal"
)

// trafficView shows traffic to people. An answer is shown with the method that it
// answers, and how long that took.
type trafficView struct {
	out     io.Writer
	flags   logFlags
	seen    int                    // how many clients
	clients map[string]string      // id to name and a short number
	joined  map[string]cdplog.Line // of clients that JSON lines have not shown yet
	asked   map[string]question    // by client, session and id of the message
	numbers map[[2]string]int      // of sessions, by client and id: in the order of their coming
	count   map[string]int         // of a client's sessions
}

type question struct {
	method string
	at     time.Time
}

func newTrafficView(out io.Writer, f logFlags) *trafficView {
	v := &trafficView{out: out, flags: f}
	v.begin()
	return v
}

// begin is called before the lines of another coordinator: the clients of the last
// one say no more.
func (v *trafficView) begin() {
	v.clients, v.joined, v.asked = map[string]string{}, map[string]cdplog.Line{}, map[string]question{}
	v.numbers, v.count = map[[2]string]int{}, map[string]int{}
}

func (v *trafficView) show(l cdplog.Line) error {
	text := v.text(l)
	if text == "" {
		return nil
	}
	delete(v.joined, l.Client)
	_, err := io.WriteString(v.out, text)
	return err
}

// text is what is shown of the next line; empty: nothing. In JSON it names a client
// that no line was shown of.
func (v *trafficView) text(l cdplog.Line) string {
	if l.Joined != nil {
		v.seen++
		v.clients[l.Client] = fmt.Sprintf("%s#%d", l.Joined.Name, v.seen)
		v.joined[l.Client] = l
	}
	if l.Lost > 0 {
		return v.gap(l.Time, l.Lost)
	}
	if l.From == "" {
		return ""
	}
	var m message
	_ = json.Unmarshal(l.Message, &m) // what is no command or answer is shown as it is
	key := l.Client + " " + m.Session + " " + string(m.ID)
	answered := question{method: m.Method}
	switch {
	case l.From == cdpClient && len(m.ID) > 0:
		v.asked[key] = question{m.Method, l.Time}
	case m.Method == "" && len(m.ID) > 0:
		answered = v.asked[key]
		delete(v.asked, key)
	}
	v.meet(l.Client, m.Session)
	v.meet(l.Client, m.announced())
	speaker := v.called(l.Client, m.Session)
	if !v.wanted(v.clients[l.Client], speaker, answered.method) {
		return ""
	}
	if !v.flags.json {
		return terminal.PrintableLine(v.line(l, m, speaker, answered)) + "\n"
	}
	if joined, ok := v.joined[l.Client]; ok {
		return encoded(joined) + encoded(l)
	}
	return encoded(l)
}

// gap is what is shown in the place of messages.
func (v *trafficView) gap(at time.Time, missing int) string {
	if v.flags.json {
		return encoded(cdplog.Line{Time: at, Lost: missing})
	}
	return fmt.Sprintf("… %d messages are missing here: they came too fast\n", missing)
}

// message is what is read of one.
type message struct {
	ID      json.RawMessage `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// announced is the session that a message tells a client of, as it comes or goes; empty:
// none.
func (m *message) announced() string {
	var params struct {
		Session string `json:"sessionId"`
	}
	if m.Method == "Target.attachedToTarget" || m.Method == "Target.detachedFromTarget" {
		_ = json.Unmarshal(m.Params, &params)
	}
	return params.Session
}

// meet numbers a client's session, where it has not been met.
func (v *trafficView) meet(client, session string) {
	if key := [2]string{client, session}; session != "" && v.numbers[key] == 0 {
		v.count[client]++
		v.numbers[key] = v.count[client]
	}
}

// called is what people read for a client, Playwright#1, or one of its sessions,
// Playwright#1.2.
func (v *trafficView) called(client, session string) string {
	if session == "" {
		return v.clients[client]
	}
	return fmt.Sprintf("%s.%d", v.clients[client], v.numbers[[2]string{client, session}])
}

// encoded is a line as it is recorded.
func encoded(l cdplog.Line) string {
	var text strings.Builder
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	_ = lines.Encode(l) // it was decoded
	return string(terminal.PrintableJSON([]byte(text.String())))
}

// cdpClient is cdpproxy's word for a message of the client.
const cdpClient = "client"

// wanted says whether a message is shown. Playwright is every client of that name,
// Playwright#1 one with its sessions, and Playwright#1.2 one session.
func (v *trafficView) wanted(client, speaker, method string) bool {
	name := client[:max(0, strings.LastIndexByte(client, '#'))]
	if who := v.flags.client; who != "" && !strings.EqualFold(who, name) && !strings.EqualFold(who, client) && !strings.EqualFold(who, speaker) {
		return false
	}
	if len(v.flags.domains) == 0 && len(v.flags.methods) == 0 {
		return true
	}
	domain, _, _ := strings.Cut(method, ".")
	for _, d := range v.flags.domains {
		if strings.EqualFold(d, domain) {
			return true
		}
	}
	for _, pattern := range v.flags.methods {
		if ok, _ := path.Match(strings.ToLower(pattern), strings.ToLower(method)); ok {
			return true
		}
	}
	return false
}

func (v *trafficView) line(l cdplog.Line, m message, speaker string, answered question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-16s ", l.Time.Local().Format("15:04:05.000"), speaker)
	body := m.Params
	switch {
	case l.From == cdpClient:
		b.WriteString("→ " + m.Method)
	case m.Method != "":
		b.WriteString("← " + m.Method)
	default:
		b.WriteString("⇐ " + answered.method)
		if !answered.at.IsZero() {
			b.WriteString(" " + strconv.FormatFloat(float64(l.Time.Sub(answered.at).Microseconds())/1000, 'f', 1, 64) + " ms")
		}
		body = m.Result
		if m.Error != nil {
			b.WriteString(" failed")
			body = m.Error
		}
	}
	if l.From == "endpoint" {
		b.WriteString(" (endpoint)")
	}
	if session := m.announced(); session != "" {
		b.WriteString(" (" + v.called(l.Client, session) + ")")
	}
	switch {
	case l.Text != "":
		body = json.RawMessage(l.Text)
	case m.Method == "" && answered.method == "":
		body = l.Message // neither a command nor the answer to one
	}
	if len(body) > 0 && string(body) != "{}" {
		b.WriteString(" " + v.cut(string(body)))
	}
	return strings.Map(visible, b.String())
}

// visible takes away what a terminal obeys: anybody may say anything.
func visible(c rune) rune {
	if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
		return '\ufffd'
	}
	return c
}

// shownBytes is what is shown of a message without --full.
const shownBytes = 160

func (v *trafficView) cut(s string) string {
	if v.flags.full || len(s) <= shownBytes {
		return s
	}
	head := s[:shownBytes]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	return fmt.Sprintf("%s… (%d bytes)", head, len(s))
}
