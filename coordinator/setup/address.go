package setup

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/dial"
)

// A host may connect to `coordinator mcp --listen` in place of starting a program. Such an entry is
// the user's: it is examined, and never changed.

// mcpPath is where `coordinator mcp --listen` serves.
const mcpPath = "/mcp"

// connectionMembers are harmless in an entry that starts no program: they are sent to its address.
var connectionMembers = []string{"url", "httpUrl", "serverUrl", "uri", "type", "headers", "http_headers",
	"env_http_headers", "bearer_token_env_var", "requestInit", "oauth", "timeout"}

// readURL is what an entry without a command connects to, and with which headers.
func readURL(entry map[string]any) (address string, headers map[string]string) {
	if command, _ := readEntry(entry); command != "" {
		return "", nil
	}
	for _, name := range []string{"url", "httpUrl", "serverUrl", "uri"} {
		if text, _ := entry[name].(string); text != "" && address == "" {
			address = text
		}
	}
	headers = map[string]string{}
	init, _ := entry["requestInit"].(map[string]any)
	for _, table := range []any{entry["headers"], entry["http_headers"], init["headers"]} {
		all, _ := table.(map[string]any)
		for name, value := range all {
			text, _ := value.(string)
			headers[http.CanonicalHeaderKey(name)] = text
		}
	}
	if variable, _ := entry["bearer_token_env_var"].(string); variable != "" { // Codex
		headers["Authorization"] = "Bearer ${" + variable + "}"
	}
	variables, _ := entry["env_http_headers"].(map[string]any) // Codex too
	for name, variable := range variables {
		text, _ := variable.(string)
		headers[http.CanonicalHeaderKey(name)] = "${" + text + "}"
	}
	return address, headers
}

// connectsElsewhere reports whether an entry connects to what is no coordinator of this machine.
func connectsElsewhere(entry any) bool {
	table, _ := entry.(map[string]any)
	address, _ := readURL(table)
	return address != "" && !isListenerURL(address)
}

// isListenerURL reports whether an address has the form of `coordinator mcp --listen`. What the host
// replaces in it may be anything.
func isListenerURL(address string) bool {
	u, err := url.Parse(variable.ReplaceAllString(address, "1"))
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" ||
		strings.TrimSuffix(u.Path, "/") != mcpPath {
		return false
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	return ip.IsLoopback() || u.Hostname() == "localhost"
}

// listenerTimeout bounds a request within this machine.
const listenerTimeout = 2 * time.Second

// isListener reports whether a coordinator serves at an address now. No token is sent.
func isListener(address string) bool {
	if !isListenerURL(address) || variable.MatchString(address) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), listenerTimeout)
	defer cancel()
	res, err := requestListener(ctx, address, "")
	return err == nil && isCoordinator(res)
}

// isCoordinator reports whether a coordinator refused a request without a token.
func isCoordinator(res *http.Response) bool {
	return res.StatusCode == http.StatusUnauthorized &&
		strings.Contains(res.Header.Get("WWW-Authenticate"), `realm="`+entryName+`"`)
}

// requestListener sends a request that changes nothing, whoever serves at the address.
func requestListener(ctx context.Context, address, authorization string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	res, err := dial.Client(nil).Do(r)
	if err == nil {
		res.Body.Close()
	}
	return res, err
}
