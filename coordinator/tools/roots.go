package tools

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const rootsPatience = 2 * time.Second

// hostRoots are the host's roots as paths. The host is asked once, and again after each
// notification of a change.
func (a *agent) hostRoots(ctx context.Context) []string {
	a.mu.Lock()
	known, roots := a.rootsKnown, a.roots
	a.mu.Unlock()
	if known {
		return roots
	}
	init := a.session.InitializeParams()
	if init == nil || init.ProtocolVersion >= rootsInAnswer || !hasRoots(init.Capabilities) {
		return roots
	}
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	//lint:ignore SA1019 as for hasRoots
	answer, err := a.session.ListRoots(ctx, nil)
	if err != nil {
		a.log.Warn("the host did not give its roots", "error", err)
		return nil
	}
	return a.noteRoots(answer)
}

//lint:ignore SA1019 as for hasRoots
func (a *agent) noteRoots(answer *mcp.ListRootsResult) []string {
	var roots []string
	for _, root := range answer.Roots {
		if path, ok := filePath(root.URI); ok {
			roots = append(roots, path)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := !slices.Equal(roots, a.roots)
	a.roots, a.rootsKnown, a.rootsAsked = roots, true, 0
	if changed {
		a.decideAnew()
	}
	return roots
}

const (
	// rootsInAnswer is the first protocol version in which a server requests roots in the
	// response to a call. The host then repeats the call.
	rootsInAnswer = "2026-07-28"
	// rootsInput is the name of that request.
	rootsInput = "roots"
	// mostAsked bounds these requests to a host that never sends its roots. After that the
	// host counts as having none.
	mostAsked = 16
)

// askRoots returns the response that requests the host's roots, nil if there is nothing
// to request.
func (a *agent) askRoots(req *mcp.CallToolRequest) *mcp.CallToolResult {
	if req.ProtocolVersion() < rootsInAnswer || !hasRoots(req.ClientCapabilities()) {
		return nil
	}
	//lint:ignore SA1019 as for hasRoots
	if answer, given := req.Params.InputResponses[rootsInput].(*mcp.ListRootsResult); given {
		a.noteRoots(answer)
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rootsKnown {
		return nil
	}
	if a.rootsAsked++; a.rootsAsked > mostAsked {
		a.rootsKnown = true
		a.log.Warn("the host says that it has roots, and does not give them")
		return nil
	}
	//lint:ignore SA1019 as for hasRoots
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{rootsInput: &mcp.ListRootsParams{}}}
}

func hasRoots(capabilities *mcp.ClientCapabilities) bool {
	//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
	return capabilities != nil && capabilities.RootsV2 != nil
}

func (s *Server) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	a := s.agent(req.Session)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rootsKnown = false
	a.decideAnew()
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
