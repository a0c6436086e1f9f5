package partial_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// TestCrashedTab: commands for a page that has crashed do not run in a page out of reach that the user opens in
// its tab next.
func TestCrashedTab(t *testing.T) {
	u := start(t)
	file := filepath.Join(t.TempDir(), "taxes.html")
	must.Do(t, os.WriteFile(file, []byte("<title>taxes</title><input autofocus>"), 0o600))
	for kind, handed := range map[string]bool{"handed over": true, "opened by a client": false} {
		t.Run(kind, func(t *testing.T) {
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
			pending := client.Start(session, "Runtime.evaluate", `{"awaitPromise":true,"expression":"new Promise(() => {})"}`)
			users := u.Attach(tab)
			u.Start(users, "Page.crash", "")
			client.Event(session, "Inspector.targetCrashed", "")
			sent := map[int]string{pending: "before"}
			for method, params := range map[string]string{
				"Runtime.evaluate":         `{"expression":"top.owned = true; document.title"}`,
				"Runtime.callFunctionOn":   `{"functionDeclaration":"() => top.owned = true","executionContextId":1}`,
				"DOM.getDocument":          "",
				"DOM.setNodeValue":         `{"nodeId":1,"value":"owned"}`,
				"Page.captureScreenshot":   "",
				"Page.setDocumentContent":  `{"frameId":"` + tab + `","html":"owned"}`,
				"Page.createIsolatedWorld": `{"frameId":"` + tab + `"}`,
				"Input.insertText":         `{"text":"owned"}`,
				"Input.dispatchKeyEvent":   `{"type":"char","text":"o"}`,
				"Input.imeSetComposition":  `{"text":"owned","selectionStart":0,"selectionEnd":0}`,
			} {
				sent[client.Start(session, method, params)] = method
			}
			client.Call("", "Browser.getVersion", "", nil) // the browser has the commands
			u.Call(users, "Page.navigate", fmt.Sprintf(`{"url":"file://%s"}`, file), nil)
			client.Event("", "Target.targetDestroyed", tab)
			client.Event("", "Target.detachedFromTarget", session)
			loaded(u.Client, users)
			page := `new Promise((seen) => requestAnimationFrame(() => setTimeout(() => seen(document.title + " " +
				typeof owned + document.documentElement.outerHTML.includes("owned") + document.querySelector("input").value))))`
			if got := u.Evaluate(users, page); strings.Trim(got, `"`) != "taxes undefinedfalse" {
				t.Errorf("the user's page is %s", got)
			}
			for _, m := range client.Messages() {
				if strings.Contains(m.Text, "taxes") || sent[m.ID] != "" && m.Error == nil && string(m.Result) != "{}" {
					t.Errorf("the client gets, for %s, %.300s", sent[m.ID], m.Text)
				}
			}
		})
	}
}

// TestDownloadsAndProcesses: a client of a tab that was handed over gets nothing of the user's other tabs, nor of
// files, when the user downloads there and here, when the process that the tabs share crashes, and when a tab goes
// to another site and process.
func TestDownloadsAndProcesses(t *testing.T) {
	u, client, _, bank := sharing(t)
	folder, clients := t.TempDir(), t.TempDir()
	behavior := func(folder string) string {
		return fmt.Sprintf(`{"behavior":"allow","downloadPath":%q,"eventsEnabled":true}`, folder)
	}
	u.Call("", "Browser.setDownloadBehavior", behavior(folder), nil)
	file := filepath.Join(t.TempDir(), "taxes.bin")
	must.Do(t, os.WriteFile(file, []byte{0, 1, 2}, 0o600))
	tab := u.handOver(u.site + "/shop")
	session, here := client.Attach(tab), u.Attach(tab)
	loaded(client, session)
	client.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	watch(client, session)
	for _, in := range []string{"", session} {
		client.Try(in, "Browser.setDownloadBehavior", behavior(clients))
		client.Try(in, "Page.setDownloadBehavior", behavior(clients))
	}
	downloads := 0
	download := func(session, address string) (id string) {
		u.Start(session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, address))
		var begun struct{ GUID string }
		u.Event("", "Browser.downloadWillBegin", address).Decode(t, &begun)
		downloads++
		u.EventN("", "Browser.downloadProgress", `"completed"`, downloads)
		return begun.GUID
	}
	elsewhere := download(bank, u.site+"/download?"+secret)
	local := download(here, "file://"+file)
	download(here, u.site+"/download?shop")
	client.Event(session, "Page.downloadWillBegin", "/download?shop")
	for _, id := range []string{elsewhere, local} {
		if m := client.Try("", "Browser.cancelDownload", fmt.Sprintf(`{"guid":%q}`, id)); m.Error == nil {
			t.Error("the client ends a download of the user")
		}
	}

	// All tabs of the process crash. The user goes on in each.
	u.Call(bank, "Inspector.enable", "", nil)
	u.Start(here, "Page.crash", "")
	client.Event(session, "Inspector.targetCrashed", "")
	u.Event(bank, "Inspector.targetCrashed", "")
	var ids []int
	evaluate := func() {
		for range 20 {
			ids = append(ids, client.Start(session, "Runtime.evaluate", `{"expression":"owned = true; location.href"}`))
		}
	}
	evaluate()
	u.Call(bank, "Page.navigate", fmt.Sprintf(`{"url":"%s/bank?%s"}`, u.site, secret), nil)
	other := strings.Replace(u.site, "127.0.0.1", "localhost", 1)
	for _, site := range []string{u.site, other, u.site, other} {
		id := u.Start(here, "Page.navigate", fmt.Sprintf(`{"url":"%s/shop"}`, site))
		swap := u.Start(bank, "Page.navigate", fmt.Sprintf(`{"url":"%s/bank?%s"}`, site, secret))
		evaluate()
		u.Answer(id)
		u.Answer(swap)
		evaluate()
	}
	for _, id := range ids {
		client.Answer(id)
	}
	loaded(u.Client, bank)
	if got := u.Evaluate(bank, "typeof owned"); !strings.Contains(got, "undefined") {
		t.Errorf("a command ran in the user's tab: %s", got)
	}
	var whole struct{ TargetInfo struct{ TargetID string } }
	u.Call(bank, "Target.getTargetInfo", "", &whole)
	reached := 0
	for _, m := range client.Messages() {
		text := m.Text
		for _, mark := range []string{secret, "taxes", whole.TargetInfo.TargetID, elsewhere, local, "Browser.download"} {
			if strings.Contains(text, mark) {
				t.Errorf("the client gets %q in %.300s", mark, text)
			}
		}
		var result struct{ Result struct{ Value string } }
		if json.Unmarshal(m.Result, &result) == nil && strings.HasSuffix(result.Result.Value, "/shop") {
			reached++
		}
	}
	if reached == 0 {
		t.Error("no command reached the tab that was handed over")
	}
	if files := must.Get(os.ReadDir(clients))(t); len(files) > 0 {
		t.Errorf("the client's folder has %v", files)
	}
}
