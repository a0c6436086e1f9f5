package tools

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// oneOf refuses a value that is not one of the allowed ones.
func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	return fmt.Errorf("%s %q: want one of %s", name, value, strings.Join(named, ", "))
}

// textOrFile adds text of the page to the answer, or saves it where a file is
// asked for.
func (a *agent) textOrFile(ctx context.Context, out *answer, filename, what, text string) error {
	file, err := a.outputFile(ctx, filename)
	if err != nil {
		return err
	}
	if file == "" {
		out.quote(text)
		return nil
	}
	if err := writeFile(file, []byte(a.server.options.Secrets.hide(text)+"\n")); err != nil {
		return err
	}
	out.addf("Saved the %s to %s (%d characters).", what, file, len([]rune(text)))
	return nil
}

// outputFile is the absolute path of a file that an agent wants written, empty
// when it named none.
func (a *agent) outputFile(ctx context.Context, filename string) (string, error) {
	if filename == "" {
		return "", nil
	}
	return a.allowedFile(ctx, filename)
}

// fileFor is outputFile with a name of its own where the agent gives none: in the
// output directory, else below the first root.
func (a *agent) fileFor(ctx context.Context, filename, kind, extension string) (string, error) {
	if filename == "" {
		filename = kind + "-" + time.Now().UTC().Format("2006-01-02T15-04-05.000Z") + "." + extension
		if dir := a.server.options.OutputDir; dir != "" {
			filename = filepath.Join(dir, filename)
		}
	}
	return a.allowedFile(ctx, filename)
}

// allowedFile is the absolute path of a file that an agent names. A relative
// name is below the first root. The file must be below a root, the working
// directory, the output directory or one of the further folders, after symbolic
// links: an agent that was misled by a page must neither read nor write elsewhere.
func (a *agent) allowedFile(ctx context.Context, filename string, further ...string) (string, error) {
	allowed := a.hostRoots(ctx)
	if len(allowed) == 0 {
		allowed = []string{a.server.options.Dir}
	}
	file := filename
	if !filepath.IsAbs(file) {
		file = filepath.Join(allowed[0], file)
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

func writeFile(file string, data []byte) error { return writeMode(file, 0o644, data) }

// writeSecret is writeFile for what only the user may read.
func writeSecret(file string, data []byte) error { return writeMode(file, 0o600, data) }

func writeMode(file string, mode os.FileMode, data []byte) error {
	_, err := streamFile(file, mode, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
	return err
}

// streamFile writes a file as its content comes, and returns its size. The file
// is there when all of it is; until then one that was there before stays.
func streamFile(file string, mode os.FileMode, write func(io.Writer) error) (size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return 0, fmt.Errorf("save: %w", err)
	}
	part := fmt.Sprintf("%s.%d.part", file, time.Now().UnixNano())
	to, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, fmt.Errorf("save: %w", err)
	}
	err = write(to)
	if info, statErr := to.Stat(); statErr == nil {
		size = info.Size()
	}
	if closed := to.Close(); closed != nil && err == nil {
		err = fmt.Errorf("save: %w", closed)
	}
	if err == nil {
		err = os.Rename(part, file)
	}
	if err != nil {
		os.Remove(part)
	}
	return size, err
}
