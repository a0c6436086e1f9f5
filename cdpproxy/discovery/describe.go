package discovery

import "cmp"

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

// WithAddresses adds the addresses of the target. base is HOST:PORT with the prefix of all
// paths, revision is the browser's. Without a revision there is no front-end
// address.
func (t Target) WithAddresses(base, revision string) Target {
	address := base + "/devtools/page/" + t.ID
	t.WebSocket = "ws://" + address
	if revision != "" {
		t.Frontend = "https://chrome-devtools-frontend.appspot.com/serve_rev/" + revision + "/inspector.html?ws=" +
			address
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
	Protocol  string `json:"Protocol-Version"`
	UserAgent string `json:"User-Agent"`
	V8        string `json:"V8-Version"`
	WebSocket string `json:"webSocketDebuggerUrl"`
}

// Version describes the browser at the WebSocket URL.
func (p Product) Version(url string) Version {
	protocol := cmp.Or(p.Protocol, "1.3")
	return Version{Browser: p.Name, Protocol: protocol, UserAgent: p.UserAgent, V8: p.JS, WebSocket: url}
}
