package page

import "strings"

// cleanAddress takes off what a browser's parser of addresses overlooks: spaces and
// control characters at both ends, tabs and line ends anywhere.
func cleanAddress(address string) string {
	address = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, address)
	return strings.TrimFunc(address, func(r rune) bool { return r <= ' ' })
}

// FileAddress is the file: address that a browser opens for an address, the one of
// a file's source too; empty: it opens no file.
func FileAddress(address string) string {
	address = cleanAddress(address)
	for {
		scheme, rest, _ := strings.Cut(address, ":")
		switch strings.ToLower(scheme) {
		case "view-source":
			address = cleanAddress(rest)
		case "file":
			path, _, _ := strings.Cut(rest, "#")
			path, _, _ = strings.Cut(path, "?")
			return "file:" + strings.ReplaceAll(path, `\`, "/")
		default:
			return ""
		}
	}
}

// Addresses are those that the page's frames show, the main frame's first, and of
// files that it had loaded before it was guarded.
func (p *Page) Addresses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var addresses []string
	for _, f := range p.frames.All() {
		addresses = append(addresses, f.URL)
	}
	return append(addresses, p.guard.holds(p.commits)...)
}

// Folders are those of the workspace that the connection was told of.
func (p *Page) Folders() []string { return p.browser.opts.Folders }

// Opened says whether another page has opened it.
func (p *Page) Opened() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	info := p.browser.opened[p.id]
	return info != nil && info.OpenerID != ""
}
