package setup

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// What is shown of the coordinator's own entry has no secret either: no value of a variable or a
// header that may be one, and of an address no user, path or query.

// mask stands for what may be secret.
const mask = "…"

// shownMembers of an entry are shown with their values. Of others only the names are, and
// booleans.
var shownMembers = []string{"command", "cmd", "args", "type", "name", "tools", "source", "cwd", "envFile", "url",
	"httpUrl", "serverUrl", "uri"}

var (
	// shownVariables change what is started: their values are for the user to read.
	shownVariables = regexp.MustCompile(`(?i)^(LD_|DYLD_|PATH$|NODE_|npm_config_|LANG$|LC_|BROWSER_COORDINATOR_|` +
		`DISPLAY$|WAYLAND_DISPLAY$|NO_COLOR$|TERM$)`)
	secretName = regexp.MustCompile(`(?i)token|secret|password|passwd|auth|credential|cookie|headers|[_-]key|^key`)
	address    = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	assignment = regexp.MustCompile(`^(-*[A-Za-z_][\w.-]*)=(.*)$`)
	word       = regexp.MustCompile(`[^\s,"'\[\]]+`)
)

// maskVariable is a variable as it is shown.
func maskVariable(name, value string) string {
	if !shownVariables.MatchString(name) || secretName.MatchString(name) {
		value = mask
	}
	return name + "=" + maskAddresses(value)
}

// maskWord is a word of a command as it is shown.
func maskWord(word string) string {
	if m := assignment.FindStringSubmatch(word); m != nil {
		if known, _ := KnownFlag(m[1]); !known && (strings.HasPrefix(m[1], "-") && secretName.MatchString(m[1]) ||
			!strings.HasPrefix(m[1], "-")) {
			return maskVariable(m[1], m[2])
		}
	}
	return maskAddresses(word)
}

// maskWords are words of a command as they are shown.
func maskWords(words []string) []string {
	masked := make([]string, len(words))
	for i, word := range words {
		masked[i] = maskWord(word)
	}
	return masked
}

// maskAddresses masks the parts of addresses that may have a secret.
func maskAddresses(text string) string {
	return address.ReplaceAllStringFunc(text, func(found string) string {
		u, err := url.Parse(found)
		if err != nil {
			return mask
		}
		shown := u.Scheme + "://" + u.Host
		if (strings.Trim(u.Path, "/") == "" || u.Path == mcpPath) && u.RawQuery == "" && u.Fragment == "" {
			return shown + u.Path
		}
		return shown + "/" + mask
	})
}

// maskText masks the words of a text in the language of a file.
func maskText(text string) string { return word.ReplaceAllStringFunc(maskAddresses(text), maskWord) }

// shown reports whether values at a path in the coordinator's own entry are shown, which is as
// maskWord says. own: the path is in such an entry.
func (p paths) shown(path []string) (own, shown bool) {
	for _, entry := range p {
		if len(entry) <= len(path) && slices.Equal(entry, path[:len(entry)]) {
			return true, len(path) > len(entry) && slices.Contains(shownMembers, path[len(entry)])
		}
	}
	return false, false
}
