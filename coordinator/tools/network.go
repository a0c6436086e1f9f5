package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type requestsIn struct {
	All    bool   `json:"all,omitempty" about:"also before the last navigation"`
	Failed bool   `json:"failed,omitempty" about:"only failed, or status 400 and more"`
	Static bool   `json:"static,omitempty" about:"also images, scripts, styles …"`
	Filter string `json:"filter,omitempty" about:"regular expression for URLs"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_network_requests", Title: "Network requests", Description: "The page's network requests, numbered",
	Effect: Reads,
	Shell:  []command{{Name: "requests", Args: "[filter]"}},
	Returns: "requests and WebSockets (without their messages), with a line before each further document; `@` is " +
		"before the place in your files that made it",
	Data: "`requests`: `index`, `method`, `url`, `status`, `failed`, `type`, `size` (bytes), `time` (ms), " +
		"`navigation`, `place` (where your files make it)",
	Example: `{"static": true}`,
}, calls[requestsIn]{Do: requests})

type requestIn struct {
	Index int64  `json:"index"`
	Part  string `json:"part,omitempty" oneof:"request-headers request-body response-headers response-body"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_network_request", Title: "Network request", Description: "One request in full: headers and bodies",
	Effect: Reads,
	Shell:  []command{{Name: "request", Args: "index [part]"}},
	Returns: "headers with cookies, and why one was not stored; the first 2,000 bytes of each body, with `part` " +
		"all of it",
	Notes: "Of a response that goes on, such as server-sent events, it has the last 64 kB so far. A form with a " +
		"binary file is shown by its fields.",
	Example: `{"index": 1}`,
}, calls[requestIn]{Do: request})

// staticTypes are the resources that a page is made of; they rarely matter to an agent.
var staticTypes = []string{"image", "font", "script", "stylesheet", "media", "manifest"}

func requests(ctx context.Context, c *agent.Call, in requestsIn) error {
	filter, err := snapshot.Pattern(in.Filter)
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("requests of %s %v %v %v %s", p.ID(), in.All, in.Failed, in.Static, in.Filter)
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	wanted := func(r history.Request) bool {
		good := r.Failed == "" && r.Status < http.StatusBadRequest
		return filter.MatchString(r.URL) && !(good &&
			(in.Failed || !in.Static && slices.Contains(staticTypes, strings.ToLower(r.Type))))
	}
	all, refused := answer.Readable(c.Agent.Origins, p.History().Network.Requests(ctx))
	c.Out.LeftOut(refused, "requests")
	earlier := 0
	if !in.All {
		all, earlier = ofDocument(all)
	}
	p.Sources().LocateRequests(ctx, all)
	list, text := describeRequests(all, wanted)
	if len(list) == 0 {
		none := "No request was made, or none that is asked for."
		if earlier > 0 {
			none += fmt.Sprintf(" With all there are %d from before the last navigation.", earlier)
		}
		answer.SetList(c.Out, "requests", list, none)
		return nil
	}
	return c.Out.Data(in.Paged, file, what, text, "requests", list)
}

// ofDocument returns the requests since the last navigation, and how many there were
// before. Their numbers say nothing: those from before the connection are read later.
func ofDocument(requests []history.Request) (own []history.Request, earlier int) {
	var began time.Time
	for _, r := range requests {
		if r.Opened && r.Started.After(began) {
			began = r.Started
		}
	}
	for _, r := range requests {
		if r.Started.IsZero() || !r.Started.Before(began) {
			own = append(own, r)
		}
	}
	return own, len(requests) - len(own)
}

// requestOut is one request in the structured answer of browser_network_requests.
type requestOut struct {
	Index      int64  `json:"index"`
	Method     string `json:"method,omitempty"`
	URL        string `json:"url"`
	Status     int    `json:"status,omitempty"`
	Failed     string `json:"failed,omitempty"`
	Type       string `json:"type,omitempty"` // MIME
	Size       int64  `json:"size,omitempty"` // bytes
	Time       int64  `json:"time,omitempty"` // ms; none: not done
	Navigation bool   `json:"navigation,omitempty"`
	Place      string `json:"place,omitempty"` // file:line:column in the workspace
}

// describeRequests has the wanted requests as data, and as text: a line for each, and one
// before the first of each further document.
func describeRequests(requests []history.Request, wanted func(history.Request) bool) (list []requestOut, text string) {
	var lines []string
	opened := ""
	for _, r := range requests {
		if r.Opened {
			opened = r.URL
		}
		if !wanted(r) {
			continue
		}
		if opened != "" && len(lines) > 0 {
			lines = append(lines, "Navigated to "+opened+":")
		}
		opened = ""
		lines = append(lines, requestLine(r))
		out := requestOut{Index: r.Seq, Method: r.Method, URL: r.URL, Status: r.Status, Failed: answer.Reason(r),
			Type: r.MIMEType, Navigation: r.Navigation, Place: r.Place}
		if r.Done && r.Failed == "" {
			out.Size, out.Time = max(r.Size, 0), r.Duration.Milliseconds()
		}
		list = append(list, out)
	}
	return list, strings.Join(lines, "\n")
}

func requestLine(r history.Request) string {
	outcome := fmt.Sprint(r.Status)
	switch {
	case r.Failed != "" && r.Status != 0: // its body was not read to the end, for example
		outcome += ", then " + answer.Reason(r)
	case r.Failed != "":
		outcome = answer.Reason(r)
	case r.Status == http.StatusSwitchingProtocols && !r.Done:
		outcome += " (open)"
	case r.Status == 0 && r.Done:
		outcome = "done"
	case r.Status == 0:
		outcome = "no answer yet"
	}
	line := fmt.Sprintf("%d. %s %s => %s", r.Seq, cmp.Or(r.Method, "(method not seen)"), r.URL, outcome)
	if r.Done && r.Failed == "" {
		size := ""
		if r.Size >= 0 { // the size of a blob is unknown
			size = fmt.Sprintf(" %d B,", r.Size)
		}
		line += fmt.Sprintf(" (%s,%s %d ms)", r.MIMEType, size, r.Duration/time.Millisecond)
	}
	if r.Place != "" {
		line += " @ " + r.Place
	}
	return line
}

func request(ctx context.Context, c *agent.Call, in requestIn) error {
	const requestHeaders, requestBody, responseHeaders, responseBody = "request-headers", "request-body",
		"response-headers", "response-body"
	kind := output.Text
	if strings.HasSuffix(in.Part, "-body") {
		kind = nil // the page's server chooses it
	}
	p, file, err := c.PageAndFile(ctx, in.Filename, kind)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("request %d of %s %s", in.Index, p.ID(), in.Part)
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	r, err := p.History().Network.Request(ctx, in.Index)
	if err != nil {
		return err
	}
	for _, address := range r.Request.Addresses() {
		if err := c.Agent.CheckOrigin(address); err != nil {
			return err
		}
	}
	if err := c.Agent.MayShow(ctx, p.Folders(), r.URL); err != nil {
		return err
	}
	if in.Part == requestBody && r.RequestNote != "" {
		return fmt.Errorf("the body of request %d is not known: %s", in.Index, r.RequestNote)
	}
	sent := bodyText(r.RequestBody, history.Header(r.RequestHeaders, "Content-Type"))
	if r.RequestNote != "" {
		sent = "(" + r.RequestNote + ")"
	}
	body := bodyText(r.ResponseBody, r.MIMEType)
	if r.BodyNote != "" {
		body = strings.TrimLeft(body+"\n("+r.BodyNote+")", "\n")
	}
	if file != nil {
		switch in.Part {
		case requestBody:
			file = file.As(bodyKind(r.RequestBody, history.Header(r.RequestHeaders, "Content-Type")))
		case responseBody:
			file = file.As(bodyKind(r.ResponseBody, r.MIMEType))
		}
	}
	parts := []struct{ name, text string }{
		{requestHeaders, headerText(r.RequestHeaders)},
		{requestBody, sent},
		{responseHeaders, headerText(r.ResponseHeaders)},
		{responseBody, body},
	}
	var lead strings.Builder
	if in.Part == "" {
		made := []history.Request{r.Request}
		p.Sources().LocateRequests(ctx, made)
		fmt.Fprintln(&lead, requestLine(made[0]))
		if len(r.Calls) > 0 && made[0].Place == "" && c.Agent.CheckOrigin(r.Calls[0].URL) == nil {
			fmt.Fprintln(&lead, "made at", r.Calls[0])
		}
	}
	textOf := func(short bool) string {
		text := lead.String()
		for _, part := range parts {
			switch {
			case in.Part == part.name:
				text += part.text
			case in.Part == "" && part.text != "":
				shown := part.text
				if short && strings.HasSuffix(part.name, "-body") {
					shown = beginning(shown, part.name)
				}
				text += fmt.Sprintf("\n%s:\n%s\n", part.name, shown)
			}
		}
		return strings.TrimRight(text, "\n")
	}
	whole := textOf(false)
	short := textOf(true)
	if file == nil && c.Agent.Whole && short != whole {
		c.Out.QuoteCut(short, whole)
		return nil
	}
	if file == nil {
		whole = short
	}
	return c.Out.Text(in.Paged, file, what, whole)
}

// maxBeginning bounds how much of a body is shown among the other parts, in bytes.
const maxBeginning = 2000

func beginning(body, part string) string {
	if len(body) <= maxBeginning {
		return body
	}
	return strings.ToValidUTF8(body[:maxBeginning], "") +
		fmt.Sprintf("…\n(the first %d of %d bytes: part %s has all)", maxBeginning, len(body), part)
}

func headerText(headers map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for value := range strings.SplitSeq(headers[name], "\n") {
			lines = append(lines, name+": "+value)
		}
	}
	return strings.Join(lines, "\n")
}

// bodyKind is the kind of file for the body that bodyText returns.
func bodyKind(body []byte, contentType string) output.Kind {
	if !utf8.Valid(body) {
		return output.Text
	}
	return output.OfType(contentType)
}

func bodyText(body []byte, kind string) string {
	if utf8.Valid(body) {
		return string(body)
	}
	if fields, ok := formText(body, kind); ok {
		return fields
	}
	return fmt.Sprintf("(%d bytes of %s)", len(body), cmp.Or(kind, "an unknown type"))
}

// formText is the text of a form with files: its fields as they are, and of a file that is no
// text only its size.
func formText(body []byte, kind string) (string, bool) {
	_, params, err := mime.ParseMediaType(kind)
	if err != nil || params["boundary"] == "" {
		return "", false
	}
	var text strings.Builder
	for parts := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return strings.TrimRight(text.String(), "\n"), true
		}
		if err != nil {
			return "", false
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return "", false
		}
		for _, name := range slices.Sorted(maps.Keys(part.Header)) {
			fmt.Fprintf(&text, "%s: %s\n", name, strings.Join(part.Header[name], ", "))
		}
		shown := string(value)
		if !utf8.Valid(value) {
			shown = fmt.Sprintf("(%d bytes)", len(value))
		}
		fmt.Fprintf(&text, "\n%s\n\n", shown)
	}
}
