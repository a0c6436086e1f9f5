package tools

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/agent"
)

// hostRoots are the folders that the host of a session works in.
type hostRoots struct {
	session *mcp.ServerSession
	log     *slog.Logger
	changed func() // is called when the roots are others

	mu       sync.Mutex // guards the fields that follow
	paths    []string
	complete bool
	attempts int // how often without an answer
}

const rootsTimeout = 2 * time.Second

// get returns the host's roots as paths. It asks the host once, and again after each
// notification of a change.
func (r *hostRoots) get(ctx context.Context) []string {
	r.mu.Lock()
	known, paths := r.complete, r.paths
	r.mu.Unlock()
	if known {
		return paths
	}
	init := r.session.InitializeParams()
	if init == nil || init.ProtocolVersion >= rootsInResponse || !hasRoots(init.Capabilities) {
		return paths
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	//lint:ignore SA1019 as for hasRoots
	response, err := r.session.ListRoots(ctx, nil)
	if err != nil {
		r.log.Warn("the host did not list its roots", "error", err)
		return nil
	}
	return r.set(response)
}

//lint:ignore SA1019 as for hasRoots
func (r *hostRoots) set(response *mcp.ListRootsResult) []string {
	var paths []string
	for _, root := range response.Roots {
		if path, ok := rootPath(root.URI); ok {
			paths = append(paths, path)
		} else {
			r.log.Warn("a root of the host is no folder of this machine, so no window is found by it: name the window's "+
				"folder with --workspace", "root", root.URI)
		}
	}
	r.mu.Lock()
	hasOthers := !slices.Equal(paths, r.paths)
	r.paths, r.complete, r.attempts = paths, true, 0
	r.mu.Unlock()
	if hasOthers {
		r.changed()
	}
	return paths
}

// drive matches the path of a folder of Windows.
var drive = regexp.MustCompile(`^/([A-Za-z]):(/.*)?$`)

// rootPath is the path of a root. A host on Windows names the folders of a Linux in WSL as Windows does.
func rootPath(uri string) (string, bool) {
	u, err := url.Parse(strings.Replace(uri, "wsl%24", "wsl$", 1))
	if err != nil || runtime.GOOS == "windows" {
		return agent.FilePath(uri)
	}
	distribution := os.Getenv("WSL_DISTRO_NAME")
	if host := strings.ToLower(u.Host); u.Scheme == "file" && (host == "wsl.localhost" || host == "wsl$") {
		name, path, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		return "/" + path, distribution != "" && strings.EqualFold(name, distribution)
	}
	if of := drive.FindStringSubmatch(u.Path); of != nil {
		return "/mnt/" + strings.ToLower(of[1]) + of[2], distribution != ""
	}
	return agent.FilePath(uri)
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

// request returns the response that requests the host's roots, nil if there is nothing to
// request.
func (r *hostRoots) request(req *mcp.CallToolRequest) *mcp.CallToolResult {
	if r == nil || req.ProtocolVersion() < rootsInResponse || !hasRoots(req.ClientCapabilities()) {
		return nil
	}
	//lint:ignore SA1019 as for hasRoots
	if response, present := req.Params.InputResponses[rootsInput].(*mcp.ListRootsResult); present {
		r.set(response)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.complete {
		return nil
	}
	if r.attempts++; r.attempts > mostAsked {
		r.complete = true
		r.log.Warn("the host announces roots, but does not list them")
		return nil
	}
	//lint:ignore SA1019 as for hasRoots
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{rootsInput: &mcp.ListRootsParams{}}}
}

func hasRoots(capabilities *mcp.ClientCapabilities) bool {
	//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
	return capabilities != nil && capabilities.RootsV2 != nil
}

// forget makes the next call ask for the roots again.
func (r *hostRoots) forget() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.complete = false
	r.mu.Unlock()
	r.changed()
}
