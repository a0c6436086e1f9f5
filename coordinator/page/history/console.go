package history

import (
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// Message is one console message, uncaught exception or browser log entry.
type Message struct {
	Seq      int64  // rises by one per message of the page
	Level    string // error, warning, info or debug
	Text     string
	Source   string          // console, exception, network, security, …
	Position remote.Position // of its source
	Count    int             // number of consecutive repetitions
	Time     time.Time
	// Current reports that the message belongs to the page's current document, not to an
	// earlier one.
	Current bool
	// Documents are the URLs of the page and of the frame that logged the message, as far as
	// they are known.
	Documents [2]string

	document int // as in History
}

// Addresses are all URLs that a message relates to.
func (m Message) Addresses() []string { return append(m.Documents[:], m.Position.URL) }

// Console keeps the most recent messages.
type Console struct {
	history  *History
	size     int
	messages []Message // oldest first
	last     int64     // number of the last message
	listed   int64     // number of the last message when a caller listed all
}

// add appends a message, or increments the count of the last one if it repeats; mu is held.
func (c *Console) add(m Message) {
	c.last++
	m.Seq = c.last
	if n := len(c.messages); n > 0 {
		last := &c.messages[n-1]
		if last.Level == m.Level && last.Text == m.Text && last.Position == m.Position &&
			last.Source == m.Source && last.document == m.document {
			last.Count++
			last.Seq, last.Time = m.Seq, m.Time
			return
		}
	}
	m.Count = 1
	if len(c.messages) == c.size {
		c.messages = slices.Delete(c.messages, 0, 1)
	}
	c.messages = append(c.messages, m)
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

// After returns the messages with at least that level and a number above seq, oldest
// first.
func (c *Console) After(seq int64, level string) []Message {
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	var found []Message
	for _, m := range c.messages {
		if m.Seq > seq && severity(m.Level) >= severity(level) {
			m.Current = m.document == c.history.document
			found = append(found, m)
		}
	}
	return found
}

// Last is the number of the last message; 0: there was none.
func (c *Console) Last() int64 {
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	return c.last
}

// Messages returns the kept messages with at least that level, oldest first. They include
// messages from before the attachment, because the browser replays them.
func (c *Console) Messages(level string) []Message {
	c.history.frames.Flush()
	c.history.mu.Lock()
	c.listed = c.last
	c.history.mu.Unlock()
	return c.After(0, level)
}

// Listed is the number of the last message that Messages had to return.
func (c *Console) Listed() int64 {
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	return c.listed
}

// report keeps a message of the current document; mu is held. A document that is shown
// again, from the back/forward cache, repeats all its messages.
func (c *Console) report(s *cdp.Session, m Message) {
	m.document, m.Documents = c.history.document, c.history.documents(s)
	if slices.ContainsFunc(c.messages, m.repeats) {
		return
	}
	c.add(m)
}

func (c *Console) called(s *cdp.Session, e *runtime.EventConsoleAPICalled) {
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
	if e.Type == runtime.ConsoleAPICalledTypeTrace {
		m.Text += remote.Stack(e.StackTrace)
	}
	m.locate(e.StackTrace)
	c.report(s, m)
}

func (c *Console) exceptionThrown(s *cdp.Session, e *runtime.EventExceptionThrown) {
	d := e.ExceptionDetails
	m := Message{Level: "error", Text: remote.Uncaught(d), Source: "exception", Time: timeOf(e.Timestamp)}
	m.locate(d.StackTrace)
	if m.Position.URL == "" {
		m.Position = remote.NewPosition(d.URL, d.LineNumber, d.ColumnNumber)
	}
	c.report(s, m)
}

func (c *Console) entryAdded(s *cdp.Session, e *log.EventEntryAdded) {
	entry := e.Entry
	m := Message{
		Level: string(entry.Level), Text: entry.Text, Source: string(entry.Source), Time: timeOf(entry.Timestamp),
		Position: remote.Position{URL: entry.URL},
	}
	if m.Level == string(log.EntryLevelVerbose) {
		m.Level = "debug"
	}
	if entry.LineNumber > 0 || entry.Source == log.EntrySourceWorker && m.Position.URL != "" {
		m.Position.Line = remote.NewPosition(entry.URL, entry.LineNumber, 0).Line
	}
	m.locate(entry.StackTrace)
	c.report(s, m)
}

// repeats reports whether a message is one that an earlier document has logged.
func (m *Message) repeats(earlier Message) bool {
	return m.document != earlier.document && !m.Time.After(earlier.Time) && m.Text == earlier.Text &&
		m.Source == earlier.Source && m.Position == earlier.Position && m.Level == earlier.Level
}

func (m *Message) locate(stack *runtime.StackTrace) {
	if calls := remote.Calls(stack); len(calls) > 0 {
		m.Position = calls[0]
	}
}

func timeOf(t runtime.Timestamp) time.Time {
	return time.UnixMicro(int64(t.Float64() * 1000))
}
