// Package traffic shows the CDP traffic of a window's endpoint.
package traffic

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/terminal"
)

// View shows traffic to people, or to programs as JSON lines. It shows a response with
// the method of its command, and its duration.
type View struct {
	Out    io.Writer
	Filter Filter
	Full   bool // long messages too
	JSON   bool

	joins    int                    // how many clients
	clients  map[string]string      // by id: the name with a short number
	joined   map[string]cdplog.Line // by id: of clients without a shown JSON line yet
	commands map[string]command     // without a response yet, by client, session and id
	sessions map[string][]string    // by client, in order of appearance
}

type command struct {
	method string
	time   time.Time
}

// Begin is called before the first line.
func (v *View) Begin() {
	v.clients, v.joined = map[string]string{}, map[string]cdplog.Line{}
	v.commands, v.sessions = map[string]command{}, map[string][]string{}
}

// Show shows a line, if the filter matches.
func (v *View) Show(l cdplog.Line) error {
	text := v.text(l)
	if text == "" {
		return nil
	}
	delete(v.joined, l.Client)
	_, err := io.WriteString(v.Out, text)
	return err
}

// text is the output for the next line; empty: none. In JSON a client's joined line
// precedes its first line.
func (v *View) text(l cdplog.Line) string {
	if l.Joined != nil {
		v.joins++
		v.clients[l.Client] = fmt.Sprintf("%s#%d", l.Joined.Name, v.joins)
		v.joined[l.Client] = l
	}
	if l.Missing > 0 && v.JSON {
		return encode(cdplog.Line{Time: l.Time, Missing: l.Missing})
	}
	if l.Missing > 0 {
		return fmt.Sprintf("… %d messages are missing here: they came too fast\n", l.Missing)
	}
	if l.From == "" {
		return ""
	}
	var m browser.Message
	_ = json.Unmarshal(l.Message, &m) // a message that is not CDP is shown unchanged
	key := l.Client + " " + m.Session + " " + string(m.ID)
	request := command{method: m.Method}
	switch {
	case l.From == "client" && len(m.ID) > 0:
		v.commands[key] = command{m.Method, l.Time}
	case m.Method == "" && len(m.ID) > 0:
		request = v.commands[key]
		delete(v.commands, key)
	}
	sender, announced := v.name(l.Client, m.Session), v.name(l.Client, announcedSession(&m))
	if !v.Filter.match(v.clients[l.Client], sender, request.method) {
		return ""
	}
	if !v.JSON {
		return terminal.PrintableLine(v.line(l, m, sender, announced, request)) + "\n"
	}
	if joined, ok := v.joined[l.Client]; ok {
		return encode(joined) + encode(l)
	}
	return encode(l)
}

// announcedSession is the session that an event attaches or detaches; empty: none.
func announcedSession(m *browser.Message) string {
	var params struct {
		Session string `json:"sessionId"`
	}
	if m.Method == "Target.attachedToTarget" || m.Method == "Target.detachedFromTarget" {
		_ = json.Unmarshal(m.Params, &params)
	}
	return params.Session
}

// name is the name of a client, Playwright#1, or of one of its sessions, Playwright#1.2.
// A new session gets the next number.
func (v *View) name(client, session string) string {
	if session == "" {
		return v.clients[client]
	}
	index := slices.Index(v.sessions[client], session)
	if index < 0 {
		index = len(v.sessions[client])
		v.sessions[client] = append(v.sessions[client], session)
	}
	return fmt.Sprintf("%s.%d", v.clients[client], index+1)
}

// encode returns a line as JSON.
func encode(l cdplog.Line) string {
	var text strings.Builder
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	_ = lines.Encode(l) // it was decoded
	return string(terminal.PrintableJSON([]byte(text.String())))
}

// shownBytes bounds the shown part of a message without Full.
const shownBytes = 160

func (v *View) line(l cdplog.Line, m browser.Message, sender, announced string, request command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-16s ", l.Time.Local().Format("15:04:05.000"), sender)
	body := []byte(m.Params)
	switch {
	case l.From == "client":
		b.WriteString("→ " + m.Method)
	case m.Method != "":
		b.WriteString("← " + m.Method)
	default:
		b.WriteString("⇐ " + request.method)
		if !request.time.IsZero() {
			b.WriteString(" " + strconv.FormatFloat(float64(l.Time.Sub(request.time).Microseconds())/1000, 'f', 1,
				64) + " ms")
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
	if announcedSession(&m) != "" {
		b.WriteString(" (" + announced + ")")
	}
	switch {
	case l.Text != "":
		body = []byte(l.Text)
	case m.Method == "" && request.method == "":
		body = l.Message // no CDP message, or the response to an unseen command
	}
	if len(body) > 0 && string(body) != "{}" {
		text := string(body)
		if !v.Full && len(text) > shownBytes {
			text = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:shownBytes], ""), len(text))
		}
		b.WriteString(" " + text)
	}
	return b.String()
}
