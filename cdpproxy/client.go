package cdpproxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// Client is one connection or, for /json/*, one request.
type Client struct {
	// ID differs from that of every other client, of this proxy or another. It is
	// KIN-RANDOM. KIN follows from the name that the client gives itself, so any
	// coordinator recognizes the client when it reconnects.
	ID     string
	Number uint64 // counts the clients of this proxy
	// Name and Version are guesses from the User-Agent, for the user. Name is never
	// empty.
	Name, Version string
	UserAgent     string
	Path          string // without the token
	Browser       string // Name of the browser that it is connected to
	Since         time.Time
	// Done is closed when the client has disconnected or is being disconnected.
	Done <-chan struct{}

	proxy   *Proxy
	browser *Browser
}

// Describe asks the client's browser for the title and URL of a target. It blocks,
// so a Rule must not call it in Judge.
func (c *Client) Describe(ctx context.Context, target string) (title, url string, err error) {
	if c.proxy == nil {
		return "", "", errors.New("this client is of no endpoint")
	}
	if err := c.proxy.acquire(ctx); err != nil {
		return "", "", err
	}
	defer c.proxy.release()
	u, err := dialBrowser(ctx, c.browser)
	if err != nil {
		return "", "", err
	}
	defer u.close()
	_, body, err := u.do(http.MethodGet, "/json/list", maxResponse)
	if err != nil {
		return "", "", err
	}
	var list []struct{ ID, Title, URL string }
	if err := json.Unmarshal(body, &list); err != nil {
		return "", "", err
	}
	for _, t := range list {
		if t.ID == target {
			return t.Title, t.URL, nil
		}
	}
	return "", "", errors.New("the browser has no such target")
}

// client describes the sender of r.
func (p *Proxy) client(r *http.Request, b *Browser, path string, done <-chan struct{}) *Client {
	var random [16]byte
	rand.Read(random[:]) // never fails
	c := &Client{
		Number:    p.count.Add(1),
		UserAgent: r.UserAgent(), Path: path, Browser: b.Name, Since: time.Now(), Done: done,
		proxy: p, browser: b,
	}
	c.Name, c.Version = GuessName(c.UserAgent, r.Header.Get("Origin"))
	kin := sha256.Sum256([]byte(c.Name + "\n" + c.UserAgent))
	c.ID = hex.EncodeToString(kin[:8]) + "-" + hex.EncodeToString(random[:])
	return c
}

// Resembles reports whether id is c's own, or that of a client with the same name
// for itself.
func (c *Client) Resembles(id string) bool {
	own, _, _ := strings.Cut(c.ID, "-")
	kin, _, _ := strings.Cut(id, "-")
	return kin == own
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
	if known, ok := programs[name]; ok {
		return known, "" // the version is that of a library
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
