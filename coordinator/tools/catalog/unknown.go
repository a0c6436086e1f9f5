package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unknown names the tool that does what the name of one promises that the server does not
// have. all are also the tools that are off.
func (t Tools) unknown(all Tools, name string, err error) error {
	if !strings.Contains(err.Error(), "unknown tool") {
		return err
	}
	message := fmt.Sprintf("there is no tool %q", name)
	if ours := t.elsewhere(bare(name)); ours != "" {
		message += "; there is " + ours
	} else if all[name] != nil {
		message += " here: the user can add it with --caps"
	} else if near := nearest(name, slices.Collect(maps.Keys(t))); near != "" {
		message += "; there is " + near
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// elsewhere is the tool, and how it is called, that does what another server's tool of that
// name does; empty: none is known.
func (t Tools) elsewhere(name string) string {
	for _, tool := range t {
		for names, how := range tool.Others {
			if slices.Contains(strings.Fields(names), name) {
				return strings.TrimSpace(tool.Name + " " + how)
			}
		}
	}
	return ""
}

// bare is the name of a tool without the prefix that says in which program it works, and
// in this program's spelling.
func bare(name string) string {
	var b strings.Builder
	for i, c := range strings.ReplaceAll(name, "-", "_") {
		if i > 0 && 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	name = strings.ToLower(b.String())
	for _, prefix := range []string{"browser_", "playwright_", "puppeteer_", "chrome_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

// nearest is the name that is most likely meant; empty if none is near. A tool's name may
// lack its prefix, and a prefix makes no two names more alike.
func nearest(name string, names []string) string {
	slices.Sort(names)
	word := unprefixed(name)
	best, distance := "", max(1, (len(word)+1)/3)+1
	var containing []string
	for _, each := range names {
		if d := min(levenshtein.ComputeDistance(name, each), levenshtein.ComputeDistance(word, unprefixed(each))); d < distance {
			best, distance = each, d
		}
		if strings.Contains(each, word) {
			containing = append(containing, each)
		}
	}
	if distance > 1 && len(containing) == 1 {
		return containing[0]
	}
	return best
}

func unprefixed(name string) string { return name[strings.IndexByte(name, '_')+1:] }
