package virtual

import (
	_ "embed"
	"reflect"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"browser-coordinator/cdpproxy/browser"
)

// setting is state that a session of a page has once, for all its clients. A client
// that changes it may exclude others (changes.go).
type setting struct {
	reset        string // the command that resets it
	parameters   string // the parameters of reset
	keyParameter string // the parameter that distinguishes settings of this kind
	shared       bool   // any client may change it at any time
	result       bool   // the reset brings a result
}

func (st setting) key() string { return st.reset + st.parameters }

func (st setting) params() jsonv2.Value { return jsonv2.Value(st.parameters) }

//go:embed settings.txt
var settingTable string

// table is settings.txt.
type table struct {
	settings map[string]setting // by the method that changes them
	resets   map[string]setting // by their reset, if that is a command of its own
	aliases  map[string]string  // commands with the same effect as another one
	harmless map[string]bool
}

// settings are read when the first command is executed.
var settings = sync.OnceValue(func() table {
	t := table{map[string]setting{}, map[string]setting{}, map[string]string{}, map[string]bool{}}
	for line := range strings.Lines(settingTable) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[1] == "-":
			t.harmless[words[0]] = true
			continue
		case words[1] == "=":
			t.aliases[words[0]] = words[2]
			continue
		}
		st := setting{reset: words[1]}
		for _, option := range words[2:] {
			parameter, isEach := strings.CutPrefix(option, "each:")
			switch {
			case isEach:
				st.keyParameter = parameter
			case option == "any":
				st.shared = true
			case option == "result":
				st.result = true
			default:
				st.parameters = option
			}
		}
		t.settings[words[0]] = st
		if st.reset != words[0] {
			t.resets[st.reset] = st
		}
	}
	return t
})

// plain returns the name of a command in the tables.
func plain(method string) string {
	if other, ok := settings().aliases[method]; ok {
		return other
	}
	return method
}

// forHolders are events that only sessions receive which have changed a command's
// setting.
var forHolders = map[string]string{
	"Fetch.authRequired":               "Fetch.enable",
	"Fetch.requestPaused":              "Fetch.enable",
	"Overlay.inspectModeCanceled":      "Overlay.setInspectMode",
	"Overlay.inspectNodeRequested":     "Overlay.setInspectMode",
	"Overlay.screenshotRequested":      "Overlay.setInspectMode",
	"Page.lifecycleEvent":              "Page.setLifecycleEventsEnabled",
	"Page.screencastFrame":             "Page.startScreencast",
	"Page.screencastVisibilityChanged": "Page.startScreencast",
}

// settingOf returns the setting that a command changes; resets reports that the
// command resets it. X.enable makes a setting too, unless the debugger has the
// domain on.
func settingOf(m command) (st setting, resets, ok bool) {
	method := plain(m.Method)
	if st, ok = settings().settings[method]; ok {
		st = st.one(m.Params)
		return st, st.reset == method && resembles(m.Params, st.params()), true
	}
	if st, ok = settings().resets[method]; ok {
		return st.one(m.Params), true, true
	}
	domain, name, _ := strings.Cut(method, ".")
	if name != "enable" && name != "disable" || debuggers[domain] {
		return setting{}, false, false
	}
	return setting{reset: domain + ".disable", shared: true}, name == "disable", true
}

// one returns the one of several settings that a command's parameters name.
func (st setting) one(params jsonv2.Value) setting {
	var args map[string]any
	if st.keyParameter == "" || browser.DecodeParams(params, &args) != nil || args[st.keyParameter] == nil {
		return st // without its name, the page refuses the command
	}
	name := `{"` + st.keyParameter + `":` + string(encode(args[st.keyParameter]))
	if st.parameters == "" {
		st.parameters = name + "}"
	} else {
		st.parameters = name + "," + st.parameters[1:]
	}
	return st
}

// resembles reports whether a command's parameters amount to those of a reset.
// Extra parameters are allowed.
func resembles(params, reset jsonv2.Value) bool {
	var args, want map[string]any
	if browser.DecodeParams(params, &args) != nil || browser.DecodeParams(reset, &want) != nil {
		return false
	}
	for name, value := range want {
		// A mode that highlights nothing may come with any highlight configuration.
		if name != "highlightConfig" && !reflect.DeepEqual(args[name], value) && !(value == "" && args[name] == nil) {
			return false
		}
	}
	return len(want) > 0 || len(args) == 0
}

// asDefault reports whether a command only sets a default that Playwright sends to
// each page as it connects. It does not make the client the page's owner. Where another
// client has changed the page, it changes nothing and succeeds: Playwright would
// otherwise give up the page.
func asDefault(m command) bool {
	var p struct {
		Behavior string `json:"behavior"`
		Events   bool   `json:"eventsEnabled"`
		Media    string `json:"media"`
		Features []struct {
			Value string `json:"value"`
		} `json:"features"`
	}
	if browser.DecodeParams(m.Params, &p) != nil {
		return false
	}
	switch m.Method {
	case "Browser.setDownloadBehavior":
		return p.Behavior == "allowAndName" && p.Events
	case "Emulation.setEmulatedMedia":
		for _, f := range p.Features {
			switch f.Value {
			case "", "light", "no-preference", "none":
			default:
				return false
			}
		}
		return p.Media == ""
	}
	return false
}
