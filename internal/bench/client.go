//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// timeout is that of every exchange.
const timeout = 60 * time.Second

// client is a WebSocket with as little overhead as possible, so that the figures are
// those of the ways.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

func connect(addr, path string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(timeout))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path, addr)
	in := bufio.NewReaderSize(conn, 256<<10)
	res, err := http.ReadResponse(in, nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("%s answers HTTP %s", addr, res.Status)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &client{conn: conn, in: in}, nil
}

// send sends a text of less than 64 kB in one frame.
func (c *client) send(text string) error {
	c.conn.SetDeadline(time.Now().Add(timeout))
	mask := [4]byte{0x12, 0x34, 0x56, 0x78}
	c.out = append(c.out[:0], 0x81)
	if len(text) < 126 {
		c.out = append(c.out, 0x80|byte(len(text)))
	} else {
		c.out = binary.BigEndian.AppendUint16(append(c.out, 0x80|126), uint16(len(text)))
	}
	c.out = append(c.out, mask[:]...)
	for i := range len(text) {
		c.out = append(c.out, text[i]^mask[i&3])
	}
	_, err := c.conn.Write(c.out)
	return err
}

// next reads a frame and returns the beginning of its payload, valid until the
// next call.
func (c *client) next() (beginning []byte, size int, err error) {
	h, err := c.in.Peek(2)
	if err != nil {
		return nil, 0, err
	}
	size, header := int(h[1]&0x7f), 2
	switch size {
	case 126:
		if h, err = c.in.Peek(4); err == nil {
			size, header = int(binary.BigEndian.Uint16(h[2:])), 4
		}
	case 127:
		if h, err = c.in.Peek(10); err == nil {
			size, header = int(binary.BigEndian.Uint64(h[2:])), 10
		}
	}
	if err != nil {
		return nil, 0, err
	}
	c.in.Discard(header)
	if h, err = c.in.Peek(min(size, 4096)); err != nil {
		return nil, 0, err
	}
	beginning = h
	if size <= c.in.Buffered() {
		_, err = c.in.Discard(size)
	} else {
		beginning = bytes.Clone(h)
		_, err = io.CopyN(io.Discard, c.in, int64(size))
	}
	return beginning, size, err
}

// ask sends text and reads frames up to the reply with the id.
func (c *client) ask(id, text string) (size int, err error) {
	if err := c.send(text); err != nil {
		return 0, err
	}
	for {
		beginning, size, err := c.next()
		if err != nil {
			return 0, err
		}
		if bytes.HasPrefix(beginning, []byte(`{"id":`+id+",")) {
			if bytes.Contains(beginning, []byte(`"error"`)) || bytes.Contains(beginning, []byte(`exceptionDetails`)) {
				return 0, fmt.Errorf("%s", beginning)
			}
			return size, nil
		}
	}
}

func port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}
