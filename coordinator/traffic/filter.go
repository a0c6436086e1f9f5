package traffic

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"browser-coordinator/cdpproxy/discovery"
)

// Filter chooses messages. An empty one chooses all.
type Filter struct {
	Domains []string
	Methods []string // patterns of path.Match
	// Client is Playwright for every client of that name, Playwright#1 for one client with
	// its sessions, and Playwright#1.2 for one session.
	Client string
}

// clientName matches a client or one of its sessions. A name may contain a #.
var clientName = regexp.MustCompile(`^(?:[^#]+|.+#(?:[^#0-9][^#]*|[1-9][0-9]*(?:\.[1-9][0-9]*)?))$`)

// IsClient reports whether a client or one of its sessions may have that name.
func IsClient(name string) bool { return clientName.MatchString(name) }

// Trim removes blanks around names, and empty names.
func (f *Filter) Trim() { f.Domains, f.Methods = trim(f.Domains), trim(f.Methods) }

func trim(names []string) (trimmed []string) {
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			trimmed = append(trimmed, name)
		}
	}
	return trimmed
}

// match reports whether a message is chosen. session is the client's name if the message
// belongs to no session.
func (f *Filter) match(client, session, method string) bool {
	name := client[:max(0, strings.LastIndexByte(client, '#'))]
	if f.Client != "" && !strings.EqualFold(f.Client, name) && !strings.EqualFold(f.Client, client) &&
		!strings.EqualFold(f.Client, session) {
		return false
	}
	if len(f.Domains) == 0 && len(f.Methods) == 0 {
		return true
	}
	domain, _, _ := strings.Cut(method, ".")
	return slices.ContainsFunc(f.Domains, func(d string) bool { return strings.EqualFold(d, domain) }) ||
		slices.ContainsFunc(f.Methods, func(pattern string) bool { return matches(pattern, method) })
}

// matches compares without regard to case.
func matches(pattern, method string) bool {
	ok, _ := path.Match(strings.ToLower(pattern), strings.ToLower(method))
	return ok
}

// Unknown lists the filter's domains and methods that Chromium does not have.
func (f *Filter) Unknown() (names []string) {
	if len(f.Domains) == 0 && len(f.Methods) == 0 {
		return nil
	}
	methods := Methods()
	check := func(kind, name, pattern string) {
		if !slices.ContainsFunc(methods, func(m string) bool { return matches(pattern, m) }) {
			names = append(names, kind+" "+name)
		}
	}
	for _, domain := range f.Domains {
		check("domain", domain, domain+".*")
	}
	for _, pattern := range f.Methods {
		check("method", pattern, pattern)
	}
	return names
}

// Domains lists Chromium's domains.
func Domains() (names []string) {
	for _, d := range protocol() {
		names = append(names, d.Domain)
	}
	return names
}

// Methods are the methods and the events of Chromium's protocol.
func Methods() (names []string) {
	for _, d := range protocol() {
		for _, one := range slices.Concat(d.Commands, d.Events) {
			names = append(names, d.Domain+"."+one.Name)
		}
	}
	return names
}

type domain struct {
	Domain           string
	Commands, Events []struct{ Name string }
}

// protocol is Chromium's protocol, which is embedded.
func protocol() []domain {
	var text bytes.Buffer
	var parsed struct{ Domains []domain }
	if discovery.WriteProtocol(&text) != nil || json.Unmarshal(text.Bytes(), &parsed) != nil {
		panic("the built-in protocol cannot be read")
	}
	return parsed.Domains
}
