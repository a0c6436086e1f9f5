package policy

import (
	_ "embed"
	"fmt"
	"net/url"
	"strings"
	"sync"
)

//go:embed debugurls.txt
var debugList string

var debugHosts = sync.OnceValue(func() map[string]bool {
	hosts := map[string]bool{}
	for line := range strings.Lines(debugList) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			hosts[line] = true
		}
	}
	return hosts
})

// pageSchemes are the schemes of ordinary pages. Each vendor has its own scheme for the
// browser's internal pages: chrome, edge, brave.
var pageSchemes = map[string]bool{
	"": true, "http": true, "https": true, "file": true, "data": true, "blob": true, "javascript": true,
	"filesystem": true, "ftp": true, "ws": true, "wss": true, "mailto": true, "tel": true,
}

// hasDebugURL: a URL at which the browser, or a process of it, ends.
func hasDebugURL(args arguments) bool {
	address, ok := args.text("url")
	return ok && isDebugURL(address)
}

// CheckAddress refuses agents an address at which the browser, or a process of it, ends.
func CheckAddress(address string) error {
	if !isDebugURL(address) {
		return nil
	}
	return fmt.Errorf("%s exists to make the browser or its tab crash, hang or quit: only its user opens it", address)
}

// isDebugURL reads an address at least as leniently as browsers do. They drop line breaks
// and surrounding white space, accept any number of slashes of either kind, or none, and
// decode the host.
func isDebugURL(address string) bool {
	address = strings.TrimFunc(address, func(c rune) bool { return c <= ' ' })
	address = strings.NewReplacer("\t", "", "\r", "", "\n", "", `\`, "/").Replace(address)
	scheme, rest, ok := strings.Cut(address, ":")
	scheme = strings.ToLower(scheme)
	if scheme == "view-source" {
		return isDebugURL(rest)
	}
	if !ok || pageSchemes[scheme] {
		return false
	}
	rest = strings.TrimLeft(rest, "/")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, _, _ := strings.Cut(rest, ":")
	host, err := url.PathUnescape(host)
	if err != nil {
		return true // no internal page has this name
	}
	for _, c := range host {
		if c > '~' {
			return true // some characters stand for others
		}
	}
	return debugHosts()[strings.ToLower(strings.Trim(host, ". "))]
}
