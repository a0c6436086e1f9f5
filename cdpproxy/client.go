package cdpproxy

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// Client is one connection or, for /json/*, one request.
type Client struct {
	// ID is random: it differs from that of every other client, of this proxy or another.
	ID     string
	Number uint64 // counts the clients of this proxy
	// Name and Version are guesses from the User-Agent, for the user, who stops clients by
	// their names. Name is never empty.
	Name, Version string
	UserAgent     string
	Path          string // without the token
	Browser       string // Name of the browser that it is connected to
	Since         time.Time
	// Access is the access mode in which the rule has admitted the client. Only
	// [Rule.Join] sets it.
	Access string
	// Last is what the client did last; the embedding program sets it. Nil: nothing yet.
	Last atomic.Pointer[LastAction]
	// Holds is what the client has the browser hold up, for the user; the embedding program sets it. Nil or empty:
	// nothing.
	Holds atomic.Pointer[string]
	// Done is closed when the client has disconnected or is being disconnected.
	Done <-chan struct{}

	peer    *clientPeer // nil: unknown
	browser *Browser
}

// BrowserID identifies the client's browser to each of its clients: the last part of its address.
func (c *Client) BrowserID() string { return c.browser.id() }

// Program identifies the program that the client belongs to, where the system reports
// that: processes of an executable of that name in the same session, such as a
// terminal's, are one program. Empty: unknown. It may take some milliseconds.
func (c *Client) Program() string {
	if c.peer == nil {
		return ""
	}
	return c.peer.program()
}

// client describes the sender of r.
func (p *Proxy) client(r *http.Request, b *Browser, path string) *Client {
	c := &Client{
		ID: rand.Text(), Number: p.count.Add(1),
		UserAgent: r.UserAgent(), Path: path, Browser: b.Name, Since: time.Now(),
		browser: b,
	}
	c.peer, _ = r.Context().Value(peerKey{}).(*clientPeer)
	c.Name, c.Version = GuessName(c.UserAgent, r.Header.Get("Origin"))
	return c
}

// programs maps names in the User-Agent to names for the user.
var programs = map[string]string{
	"":               "CDP client",
	"Go-http-client": "Go program",
	"node":           "Node.js program",
	"undici":         "Node.js program",
	"Mozilla":        "browser",
}

// nameLimit bounds the displayed part of a name, which the client chooses freely.
const nameLimit = 40

// GuessName guesses [Client]'s Name and Version from the headers of a client. It
// reads "Playwright/1.65.1 (x64; …)" and "Puppeteer 24.43.1".
func GuessName(agent, origin string) (name, version string) {
	if origin == DevToolsOrigin {
		return "DevTools", ""
	}
	product, comment, _ := strings.Cut(strings.TrimSpace(agent), " ")
	name, version, _ = strings.Cut(product, "/")
	if version == "" && comment != "" && unicode.IsDigit(rune(comment[0])) {
		version, _, _ = strings.Cut(comment, " ")
	}
	if program, ok := programs[name]; ok {
		return program, "" // the version is that of a library
	}
	return printable(name), printable(version)
}

// printable cuts s to a length that fits a line.
func printable(s string) string {
	var b strings.Builder
	n := 0
	for _, c := range s {
		if n++; n > nameLimit {
			break
		}
		if !unicode.IsPrint(c) {
			c = '\ufffd'
		}
		b.WriteRune(c)
	}
	return b.String()
}
