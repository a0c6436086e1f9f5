package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/fetch"
	"browser-coordinator/coordinator/tools/agent"
)

type fetchIn struct {
	URL      string            `json:"url" is:"subject"`
	Method   string            `json:"method,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty" is:"encoded"`
	Filename string            `json:"filename,omitempty"`
	inPage
}

var _ = define(Tool{
	Name: "browser_fetch", Title: "Fetch", Description: "Make an HTTP request as the page and with its cookies",
	Difference: "theirs run code of their own for it",
	Effect:     Acts,
	Shell:      []command{{Args: "url [filename]"}},
	Returns: "status, type and body (20,000 bytes; in a file 4 MiB), as a script of the page would get them, also " +
		"by CORS",
	Data:    "`status`, `type`, `url`, `body` (parsed if JSON, else text)",
	Example: `{"url": "/api/cart", "method": "POST", "body": "{\"item\": 7}"}`,
}, calls[fetchIn]{Do: fetchURL})

// maxBodyText bounds the body that an answer holds, in bytes.
const maxBodyText = 20_000

func fetchURL(ctx context.Context, c *agent.Call, in fetchIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, nil)
	if err != nil {
		return err
	}
	if err := c.Agent.MayShow(ctx, p.Folders(), in.URL); err != nil {
		return err
	}
	got, err := p.Fetcher().Fetch(ctx, fetch.Request{URL: in.URL, Method: in.Method, Headers: in.Headers,
		Body: in.Body, Place: c.Bounds(ctx, p).Place})
	if err != nil {
		return err
	}
	c.Out.Show(fmt.Sprintf("%d %s (%s, %d B) %s", got.Status, got.Text, got.MIMEType, len(got.Body), got.URL), true)
	c.Out.Set("status", got.Status)
	c.Out.Set("type", got.MIMEType)
	c.Out.Set("url", got.URL)
	if got.Truncated {
		got.Body = wholeCharacters(got.Body)
	}
	if utf8.Valid(got.Body) { // before the cut, which may fall into a character
		hide := c.Agent.Secrets.Hide
		if got.Truncated {
			hide = c.Agent.Secrets.HideCut
		}
		got.Body = []byte(hide(string(got.Body)))
	}
	if got.Truncated {
		c.Out.Addf("The body is longer: only its beginning was read.")
	}
	switch {
	case file != nil:
		path, err := file.As(output.OfType(got.MIMEType)).Save(got.Body)
		if err != nil {
			return err
		}
		c.Out.Addf("Saved the body to %s.", path)
	case !utf8.Valid(got.Body):
		c.Out.Addf("The body is not text: save it with filename.")
	case len(got.Body) > maxBodyText && !c.Agent.Whole:
		c.Out.Quote(string(got.Body[:maxBodyText]))
		c.Out.Addf("… and %d B more: save it with filename.", len(got.Body)-maxBodyText)
	case len(got.Body) > 0:
		c.Out.Show(string(got.Body), true)
		c.Out.Set("body", bodyValue(got.Body, got.MIMEType))
	}
	return nil
}

// wholeCharacters removes an incomplete character at the end of a text.
func wholeCharacters(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if start := text[len(text)-n:]; utf8.RuneStart(start[0]) {
			if !utf8.FullRune(start) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// bodyValue is a body's decoded JSON, or else its text.
func bodyValue(body []byte, kind string) any {
	if strings.Contains(kind, "json") && json.Valid(body) {
		return json.RawMessage(body)
	}
	return string(body)
}
