package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// workspaceFlag adds --workspace to a command.
func workspaceFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "workspace", os.Getenv(registry.EnvWorkspace),
		"select the window of `DIR`, or of a .code-workspace file (default: $"+registry.EnvWorkspace+", else the "+
			"working directory)")
	setByVariable(cmd, "workspace", registry.EnvWorkspace)
}

// openRegistry starts to find windows. Long-running programs delete stale sockets first.
func (p *program) openRegistry(ctx context.Context, sweep bool) *registry.Registry {
	return registry.Open(ctx, registry.Options{
		Client: peer(),
		Sweep:  sweep,
		Limit:  p.limits.access,
		Logger: p.logger,
	})
}

// peer is the name that the coordinator sends to windows.
func peer() vscodeipc.Peer { return vscodeipc.Peer{Name: "coordinator", Version: version()} }

// canonicalWorkspace is the canonical path of the value of --workspace.
func canonicalWorkspace(workspace string) (string, error) {
	dir, err := os.Getwd()
	if err != nil && !filepath.IsAbs(workspace) {
		return "", wrongUse("the working directory no longer exists: cd to a folder that exists, or name one with " +
			"--workspace")
	}
	path := workspace
	if !filepath.IsAbs(workspace) {
		path = filepath.Join(dir, workspace)
	}
	canonical, err := vscodeipc.Canonical(path)
	next := "name one with --workspace"
	if workspace != "" && workspace == os.Getenv(registry.EnvWorkspace) {
		path += ", which $" + registry.EnvWorkspace + " names"
		next = "set the variable to one that exists, or unset it"
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", wrongUse("there is no folder %s: %s", path, next)
	case err != nil:
		return "", wrongUse("%w; %s", err, next)
	}
	return canonical, nil
}

// checkWorkspace rejects a file that cannot be any window's workspace, by its canonical
// path.
func checkWorkspace(canonical string) error {
	info, err := os.Stat(canonical)
	if err != nil || info.IsDir() {
		return nil
	}
	// VS Code knows a workspace by its file extension, but keeps an unsaved one as a
	// workspace.json of its own.
	base := filepath.Base(canonical)
	if info.Mode().IsRegular() && (strings.EqualFold(filepath.Ext(base), ".code-workspace") ||
		base == "workspace.json") {
		return nil
	}
	return wrongUse("the workspace %s is a file: name a folder, or a .code-workspace file", canonical)
}

// resolveWorkspace returns the workspace of the window that the value of --workspace resolves to, or
// its canonical path if no window is open: an endpoint's address exists before its window. A file
// may be any in an open window's folders, and any open window's workspace.
func resolveWorkspace(ctx context.Context, windows *registry.Registry, workspace string) (string, error) {
	canonical, err := canonicalWorkspace(workspace)
	if err != nil {
		return "", err
	}
	w, _, err := windows.Resolve(ctx, registry.Want{Explicit: canonical})
	var none *registry.SelectionError
	switch {
	case err == nil && w.Workspace != "":
		return w.Workspace, nil
	case err == nil, errors.As(err, &none) && !none.Ambiguous:
		return canonical, checkWorkspace(canonical)
	case errors.As(err, &none) && sameWorkspace(none, canonical):
		return canonical, nil
	default:
		return "", err
	}
}

// findWorkspace is resolveWorkspace with the windows that are open now.
func (p *program) findWorkspace(ctx context.Context, workspace string) (string, error) {
	windows := p.openRegistry(ctx, false)
	defer windows.Close()
	return resolveWorkspace(ctx, windows, workspace)
}

// sameWorkspace reports whether one of the equally good windows has the wanted folder as
// its workspace: then they share its endpoint's address.
func sameWorkspace(none *registry.SelectionError, canonical string) bool {
	return slices.ContainsFunc(none.Candidates, func(c registry.Candidate) bool {
		return c.Window.Workspace == canonical
	})
}
