package policy

import (
	_ "embed"
	"encoding/json"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// In the user's own browser a client reaches the tabs that clients opened, and those that the
// user handed over. What is not listed here is denied: it could reach the rest.

//go:embed ownpage.txt
var ownPageList string

// ownPage are the methods that reach no more than the page of their session.
var ownPage = sync.OnceValue(func() map[string]bool { return parseMethods(ownPageList) })

// parseMethods panics on a line that it does not understand: the list is in the binary.
func parseMethods(list string) map[string]bool {
	all := map[string]bool{}
	domain := ""
	for line := range strings.Lines(list) {
		words, _, _ := strings.Cut(line, "#")
		if named, names, ok := strings.Cut(words, ":"); ok {
			domain, words = named, names
		}
		for _, name := range strings.Fields(words) {
			method := domain + "." + name
			if domain == "" || all[method] {
				panic("ownpage.txt: want a method of a domain that is not there yet: " + line)
			}
			all[method] = true
		}
	}
	return all
}

// ofProcess are the domains, and methods of others, that show or change all tabs of a process.
var ofProcess = map[string]bool{
	"HeapProfiler": true, "Memory": true, "Performance": true, "Profiler": true, "Tracing": true,
	"DOM.getDetachedDomNodes": true, "Emulation.setCPUThrottlingRate": true, "Emulation.setLocaleOverride": true,
	"Emulation.setTimezoneOverride": true, "Emulation.setVirtualTimePolicy": true, "Runtime.getHeapUsage": true,
	"Runtime.getIsolateId": true, "Runtime.setMaxCallStackSizeToCapture": true,
}

// condition decides about the parameters of a method by the hosts of the tabs in reach.
type condition func(args arguments, hosts []string) bool

// pageMethods are those that reach no more than the page if the condition holds.
var pageMethods = map[string]condition{
	"Browser.getVersion":             allowAll,
	"Browser.getWindowForTarget":     withoutTarget,
	"CacheStorage.requestCacheNames": ofHost,
	"Fetch.continueRequest":          keepsToPages,
	"Input.dispatchDragEvent":        withoutFiles,
	"Input.dispatchKeyEvent":         withoutClipboardKeys,
	"Input.dispatchMouseEvent":       withoutSelectionPaste,
	"IndexedDB.clearObjectStore":     ofHost, "IndexedDB.deleteDatabase": ofHost, "IndexedDB.requestData": ofHost,
	"IndexedDB.requestDatabase": ofHost, "IndexedDB.requestDatabaseNames": ofHost,
	"Network.deleteCookies": cookieOfHost, "Network.setCookie": cookieOfHost, "Network.setCookies": cookiesOfHosts,
	"Network.getCookies":            urlsOfHosts,
	"Page.navigate":                 opensPage,
	"Page.captureScreenshot":        ofSurface,
	"Page.deleteCookie":             urlOfHost,
	"Security.disable":              allowAll,
	"Security.enable":               allowAll,
	"Storage.clearDataForOrigin":    ofHost,
	"Storage.getCookies":            allowAll, // the result is filtered
	"Storage.getStorageKey":         allowAll,
	"Storage.getStorageKeyForFrame": allowAll,
	"Storage.getUsageAndQuota":      ofHost,
	"Storage.setCookies":            cookiesOfHosts,
	"Target.detachFromTarget":       allowAll,
	"Target.getTargetInfo":          withoutTarget,
	"Target.setAutoAttach":          allowAll,
}

// withoutEffectThere are the methods that clients send to every browser, and that would change
// the user's. They succeed without an effect.
var withoutEffectThere = map[string]bool{
	"Browser.setDownloadBehavior": true, "Browser.setWindowBounds": true, "Page.setDownloadBehavior": true,
}

// DecidePersonal decides about a command to a page of the user's own browser. The hosts are
// those of the tabs in reach.
func DecidePersonal(hosts []string, method string, params []byte) Decision {
	if method == Carrier {
		return deny(method, "the command in it could reach the user's tabs.")
	}
	if d := decideFull(method, params); d.Outcome != Allow {
		return d
	}
	_, name, _ := strings.Cut(method, ".")
	allows, conditional := pageMethods[method]
	switch {
	case ownPage()[method]:
		return Decision{Outcome: Allow}
	case withoutEffectThere[method], !conditional && (name == "enable" || name == "disable"):
		return denyPersonal(method).withOutcome(Ignore)
	case !conditional:
		return denyPersonal(method)
	}
	args := arguments{}
	if len(params) > 0 && string(params) != "null" {
		args = read(params)
	}
	if args == nil || !allows(args, hosts) {
		return denyPersonal(method)
	}
	return Decision{Outcome: Allow}
}

// givesFiles are the methods that would give a page files of this machine.
var givesFiles = map[string]bool{"DOM.setFileInputFiles": true, "Input.dispatchDragEvent": true}

func denyPersonal(method string) Decision {
	domain, _, _ := strings.Cut(method, ".")
	switch {
	case givesFiles[method]:
		return deny(method, "this is the user's own browser, where clients give no files to a page. Ask the user to "+
			"choose the file in the tab.")
	case usesClipboard[method]:
		return deny(method, "this is the user's own browser, where clients do not use the user's clipboard. Type the "+
			"text instead.")
	case ofProcess[domain], ofProcess[method]:
		return deny(method, "this is the user's own browser, where the user's tabs may share the page's process: it "+
			"would show or change them too. A private browser can do it.")
	}
	return deny(method, "this is the user's own browser. Clients reach only the tabs that they opened or that the "+
		"user handed over, and the cookies and storage of the sites in them.")
}

func allowAll(arguments, []string) bool { return true }

func withoutTarget(args arguments, _ []string) bool { return args["targetId"] == nil }

// withoutFiles: what is dragged has no files, which the page could read.
func withoutFiles(args arguments, _ []string) bool {
	data := read(args["data"])
	return data != nil && data["files"] == nil
}

// usesClipboard are the methods that could reach the user's clipboard.
var usesClipboard = map[string]bool{"Input.dispatchKeyEvent": true, "Input.dispatchMouseEvent": true}

// The bits of a key event's modifiers.
const (
	ctrlKey  = 2
	metaKey  = 4
	shiftKey = 8
)

// shortcuts are the keys that copy, cut or paste with Ctrl or Meta, and shifted those that do
// with Shift: by each parameter that could name one, in lower case.
var (
	shortcuts = []string{"86", "67", "88", "45", "keyv", "keyc", "keyx", "insert", "numpad0", "v", "c", "x"}
	shifted   = []string{"45", "46", "insert", "delete", "numpad0", "numpaddecimal"}
	dedicated = []string{"copy", "cut", "paste"} // keys
)

// harmlessCommands begin the names of the editing commands that do not reach the clipboard.
var harmlessCommands = []string{
	"move", "page", "scroll", "select", "unselect", "delete", "insert", "center", "undo", "redo", "transpose", "cancel",
	"complete", "capitalize", "lowercase", "uppercase",
}

// withoutClipboardKeys: no key, and no editing command of a key, copies, cuts or pastes.
func withoutClipboardKeys(args arguments, _ []string) bool {
	if args.is("type", `"keyUp"`) {
		return args["commands"] == nil
	}
	var commands []string
	if args["commands"] != nil && json.Unmarshal(args["commands"], &commands) != nil {
		return false
	}
	for _, command := range commands {
		if !slices.ContainsFunc(harmlessCommands, func(begin string) bool {
			return strings.HasPrefix(strings.ToLower(command), begin)
		}) {
			return false
		}
	}
	modifiers := 0
	if args["modifiers"] != nil && json.Unmarshal(args["modifiers"], &modifiers) != nil {
		return false
	}
	refused := slices.Clone(dedicated)
	if modifiers&(ctrlKey|metaKey) != 0 {
		refused = append(refused, shortcuts...)
	}
	if modifiers&shiftKey != 0 {
		refused = append(refused, shifted...)
	}
	for _, name := range []string{"key", "code", "windowsVirtualKeyCode"} {
		value := string(args[name])
		if text, isText := args.text(name); isText {
			value = text
		} else if args[name] != nil {
			var number int
			if json.Unmarshal(args[name], &number) != nil {
				return false
			}
			value = strconv.Itoa(number)
		}
		if slices.Contains(refused, strings.ToLower(value)) {
			return false
		}
	}
	return true
}

// withoutSelectionPaste: the middle button pastes what the user has selected, where the system
// has a clipboard for that.
func withoutSelectionPaste(args arguments, _ []string) bool {
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin" || args["button"] == nil ||
		slices.ContainsFunc([]string{"none", "left", "right", "back", "forward"}, func(name string) bool {
			text, ok := args.text("button")
			return ok && text == name
		})
}

// ofSurface: a picture of the window could show another tab in it.
func ofSurface(args arguments, _ []string) bool {
	return args["fromSurface"] == nil || args.is("fromSurface", "true")
}

// NeedsOwnTab reports whether a command may go only to a tab that a client opened, not to one
// that the user handed over: its history is the user's, and leads to files and pages of the
// browser; and a script that is left there runs in such a page before the tab is taken out of
// reach, as also in a client's tab in which the user opens one. Chromium reports that navigation
// too late to remove the script. A script without source only makes an isolated world.
func NeedsOwnTab(method string, params []byte) bool {
	switch method {
	case "Page.addScriptToEvaluateOnLoad", "Page.getNavigationHistory", "Page.navigateToHistoryEntry",
		"Page.resetNavigationHistory":
		return true
	case "Page.addScriptToEvaluateOnNewDocument":
		return !read(params).is("source", `""`)
	case "Page.reload":
		return holds(func(args arguments) bool { return args["scriptToEvaluateOnLoad"] != nil }, params)
	case "Debugger.setBreakpointByUrl": // the condition is a script, for later documents too
		return holds(func(args arguments) bool { return args["condition"] != nil && !args.is("condition", `""`) }, params)
	}
	return false
}

// OpensPage reports whether a client may open an address in the user's own browser: a page of
// the web or an empty one, no page of the browser, of an extension or of the user's files.
func OpensPage(address string) bool {
	address = strings.ToLower(strings.TrimSpace(address))
	scheme, rest, ok := strings.Cut(address, ":")
	switch scheme {
	case "http", "https", "data":
		return ok
	case "about": // others are pages of the browser
		page, _, _ := strings.Cut(rest, "#")
		page, _, _ = strings.Cut(page, "?")
		return page == "blank" || page == "srcdoc"
	case "blob": // of an origin
		return strings.HasPrefix(rest, "null/") || strings.HasPrefix(rest, "http://") || strings.HasPrefix(rest, "https://")
	}
	return address == ""
}

func opensPage(args arguments, _ []string) bool {
	address, ok := args.text("url")
	return ok && OpensPage(address)
}

// keepsToPages: a request may be sent to another address, which its page does not notice.
func keepsToPages(args arguments, hosts []string) bool {
	return args["url"] == nil || opensPage(args, hosts)
}

// hostOf is the host of an address, or of a storage key, which begins with one; empty: it has
// none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || defaultPorts[u.Scheme] == "" {
		return ""
	}
	return plainHost(u.Hostname())
}

func hasHost(address string, hosts []string) bool {
	host := hostOf(address)
	return host != "" && slices.Contains(hosts, host)
}

// ofHost: every origin and storage key that is given is of a host.
func ofHost(args arguments, hosts []string) bool {
	for _, name := range []string{"origin", "securityOrigin", "storageKey"} {
		if args[name] == nil {
			continue
		}
		if text, ok := args.text(name); !ok || !hasHost(text, hosts) {
			return false
		}
	}
	return args["storageBucket"] == nil && (args["origin"] != nil || args["securityOrigin"] != nil ||
		args["storageKey"] != nil)
}

func urlOfHost(args arguments, hosts []string) bool {
	text, ok := args.text("url")
	return ok && hasHost(text, hosts)
}

// urlsOfHosts: without addresses those of the page are meant.
func urlsOfHosts(args arguments, hosts []string) bool {
	if args["urls"] == nil {
		return true
	}
	var urls []string
	if json.Unmarshal(args["urls"], &urls) != nil {
		return false
	}
	return !slices.ContainsFunc(urls, func(address string) bool { return !hasHost(address, hosts) })
}

// CookieOf reports whether a cookie with that domain goes to one of the hosts.
func CookieOf(domain string, hosts []string) bool {
	domain, _ = strings.CutPrefix(strings.ToLower(domain), ".")
	return domain != "" && slices.ContainsFunc(hosts, func(host string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

// cookieOfHost: a cookie names its domain, an address, or both.
func cookieOfHost(args arguments, hosts []string) bool {
	if args["domain"] != nil {
		if domain, ok := args.text("domain"); !ok || !CookieOf(domain, hosts) {
			return false
		}
	}
	return args["url"] == nil && args["domain"] != nil || urlOfHost(args, hosts)
}

func cookiesOfHosts(args arguments, hosts []string) bool {
	var each []json.RawMessage
	if args["browserContextId"] != nil || json.Unmarshal(args["cookies"], &each) != nil {
		return false
	}
	return !slices.ContainsFunc(each, func(value json.RawMessage) bool {
		cookie := read(value)
		return cookie == nil || !cookieOfHost(cookie, hosts)
	})
}
