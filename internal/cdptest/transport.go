package cdptest

import (
	"io"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/internal/must"
)

// Transport is a connection to a browser, of whole messages.
type Transport struct {
	t testing.TB
	*websocket.Conn
}

// DialTransport connects to a browser.
func DialTransport(t testing.TB, url string) Transport {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), url, nil)
	must.Do(t, err)
	ws.SetReadLimit(1 << 28)
	return Transport{t, ws}
}

func (s Transport) Read() ([]byte, error) {
	_, message, err := s.Conn.Read(s.t.Context())
	if err != nil {
		return nil, io.EOF
	}
	return message, nil
}

func (s Transport) Write(message []byte) error {
	return s.Conn.Write(s.t.Context(), websocket.MessageText, message)
}

// Close ends the connection.
func (s Transport) Close() error { return s.CloseNow() }
