package address

import (
	"cmp"
	"strings"
)

// Hint explains one of the browser's network errors; empty: it has no explanation.
func Hint(code string) string {
	hint := hints[code]
	if IsOfProxy(code) {
		return cmp.Or(hint, "its proxy fails")
	}
	if !strings.HasPrefix(code, "net::ERR_CERT_") {
		return hint
	}
	return cmp.Or(hint, "its certificate is not trusted") + "; in a browser that the coordinator launches the flag " +
		"--ignore-https-errors accepts it, in every other one the user can, once, in its window"
}

// IsOfProxy reports whether a network error is one of the browser's proxy.
func IsOfProxy(code string) bool {
	for _, kind := range []string{"PROXY_", "TUNNEL_", "SOCKS_", "MANDATORY_PROXY_", "HTTPS_PROXY_"} {
		if strings.HasPrefix(code, "net::ERR_"+kind) {
			return true
		}
	}
	return false
}

var hints = map[string]string{
	"net::ERR_CONNECTION_REFUSED":    "nothing listens there; is the server running, and on that port?",
	"net::ERR_NAME_NOT_RESOLVED":     "the host name is unknown",
	"net::ERR_CONNECTION_TIMED_OUT":  "the server did not answer",
	"net::ERR_CONNECTION_RESET":      "the server closed the connection",
	"net::ERR_EMPTY_RESPONSE":        "the server closed the connection without an answer",
	"net::ERR_SSL_PROTOCOL_ERROR":    "the server does not speak TLS; try http://",
	"net::ERR_INTERNET_DISCONNECTED": "there is no network",
	"net::ERR_ADDRESS_UNREACHABLE":   "the address cannot be reached",
	"net::ERR_TOO_MANY_REDIRECTS":    "it redirects in a circle",
	"net::ERR_FILE_NOT_FOUND":        "there is no such file",
	"net::ERR_UNSAFE_PORT":           "the browser refuses that port",
	"net::ERR_ABORTED": "the navigation was aborted; another one, a download or an answer without " +
		"content took its place, or its certificate is not trusted and --ignore-https-errors names other hosts",
	"net::ERR_PROXY_CONNECTION_FAILED":  "its proxy cannot be reached",
	"net::ERR_TUNNEL_CONNECTION_FAILED": "its proxy opens no connection to that server",
	"net::ERR_SOCKS_CONNECTION_FAILED":  "its proxy opens no connection to that server",
	"net::ERR_BLOCKED_BY_CLIENT":        "an extension or rule of the browser blocked it",
	"net::ERR_INVALID_AUTH_CREDENTIALS": "the server wants a user and a password: give them in the address, " +
		"http://user:password@host/",
	"net::ERR_CERT_AUTHORITY_INVALID":   "its certificate is not trusted",
	"net::ERR_CERT_COMMON_NAME_INVALID": "its certificate is for another name",
	"net::ERR_CERT_DATE_INVALID":        "its certificate has expired or is not valid yet",
}
