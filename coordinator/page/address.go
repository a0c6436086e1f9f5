package page

import "strings"

// cleanAddress removes what a browser's URL parser ignores: spaces and control
// characters at both ends, tabs and line ends anywhere.
func cleanAddress(address string) string {
	address = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, address)
	return strings.TrimFunc(address, func(r rune) bool { return r <= ' ' })
}

// FileAddress is the file: URL that a browser opens for an address, also for the source
// view of a file. It is empty if the address opens no file.
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

// Addresses are the URLs of the page's frames, the main frame's first, and of files
// that the page had loaded before it was guarded.
func (p *Page) Addresses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var addresses []string
	for _, f := range p.frames.All() {
		addresses = append(addresses, f.URL)
	}
	return append(addresses, p.guard.holds(p.commits)...)
}

// Folders are the workspace folders of the connection.
func (p *Page) Folders() []string { return p.browser.opts.Folders }

// Opened reports whether another page has opened this one.
func (p *Page) Opened() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	info := p.browser.opened[p.id]
	return info != nil && info.OpenerID != ""
}
