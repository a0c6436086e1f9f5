package virtual_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// sharedClient is a client of a page's shared CDP session, as jsDebug serves it.
type sharedClient struct {
	page *sharedPage
	ws   *websocket.Conn
	// mu keeps the order of what is sent.
	mu       sync.Mutex
	prefixes []string // guarded by jsDebug.mu
}

// share serves a page's shared CDP.
func (d *jsDebug) share(w http.ResponseWriter, r *http.Request) {
	p := d.page(strings.TrimPrefix(r.URL.Path, "/"))
	if p == nil {
		http.Error(w, "no such path", http.StatusBadRequest)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
	if err != nil {
		return
	}
	ws.SetReadLimit(-1)
	c := &sharedClient{page: p, ws: ws}
	d.mu.Lock()
	p.clients[c] = true
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(p.clients, c)
		d.mu.Unlock()
		ws.CloseNow()
	}()
	for {
		_, data, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		c.receive(data)
	}
}

func (c *sharedClient) send(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.Write(context.Background(), websocket.MessageText, text)
}

func (c *sharedClient) receive(data []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal(data, &m); err != nil {
		c.send(map[string]any{"id": 0, "error": map[string]any{"code": -32700, "message": err.Error()}})
		return
	}
	d, p := c.page.debug, c.page
	parts := strings.Split(m.Method, ".")
	domain, name := parts[0], parts[1]
	m.Method = domain + "." + name
	if domain == "JsDebug" {
		var s struct{ Events []string }
		if name != "subscribe" || json.Unmarshal(m.Params, &s) != nil {
			c.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32601,
				"message": m.Method + " not found"}})
			return
		}
		d.mu.Lock()
		for _, e := range s.Events {
			c.prefixes = append(c.prefixes, strings.TrimSuffix(e, "*"))
		}
		d.mu.Unlock()
		c.send(map[string]any{"id": m.ID, "result": struct{}{}})
		return
	}
	if len(m.Params) == 0 {
		m.Params = json.RawMessage("{}")
	}
	if m.Method == "Target.createTarget" || m.Method == "Browser.setDownloadBehavior" {
		m.Params = fmt.Appendf(nil, `{"browserContextId":%q,%s`, d.context, m.Params[1:])
	}
	if d.answersIntegrated(m.Method, m.Params) {
		result := map[string]any{}
		if m.Method == "Target.getTargetInfo" {
			result["targetInfo"] = map[string]any{"targetId": "integrated", "type": "browser", "title": "VS Code",
				"url": "", "attached": true, "canAccessOpener": false}
		}
		c.send(map[string]any{"id": m.ID, "result": result})
		return
	}
	d.mu.Lock()
	late := d.late[m.Method]
	d.mu.Unlock()
	if late != nil {
		<-late
	}
	// The replayed events come before the response.
	d.mu.Lock()
	var again []replay
	for _, event := range []string{"Runtime.executionContextCreated", "Runtime.consoleAPICalled"} {
		switch m.Method {
		case "Runtime.enable":
			again = append(again, p.replays[event]...)
		case "Runtime.disable":
			delete(p.replays, event)
		}
	}
	if m.Method == "Debugger.enable" && p.paused != nil {
		again = append(again, *p.paused)
	}
	d.mu.Unlock()
	for _, r := range again {
		c.send(map[string]any{"method": r.method, "params": r.params})
	}
	d.send(p.session, m.Method, string(m.Params), func(r reply) {
		if r.Error != nil {
			c.send(map[string]any{"id": m.ID, "error": r.Error})
			return
		}
		c.send(map[string]any{"id": m.ID, "result": r.Result})
	})
}

func (d *jsDebug) answersIntegrated(method string, params json.RawMessage) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var p struct{ TargetID string }
	_ = json.Unmarshal(params, &p)
	return d.integrated && (method == "Target.setDiscoverTargets" || method == "Target.getTargetInfo" &&
		p.TargetID == "")
}

// breakOff breaks every connection to a page's shared CDP session.
func (d *jsDebug) breakOff(p *sharedPage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range p.clients {
		go c.ws.CloseNow()
	}
}
