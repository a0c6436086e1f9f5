package policy

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Origins limit which addresses agents may open, read and fetch from. They apply to the
// agent, not to the page: a page may load other origins itself.
type Origins struct {
	allowed [][]originPattern // lists that each have to contain the address
	blocked []originPattern
}

// originPattern is an origin in which the scheme, the port and the first labels of the
// host may be open.
type originPattern struct {
	text   string
	scheme string // empty: any
	host   string // lower case; "*.example.com" is any host below, "*" any
	port   string // "*": any
}

// ParseOrigins reads lists of origins: https://example.com, http://localhost:*,
// *.example.com or example.com, separated by commas or semicolons. Nil when neither is
// given. A list without an origin, or with one that no address has, is an error: it would
// limit nothing, or not what its author meant.
func ParseOrigins(allowed, blocked []string) (*Origins, error) {
	var o Origins
	var only []originPattern
	for _, list := range []struct {
		flag string
		from []string
		to   *[]originPattern
	}{{"--allowed-origins", allowed, &only}, {"--blocked-origins", blocked, &o.blocked}} {
		texts := splitOrigins(list.from)
		if len(list.from) > 0 && len(texts) == 0 {
			return nil, fmt.Errorf("%s has no origin: name one, for example https://example.com, or omit it", list.flag)
		}
		for _, text := range texts {
			pattern, err := parseOrigin(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list.flag, err)
			}
			*list.to = append(*list.to, pattern)
		}
	}
	if len(only) > 0 {
		o.allowed = [][]originPattern{only}
	}
	if len(o.allowed)+len(o.blocked) == 0 {
		return nil, nil
	}
	return &o, nil
}

// splitOrigins are the origins in lists that commas or semicolons separate.
func splitOrigins(lists []string) []string {
	texts := strings.FieldsFunc(strings.Join(lists, ","), func(r rune) bool { return r == ',' || r == ';' })
	for i, text := range texts {
		texts[i] = strings.TrimSpace(text)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// And returns the limits of both: an address must be within each.
func (o *Origins) And(other *Origins) *Origins {
	switch {
	case o == nil:
		return other
	case other == nil:
		return o
	}
	return &Origins{slices.Concat(o.allowed, other.allowed), slices.Concat(o.blocked, other.blocked)}
}

func parseOrigin(text string) (originPattern, error) {
	p := originPattern{text: text, port: "*"}
	rest := strings.ToLower(strings.TrimSuffix(text, "/"))
	scheme, host, hasScheme := strings.Cut(rest, "://")
	if hasScheme {
		p.scheme, rest = scheme, host
		if p.port = defaultPorts[scheme]; p.port == "" {
			return p, fmt.Errorf("origin %q: its scheme must be http, https, ws or wss", text)
		}
	}
	p.host = rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		p.host, p.port = rest[:i], rest[i+1:]
	}
	host = strings.TrimPrefix(p.host, "*.")
	switch inner, isV6 := strings.CutPrefix(host, "["); {
	case p.port != "*" && !isPort(p.port), p.host == "", strings.ContainsAny(p.host, "/?#@"),
		strings.Contains(host, "*") && p.host != "*":
		return p, fmt.Errorf("origin %q: want for example https://example.com, http://localhost:*, *.example.com or "+
			"example.com", text)
	case p.host == "*":
	case isV6:
		ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !ip.Is6() || ip.Zone() != "" || host != p.host || !strings.HasSuffix(inner, "]") {
			return p, fmt.Errorf("origin %q: there is no IPv6 address in its brackets, as in [::1]", text)
		}
		p.host = ip.Unmap().String()
	case !isHost(host):
		return p, fmt.Errorf("origin %q: write its host as a browser shows it: an IP address as 127.0.0.1 or [::1], "+
			"a name in ASCII (xn--…)", text)
	default:
		p.host = strings.TrimSuffix(p.host, ".")
	}
	return p, nil
}

// isHost reports whether a text is a name or an IPv4 address as browsers write it: no code point that
// the URL standard forbids in a domain, and no empty label.
func isHost(text string) bool {
	forbidden := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`#%/:<>?@[\]^|`, r) }
	labels := strings.Split(strings.TrimSuffix(text, "."), ".")
	return !slices.Contains(labels, "") && !strings.ContainsFunc(text, forbidden) && plainName(text)
}

// isPort reports whether a text is a port as browsers write it.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

// defaultPorts by scheme; a scheme that is not here has no origins.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}

func (p originPattern) matches(scheme, host, port string) bool {
	if p.scheme != "" && p.scheme != scheme || p.port != "*" && p.port != port {
		return false
	}
	if below, any := strings.CutPrefix(p.host, "*"); any {
		return strings.HasSuffix(host, below)
	}
	return host == p.host
}

// Decide decides about an address as a browser has parsed it. The address is denied if it
// is blocked, or if some are allowed and it is not. Addresses without a server
// (about:blank, data:) have no origin.
func (o *Origins) Decide(address string) Decision {
	if o == nil || address == "" {
		return Decision{Outcome: Allow}
	}
	inner := address
	for _, around := range []string{"view-source:", "blob:", "filesystem:"} { // the only possible order
		inner = strings.TrimPrefix(inner, around)
	}
	u, err := url.Parse(inner)
	if err != nil {
		return denyAddress(address, "it cannot be read")
	}
	scheme, port := u.Scheme, u.Port()
	if port == "" {
		port = defaultPorts[scheme]
	}
	if defaultPorts[scheme] == "" {
		return Decision{Outcome: Allow}
	}
	host := plainHost(u.Hostname())
	for _, p := range o.blocked {
		if p.matches(scheme, host, port) {
			return denyAddress(address, "--blocked-origins lists "+p.text)
		}
	}
	for _, list := range o.allowed {
		if !slices.ContainsFunc(list, func(p originPattern) bool { return p.matches(scheme, host, port) }) {
			return denyAddress(address, "--allowed-origins does not list it")
		}
	}
	return Decision{Outcome: Allow}
}

func denyAddress(address, reason string) Decision {
	return deny(address, reason)
}

// plainHost is a host from a browser's address in its simplest form: without a dot at its
// end, and an IPv4 address not in IPv6 form.
func plainHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// plainAddress matches addresses that a browser can parse in only one way.
var plainAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[1-9][0-9]*)?([/?#][!-~]*)?$`)
})

// DecideTyped is Decide for an address that no browser has parsed yet. An ambiguous
// address is denied.
func (o *Origins) DecideTyped(address string) Decision {
	if o == nil || address == "" {
		return Decision{Outcome: Allow}
	}
	u, err := url.Parse(address)
	if err != nil || !plainAddress().MatchString(address) || !plainName(u.Hostname()) {
		return denyAddress(address, "it has to be written as a browser shows it, for example http://localhost:3000/")
	}
	return o.Decide(address)
}

// DecideCookie denies a cookie that is sent to no origin within the limits. A cookie has
// any port, and often any scheme.
func (o *Origins) DecideCookie(domain string, secure bool) Decision {
	if o == nil {
		return Decision{Outcome: Allow}
	}
	host, below := strings.CutPrefix(domain, ".")
	hosts, ports := []string{host}, []string{""}
	for _, p := range slices.Concat(o.allowed...) {
		if name := strings.Replace(p.host, "*", "any", 1); below && strings.HasSuffix(name, "."+host) {
			hosts = append(hosts, name)
		}
		if p.port != "*" {
			ports = append(ports, ":"+p.port)
		}
	}
	schemes := []string{"https"}
	if ip, _ := netip.ParseAddr(host); !secure || ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host,
		".localhost") {
		schemes = append(schemes, "http")
	}
	var d Decision
	for _, h := range hosts {
		for _, port := range ports {
			for _, scheme := range schemes {
				if d = o.Decide(scheme + "://" + h + port + "/"); d.Outcome == Allow {
					return d
				}
			}
		}
	}
	return d
}

// plainName reports whether a host is certainly a name: browsers parse a host whose last
// part begins with a digit as an IP address.
func plainName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := netip.ParseAddr(host)
	return err == nil || last != "" && (last[0] < '0' || last[0] > '9')
}
