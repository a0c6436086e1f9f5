package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	pagefetch "browser-coordinator/coordinator/page/fetch"
)

type fetchIn struct {
	URL      string            `json:"url"`
	Method   string            `json:"method,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty"`
	Filename string            `json:"filename,omitempty"`
	inWindow
}

func (s *Server) addFetchTools() {
	add(s, &mcp.Tool{Name: "browser_fetch", Description: "Make an HTTP request as the page, with its cookies", Annotations: acts("Fetch"), OutputSchema: objectOf("status", "type", "url", "body")}, fetch)
}

// maxBodyText bounds the body that an answer holds, in bytes.
const maxBodyText = 20_000

func fetch(ctx context.Context, a *agent, in fetchIn) (*answer, error) {
	file, err := a.outputFile(ctx, in.Filename, nil)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := a.mayShow(ctx, p.Folders(), in.URL); err != nil {
		return nil, err
	}
	got, err := p.Fetcher().Fetch(ctx, pagefetch.Request{URL: in.URL, Method: in.Method, Headers: in.Headers, Body: in.Body})
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.told(fmt.Sprintf("%d %s (%s, %d B) %s", got.Status, got.Text, got.MIMEType, len(got.Body), got.URL), true)
	out.tell("status", got.Status)
	out.tell("type", got.MIMEType)
	out.tell("url", got.URL)
	if got.Truncated {
		got.Body = wholeCharacters(got.Body)
	}
	if utf8.Valid(got.Body) { // before the cut, which may fall into a character
		hide := a.server.options.Secrets.Hide
		if got.Truncated {
			hide = a.server.options.Secrets.HideCut
		}
		got.Body = []byte(hide(string(got.Body)))
	}
	if got.Truncated {
		out.addf("The body is longer: only its beginning was read.")
	}
	switch {
	case file != nil:
		path, err := file.As(output.OfType(got.MIMEType)).Save(got.Body)
		if err != nil {
			return nil, err
		}
		out.addf("Saved the body to %s.", path)
	case !utf8.Valid(got.Body):
		out.addf("The body is not text: save it with filename.")
	case len(got.Body) > maxBodyText:
		out.quote(string(got.Body[:maxBodyText]))
		out.addf("… and %d B more: save it with filename.", len(got.Body)-maxBodyText)
	case len(got.Body) > 0:
		out.told(string(got.Body), true)
		out.tell("body", bodyValue(got.Body, got.MIMEType))
	}
	return out, nil
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
