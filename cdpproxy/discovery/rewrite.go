package discovery

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// Rewrite replaces the browser's address and base by host, HOST:PORT with the mount.
// It changes only the URLs for clients, since a page chooses its title and URL
// freely.
func Rewrite(body []byte, base, host string) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var answer any
	if err := decoder.Decode(&answer); err != nil {
		return nil, err
	}
	switch answer := answer.(type) {
	case map[string]any:
		rewriteTarget(answer, base, host)
	case []any:
		for _, target := range answer {
			if target, ok := target.(map[string]any); ok {
				rewriteTarget(target, base, host)
			}
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "   ")
	if err := encoder.Encode(answer); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func rewriteTarget(target map[string]any, base, host string) {
	if ws, ok := target["webSocketDebuggerUrl"].(string); ok {
		if u, err := url.Parse(ws); err == nil {
			target["webSocketDebuggerUrl"] = "ws://" + host + strings.TrimPrefix(u.EscapedPath(), base)
		} else {
			delete(target, "webSocketDebuggerUrl")
		}
	}
	if front, ok := target["devtoolsFrontendUrl"].(string); ok {
		target["devtoolsFrontendUrl"] = rewriteFrontend(front, base, host)
	}
}

// rewriteFrontend replaces the address in the parameter ws=HOST:PORT/PATH.
func rewriteFrontend(front, base, host string) string {
	address, query, _ := strings.Cut(front, "?")
	params := strings.Split(query, "&")
	for i, param := range params {
		if value, ok := strings.CutPrefix(param, "ws="); ok {
			if _, path, ok := strings.Cut(value, "/"); ok {
				params[i] = "ws=" + host + strings.TrimPrefix("/"+path, base)
			}
		}
	}
	if query == "" {
		return front
	}
	return address + "?" + strings.Join(params, "&")
}

// NewAddress is the address that /json/new opens: the query up to the first ampersand, as
// Chromium has it. A plus is not decoded to a space, and what is no escape stays as it is.
// The access rule and every server of /json/new read it here: what is judged is what is
// opened.
func NewAddress(query string) string {
	rest, _, _ := strings.Cut(query, "&")
	var address strings.Builder
	for rest != "" {
		n := min(len(rest), len("%00"))
		decoded, err := url.PathUnescape(rest[:n])
		if err != nil || rest[0] != '%' {
			n, decoded = 1, rest[:1]
		}
		address.WriteString(decoded)
		rest = rest[n:]
	}
	return address.String()
}
