// Package har writes requests as an HTTP Archive (HAR 1.2), which DevTools and Playwright open.
package har

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"browser-coordinator/coordinator/page/history"
)

// Writer writes the requests of a page, the oldest first. It writes each at once, since all
// bodies together may be large.
type Writer struct {
	to        io.Writer
	hide      func(string) string
	pages     []document
	err       error
	separator string // before the next entry
	// Lacking counts the responses that lack their body, or a part of it.
	Lacking int
}

// New begins an archive. version is that of this program; hide replaces secrets in texts.
func New(to io.Writer, version string, hide func(string) string) *Writer {
	w := &Writer{to: to, hide: hide, pages: []document{}}
	creator, _ := json.Marshal(map[string]string{"name": "Browser Coordinator", "version": version})
	w.printf(`{"log":{"version":"1.2","creator":%s,"entries":[`, creator)
	return w
}

func (w *Writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.to, format, args...)
	}
}

// Close ends the archive.
func (w *Writer) Close() error {
	text, err := json.Marshal(w.pages)
	if err != nil {
		return err
	}
	w.printf("\n],\"pages\":%s}}\n", text)
	return w.err
}

// Add adds a request.
func (w *Writer) Add(r history.RequestDetails) error {
	if r.Opened || len(w.pages) == 0 {
		w.pages = append(w.pages, document{
			Started: timeText(r.Started), ID: fmt.Sprintf("page_%d", len(w.pages)+1), Title: w.hide(r.URL),
		})
	}
	e := w.entry(r)
	if e.Response.Content.Comment != "" {
		w.Lacking++
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	w.printf("%s\n%s", w.separator, text)
	w.separator = ","
	return w.err
}

// document is one of the page's documents, which HAR calls a page.
type document struct {
	Started string   `json:"startedDateTime"`
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Timings struct{} `json:"pageTimings"`
}

type entry struct {
	Page     string    `json:"pageref"`
	Started  string    `json:"startedDateTime"`
	Time     float64   `json:"time"`
	Request  request   `json:"request"`
	Response response  `json:"response"`
	Cache    struct{}  `json:"cache"`
	Timings  timings   `json:"timings"`
	Server   string    `json:"serverIPAddress,omitempty"`
	Type     string    `json:"_resourceType,omitempty"`
	Cached   string    `json:"_fromCache,omitempty"`
	Messages []message `json:"_webSocketMessages,omitempty"`
	Comment  string    `json:"comment,omitempty"`
}

type request struct {
	Method      string   `json:"method"`
	URL         string   `json:"url"`
	Version     string   `json:"httpVersion"`
	Cookies     []cookie `json:"cookies"`
	Headers     []pair   `json:"headers"`
	Query       []pair   `json:"queryString"`
	Body        *posted  `json:"postData,omitempty"`
	HeadersSize int      `json:"headersSize"`
	BodySize    int      `json:"bodySize"`
}

type response struct {
	Status      int      `json:"status"`
	StatusText  string   `json:"statusText"`
	Version     string   `json:"httpVersion"`
	Cookies     []cookie `json:"cookies"`
	Headers     []pair   `json:"headers"`
	Content     content  `json:"content"`
	Redirect    string   `json:"redirectURL"`
	HeadersSize int      `json:"headersSize"`
	BodySize    int      `json:"bodySize"`
	Transferred int64    `json:"_transferSize,omitempty"`
	// Failed and Failure are the same reason for DevTools and for Playwright.
	Failed  string `json:"_error,omitempty"`
	Failure string `json:"_failureText,omitempty"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type posted struct {
	Type   string `json:"mimeType"`
	Params []pair `json:"params,omitempty"`
	Text   string `json:"text"`
}

type content struct {
	Size     int    `json:"size"`
	Type     string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

type cookie struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Path     string `json:"path,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Expires  string `json:"expires,omitempty"`
	HTTPOnly bool   `json:"httpOnly,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
	SameSite string `json:"sameSite,omitempty"`
}

type message struct {
	Type   string  `json:"type"`
	Time   float64 `json:"time"` // seconds since 1970
	Opcode int     `json:"opcode"`
	Data   string  `json:"data"` // of a binary message in base64
	// Comment says why there is no data.
	Comment string `json:"comment,omitempty"`
}

func (w *Writer) entry(r history.RequestDetails) entry {
	e := entry{
		Page: w.pages[len(w.pages)-1].ID, Started: timeText(r.Started), Type: r.Type, Server: r.Address,
		Request: w.request(r), Response: w.response(r), Timings: timingsOf(r), Comment: w.hide(r.RequestNote),
	}
	e.Time = e.Timings.total()
	if r.FromCache {
		e.Cached = "disk"
	}
	for _, m := range r.Messages {
		e.Messages = append(e.Messages, w.message(m))
	}
	if r.Omitted > 0 {
		e.Comment = fmt.Sprintf("%d messages before these are no longer kept.", r.Omitted)
	}
	return e
}

func (w *Writer) request(r history.RequestDetails) request {
	kind := history.Header(r.RequestHeaders, "Content-Type")
	out := request{
		Method: r.Method, URL: w.hide(r.URL), Version: version(r.Protocol), Headers: w.headers(r.RequestHeaders),
		Cookies: []cookie{}, Query: []pair{}, HeadersSize: -1, BodySize: len(r.RequestBody),
	}
	for line := range strings.SplitSeq(history.Header(r.RequestHeaders, "Cookie"), "\n") {
		parsed, _ := http.ParseCookie(line)
		for _, c := range parsed {
			out.Cookies = append(out.Cookies, cookie{Name: w.hide(c.Name), Value: w.hide(c.Value)})
		}
	}
	if u, err := url.Parse(r.URL); err == nil {
		out.Query = w.fields(u.RawQuery)
	}
	if r.RequestNote != "" {
		out.BodySize = -1
	}
	// A body that is no text has no place here.
	if len(r.RequestBody) > 0 && utf8.Valid(r.RequestBody) {
		out.Body = &posted{Type: kind, Text: w.hide(string(r.RequestBody))}
		if plain, _, _ := mime.ParseMediaType(kind); plain == "application/x-www-form-urlencoded" {
			out.Body.Params = w.fields(string(r.RequestBody))
		}
	}
	return out
}

// noResponse is the status of a request without a response, as Playwright has it.
const noResponse = -1

func (w *Writer) response(r history.RequestDetails) response {
	out := response{
		Status: r.Status, StatusText: r.StatusText, Version: version(r.Protocol),
		Headers: w.headers(r.ResponseHeaders), Cookies: []cookie{},
		Content:     content{Size: len(r.ResponseBody), Type: r.MIMEType, Comment: w.hide(r.BodyNote)},
		HeadersSize: -1, BodySize: -1, Transferred: max(r.Size, 0), Failed: r.Failed, Failure: r.Failed,
	}
	if r.Status == 0 {
		out.Status = noResponse
	}
	if 300 <= r.Status && r.Status < 400 {
		out.Redirect = w.hide(history.Header(r.ResponseHeaders, "Location"))
	}
	for line := range strings.SplitSeq(history.Header(r.ResponseHeaders, "Set-Cookie"), "\n") {
		if c, err := http.ParseSetCookie(line); err == nil {
			out.Cookies = append(out.Cookies, w.setCookie(c))
		}
	}
	if text := string(r.ResponseBody); utf8.ValidString(text) {
		out.Content.Text = w.hide(text)
	} else if encoded, ok := w.encode(r.ResponseBody); ok {
		out.Content.Text, out.Content.Encoding = encoded, "base64"
	} else {
		out.Content.Comment = hasSecret
	}
	return out
}

func (w *Writer) setCookie(c *http.Cookie) cookie {
	out := cookie{
		Name: w.hide(c.Name), Value: w.hide(c.Value), Path: c.Path, Domain: c.Domain,
		HTTPOnly: c.HttpOnly, Secure: c.Secure,
	}
	if !c.Expires.IsZero() {
		out.Expires = timeText(c.Expires)
	}
	switch c.SameSite {
	case http.SameSiteLaxMode:
		out.SameSite = "Lax"
	case http.SameSiteStrictMode:
		out.SameSite = "Strict"
	case http.SameSiteNoneMode:
		out.SameSite = "None"
	}
	return out
}

func (w *Writer) message(m history.SocketMessage) message {
	out := message{Type: "receive", Time: float64(m.At.UnixMicro()) / 1e6, Opcode: m.Opcode}
	if m.Sent {
		out.Type = "send"
	}
	if m.Opcode == 1 {
		out.Data = w.hide(string(m.Data))
	} else if encoded, ok := w.encode(m.Data); ok {
		out.Data = encoded
	} else {
		out.Comment = hasSecret
	}
	return out
}

// hasSecret is why binary data is left out.
const hasSecret = "left out: it is binary and contains a value of --secrets, which cannot be replaced in it"

// encode is binary data in base64; false: it contains a secret.
func (w *Writer) encode(data []byte) (encoded string, ok bool) {
	if text := string(data); w.hide(text) != text {
		return "", false
	}
	return base64.StdEncoding.EncodeToString(data), true
}

// headers are those on the wire, sorted by name. A name with several values has several.
func (w *Writer) headers(all map[string]string) []pair {
	out := []pair{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for line := range strings.SplitSeq(all[name], "\n") {
			out = append(out, pair{Name: name, Value: w.hide(line)})
		}
	}
	return out
}

// fields are those of an encoded form, in their order.
func (w *Writer) fields(encoded string) []pair {
	out := []pair{}
	for field := range strings.SplitSeq(encoded, "&") {
		if field == "" {
			continue
		}
		name, value, _ := strings.Cut(field, "=")
		out = append(out, pair{Name: w.hide(unescape(name)), Value: w.hide(unescape(value))})
	}
	return out
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

func version(protocol string) string {
	switch protocol {
	case "h2":
		return "HTTP/2.0"
	case "h3":
		return "HTTP/3.0"
	}
	return strings.ToUpper(protocol)
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
