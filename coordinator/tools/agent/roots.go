package agent

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hostRoots are the folders that the host works in.
type hostRoots struct {
	mu    sync.Mutex // guards the fields that follow
	paths []string
	known bool
	asked int // how often, in vain
}

const rootsTimeout = 2 * time.Second

// hostRoots are the host's roots as paths. The host is asked once, and again after each
// notification of a change.
func (a *Agent) hostRoots(ctx context.Context) []string {
	a.roots.mu.Lock()
	known, paths := a.roots.known, a.roots.paths
	a.roots.mu.Unlock()
	if known {
		return paths
	}
	init := a.session.InitializeParams()
	if init == nil || init.ProtocolVersion >= rootsInResponse || !hasRoots(init.Capabilities) {
		return paths
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	//lint:ignore SA1019 as for hasRoots
	response, err := a.session.ListRoots(ctx, nil)
	if err != nil {
		a.Log.Warn("the host did not give its roots", "error", err)
		return nil
	}
	return a.setRoots(response)
}

//lint:ignore SA1019 as for hasRoots
func (a *Agent) setRoots(response *mcp.ListRootsResult) []string {
	var paths []string
	for _, root := range response.Roots {
		if path, ok := filePath(root.URI); ok {
			paths = append(paths, path)
		}
	}
	r := &a.roots
	r.mu.Lock()
	changed := !slices.Equal(paths, r.paths)
	r.paths, r.known, r.asked = paths, true, 0
	r.mu.Unlock()
	if changed {
		a.resolveAgain()
	}
	return paths
}

const (
	// rootsInResponse is the first protocol version in which a server requests roots in the
	// response to a call. The host then repeats the call.
	rootsInResponse = "2026-07-28"
	// rootsInput is the name of that request.
	rootsInput = "roots"
	// mostAsked bounds these requests to a host that never sends its roots. After that the
	// host counts as having none.
	mostAsked = 16
)

// AskRoots returns the response that requests the host's roots, nil if there is nothing
// to request.
func (a *Agent) AskRoots(req *mcp.CallToolRequest) *mcp.CallToolResult {
	if req.ProtocolVersion() < rootsInResponse || !hasRoots(req.ClientCapabilities()) {
		return nil
	}
	//lint:ignore SA1019 as for hasRoots
	if response, given := req.Params.InputResponses[rootsInput].(*mcp.ListRootsResult); given {
		a.setRoots(response)
		return nil
	}
	r := &a.roots
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known {
		return nil
	}
	if r.asked++; r.asked > mostAsked {
		r.known = true
		a.Log.Warn("the host says that it has roots, and does not give them")
		return nil
	}
	//lint:ignore SA1019 as for hasRoots
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{rootsInput: &mcp.ListRootsParams{}}}
}

func hasRoots(capabilities *mcp.ClientCapabilities) bool {
	//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
	return capabilities != nil && capabilities.RootsV2 != nil
}

// RootsChanged makes the next call ask for the roots again.
func (a *Agent) RootsChanged() {
	a.roots.mu.Lock()
	a.roots.known = false
	a.roots.mu.Unlock()
	a.resolveAgain()
}

// filePath is the path of a file URI (RFC 8089), which roots are.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		if u.Host != "" {
			return `\\` + u.Host + filepath.FromSlash(path), true
		}
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path), true
}
