package chrome

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
)

// Proxy describes the proxy through which the browser opens an address, and where it is set; empty: it uses none, or
// that of the system's settings.
func (b *Browser) Proxy(address string) string {
	u, err := url.Parse(address)
	if err != nil || bypasses(u.Hostname()) {
		return ""
	}
	if b.proxy != "" {
		return "the proxy " + b.proxy + " (--proxy-server)"
	}
	if runtime.GOOS != "linux" { // the browser reads these variables there alone
		return ""
	}
	if _, none := variable("no_proxy"); excepts(none, u.Hostname()) {
		return ""
	}
	name, value := variable("all_proxy")
	if value == "" {
		name, value = variable(u.Scheme + "_proxy")
	}
	if value == "" {
		return ""
	}
	return "the proxy " + hostOf(value) + " (the variable " + name + ")"
}

// variable is a variable of the environment, as the browser finds it: in lower or upper case.
func variable(name string) (found, value string) {
	if value := os.Getenv(name); value != "" {
		return name, value
	}
	return strings.ToUpper(name), os.Getenv(strings.ToUpper(name))
}

// hostOf is a proxy without its user and password.
func hostOf(proxy string) string {
	if u, err := url.Parse(proxy); err == nil && u.Host != "" {
		return u.Host
	}
	return proxy[strings.LastIndexByte(proxy, '@')+1:]
}

// bypasses reports whether the browser uses no proxy for a host, whatever is set.
func bypasses(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		ip != nil && (ip.IsLoopback() || ip.IsLinkLocalUnicast())
}

// excepts reports whether a list of hosts without a proxy has a host.
func excepts(list, host string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		name, _, _ := strings.Cut(entry, ":")
		name = strings.TrimPrefix(cmp.Or(name, entry), "*")
		if entry != "" && (name == "" || host == name || strings.HasSuffix(host, "."+strings.TrimPrefix(name, "."))) {
			return true
		}
	}
	return false
}
