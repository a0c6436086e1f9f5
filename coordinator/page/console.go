package page

import (
	"strings"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// ring keeps the last messages; Page.mu guards it.
type ring struct {
	size     int
	messages []Message // oldest first
	seq      int64
}

func newRing(size int) *ring { return &ring{size: size} }

// add appends a message, or counts it when it repeats the last one.
func (r *ring) add(m Message) {
	r.seq++
	m.Seq = r.seq
	if n := len(r.messages); n > 0 {
		last := &r.messages[n-1]
		if last.Level == m.Level && last.Text == m.Text && last.URL == m.URL && last.Line == m.Line && last.Source == m.Source && last.document == m.document {
			last.Count++
			last.Seq, last.Time = m.Seq, m.Time
			return
		}
	}
	m.Count = 1
	if len(r.messages) == r.size {
		copy(r.messages, r.messages[1:])
		r.messages = r.messages[:r.size-1]
	}
	r.messages = append(r.messages, m)
}

// severity orders the levels; unknown ones count as info.
func severity(level string) int {
	switch level {
	case "error":
		return 3
	case "warning":
		return 2
	case "debug":
		return 0
	}
	return 1
}

func (r *ring) after(seq int64, level string) []Message {
	var found []Message
	for _, m := range r.messages {
		if m.Seq > seq && severity(m.Level) >= severity(level) {
			found = append(found, m)
		}
	}
	return found
}

// Console returns the kept messages of that level and above, oldest first. They
// begin before the page was attached to: the browser replays what it has.
func (p *Page) Console(level string) []Message {
	p.browser.flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	messages := p.console.after(0, level)
	for i := range messages {
		messages[i].Current = messages[i].document == p.commits
	}
	return messages
}

// say keeps a message of the document that is shown now; mu is held.
func (p *Page) say(s *cdp.Session, m Message) {
	m.document, m.Documents = p.commits, p.documents(s)
	p.console.add(m)
}

// ClearConsole forgets the messages.
func (p *Page) ClearConsole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.console.messages = nil
}

func (p *Page) consoleCalled(s *cdp.Session, e *runtime.EventConsoleAPICalled) {
	m := Message{Level: "info", Text: remote.Arguments(e.Args), Source: "console", Time: timeOf(e.Timestamp)}
	switch e.Type {
	case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeAssert:
		m.Level = "error"
	case runtime.ConsoleAPICalledTypeWarning:
		m.Level = "warning"
	case runtime.ConsoleAPICalledTypeDebug:
		m.Level = "debug"
	case runtime.ConsoleAPICalledTypeClear, runtime.ConsoleAPICalledTypeEndGroup,
		runtime.ConsoleAPICalledTypeProfile, runtime.ConsoleAPICalledTypeProfileEnd:
		return
	}
	if e.Type == runtime.ConsoleAPICalledTypeAssert {
		m.Text = strings.TrimSpace("Assertion failed: " + m.Text)
	}
	m.locate(e.StackTrace)
	p.say(s, m)
}

func (p *Page) exceptionThrown(s *cdp.Session, e *runtime.EventExceptionThrown) {
	d := e.ExceptionDetails
	m := Message{Level: "error", Text: remote.Exception(d), Source: "exception", Time: timeOf(e.Timestamp)}
	m.locate(d.StackTrace)
	if m.URL == "" {
		m.URL, m.Line, m.Column = d.URL, int(d.LineNumber)+1, int(d.ColumnNumber)+1
	}
	p.say(s, m)
}

func (p *Page) entryAdded(s *cdp.Session, e *log.EventEntryAdded) {
	entry := e.Entry
	if entry.NetworkRequestID != "" {
		p.requests.failedAt(s, entry.NetworkRequestID, entry.URL, timeOf(entry.Timestamp))
	}
	m := Message{Level: string(entry.Level), Text: entry.Text, Source: string(entry.Source), URL: entry.URL, Time: timeOf(entry.Timestamp)}
	if m.Level == string(log.EntryLevelVerbose) {
		m.Level = "debug"
	}
	if entry.LineNumber > 0 || entry.Source == log.EntrySourceWorker && m.URL != "" {
		m.Line = int(entry.LineNumber) + 1
	}
	m.locate(entry.StackTrace)
	p.say(s, m)
}

func (m *Message) locate(stack *runtime.StackTrace) {
	if stack == nil {
		return
	}
	for _, f := range stack.CallFrames {
		if f.URL != "" {
			m.URL, m.Line, m.Column = f.URL, int(f.LineNumber)+1, int(f.ColumnNumber)+1
			return
		}
	}
}

func timeOf(t runtime.Timestamp) time.Time {
	return time.UnixMicro(int64(t.Float64() * 1000))
}
