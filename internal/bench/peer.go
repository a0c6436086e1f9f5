//go:build linux

package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
)

const peerPath = "/devtools/browser/peer"

// servePeer replaces a browser where Chromium itself would be the limit. It returns each
// message.
func servePeer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		fmt.Fprintf(w, `{"Browser": "peer", "webSocketDebuggerUrl": "ws://%s%s"}`, r.Host, peerPath)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", acceptKey(r.Header.Get("Sec-WebSocket-Key")))
	in := rw.Reader
	for {
		text, err := readMasked(in)
		if err != nil {
			return
		}
		if _, err := conn.Write(frame([]byte(text))); err != nil {
			return
		}
	}
}

func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// readMasked reads a client's frame of less than 64 kB.
func readMasked(r *bufio.Reader) (string, error) {
	var h [2]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return "", err
	}
	n := int(h[1] & 0x7f)
	if n == 126 {
		var l [2]byte
		if _, err := io.ReadFull(r, l[:]); err != nil {
			return "", err
		}
		n = int(binary.BigEndian.Uint16(l[:]))
	}
	b := make([]byte, 4+n)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", err
	}
	for i := range n {
		b[4+i] ^= b[i&3]
	}
	return string(b[4:]), nil
}

// frame is a server's text frame.
func frame(payload []byte) []byte {
	b := []byte{0x81}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}
