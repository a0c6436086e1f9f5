package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"browser-coordinator/vscodeipc"
)

// EnvWorkspace is the variable with Want.Explicit if no flag or argument sets it.
const EnvWorkspace = "BROWSER_COORDINATOR_WORKSPACE"

// Want describes the window that a caller wants. The first member that names a window
// decides (adr/0006).
type Want struct {
	// Explicit is a path, a window's address, its hash, or the name of its
	// workspace's folder. Empty: not given.
	Explicit string
	// Roots are the MCP host's roots, as paths.
	Roots []string
	// Dir is the caller's working directory.
	Dir string
}

// Candidate is a window that was considered, and why it was or was not chosen.
type Candidate struct {
	Window Window
	Why    string
}

// SelectionError reports that no window, or more than one, fits.
type SelectionError struct {
	// Looked describes, for people, what the choice was based on.
	Looked string
	// Ambiguous is set when several windows fit equally well.
	Ambiguous bool
	// Candidates are all windows, with the reason why each was not chosen.
	Candidates []Candidate
	// Unreachable are addresses that did not respond, with the reason.
	Unreachable []Unreachable
}

func (e *SelectionError) Error() string {
	var b strings.Builder
	switch {
	case e.Ambiguous:
		fmt.Fprintf(&b, "several windows fit %s", e.Looked)
	case len(e.Candidates) == 0:
		fmt.Fprintf(&b, "no window is open (looked for %s)", e.Looked)
	default:
		fmt.Fprintf(&b, "no window fits %s", e.Looked)
	}
	labels := map[string]int{}
	for _, c := range e.Candidates {
		labels[c.Window.Label()]++
	}
	for _, c := range e.Candidates {
		label := c.Window.Label()
		if labels[label] > 1 {
			label += " at " + string(c.Window.Address)
		}
		fmt.Fprintf(&b, "\n- %s: %s", label, c.Why)
	}
	for _, u := range e.Unreachable {
		fmt.Fprintf(&b, "\n- %s: %s", u.Address, u.Reason)
	}
	switch {
	case e.Ambiguous:
		b.WriteString("\nSay which one is meant: give its folder, or its address where two share a folder.")
	case len(e.Candidates) == 0:
		b.WriteString("\nOpen the folder in VS Code with the Browser Coordinator extension, or run `coordinator window --workspace DIR`.")
	default:
		b.WriteString("\nOpen the folder in VS Code, or name the folder of one of these windows.")
	}
	return b.String()
}

// choose applies adr/0006 to the open windows. It reads only the file system, for the
// canonical form of the wanted path.
func choose(windows []Window, unreachable []Unreachable, want Want) (Window, []Candidate, error) {
	if want.Explicit != "" {
		return chooseExplicit(windows, unreachable, want.Explicit)
	}
	looked := "the working directory " + want.Dir
	if len(want.Roots) > 0 {
		looked = "the host's roots " + strings.Join(want.Roots, ", ") + " or " + looked
		winners := map[vscodeipc.Address]bool{}
		for _, root := range want.Roots {
			for _, i := range deepest(windows, root) {
				winners[windows[i].Address] = true
			}
		}
		if len(winners) > 0 {
			return settle(windows, unreachable, "the host's roots "+strings.Join(want.Roots, ", "), winners)
		}
	}
	winners := map[vscodeipc.Address]bool{}
	for _, i := range deepest(windows, want.Dir) {
		winners[windows[i].Address] = true
	}
	return settle(windows, unreachable, looked, winners)
}

func chooseExplicit(windows []Window, unreachable []Unreachable, name string) (Window, []Candidate, error) {
	winners := map[vscodeipc.Address]bool{}
	for _, w := range windows {
		if name == string(w.Address) || name == w.Hash() {
			winners[w.Address] = true
		}
	}
	// A relative path must exist: otherwise its nearest existing parent would be the working
	// directory, whatever the path.
	_, missing := os.Stat(name)
	if len(winners) == 0 && (missing == nil || filepath.IsAbs(name)) {
		for _, i := range deepest(windows, name) {
			winners[windows[i].Address] = true
		}
	}
	if len(winners) == 0 && !strings.ContainsAny(name, `/\`) {
		for _, w := range windows {
			if strings.EqualFold(w.Title(), name) {
				winners[w.Address] = true
			}
		}
	}
	return settle(windows, unreachable, fmt.Sprintf("%q", name), winners)
}

// settle turns the winners into a result, or into an error with the reason why each
// window was not chosen.
func settle(windows []Window, unreachable []Unreachable, looked string, winners map[vscodeipc.Address]bool) (Window, []Candidate, error) {
	var chosen Window
	candidates := make([]Candidate, 0, len(windows))
	for _, w := range windows {
		why := "none of its folders contains it"
		switch {
		case len(w.Folders) == 0 && w.Workspace == "":
			why = "it has no folder open"
		case winners[w.Address] && len(winners) > 1:
			why = "it fits as well as another"
		case winners[w.Address]:
			why = "chosen for " + looked
			chosen = w
		case len(winners) > 0:
			why = "another window fits better"
		}
		candidates = append(candidates, Candidate{w, why})
	}
	if len(winners) == 1 {
		return chosen, candidates, nil
	}
	return Window{}, candidates, &SelectionError{
		Looked: looked, Ambiguous: len(winners) > 1, Candidates: candidates, Unreachable: unreachable,
	}
}

// deepest returns the indices of the windows with the deepest folder that
// contains path. At the same depth a window whose workspace is that folder
// beats one that merely has it among others.
func deepest(windows []Window, path string) []int {
	path, ok := canonicalOrParent(path)
	if !ok {
		return nil
	}
	best, found := 0, []int(nil)
	for i, w := range windows {
		rank := 0
		if w.Workspace == path {
			rank = 2*len(path) + 1
		}
		for _, folder := range w.Folders {
			if !contains(folder, path) {
				continue
			}
			r := 2 * len(folder)
			if folder == w.Workspace {
				r++
			}
			rank = max(rank, r)
		}
		switch {
		case rank == 0 || rank < best:
		case rank == best:
			found = append(found, i)
		default:
			best, found = rank, []int{i}
		}
	}
	return found
}

// canonicalOrParent is the canonical form of path, or of its nearest ancestor that
// exists: a root may be about to be created.
func canonicalOrParent(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	for {
		canonical, err := vscodeipc.Canonical(abs)
		if err == nil {
			return canonical, true
		}
		parent := filepath.Dir(abs)
		if parent == abs {
			return "", false
		}
		abs = parent
	}
}

func contains(folder, path string) bool {
	if folder == path {
		return true
	}
	separator := string(os.PathSeparator)
	return strings.HasPrefix(path, strings.TrimSuffix(folder, separator)+separator)
}
