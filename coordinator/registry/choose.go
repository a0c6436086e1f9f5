package registry

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/internal/fspath"
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
	// InUse is the window that the caller works in; empty: none. It is chosen among those on
	// one folder.
	InUse vscodeipc.Address
}

// Candidate is a window that was considered, and why it was or was not chosen.
type Candidate struct {
	Window Window
	Reason string
}

// SelectionError reports that no window, or more than one, fits.
type SelectionError struct {
	// Sought describes, for people, what the choice was based on.
	Sought string
	// Ambiguous is set when several windows fit equally well.
	Ambiguous bool
	// Candidates are all windows, with the reason why each was not chosen.
	Candidates []Candidate
	// Unreachable are addresses that did not respond, with the reason.
	Unreachable []Unreachable
	// Match is the one of them that has the address of the wanted folder's window; nil: none
	// has.
	Match *Unreachable
}

func (e *SelectionError) Error() string {
	var b strings.Builder
	switch {
	case e.Match != nil:
		fmt.Fprintf(&b, "the window of %s cannot be used now", e.Sought)
	case e.Ambiguous:
		fmt.Fprintf(&b, "several windows fit %s", e.Sought)
	case len(e.Candidates) == 0:
		fmt.Fprintf(&b, "no window is open (looked for %s)", e.Sought)
	default:
		fmt.Fprintf(&b, "no window fits %s", e.Sought)
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
		fmt.Fprintf(&b, "\n- %s: %s", label, c.Reason)
	}
	for _, u := range e.Unreachable {
		fmt.Fprintf(&b, "\n- %s: %s", u.Address, u.Reason)
	}
	switch {
	case e.Match != nil && e.Match.Silent > 0:
		b.WriteString("\nWait until its program goes on, or end it: continue a stopped one by `fg`, or run " +
			"“Developer: Reload Window” in VS Code. Then call again.")
	case e.Match != nil:
		b.WriteString("\nSolve that, or close the window. Then call again. `coordinator doctor` shows more.")
	case e.Ambiguous:
		b.WriteString("\nSelect one of them: give its folder, or its address where two share a folder.")
	case len(e.Candidates) == 0:
		b.WriteString("\nOpen the folder in VS Code with the Browser Coordinator extension, or run `coordinator " +
			"window --workspace DIR`.")
	default:
		b.WriteString("\nOpen the folder in VS Code, or name the folder of one of these windows.")
	}
	return b.String()
}

// choose applies adr/0006 to the open windows. It reads only the file system, for the
// canonical form of the wanted path.
func choose(windows []Window, unreachable []Unreachable, want Want) (Window, []Candidate, error) {
	if want.Explicit != "" {
		choice, candidates, err := settle(windows, unreachable, fmt.Sprintf("%q", want.Explicit),
			prefer(windows, named(windows, want.Explicit), want.InUse))
		return choice, candidates, withWanted(err, want.Explicit)
	}
	sought := "the working directory " + want.Dir
	if len(want.Roots) > 0 {
		roots := "the host's roots " + strings.Join(want.Roots, ", ")
		winners := map[vscodeipc.Address]bool{}
		for _, root := range want.Roots {
			maps.Copy(winners, deepest(windows, root))
		}
		if len(winners) > 0 {
			return settle(windows, unreachable, roots, prefer(windows, winners, want.InUse))
		}
		sought = roots + " or " + sought
	}
	choice, candidates, err := settle(windows, unreachable, sought,
		prefer(windows, deepest(windows, want.Dir), want.InUse))
	return choice, candidates, withWanted(err, append(slices.Clone(want.Roots), want.Dir)...)
}

// withWanted sets which of the unreachable addresses is that of the wanted window: of a
// path, of a folder that contains it, or the address itself. Such a window must not count
// as none.
func withWanted(err error, want ...string) error {
	none, ok := err.(*SelectionError)
	if !ok || none.Ambiguous {
		return err
	}
	for _, want := range want {
		keys := []string{want}
		if path, ok := canonicalOrParent(want); ok {
			for ; ; path = filepath.Dir(path) {
				keys = append(keys, vscodeipc.Hash(path))
				if path == filepath.Dir(path) {
					break
				}
			}
		}
		for _, u := range none.Unreachable {
			if want == string(u.Address) || slices.Contains(keys, u.Address.Key()) {
				none.Match = &u
				return none
			}
		}
	}
	return none
}

// named returns the windows that an explicit choice names: by address or hash, else by
// path, else by the name of the folder.
func named(windows []Window, name string) map[vscodeipc.Address]bool {
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
		winners = deepest(windows, name)
	}
	if len(winners) == 0 && !strings.ContainsAny(name, `/\`) {
		for _, w := range windows {
			if w.Workspace != "" && strings.EqualFold(w.Title(), name) {
				winners[w.Address] = true
			}
		}
	}
	return winners
}

// prefer reduces winners that are on one folder, such as a window beside one that a crashed
// editor has left, to the one in use, or else to the only one with a browser.
func prefer(
	windows []Window, winners map[vscodeipc.Address]bool, inUse vscodeipc.Address,
) map[vscodeipc.Address]bool {
	keys, withBrowser := map[string]bool{}, map[vscodeipc.Address]bool{}
	for _, w := range windows {
		if winners[w.Address] {
			keys[w.Key()] = true
			if w.Browser() != nil {
				withBrowser[w.Address] = true
			}
		}
	}
	switch {
	case len(keys) != 1:
		return winners
	case winners[inUse]:
		return map[vscodeipc.Address]bool{inUse: true}
	case len(withBrowser) == 1:
		return withBrowser
	}
	return winners
}

// settle turns the winners into a result, or into an error with the reason why each
// window was not chosen.
func settle(
	windows []Window, unreachable []Unreachable, sought string, winners map[vscodeipc.Address]bool,
) (Window, []Candidate, error) {
	var choice Window
	candidates := make([]Candidate, 0, len(windows))
	for _, w := range windows {
		reason := "none of its folders contains it"
		switch {
		case winners[w.Address] && len(winners) > 1:
			reason = "it fits as well as another"
		case winners[w.Address]:
			reason = "chosen for " + sought
			choice = w
		case len(w.Folders) == 0 && w.Workspace == "":
			reason = "it has no folder open"
		case len(winners) == 1 && isTwin(windows, w, winners):
			reason = "another window on this folder is in use, or has the browser"
		case len(winners) > 0:
			reason = "another window fits better"
		}
		candidates = append(candidates, Candidate{w, reason})
	}
	if len(winners) == 1 {
		return choice, candidates, nil
	}
	return Window{}, candidates, &SelectionError{
		Sought: sought, Ambiguous: len(winners) > 1, Candidates: candidates, Unreachable: unreachable,
	}
}

// isTwin reports whether a winner has the workspace of a window.
func isTwin(windows []Window, w Window, winners map[vscodeipc.Address]bool) bool {
	return slices.ContainsFunc(windows, func(other Window) bool {
		return winners[other.Address] && other.Key() == w.Key()
	})
}

// deepest returns the windows with the deepest folder that contains path. At the same
// depth a window whose workspace is that folder beats one that merely has it among
// others.
func deepest(windows []Window, path string) map[vscodeipc.Address]bool {
	winners := map[vscodeipc.Address]bool{}
	path, ok := canonicalOrParent(path)
	if !ok {
		return winners
	}
	best := 1
	for _, w := range windows {
		rank := 0
		for _, folder := range slices.Concat(w.Folders, []string{w.Workspace}) {
			_, within := fspath.Within(folder, path)
			switch {
			case folder == "" || !within:
			case folder == w.Workspace:
				rank = max(rank, 2*len(folder)+1)
			default:
				rank = max(rank, 2*len(folder))
			}
		}
		if rank > best {
			best = rank
			clear(winners)
		}
		if rank == best {
			winners[w.Address] = true
		}
	}
	return winners
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
