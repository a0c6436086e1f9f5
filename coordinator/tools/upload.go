package tools

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type uploadIn struct {
	Paths  []string `json:"paths,omitempty" jsonschema:"below the workspace; none cancels"`
	Target string   `json:"target,omitempty" jsonschema:"input or button; default: the open file chooser"`
	inWindow
}

type dropIn struct {
	Element string            `json:"element,omitempty"`
	Target  string            `json:"target" jsonschema:"ref or CSS selector"`
	Paths   []string          `json:"paths,omitempty"`
	Data    map[string]string `json:"data,omitempty" jsonschema:"by MIME type"`
	inWindow
}

func (s *Server) addUploadTools() {
	add(s, &mcp.Tool{Name: "browser_file_upload", Description: "Give files to a file input or chooser", Annotations: acts("Upload files")}, upload)
	add(s, &mcp.Tool{Name: "browser_drop", Description: "Drop files or data onto an element", Annotations: acts("Drop")}, drop)
}

func upload(ctx context.Context, a *agent, in uploadIn) (*answer, error) {
	files, err := a.readable(ctx, in.Paths)
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	into := in.Target
	if into == "" {
		into = "the file chooser"
	}
	return a.did(fmt.Sprintf("Put %d files into %s.", len(files), into))(p.Act(ctx, p.Input().Upload(in.Target, files...)))
}

func drop(ctx context.Context, a *agent, in dropIn) (*answer, error) {
	files, err := a.readable(ctx, in.Paths)
	if err != nil {
		return nil, fmt.Errorf("drop: %w", err)
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d files", len(files))
	if len(in.Data) > 0 {
		what = fmt.Sprint(slices.Sorted(maps.Keys(in.Data)))
	}
	return a.did(fmt.Sprintf("Dropped %s onto %s.", what, named(in.Element, in.Target)))(p.Act(ctx, p.Input().Drop(in.Target, files, in.Data)))
}

// readable are the real paths of files that the agent uploads: a link that changes later
// has no effect.
func (a *agent) readable(ctx context.Context, paths []string) ([]string, error) {
	files := make([]string, len(paths))
	for i, path := range paths {
		file, err := a.allowedFile(ctx, path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
		if files[i], err = realPath(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}
