package history

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
)

// The body of a response that goes on, such as server-sent events, is kept as it arrives:
// the browser has none until the response ends, which may be never.

// streamTypes are the MIME types of such responses.
var streamTypes = map[string]bool{
	"text/event-stream": true, "application/x-ndjson": true, "application/ndjson": true, "application/jsonl": true,
	"application/json-seq": true, "application/stream+json": true,
}

// maxStreamed bounds what is kept of such a body, in bytes: its end.
const maxStreamed = 64 << 10

// stream is what a response has brought so far.
type stream struct {
	end     []byte
	omitted int // bytes before that
}

func (b *stream) append(data []byte) {
	b.end = append(b.end, data...)
	if excess := len(b.end) - maxStreamed; excess > 0 {
		b.end, b.omitted = append(b.end[:0], b.end[excess:]...), b.omitted+excess
	}
}

// note reports what a body lacks that is read from here.
func (b *stream) note() string {
	if b.omitted > 0 {
		return fmt.Sprintf("its last %d bytes; %d before them are no longer kept", len(b.end), b.omitted)
	}
	return fmt.Sprintf("%d bytes so far", len(b.end))
}

// streamBody makes the browser report the data of a response as it arrives. What came before
// the browser reads this command is missing until the response ends.
func (n *Network) streamBody(s *cdp.Session, e *entry) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if _, err := s.Start(ctx, network.CommandStreamResourceContent, network.StreamResourceContentParams{
		RequestID: e.id,
	}); err != nil {
		n.opts.Logger.Debug("history: a session ended before a response was streamed", "err", err)
	}
}

func (n *Network) dataReceived(s *cdp.Session, e *network.EventDataReceived) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil && r.Type != eventSourceType {
		r.streamed.append(e.Data)
	}
}

const eventSourceType = "eventsource"

// eventReceived handles a message of an EventSource: the browser reports all of them without
// being asked, as they were parsed.
func (n *Network) eventReceived(s *cdp.Session, e *network.EventEventSourceMessageReceived) {
	r := n.log.open[keyOf(s, e.RequestID)]
	if r == nil {
		return
	}
	text := ""
	if e.EventName != "" && e.EventName != "message" {
		text = "event: " + e.EventName + "\n"
	}
	if e.EventID != "" {
		text += "id: " + e.EventID + "\n"
	}
	r.streamed.append([]byte(text + "data: " + e.Data + "\n\n"))
}
