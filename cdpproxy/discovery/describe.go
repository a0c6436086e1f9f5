package discovery

import (
	"bytes"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
)

// Target is an entry of /json/list, and the response to /json/new.
type Target struct {
	Description string `json:"description"`
	Frontend    string `json:"devtoolsFrontendUrl,omitempty"`
	ID          string `json:"id"`
	Parent      string `json:"parentId,omitempty"`
	Title       string `json:"title"`
	Type        string `json:"type"`
	URL         string `json:"url"`
	WebSocket   string `json:"webSocketDebuggerUrl"`
}

// At adds the addresses of the target. base is HOST:PORT with the prefix of all
// paths, revision is the browser's. Without a revision there is no front-end
// address.
func (t Target) At(base, revision string) Target {
	address := base + "/devtools/page/" + t.ID
	t.WebSocket = "ws://" + address
	if revision != "" {
		t.Frontend = "https://chrome-devtools-frontend.appspot.com/serve_rev/" + revision + "/inspector.html?ws=" + address
	}
	return t
}

// Product is the result of Browser.getVersion.
type Product struct {
	Protocol  string `json:"protocolVersion"`
	Name      string `json:"product"`
	Revision  string `json:"revision"`
	UserAgent string `json:"userAgent"`
	JS        string `json:"jsVersion"`
}

// Version is the response to /json/version.
type Version struct {
	Browser   string `json:"Browser"`
	PathStyle string `json:"File-Path-Style"`
	Protocol  string `json:"Protocol-Version"`
	UserAgent string `json:"User-Agent"`
	V8        string `json:"V8-Version"`
	WebKit    string `json:"WebKit-Version"`
	WebSocket string `json:"webSocketDebuggerUrl"`
}

// Version describes the browser at the WebSocket URL.
func (p Product) Version(url string) Version {
	v := Version{Browser: p.Name, Protocol: p.Protocol, UserAgent: p.UserAgent, V8: p.JS, WebSocket: url, PathStyle: pathStyle()}
	if v.Protocol == "" {
		v.Protocol = "1.3"
	}
	if _, engine, ok := strings.Cut(p.UserAgent, "AppleWebKit/"); ok {
		engine, _, _ = strings.Cut(engine, " ")
		v.WebKit = engine + " (" + p.Revision + ")"
	}
	return v
}

// pathStyle is that of the system, which the browser and this process share.
func pathStyle() string {
	if runtime.GOOS == "windows" {
		return "windows"
	}
	return "posix"
}

// HTMLType is Chromium's content type of a response outside /json/.
const HTMLType = "text/html"

// Answer writes a response as Chromium does.
func Answer(w http.ResponseWriter, status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write([]byte(text))
}

// AnswerText responds with plain text under /json/.
func AnswerText(w http.ResponseWriter, status int, text string) {
	Answer(w, status, ContentType, text)
}

// AnswerJSON responds with v, in Chromium's form.
func AnswerJSON(w http.ResponseWriter, v any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "   ")
	if err := encoder.Encode(v); err != nil {
		AnswerText(w, http.StatusInternalServerError, err.Error())
		return
	}
	AnswerText(w, http.StatusOK, out.String())
}

// RefuseVerb responds to a request for /json/new that is not a PUT.
func RefuseVerb(w http.ResponseWriter, method string) {
	w.Header().Set("Allow", http.MethodPut)
	AnswerText(w, http.StatusMethodNotAllowed, "Using unsafe HTTP verb "+method+" to invoke /json/new. This action supports only PUT verb.")
}
