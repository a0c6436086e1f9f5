package policy

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Local names, in a list for ParseAccepted, this machine and private networks: addresses that no stranger on the
// internet can serve.
const Local = "local"

// Accepted are the addresses whose servers need no certificate that the browser trusts.
type Accepted struct {
	local   bool
	origins []originPattern
}

// ParseAccepted reads the values of a flag: origins as ParseOrigins takes them, and Local. Nil: the flag is not
// given. What would accept every server, or none, is an error.
func ParseAccepted(flag string, texts []string) (*Accepted, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var a Accepted
	for _, text := range splitOrigins(texts) {
		if text == Local {
			a.local = true
			continue
		}
		p, err := parseOrigin(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", flag, err)
		case p.scheme != "" && p.scheme != "https":
			return nil, fmt.Errorf("%s: %q has no certificate: want https://, or the host alone", flag, text)
		case p.host == "*":
			return nil, fmt.Errorf("%s: %q is every server: name the hosts", flag, text)
		}
		a.origins = append(a.origins, p)
	}
	if !a.local && len(a.origins) == 0 {
		return nil, fmt.Errorf("%s names no host: want %s, or for example staging.example.com", flag, Local)
	}
	return &a, nil
}

// Contains reports whether the server of an address, as a browser has parsed it, is accepted.
func (a *Accepted) Contains(address string) bool {
	u, err := url.Parse(address)
	if a == nil || err != nil {
		return false
	}
	host, port := plainHost(u.Hostname()), u.Port()
	if port == "" {
		port = defaultPorts[u.Scheme]
	}
	if a.local && isLocalHost(host) {
		return true
	}
	// WebSockets have the certificate of https.
	return slices.ContainsFunc(a.origins, func(p originPattern) bool { return p.matches("https", host, port) })
}

// isLocalHost reports whether a host is on this machine or in a private network.
func isLocalHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
