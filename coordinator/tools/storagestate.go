package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/policy"
)

type saveStateIn struct {
	Filename string `json:"filename,omitempty" jsonschema:"Default: storage-state-TIME.json"`
	inWindow
}

type loadStateIn struct {
	Filename string `json:"filename"`
	inWindow
}

func (s *Server) addStateTools() {
	add(s, &mcp.Tool{
		Name:        "browser_storage_state",
		Description: "Save cookies and local storage to a file, in Playwright's format",
		Annotations: saves("Save the storage state"),
	}, saveState)
	add(s, &mcp.Tool{
		Name:        "browser_set_storage_state",
		Description: "Replace cookies and local storage by those of such a file",
		Annotations: acts("Restore the storage state"),
	}, loadState)
}

func saveState(ctx context.Context, a *agent, in saveStateIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "storage-state", output.JSON)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	origins, refused := a.server.options.Origins, 0
	state, err := p.Storage().State(ctx, func(origin string) bool {
		skip := origins.Decide(origin).Outcome != policy.Allow
		if skip {
			refused++
		}
		return skip
	})
	if err != nil {
		return nil, err
	}
	cookies, refusedCookies := within(origins, state.Cookies)
	state.Cookies = cookies
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return nil, err
	}
	path, err := file.Save(append(text, '\n'))
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Saved %d cookies and the local storage of %d origins to %s. It holds secrets.", len(state.Cookies), len(state.Origins), path)
	out.leftOut(refused, "origins")
	out.leftOut(refusedCookies, "cookies")
	return out, nil
}

// mostState bounds a file that is read: local storage has 5 MB an origin.
const mostState = 64 << 20

func loadState(ctx context.Context, a *agent, in loadStateIn) (*answer, error) {
	file, err := a.allowedFile(ctx, in.Filename)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostState {
		return nil, fmt.Errorf("%s is too large for a storage state: %d bytes", file, info.Size())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var state storage.State
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("%s is no storage state: %w", file, err)
	}
	left := leftOut(text)
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := p.Storage().SetState(ctx, state); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Restored %d cookies and the local storage of %d origins; reload the page to see the effect.", len(state.Cookies), len(state.Origins))
	if left != "" {
		out.addf("%s", left)
	}
	return out, nil
}

// leftOut reports what Playwright may have saved and this tool does not restore.
func leftOut(text []byte) string {
	var more struct {
		Credentials []json.RawMessage
		Origins     []struct{ IndexedDB []json.RawMessage }
	}
	if json.Unmarshal(text, &more) != nil {
		return ""
	}
	for _, o := range more.Origins {
		if len(o.IndexedDB) > 0 {
			return "The file's IndexedDB content was not restored."
		}
	}
	if len(more.Credentials) > 0 {
		return "The file's credentials were not restored."
	}
	return ""
}
