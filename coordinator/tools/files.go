package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/output"
)

// oneOf refuses a value that is not one of the allowed ones.
func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	return fmt.Errorf("%s %q: want one of %s", name, value, strings.Join(named, ", "))
}

// textOrFile adds text of the page to the answer, or saves it if the call names a file.
func (a *agent) textOrFile(out *answer, file *output.File, what, text string) error {
	if file == nil {
		out.quote(text)
		return nil
	}
	path, err := file.Save([]byte(a.server.options.Secrets.Hide(text) + "\n"))
	if err != nil {
		return err
	}
	out.addf("Saved the %s to %s (%d characters).", what, path, len([]rune(text)))
	return nil
}

// outputFolder is the folder for all files that tools write: --output-dir, else a folder
// below the first root.
func (a *agent) outputFolder(ctx context.Context) output.Folder {
	return output.In(a.workspace(ctx)[0], a.server.options.OutputDir)
}

// outputFile is the file that the call names, nil if it names none. Callers must resolve
// it before they do anything else: the name may be refused.
func (a *agent) outputFile(ctx context.Context, filename string, kind output.Kind) (*output.File, error) {
	if filename == "" {
		return nil, nil
	}
	return a.outputFolder(ctx).File(filename, kind)
}

// fileFor is outputFile with a default name.
func (a *agent) fileFor(ctx context.Context, filename, what string, kind output.Kind) (*output.File, error) {
	if filename == "" {
		filename = what + "-" + time.Now().UTC().Format("2006-01-02T15-04-05.000Z") + kind[0]
	}
	return a.outputFolder(ctx).File(filename, kind)
}

// allowedFile is the absolute path of a file that an agent wants to read. A relative name
// is below the first root, or else in the output folder. After symbolic links are
// resolved, the file must be below a root, the working directory, the output folder or
// one of the further folders: a page that misleads an agent must not make it read other
// files.
func (a *agent) allowedFile(ctx context.Context, filename string, further ...string) (string, error) {
	allowed := a.hostRoots(ctx)
	if len(allowed) == 0 {
		allowed = []string{a.server.options.Dir}
	}
	file := filename
	if !filepath.IsAbs(file) {
		file = filepath.Join(allowed[0], file)
		saved := filepath.Join(a.outputFolder(ctx).Path(), filename)
		if !exists(file) && exists(saved) {
			file = saved
		}
	}
	if dir := a.server.options.OutputDir; dir != "" {
		allowed = append(allowed, dir)
	}
	for _, dir := range further {
		if !slices.Contains(allowed, dir) {
			allowed = append(allowed, dir)
		}
	}
	file = filepath.Clean(file)
	real, err := realPath(file)
	if err != nil {
		return "", err
	}
	for _, dir := range allowed {
		if root, err := filepath.EvalSymlinks(dir); err == nil {
			if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) && rel != "." {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("%s is out of bounds: files are below %s only", filename, strings.Join(allowed, " or "))
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// realPath resolves the symbolic links of file, as far as it exists.
func realPath(file string) (string, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real, nil
	}
	if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is out of bounds: it is a link that leads nowhere", file)
	}
	parent := filepath.Dir(file)
	if parent == file {
		return file, nil
	}
	real, err := realPath(parent)
	if err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(file)), nil
}
