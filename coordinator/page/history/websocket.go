package history

import (
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
)

// A WebSocket is a request of its own kind: it has its response when it is open, and is done
// when it is closed.

const webSocketType = "websocket"

// SocketMessage is a message of a WebSocket.
type SocketMessage struct {
	Sent   bool // by the page
	Opcode int  // 1: text, 2: binary
	Data   []byte
	At     time.Time
}

// maxMessages bounds what is kept of the messages of all WebSockets of a page, in bytes.
const maxMessages = 1 << 20

// messageOverhead is what a message takes besides its data.
const messageOverhead = 100

// socketLog are the latest messages of a page's WebSockets, the oldest first, each with the
// number of its socket. History.mu guards it.
type socketLog struct {
	messages []SocketMessage
	sockets  []int64
	size     int
}

func (l *socketLog) add(socket int64, m SocketMessage) {
	l.messages, l.sockets = append(l.messages, m), append(l.sockets, socket)
	l.size += len(m.Data) + messageOverhead
	n := 0
	for ; l.size > maxMessages; n++ {
		l.size -= len(l.messages[n].Data) + messageOverhead
		l.messages[n] = SocketMessage{}
	}
	l.messages, l.sockets = l.messages[n:], l.sockets[n:]
}

// of are the kept messages of one socket.
func (l *socketLog) of(socket int64) (messages []SocketMessage) {
	for n, m := range l.messages {
		if l.sockets[n] == socket {
			messages = append(messages, m)
		}
	}
	return messages
}

func (n *Network) messageSent(s *cdp.Session, e *network.EventWebSocketFrameSent) {
	n.addMessage(s, e.RequestID, e.Timestamp, e.Response, true)
}

func (n *Network) messageReceived(s *cdp.Session, e *network.EventWebSocketFrameReceived) {
	n.addMessage(s, e.RequestID, e.Timestamp, e.Response, false)
}

func (n *Network) addMessage(s *cdp.Session, id network.RequestID, at protocol.MonotonicTime,
	f *network.WebSocketFrame, sent bool) {
	r := n.log.open[keyOf(s, id)]
	if r == nil || f == nil {
		return
	}
	r.messages++
	since := time.Duration((at.Float64() - r.start.Float64()) * float64(time.Second))
	n.sockets.add(r.Seq, SocketMessage{Sent: sent, Opcode: int(f.Opcode), Data: f.PayloadData, At: r.Started.Add(since)})
}

func (n *Network) socketCreated(s *cdp.Session, e *network.EventWebSocketCreated) {
	sent := &entry{
		Request: Request{
			Method: "GET", URL: e.URL, Type: webSocketType, MIMEType: webSocketType, Size: -1, Started: time.Now(),
			Calls: callsOf(e.Initiator),
		},
		id: e.RequestID, session: s,
	}
	n.log.add(sent)
	n.log.open[keyOf(s, e.RequestID)] = sent
}

func (n *Network) socketSent(s *cdp.Session, e *network.EventWebSocketWillSendHandshakeRequest) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil {
		r.start, r.Started = e.Timestamp, time.UnixMicro(int64(e.WallTime.Float64()*1e6))
		if e.Request != nil {
			r.requestHeaders = e.Request.Headers
		}
	}
}

func (n *Network) socketOpened(s *cdp.Session, e *network.EventWebSocketHandshakeResponseReceived) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil && e.Response != nil {
		r.Status, r.responseHeaders = int(e.Response.Status), e.Response.Headers
		r.transport.StatusText = e.Response.StatusText
		if e.Response.RequestHeaders != nil {
			r.requestHeaders = e.Response.RequestHeaders
		}
	}
}

func (n *Network) socketFailed(s *cdp.Session, e *network.EventWebSocketFrameError) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil {
		r.Failed = e.ErrorMessage
	}
}

func (n *Network) socketClosed(s *cdp.Session, e *network.EventWebSocketClosed) {
	key := keyOf(s, e.RequestID)
	r := n.log.open[key]
	delete(n.log.open, key)
	if r == nil {
		return
	}
	if r.Status == 0 && r.Failed == "" {
		r.Failed = "it was closed before it was open"
	}
	if r.start == 0 {
		r.start = e.Timestamp
	}
	r.finish(e.Timestamp)
}
