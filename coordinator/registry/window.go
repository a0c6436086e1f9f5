package registry

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"browser-coordinator/vscodeipc"
)

// Window is the state of one open window at one moment.
type Window struct {
	Address         vscodeipc.Address
	vscodeipc.Hello // with the state at that moment

	presented *presented
}

// Unreachable is an address without a reachable window, and why.
type Unreachable struct {
	Address vscodeipc.Address
	Reason  string
	// Silent is how long the window has taken connections without an answer; 0: it is not
	// silent.
	Silent time.Duration
}

// Listing is the current state, ordered by workspace and address.
type Listing struct {
	Windows     []Window
	Unreachable []Unreachable
}

// equal reports whether windows differ in nothing but the virtual browser over their pages.
// nil is no window.
func (w *Window) equal(other *Window) bool {
	if w == nil || other == nil {
		return w == other
	}
	a, b := *w, *other
	a.presented, b.presented = nil, nil
	return reflect.DeepEqual(a, b)
}

// Key identifies the window's workspace: its canonical path. A window without a workspace
// has its address.
func (w Window) Key() string { return cmp.Or(w.Workspace, string(w.Address)) }

// Hash is the hash of the key, as in the address of a window with a workspace.
func (w Window) Hash() string { return vscodeipc.Hash(w.Key()) }

// Title is the name of the window's folder, as VS Code shows it.
func (w Window) Title() string {
	if w.Workspace == "" {
		return "no folder"
	}
	return strings.TrimSuffix(filepath.Base(w.Workspace), ".code-workspace")
}

// Label names the window for people.
func (w Window) Label() string {
	switch {
	case w.Workspace == "":
		return fmt.Sprintf("a window without a folder (pid %d)", w.PID)
	case len(w.Folders) > 1:
		return fmt.Sprintf("%s (%s)", w.Workspace, strings.Join(w.Folders, ", "))
	default:
		return w.Workspace
	}
}

func (l *Listing) sort() {
	slices.SortFunc(l.Windows, func(a, b Window) int {
		return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Address, b.Address))
	})
	slices.SortFunc(l.Unreachable, func(a, b Unreachable) int { return cmp.Compare(a.Address, b.Address) })
}
