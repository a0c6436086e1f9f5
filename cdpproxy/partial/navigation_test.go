package partial_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// TestUserNavigatesOutOfReach: a client that watches a tab with all that there is gets nothing of a page
// that is out of reach when the user goes there, neither its address nor its content.
func TestUserNavigatesOutOfReach(t *testing.T) {
	u := startBehind(t, func(whole browser.Browser) browser.Browser { return whole },
		"--load-extension="+extension(t), "--disable-features=DisableLoadExtensionCommandLineSwitch")
	finder := u.Attach(u.open(u.site + "/bank"))
	loaded(u.Client, finder)
	const frame = `new Promise(is => { const look = () => { const frame = document.querySelector("iframe");
		frame ? is(frame.src) : setTimeout(look, 10) }; look() })`
	var vault struct{ Result struct{ Value string } }
	u.Call(finder, "Runtime.evaluate", fmt.Sprintf(`{"awaitPromise":true,"returnByValue":true,"expression":%q}`, frame), &vault)
	file := filepath.Join(t.TempDir(), "taxes.html")
	must.Do(t, os.WriteFile(file, []byte("<title>taxes</title><script>console.log('taxes')</script>"), 0o600))
	for name, c := range map[string]struct{ address, mark string }{
		"a file":       {"file://" + file, "taxes"},
		"an extension": {vault.Result.Value, "vault.html"},
		"settings":     {"chrome://version/?taxes", "chrome:"},
	} {
		for kind, handed := range map[string]bool{"handed over": true, "opened by a client": false} {
			t.Run(name+", "+kind, func(t *testing.T) {
				client := cdptest.Dial(t, u.url)
				client.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
				var tab string
				if handed {
					tab = u.handOver(u.site + "/shop")
				} else {
					tab = opened(client, u.site+"/shop")
				}
				session := client.Attach(tab)
				loaded(client, session)
				watch(client, session)
				users := u.Attach(tab)
				u.Call(users, "Page.navigate", fmt.Sprintf(`{"url":%q}`, c.address), nil)
				client.Event("", "Target.targetDestroyed", tab)
				if m := client.Try(session, "Runtime.evaluate", `{"expression":"document.title"}`); m.Error == nil {
					t.Errorf("the session has a result: %s", m.Result)
				}
				client.Call("", "Browser.getVersion", "", nil)
				for _, m := range client.Messages() {
					if strings.Contains(string(m.Params)+string(m.Result), c.mark) {
						t.Errorf("the client gets %s %.300s", m.Method, m.Params)
					}
				}
			})
		}
	}
}

// handOver opens one of the user's own tabs, which is handed over.
func (u *user) handOver(address string) (id string) {
	id = u.open(address)
	must.Await(u.t, "the tab is known", func() bool { return u.part.HandOver(id) == nil })
	return id
}

// watch has a client watch a tab with all that there is.
func watch(client *cdptest.Client, session string) {
	for _, domain := range []string{"Page", "Runtime", "Network", "DOM", "Log", "Debugger", "CSS", "Accessibility",
		"Performance", "Security", "Audits", "DOMStorage", "Inspector", "PerformanceTimeline"} {
		client.Try(session, domain+".enable", `{}`)
	}
	client.Try(session, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	client.Try(session, "Page.startScreencast", `{"format":"jpeg"}`)
	client.Try(session, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`)
	client.Try(session, "Target.setDiscoverTargets", `{"discover":true}`)
}

// TestExtensionsAreOutOfReach: no command reaches a target of an extension, whatever its kind, nor opens one.
func TestExtensionsAreOutOfReach(t *testing.T) {
	folder := extension(t)
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version":3,"name":"vault","version":"1","background":{"service_worker":"worker.js"},
			"options_page":"vault.html","web_accessible_resources":[{"resources":["vault.html"],"matches":["<all_urls>"]}]}`,
		"worker.js": "onmessage = () => {}",
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	u := startBehind(t, func(whole browser.Browser) browser.Browser { return whole },
		"--load-extension="+folder, "--disable-features=DisableLoadExtensionCommandLineSwitch")
	u.Call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`, nil)
	u.Event("", "Target.targetCreated", `"service_worker"`)
	var all struct {
		Targets []struct {
			ID   string `json:"targetId"`
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"targetInfos"`
	}
	u.Call("", "Target.getTargets", `{"filter":[{}]}`, &all)
	var root string
	for _, each := range all.Targets {
		if rest, is := strings.CutPrefix(each.URL, "chrome-extension://"); is {
			id, _, _ := strings.Cut(rest, "/")
			root = "chrome-extension://" + id
		}
	}
	options := u.open(root + "/vault.html")
	u.Call("", "Target.getTargets", `{"filter":[{}]}`, &all)
	c := cdptest.Dial(t, u.url)
	own := opened(c, u.site+"/own")
	session := c.Attach(own)
	loaded(c, session)
	kinds := map[string]bool{}
	for _, each := range all.Targets {
		if !strings.HasPrefix(each.URL, "chrome-extension:") {
			continue
		}
		kinds[each.Type] = true
		params := fmt.Sprintf(`{"targetId":%q,"flatten":true,"waitForDebuggerOnStart":false}`, each.ID)
		for _, method := range []string{"Target.attachToTarget", "Target.getTargetInfo", "Target.activateTarget",
			"Target.closeTarget", "Target.autoAttachRelated", "Target.exposeDevToolsProtocol", "Target.openDevTools",
			"Target.getDevToolsTarget", "Browser.getWindowForTarget"} {
			for _, in := range []string{"", session} {
				if m := c.Try(in, method, params); m.Error == nil {
					t.Errorf("%s of the %s: %s", method, each.Type, m.Result)
				}
			}
		}
		if err := u.part.HandOver(each.ID); err == nil {
			t.Errorf("the %s was handed over", each.Type)
		}
		base, _, _ := strings.Cut(strings.Replace(u.url, "ws:", "http:", 1), "/devtools/")
		if status, text := cdptest.Request(t, http.MethodGet, base+"/devtools/page/"+each.ID); status < 400 {
			t.Errorf("the address of the %s: %d %s", each.Type, status, text)
		}
	}
	if !kinds["service_worker"] || !kinds["page"] {
		t.Errorf("the extension has only %v", kinds)
	}
	c.Call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{}]}`, nil)
	if m := c.Try("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, root+"/vault.html")); m.Error == nil {
		t.Errorf("the client opens the extension: %s", m.Result)
	}
	if m := c.Try(session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, root+"/vault.html")); m.Error == nil {
		t.Errorf("the client's tab goes to the extension: %s", m.Result)
	}
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":"location = '%s'; 0"}`, root+"/vault.html"), nil)
	c.Event("", "Target.targetDestroyed", own)
	for _, m := range c.Messages() {
		if text := string(m.Params) + string(m.Result); strings.Contains(text, "chrome-extension:") {
			t.Errorf("the client gets %s %.300s", m.Method, text)
		}
	}
	if u.Try("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, options)).Error != nil {
		t.Error("the user's options are gone")
	}
}
