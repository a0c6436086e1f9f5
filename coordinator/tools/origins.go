package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/page"
)

// Origins says which addresses agents may open, look at and fetch from. It binds
// the agent, not the page: what a page loads by itself is its own matter.
type Origins struct{ allowed, blocked []originPattern }

// originPattern is an origin in which the scheme, the port and the first labels
// of the host may be left open.
type originPattern struct {
	text   string
	scheme string // empty: any
	host   string // lower case; "*.example.com" is any host below, "*" any
	port   string // "*": any
}

// ParseOrigins reads lists of origins: https://example.com, http://localhost:*,
// *.example.com or example.com, separated by commas, semicolons or spaces. Nil
// when both are empty.
func ParseOrigins(allowed, blocked []string) (*Origins, error) {
	var o Origins
	for _, list := range []struct {
		from []string
		to   *[]originPattern
	}{{allowed, &o.allowed}, {blocked, &o.blocked}} {
		for _, text := range strings.FieldsFunc(strings.Join(list.from, ","), func(r rune) bool { return strings.ContainsRune(",; \n", r) }) {
			pattern, err := parseOrigin(text)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, pattern)
		}
	}
	if len(o.allowed)+len(o.blocked) == 0 {
		return nil, nil
	}
	return &o, nil
}

func parseOrigin(text string) (originPattern, error) {
	p := originPattern{text: text, port: "*"}
	rest := strings.ToLower(strings.TrimSuffix(text, "/"))
	scheme, after, found := strings.Cut(rest, "://")
	if found {
		p.scheme, rest = scheme, after
		p.port = defaultPorts[scheme]
	}
	p.host = rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		p.host, p.port = rest[:i], rest[i+1:]
	}
	p.host = plainHost(strings.Trim(p.host, "[]"))
	if name := strings.TrimPrefix(p.host, "*."); name != "*" && (strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' || r == '\\' }) || !plainName(name)) {
		return p, fmt.Errorf("origin %q: write its host as a browser shows it: an IP address as 127.0.0.1 or [::1], a name in ASCII (xn--…)", text)
	}
	if p.port != "*" && (p.port == "" || strings.Trim(p.port, "0123456789") != "" || p.port[0] == '0') || p.host == "" || strings.ContainsAny(p.host, "/?#@") || strings.Contains(strings.TrimPrefix(p.host, "*."), "*") && p.host != "*" {
		return p, fmt.Errorf("origin %q: want for example https://example.com, http://localhost:*, *.example.com or example.com", text)
	}
	return p, nil
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

// Check refuses an address, as a browser has read it, that is blocked, or not allowed
// where some are. Addresses without a server (about:blank, data:) have no origin.
func (o *Origins) Check(address string) error {
	if o == nil || address == "" {
		return nil
	}
	inner := address
	for _, around := range []string{"view-source:", "blob:", "filesystem:"} { // in the only order that there is
		inner = strings.TrimPrefix(inner, around)
	}
	u, err := url.Parse(inner)
	if err != nil {
		return &page.OriginError{URL: address, Reason: "it cannot be read"}
	}
	scheme, port := u.Scheme, u.Port()
	if port == "" {
		port = defaultPorts[scheme]
	}
	if defaultPorts[scheme] == "" {
		return nil
	}
	host := plainHost(u.Hostname())
	for _, p := range o.blocked {
		if p.matches(scheme, host, port) {
			return &page.OriginError{URL: address, Reason: "--blocked-origins lists " + p.text}
		}
	}
	for _, p := range o.allowed {
		if p.matches(scheme, host, port) {
			return nil
		}
	}
	if len(o.allowed) > 0 {
		return &page.OriginError{URL: address, Reason: "--allowed-origins does not list it"}
	}
	return nil
}

// plainHost is a host of a browser's address without what leads nowhere else: a dot at
// its end, and an IPv4 address in the form of an IPv6 one.
func plainHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// plainAddress is an address that a browser can only read in one way.
var plainAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[1-9][0-9]*)?([/?#][!-~]*)?$`)
})

// CheckTyped is Check for an address that no browser at hand has read. What might be
// read in another way is refused.
func (o *Origins) CheckTyped(address string) error {
	if o == nil || address == "" || page.FileAddress(address) != "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || !plainAddress().MatchString(address) || !plainName(u.Hostname()) {
		return &page.OriginError{URL: address, Reason: "it has to be written as a browser shows it, for example http://localhost:3000/"}
	}
	return o.Check(address)
}

// plainName says whether a host is no number in disguise: a browser reads a last part
// that begins with a digit as one of an IP address.
func plainName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := netip.ParseAddr(host)
	return err == nil || last != "" && (last[0] < '0' || last[0] > '9')
}

// mayShow refuses an address at which the browser would end, and that of a file that
// an agent may not see: one that it could not read itself, and that is not in the
// folders of the page's window.
func (a *agent) mayShow(ctx context.Context, folders []string, address string) error {
	params, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		return err
	}
	if access.Classify("Page.navigate", params).Class == access.Ends {
		return fmt.Errorf("%s is there to make the browser or its tab crash, hang or quit: only its human opens it", address)
	}
	address = page.FileAddress(address)
	if address == "" {
		return nil
	}
	file, ok := filePath(address)
	if !ok {
		return fmt.Errorf("%s is no file's address", address)
	}
	_, err = a.allowedFile(ctx, file, folders...)
	return err
}

// mayLook refuses a page of which a frame shows what the agent may not see.
func (a *agent) mayLook(ctx context.Context, p *page.Page) error {
	addresses := p.Addresses()
	err := a.server.options.Origins.Check(addresses[0])
	for _, address := range addresses {
		if err == nil {
			err = a.mayShow(ctx, p.Folders(), address)
		}
	}
	if err != nil {
		return fmt.Errorf("this tab is out of bounds: %w. Navigate or reload it, or choose another", err)
	}
	return nil
}

// bind keeps a page, which is to go to the address unless that is empty, to the
// allowed origins where some are configured, and to the allowed files where it
// could ask for any: a server's page cannot, and must not pay for it.
func (a *agent) bind(ctx context.Context, p *page.Page, address string) error {
	var bounds page.Bounds
	if origins := a.server.options.Origins; origins != nil {
		bounds.Open = origins.Check
	}
	shown := p.URL()
	server := strings.HasPrefix(shown, "http://") || strings.HasPrefix(shown, "https://")
	if page.FileAddress(address) != "" || page.FileAddress(shown) != "" || !server && p.Opened() {
		bounds.File = func(address string) error { return a.mayShow(context.WithoutCancel(ctx), p.Folders(), address) }
	}
	if bounds.Open == nil && bounds.File == nil {
		return nil
	}
	return p.Guard(ctx, bounds)
}
