package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"browser-coordinator/coordinator/tools"
	"browser-coordinator/vscodeipc"
)

// addedServer prepares another MCP server: it is told the stable address of the
// window that is meant, which is served from now on, also before a window comes.
func (p *program) addedServer(ctx context.Context, endpoints *endpoints, given string, command []string, allowToken bool) (*tools.Added, error) {
	workspace, err := p.meantWorkspace(ctx, endpoints.windows, given)
	if err != nil {
		return nil, err
	}
	address, err := endpoints.serveWorkspace(workspace)
	if err != nil {
		return nil, fmt.Errorf("serve the CDP address for %s: %w", command[0], err)
	}
	// What it offers depends on how it was called, not on the address.
	cache := filepath.Join(xdg.CacheHome, "browser-coordinator-mcp", "tools-"+vscodeipc.Hash(strings.Join(command, "\x00"))+".json")
	args, env, err := childCommand(command, workspace, address, allowToken)
	if err != nil {
		return nil, err
	}
	return &tools.Added{Command: args, Cache: cache, Stderr: p.err, Env: env}, nil
}
