// Package address reads the addresses that people and pages write.
package address

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// clean removes what a browser's URL parser ignores: spaces and control
// characters at both ends, tabs and line ends anywhere.
func clean(address string) string {
	address = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, address)
	return strings.TrimFunc(address, func(r rune) bool { return r <= ' ' })
}

// Origin is the origin of a web address, such as http://127.0.0.1:5173; empty: it is none.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	if u.Port() == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		u.Host = u.Hostname()
	}
	return u.Scheme + "://" + u.Host
}

// Place is where a page with that address is: its origin, or the address without its fragment if it
// has none.
func Place(address string) string {
	whole, _, _ := strings.Cut(address, "#")
	return cmp.Or(Origin(address), whole)
}

// WithoutQuery is an address without its query and its fragment, which often differ from session to
// session.
func WithoutQuery(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		return address[:end]
	}
	return address
}

// OfFile is the file: URL that a browser opens for an address, also for the source
// view of a file. It is empty if the address opens no file.
func OfFile(address string) string {
	address = clean(address)
	for {
		scheme, rest, _ := strings.Cut(address, ":")
		switch strings.ToLower(scheme) {
		case "view-source":
			address = clean(rest)
		case "file":
			path, _, _ := strings.Cut(rest, "#")
			path, _, _ = strings.Cut(path, "?")
			return "file:" + strings.ReplaceAll(path, `\`, "/")
		default:
			return ""
		}
	}
}

var (
	schemePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`) })
	opaquePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:about|data|blob|view-source|chrome|mailto):`)
	})
)

// Normalize adds the scheme that a user omits. A path is relative to the current
// page.
func Normalize(address, current string) (string, error) {
	address = clean(address)
	switch {
	case address == "":
		return "", errors.New("navigate: the URL is empty")
	case strings.HasPrefix(strings.ToLower(address), "javascript:"):
		return "", errors.New("navigate: javascript: is a script, not an address: evaluate it instead")
	case schemePattern().MatchString(address), opaquePattern().MatchString(address):
		return address, nil
	case strings.HasPrefix(address, "//"):
		return "https:" + address, nil
	case strings.HasPrefix(address, "/"):
		base, err := url.Parse(current)
		if err != nil || base.Host == "" {
			return "", fmt.Errorf("navigate: %s is relative, and the page that is shown (%s) has no "+
				"host", address, current)
		}
		return base.Scheme + "://" + base.Host + address, nil
	}
	host, _, _ := strings.Cut(address, "/")
	host, _, _ = strings.Cut(host, "?")
	host, _, _ = strings.Cut(host, "#")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if local(strings.Trim(host, "[]")) {
		return "http://" + address, nil
	}
	return "https://" + address, nil
}

func local(host string) bool {
	host = strings.ToLower(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
