package partial

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// navigated has the parts of events that tell what a page shows, or is about to show.
type navigated struct {
	Method string `json:"method"`
	Params struct {
		Download string `json:"guid"`
		ID       string `json:"requestId"`
		State    string
		URL      string `json:"url"`
		Document string `json:"documentURL"`
		Frame    struct {
			URL    string `json:"url"`
			Parent string `json:"parentId"`
		} `json:"frame"`
		Request  struct{ URL string }
		Response struct{ URL string }
		Context  struct {
			Origin string
			Aux    struct {
				IsDefault bool
				Frame     string `json:"frameId"`
			} `json:"auxData"`
		}
	}
}

// keeps reports whether the client does not get an event of its session in a tab: it names an address
// that is out of reach, it goes on with a request or download of one, or the tab has shown such a page
// since. The browser reports the tab's new address later than that.
func (s *session) keeps(message []byte) bool {
	if s.target == "" || !bytes.HasPrefix(message, []byte(`{"method":"`)) {
		return false
	}
	method := message[len(`{"method":"`):]
	for _, prefix := range []string{"Page.", "Network.request", "Network.response", "Runtime.executionContextCreated"} {
		if bytes.HasPrefix(method, []byte(prefix)) {
			return s.follows(message)
		}
	}
	if len(s.kept) > 0 && bytes.HasPrefix(method, []byte("Network.")) {
		return s.follows(message)
	}
	return s.away
}

func (s *session) follows(message []byte) (kept bool) {
	var m navigated
	if json.Unmarshal(message, &m) != nil {
		return true
	}
	p := &m.Params
	for _, address := range []string{p.URL, p.Document, p.Frame.URL, p.Request.URL, p.Response.URL} {
		kept = kept || address != "" && !opensFrame(address)
	}
	if id := cmp.Or(p.Download, p.ID); id != "" && (kept || s.kept[id]) {
		kept = true
		if s.kept == nil {
			s.kept = map[string]bool{}
		}
		s.kept[id] = true
		if p.State == "completed" || p.State == "canceled" || strings.HasPrefix(m.Method, "Network.loadingF") {
			delete(s.kept, id) // finished or failed
		}
	}
	switch scheme, _, _ := strings.Cut(p.Context.Origin, "://"); {
	case m.Method == "Page.frameNavigated" && p.Frame.Parent == "":
		s.away = kept
	case p.Context.Aux.IsDefault && p.Context.Aux.Frame == s.target:
		s.away = scheme != "" && !opensFrame(p.Context.Origin) // "://" is the origin of no site
	}
	return kept || s.away
}
