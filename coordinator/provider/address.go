package provider

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/internal/trusted"
)

// Address is where a provider is, with the credentials that it gets. It never prints
// them.
type Address struct {
	url    *url.URL // without a user
	header http.Header
	secret []string // parts that no error may show
}

// errSecret reports a secret on the command line, which every user of a machine can read.
var errSecret = errors.New("a password or a query must not be on the command line, where every user of this machine " +
	"can read it")

// Parse reads an address with one of the schemes. From a command line it must not
// contain credentials: a user, a password or a query. An address from elsewhere may;
// user and password become basic authentication (RFC 7617).
func Parse(text string, fromCommandLine bool, header http.Header, schemes ...string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) {
		return Address{}, fmt.Errorf("want an address with %s://", strings.Join(schemes, "://, "))
	}
	if fromCommandLine && (u.User != nil || u.RawQuery != "") {
		return Address{}, errSecret
	}
	a := Address{header: header.Clone()}
	if a.header == nil {
		a.header = http.Header{}
	}
	if u.User != nil {
		pair := u.User.Username() + ":"
		if password, ok := u.User.Password(); ok {
			pair += password
			a.hide(password)
		} else {
			a.hide(u.User.Username()) // some providers take a token there
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(pair))
		a.hide(encoded)
		a.header.Set("Authorization", "Basic "+encoded)
		u.User = nil
	}
	a.hide(u.RawQuery)
	for _, values := range u.Query() {
		a.hide(values...)
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if len(part) >= shortestInPath {
			a.hide(part)
		}
	}
	for _, values := range header {
		for _, value := range values {
			_, credentials, _ := strings.Cut(value, " ") // after the scheme of an Authorization
			a.hide(value, credentials)
		}
	}
	a.url = u
	return a, nil
}

// shortest is the length of a secret that is hidden: the text of an error may contain
// shorter ones by chance.
const shortest = 4

// shortestInPath is that of a part of the path: most parts are no secrets, but a token may
// be one.
const shortestInPath = 16

func (a *Address) hide(parts ...string) {
	for _, p := range parts {
		if len(p) >= shortest {
			a.secret = append(a.secret, p, url.QueryEscape(p))
		}
	}
	slices.SortFunc(a.secret, func(x, y string) int { return cmp.Compare(len(y), len(x)) })
}

// Place is the scheme, host and port, for people.
func (a Address) Place() string { return dial.Place(a.url.String()) }

// unencrypted reports that credentials leave this machine unencrypted.
func (a Address) unencrypted() bool {
	return (len(a.header) > 0 || a.url.RawQuery != "") && (a.url.Scheme == "http" || a.url.Scheme == "ws") &&
		!dial.Loopback(a.url.Hostname())
}

// redact removes the credentials from a text of the provider.
func (a Address) redact(text string) string {
	for _, part := range a.secret {
		text = strings.ReplaceAll(text, part, "…")
	}
	return text
}

// parseHeaders reads one "Name: value" a line. Empty lines and lines that begin with #
// are skipped. Its errors do not quote the text.
func parseHeaders(text string) (http.Header, error) {
	header := http.Header{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || textproto.TrimString(name) == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("line %d is not of the form \"Name: value\"", n)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return header, lines.Err()
}

// readHeaders reads a file of headers. Only its owner may have access to it.
func readHeaders(file string) (http.Header, error) {
	if err := trusted.Parents(file); err != nil {
		return nil, err
	}
	text, err := trusted.ReadFile(file)
	if err != nil {
		return nil, err
	}
	header, err := parseHeaders(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return header, nil
}
