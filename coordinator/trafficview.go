package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"browser-coordinator/coordinator/cdplog"
)

// trafficView shows traffic to people. An answer is shown with the method that it
// answers, and how long that took.
type trafficView struct {
	out     io.Writer
	flags   logFlags
	seen    int                    // how many clients
	clients map[string]string      // id to name and a short number
	joined  map[string]cdplog.Line // of clients that JSON lines have not shown yet
	asked   map[string]question    // by client and id of the message
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
}

func (v *trafficView) show(l cdplog.Line) error {
	if l.Joined != nil {
		v.seen++
		v.clients[l.Client] = fmt.Sprintf("%s#%d", l.Joined.Name, v.seen)
		v.joined[l.Client] = l
	}
	if l.Lost > 0 && v.flags.json {
		return v.encode(l)
	}
	if l.Lost > 0 {
		_, err := fmt.Fprintf(v.out, "… %d messages are missing here: they came too fast\n", l.Lost)
		return err
	}
	if l.From == "" {
		return nil
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(l.Message, &m) // what is no command or answer is shown as it is
	key := l.Client + " " + string(m.ID)
	answered := question{method: m.Method}
	switch {
	case l.From == cdpClient && len(m.ID) > 0:
		v.asked[key] = question{m.Method, l.Time}
	case m.Method == "" && len(m.ID) > 0:
		answered = v.asked[key]
		delete(v.asked, key)
	}
	if !v.wanted(l, answered.method) {
		return nil
	}
	if v.flags.json {
		if joined, ok := v.joined[l.Client]; ok {
			delete(v.joined, l.Client)
			return errors.Join(v.encode(joined), v.encode(l))
		}
		return v.encode(l)
	}
	_, err := fmt.Fprintln(v.out, v.line(l, m.Method, answered, m.Params, m.Result, m.Error))
	return err
}

func (v *trafficView) encode(l cdplog.Line) error {
	lines := json.NewEncoder(v.out)
	lines.SetEscapeHTML(false)
	return lines.Encode(l)
}

// cdpClient is cdpproxy's word for a message of the client.
const cdpClient = "client"

func (v *trafficView) wanted(l cdplog.Line, method string) bool {
	called := v.clients[l.Client]
	name, _, _ := strings.Cut(called, "#")
	if v.flags.client != "" && !strings.EqualFold(name, v.flags.client) && !strings.EqualFold(called, v.flags.client) {
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

func (v *trafficView) line(l cdplog.Line, method string, answered question, params, result, failed json.RawMessage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-14s ", l.Time.Local().Format("15:04:05.000"), v.clients[l.Client])
	body := params
	switch {
	case l.From == cdpClient:
		b.WriteString("→ " + method)
	case method != "":
		b.WriteString("← " + method)
	default:
		b.WriteString("⇐ " + answered.method)
		if !answered.at.IsZero() {
			b.WriteString(" " + strconv.FormatFloat(float64(l.Time.Sub(answered.at).Microseconds())/1000, 'f', 1, 64) + " ms")
		}
		body = result
		if failed != nil {
			b.WriteString(" failed")
			body = failed
		}
	}
	if l.From == "endpoint" {
		b.WriteString(" (endpoint)")
	}
	switch {
	case l.Text != "":
		body = json.RawMessage(l.Text)
	case method == "" && answered.method == "":
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
