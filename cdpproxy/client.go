package cdpproxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
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
	c := &Client{
		ID: rand.Text(), Number: p.count.Add(1),
		UserAgent: r.UserAgent(), Path: path, Browser: b.Name, Since: time.Now(), Done: done,
		proxy: p, browser: b,
	}
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
