package capture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagelock"
	"browser-coordinator/policy"
)

func TestMain(m *testing.M) { os.Exit(cdptest.Main(m)) }

// full is a user who lets clients do everything.
type full struct{ policy.User }

func (full) Access() (policy.State, <-chan struct{}) { return policy.State{Mode: policy.ModeFull}, nil }

type one struct{ browser *cdpproxy.Browser }

func (o one) Browser() (*cdpproxy.Browser, <-chan struct{}) { return o.browser, nil }

// stopping is a rule that can end each client.
type stopping struct {
	cdpproxy.Rule
	ends chan func(reason string) // of the clients, in their order
}

func (s stopping) Register(c *cdpproxy.Client, end func(reason string)) {
	s.Rule.Register(c, end)
	s.ends <- end
}

// served is an address for clients.
type served struct {
	url  string
	ends chan func(reason string) // of the clients; nil: only they themselves end
}

// endpoint serves a browser as a window does.
func endpoint(t *testing.T, url string) served {
	t.Helper()
	rule := stopping{access.NewRule(full{}, nil), make(chan func(string), 100)}
	t.Cleanup(func() { must.Do(t, rule.Rule.(*access.Rule).Close()) })
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := cdpproxy.New(one{&cdpproxy.Browser{Generation: 1, Name: "test", URL: url}},
		&cdpproxy.Options{Token: "token", Rule: rule})
	ended := make(chan error)
	go func() { ended <- p.Serve(ln) }()
	t.Cleanup(func() {
		must.Do(t, p.Shutdown(context.Background()))
		must.Do(t, <-ended)
	})
	_, text := cdptest.Request(t, http.MethodGet, "http://"+ln.Addr().String()+"/token/json/version")
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	must.Do(t, json.Unmarshal([]byte(text), &version))
	return served{version.URL, rule.ends}
}

// ways serve Chromium as each kind of browser.
var ways = map[string]func(t *testing.T, chromium string) served{
	"dialed":                 endpoint,
	"piped":                  func(t *testing.T, chromium string) served { return served{url: whole(t, chromium).URL()} },
	"piped, by the endpoint": func(t *testing.T, chromium string) served { return endpoint(t, whole(t, chromium).URL()) },
	"behind another endpoint": func(t *testing.T, chromium string) served {
		return endpoint(t, endpoint(t, chromium).url)
	},
	"own": func(t *testing.T, chromium string) served {
		_, url := cdptest.ServeOwn(t, chromium)
		return endpoint(t, url)
	},
}

func whole(t *testing.T, chromium string) *multiplex.Server {
	t.Helper()
	s := must.Get(multiplex.Serve(cdptest.DialTransport(t, chromium), slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(s.Close)
	return s
}

const content = `data:text/html,<title>page</title><body style='height:3000px;background:linear-gradient(red,blue)'>`

// page is one of a client.
type page struct {
	*cdptest.Client
	served      served
	id, session string
}

// open opens a page.
func open(t *testing.T, at served, address string) *page {
	t.Helper()
	p := &page{Client: cdptest.Dial(t, at.url), served: at}
	var made struct {
		ID string `json:"targetId"`
	}
	p.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, address), &made)
	p.id, p.session = made.ID, p.Attach(made.ID)
	for p.Evaluate(p.session, "document.title") != "page" {
		continue
	}
	return p
}

// close closes it.
func (p *page) close() {
	p.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, p.id), nil)
}

// join is another client of the page.
func (p *page) join(t *testing.T) *page {
	t.Helper()
	c := cdptest.Dial(t, p.served.url)
	return &page{c, p.served, p.id, c.Attach(p.id)}
}

// capture begins one.
func (p *page) capture(params string) (id int) {
	return p.Start(p.session, "Page.captureScreenshot", params)
}

// taken waits for captures.
func taken(t *testing.T, each ...cdptest.Message) {
	t.Helper()
	for _, m := range each {
		if m.Error != nil || !strings.Contains(string(m.Result), `"data"`) {
			t.Fatalf("a picture: %+v %.100s", m.Error, m.Result)
		}
	}
}

// inEach runs a test with each kind of browser.
func inEach(t *testing.T, test func(t *testing.T, at served)) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			test(t, way(t, cdptest.BrowserURL(t)))
		})
	}
}

// clips are captures that change the size of the page for their time.
var clips = []string{
	`{"clip":{"x":10,"y":10,"width":60,"height":40,"scale":1}}`,
	`{"clip":{"x":0,"y":0,"width":300,"height":200,"scale":0.4}}`,
	`{"captureBeyondViewport":true}`,
	`{"format":"jpeg","\u0063lip":{"scale":1,"height":50,"width":70,"y":0,"x":0}}`,
	`{"captur\u0065BeyondViewport":true,"clip":{"x":0,"y":0,"width":500,"height":2500,"scale":1}}`,
}

// TestOverlap: the captures of two clients, and of two sessions of one, at the same moment leave the
// page as it was.
func TestOverlap(t *testing.T) {
	inEach(t, func(t *testing.T, at served) {
		p := open(t, at, content)
		defer p.close()
		other := p.join(t)
		again := &page{p.Client, at, p.id, p.Attach(p.id)}
		before := p.Size(p.session)
		for round := range 20 {
			clip := func(n int) string { return clips[(round+n)%len(clips)] }
			first, second, third := p.capture(clip(0)), other.capture(clip(1)), again.capture(clip(2))
			taken(t, p.Answer(first), other.Answer(second), p.Answer(third))
			if after := p.Size(p.session); after != before {
				t.Fatalf("round %d: the page was %s and is %s", round, before, after)
			}
		}
	})
}

// TestOverlapOfPages: a client whose connection is a page's.
func TestOverlapOfPages(t *testing.T) {
	inEach(t, func(t *testing.T, at served) {
		p := open(t, at, content)
		defer p.close()
		own := &page{cdptest.Dial(t, strings.Split(at.url, "/devtools/")[0]+"/devtools/page/"+p.id), at, p.id, ""}
		before := p.Size(p.session)
		for round := range 10 {
			first, second := p.capture(clips[round%len(clips)]), own.capture(clips[0])
			taken(t, p.Answer(first), own.Answer(second))
			if after := p.Size(p.session); after != before {
				t.Fatalf("round %d: the page was %s and is %s", round, before, after)
			}
		}
	})
}

// TestLeave: a client that leaves during a capture, or ends its session, leaves the page as it was.
func TestLeave(t *testing.T) {
	for name, leave := range map[string]func(c *page){
		"cut off": func(c *page) { c.Leave() },
		"stopped": func(c *page) {
			stop := func(string) { c.Leave() }
			for len(c.served.ends) > 0 {
				stop = <-c.served.ends // of the latest client
			}
			stop("stopped by the user")
		},
		"detached": func(c *page) {
			c.Call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, c.session), nil)
		},
		"detached by auto-attach": func(c *page) {
			c.Call("", "Target.setAutoAttach", `{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, at served) {
				p := open(t, at, content)
				defer p.close()
				before := p.Size(p.session)
				for round := range 10 {
					c := cdptest.Dial(t, at.url)
					const all = `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`
					c.Call("", "Target.setAutoAttach", all, nil)
					var attached struct{ SessionID string }
					c.Event("", "Target.attachedToTarget", p.id).Decode(t, &attached)
					leaving := &page{c, at, p.id, attached.SessionID}
					leaving.capture(clips[round%len(clips)])
					leave(leaving)
					taken(t, p.Answer(p.capture(clips[0]))) // after the other one
					if after := p.Size(p.session); after != before {
						t.Fatalf("round %d: the page was %s and is %s", round, before, after)
					}
				}
			})
		})
	}
}

// TestTakenBack: a tab that the user takes back during a capture of a client is as it was.
func TestTakenBack(t *testing.T) {
	part, url := cdptest.ServeOwn(t, cdptest.BrowserURL(t))
	user := open(t, served{url: cdptest.BrowserURL(t)}, content)
	defer user.close()
	before := user.Size(user.session)
	at := endpoint(t, url)
	for round := range 10 {
		must.Do(t, part.HandOver(user.id))
		c := (&page{served: at, id: user.id}).join(t)
		c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
		c.capture(clips[round%len(clips)])
		c.Call("", "Browser.getVersion", "", nil) // the capture is under way
		must.Do(t, part.TakeBack(user.id))
		c.Event("", "Target.detachedFromTarget", c.session)
		if after := user.Size(user.session); after != before {
			t.Fatalf("round %d: the page was %s and is %s", round, before, after)
		}
	}
}

// TestOtherProgram: while another program takes a picture of the page, that of a client waits, but
// neither its other commands nor a picture of what is visible.
func TestOtherProgram(t *testing.T) {
	inEach(t, func(t *testing.T, at served) {
		p := open(t, at, content)
		defer p.close()
		release := must.Get(pagelock.Capture.Acquire(t.Context(), p.id))(t)
		waiting := p.capture(clips[0])
		for _, visible := range []string{"", "{}", `{"format":"png","captureBeyondViewport":false}`} {
			taken(t, p.Answer(p.capture(visible)))
		}
		leaving := p.join(t)
		leaving.capture(clips[1])
		leaving.Leave()
		for _, m := range p.Messages() {
			if m.ID == waiting {
				t.Error("the picture did not wait")
			}
		}
		must.Do(t, release())
		taken(t, p.Answer(waiting))
	})
}

// TestOwnProgram: a program of ours has locked the page itself.
func TestOwnProgram(t *testing.T) {
	inEach(t, func(t *testing.T, at served) {
		p := open(t, at, content)
		defer p.close()
		release := must.Get(pagelock.Capture.Acquire(t.Context(), p.id))(t)
		defer func() { must.Do(t, release()) }()
		conn := must.Get(cdp.Dial(t.Context(), at.url, nil))(t)
		defer conn.Close()
		session := must.Get(conn.Attach(t.Context(), target.ID(p.id)))(t)
		must.Do(t, session.Call(t.Context(), "Page.captureScreenshot", json.RawMessage(clips[0]), nil))
	})
}

// TestRefused: what cannot be protected is refused.
func TestRefused(t *testing.T) {
	p := open(t, endpoint(t, cdptest.BrowserURL(t)), content)
	defer p.close()
	var old struct{ SessionID string }
	p.Call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q}`, p.id), &old)
	carry := func(message string) cdptest.Message {
		params := must.Get(json.Marshal(map[string]string{"sessionId": old.SessionID, "message": message}))(t)
		return p.Try("", "Target.sendMessageToTarget", string(params))
	}
	if m := carry(`{"id":1,"method":"Page.captureScreenshot","params":` + clips[0] + `}`); m.Error == nil ||
		!strings.Contains(m.Error.Message, "flatten") {
		t.Errorf("a capture in a session that is not flat: %+v", m.Error)
	}
	if m := carry(`{"id":1,"method":"Page.captureScreenshot"}`); m.Error != nil {
		t.Errorf("a capture of what is visible there: %+v", m.Error)
	}
	if m := p.Try("unknown", "Page.captureScreenshot", clips[0]); m.Error == nil {
		t.Error("a capture in a session that does not exist")
	}
}

// TestReload: a picture of a document that goes may get no response. The next one waits for it only
// for a moment.
func TestReload(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, strings.TrimPrefix(content, "data:text/html,"))
	}))
	defer site.Close()
	p := open(t, endpoint(t, cdptest.BrowserURL(t)), site.URL)
	defer p.close()
	other := p.join(t)
	other.Call(other.session, "Runtime.enable", "", nil)
	p.Call(p.session, "Page.enable", "", nil)
	before := p.Size(p.session)
	start := time.Now()
	const rounds = 10
	for round := range rounds {
		other.capture(clips[2])
		p.Call(p.session, "Page.reload", "", nil)
		p.EventN(p.session, "Page.loadEventFired", "", round+1)
		taken(t, p.Answer(p.capture(clips[0])))
		if after := p.Size(p.session); after != before {
			t.Fatalf("round %d: the page was %s and is %s", round, before, after)
		}
	}
	if took := time.Since(start); took > 3*rounds*time.Second {
		t.Errorf("%d pictures took %v", rounds, took)
	}
}
