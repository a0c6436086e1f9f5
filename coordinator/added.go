package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"browser-coordinator/coordinator/tools"
	"browser-coordinator/vscodeipc"
)

// addedServer prepares another MCP server: it is told the stable address of the
// window that is meant, which is served from now on, also before a window comes.
func (p *program) addedServer(ctx context.Context, endpoints *endpoints, given string, command []string) (*tools.Added, error) {
	workspace, err := p.meantWorkspace(ctx, endpoints.windows, given)
	if err != nil {
		return nil, err
	}
	url, err := endpoints.serveWorkspace(workspace)
	if err != nil {
		return nil, fmt.Errorf("serve the CDP address for %s: %w", command[0], err)
	}
	// What it offers depends on how it was called, not on the address.
	cache := filepath.Join(xdg.CacheHome, "browser-coordinator-mcp", "tools-"+vscodeipc.Hash(strings.Join(command, "\x00"))+".json")
	told := make([]string, len(command))
	for i, arg := range command {
		told[i] = strings.ReplaceAll(arg, endpointPlaceholder, url)
	}
	return &tools.Added{
		Command: told, Cache: cache, Stderr: p.err,
		Env: append(os.Environ(), envEndpoint+"="+url, envWorkspace+"="+workspace),
	}, nil
}
