package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unknown names the tool that does what a name promises that the server does not have.
// unlisted is how the user adds it; empty: it does not exist.
func (t Tools) unknown(name, unlisted string, err error) error {
	if !strings.Contains(err.Error(), "unknown tool") {
		return err
	}
	message := fmt.Sprintf("there is no tool %q", name)
	if ours := t.replacing(name); ours != "" {
		message += "; there is " + ours
	} else if unlisted != "" {
		message += " here: " + unlisted
	} else if near := nearest(name, slices.Collect(maps.Keys(t))); near != "" {
		message += "; there is " + near
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// replacing is the tool, and how it is called, that replaces one of Playwright MCP; empty: none
// does.
func (t Tools) replacing(name string) string {
	for _, tool := range t {
		if how := tool.Replaces[name]; how != "" {
			return tool.Name + " " + how
		}
	}
	return ""
}

// nearest is the name that is most likely meant; empty if none is near. A tool's name may
// lack its prefix, and a prefix makes no two names more alike.
func nearest(name string, names []string) string {
	slices.Sort(names)
	word := unprefixed(name)
	best, distance := "", max(1, (len(word)+1)/3)+1
	var containing []string
	for _, each := range names {
		if d := min(levenshtein.ComputeDistance(name, each),
			levenshtein.ComputeDistance(word, unprefixed(each))); d < distance {
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
