package policy

import (
	"runtime"
	"strings"
	"testing"
)

// TestDecidePersonal: what a client may send in the user's own browser, where a tab of shop.test is in reach.
func TestDecidePersonal(t *testing.T) {
	middle := Deny // pastes, but on these
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		middle = Allow
	}
	for _, c := range []struct {
		method, params string
		outcome        Outcome
		reason         string
	}{
		{"DOM.getDocument", ``, Allow, ""},
		{"Page.reload", `{}`, Allow, ""},
		{"New.method", ``, Deny, "reach only the tabs"},
		{"New.enable", ``, Ignore, ""},
		{"New.disable", ``, Ignore, ""},
		{"Browser.setDownloadBehavior", `{"behavior":"allow"}`, Ignore, ""},
		{"Page.crash", ``, Deny, "--allow-close"},
		{"Page.navigate", `{"url":"chrome://crash"}`, Deny, ""},
		{Carrier, `{"message":"{\"method\":\"DOM.enable\"}"}`, Deny, "could reach the user's tabs"},
		{"Profiler.start", ``, Deny, "share the page's process"},
		{"HeapProfiler.collectGarbage", ``, Deny, "share the page's process"},
		{"Emulation.setTimezoneOverride", `{"timezoneId":"UTC"}`, Deny, "share the page's process"},
		{"DOM.setFileInputFiles", `{"files":["/etc/passwd"]}`, Deny, "give no files"},

		{"Page.navigate", `{"url":"https://new.test/"}`, Allow, ""},
		{"Page.navigate", `{"url":" HTTPS://new.test/"}`, Allow, ""},
		{"Page.navigate", `{"url":"about:blank#x"}`, Allow, ""},
		{"Page.navigate", `{"url":"about:srcdoc?x"}`, Allow, ""},
		{"Page.navigate", `{"url":"data:text/html,x"}`, Allow, ""},
		{"Page.navigate", `{"url":"blob:https://shop.test/1"}`, Allow, ""},
		{"Page.navigate", `{"url":"blob:null/1"}`, Allow, ""},
		{"Page.navigate", `{"url":"blob:chrome://settings/1"}`, Deny, ""},
		{"Page.navigate", `{"url":"file:///etc/passwd"}`, Deny, ""},
		{"Page.navigate", `{"url":"about:flags"}`, Deny, ""},
		{"Page.navigate", `{"url":"chrome://settings"}`, Deny, ""},
		{"Page.navigate", `{"url":"view-source:https://shop.test"}`, Deny, ""},
		{"Page.navigate", `{"url":"shop.test"}`, Deny, ""},
		{"Page.navigate", `{"url":7}`, Deny, ""},
		{"Page.navigate", `{`, Deny, ""},
		{"Page.navigate", ``, Deny, ""},
		{"Fetch.continueRequest", `{"requestId":"1"}`, Allow, ""},
		{"Fetch.continueRequest", `{"requestId":"1","url":"file:///etc/passwd"}`, Deny, ""},
		{"Page.captureScreenshot", `null`, Allow, ""},
		{"Page.captureScreenshot", `{"fromSurface":true}`, Allow, ""},
		{"Page.captureScreenshot", `{"fromSurface":false}`, Deny, ""},
		{"Target.getTargetInfo", `{}`, Allow, ""},
		{"Target.getTargetInfo", `{"targetId":"T"}`, Deny, ""},
		{"Browser.getWindowForTarget", `{"targetId":"T"}`, Deny, ""},

		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[]}}`, Allow, ""},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[],"files":["/etc/passwd"]}}`, Deny, "give no files"},
		{"Input.dispatchDragEvent", `{"type":"drop"}`, Deny, "give no files"},
		{"Input.dispatchMouseEvent", `{"type":"mouseMoved"}`, Allow, ""},
		{"Input.dispatchMouseEvent", `{"type":"mousePressed","button":"left"}`, Allow, ""},
		{"Input.dispatchMouseEvent", `{"type":"mousePressed","button":"middle"}`, middle, ""},
		{"Input.dispatchMouseEvent", `{"type":"mousePressed","button":1}`, middle, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"a"}`, Allow, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"v"}`, Allow, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"V","modifiers":2}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"v","modifiers":6}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","code":"KeyC","modifiers":4}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"rawKeyDown","windowsVirtualKeyCode":88,"modifiers":2}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"rawKeyDown","windowsVirtualKeyCode":88.5,"modifiers":2}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"rawKeyDown","windowsVirtualKeyCode":65,"modifiers":2}`, Allow, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"Insert","modifiers":8}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"Delete","modifiers":8}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"Delete"}`, Allow, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"Paste"}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"v","modifiers":"2"}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"a","commands":["selectAll","moveLeft"]}`, Allow, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"a","commands":["selectAll","Paste"]}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyDown","key":"a","commands":"paste"}`, Deny, "clipboard"},
		{"Input.dispatchKeyEvent", `{"type":"keyUp","key":"v","modifiers":2}`, Allow, ""},
		{"Input.dispatchKeyEvent", `{"type":"keyUp","commands":["paste"]}`, Deny, "clipboard"},

		{"Storage.getUsageAndQuota", `{"origin":"https://shop.test"}`, Allow, ""},
		{"Storage.getUsageAndQuota", `{"origin":"https://bank.test"}`, Deny, ""},
		{"Storage.getUsageAndQuota", `{}`, Deny, ""},
		{"IndexedDB.requestDatabaseNames", `{"storageKey":"https://shop.test/^0"}`, Allow, ""},
		{"IndexedDB.requestDatabaseNames", `{"securityOrigin":"https://shop.test","storageKey":"https://bank.test/"}`,
			Deny, ""},
		{"IndexedDB.requestDatabaseNames", `{"securityOrigin":"https://shop.test","storageBucket":{}}`, Deny, ""},
		{"Network.getCookies", `{}`, Allow, ""},
		{"Network.getCookies", `{"urls":["https://shop.test/","http://shop.test:81/"]}`, Allow, ""},
		{"Network.getCookies", `{"urls":["https://shop.test/","https://bank.test/"]}`, Deny, ""},
		{"Network.getCookies", `{"urls":"https://shop.test/"}`, Deny, ""},
		{"Page.deleteCookie", `{"cookieName":"a","url":"https://shop.test/"}`, Allow, ""},
		{"Page.deleteCookie", `{"cookieName":"a","url":"file://shop.test/"}`, Deny, ""},
		{"Network.deleteCookies", `{"name":"a","domain":".shop.test"}`, Allow, ""},
		{"Network.deleteCookies", `{"name":"a","domain":"test"}`, Allow, ""}, // goes to it too
		{"Network.deleteCookies", `{"name":"a","domain":"op.test"}`, Deny, ""},
		{"Network.deleteCookies", `{"name":"a","domain":"."}`, Deny, ""},
		{"Network.deleteCookies", `{"name":"a"}`, Deny, ""},
		{"Network.setCookie", `{"name":"a","domain":"shop.test","url":"https://bank.test/"}`, Deny, ""},
		{"Network.setCookie", `{"name":"a","domain":"bank.test","url":"https://shop.test/"}`, Deny, ""},
		{"Storage.setCookies", `{"cookies":[{"name":"a","url":"https://shop.test/"}]}`, Allow, ""},
		{"Storage.setCookies", `{"cookies":[{"name":"a","url":"https://shop.test/"},{"name":"b","domain":"bank.test"}]}`,
			Deny, ""},
		{"Storage.setCookies", `{"cookies":[{"name":"a","url":"https://shop.test/"}],"browserContextId":"C"}`, Deny, ""},
		{"Storage.setCookies", `{"cookies":[7]}`, Deny, ""},
		{"Storage.setCookies", `{}`, Deny, ""},
	} {
		d := DecidePersonal([]string{"shop.test"}, c.method, []byte(c.params))
		if d.Outcome != c.outcome || c.reason != "" && !strings.Contains(d.Err().Error(), c.reason) {
			t.Errorf("%s %s: %+v, want %v, %q", c.method, c.params, d, c.outcome, c.reason)
		}
	}
}

// TestNeedsOwnTab: what leaves a script for later documents, or reads the user's history, is for a tab that the
// client opened.
func TestNeedsOwnTab(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           bool
	}{
		{"DOM.getDocument", ``, false},
		{"Page.getNavigationHistory", ``, true},
		{"Page.navigateToHistoryEntry", `{"entryId":1}`, true},
		{"Page.resetNavigationHistory", ``, true},
		{"Page.addScriptToEvaluateOnLoad", `{"scriptSource":""}`, true},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"x"}`, true},
		{"Page.addScriptToEvaluateOnNewDocument", `{}`, true},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"w"}`, false},
		{"Page.reload", `{}`, false},
		{"Page.reload", `{"scriptToEvaluateOnLoad":"x"}`, true},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":1}`, false},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":1,"condition":""}`, false},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":1,"condition":"evil()"}`, true},
	} {
		if got := NeedsOwnTab(c.method, []byte(c.params)); got != c.want {
			t.Errorf("%s %s: %t", c.method, c.params, got)
		}
	}
}
