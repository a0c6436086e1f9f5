// Package config reads config.toml, which has flags of the commands: the user's own file, and
// those of projects.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"browser-coordinator/internal/stricttoml"
	"browser-coordinator/internal/trusted"
)

const (
	name = "config.toml"
	// userFolder is the folder of the user's file, in the folder for settings.
	userFolder = "browser-coordinator"
	// projectFolder is that of a project's file, in the workspace.
	projectFolder = ".browser-coordinator"
)

// File is a config.toml.
type File struct {
	Path string
	// Flags are values by the names of flags, for each command that has the flag.
	Flags map[string]any
	// Commands are those for one command alone, by its name.
	Commands map[string]map[string]any
}

// UserPath is where the user's file is; empty: the environment names no place for it.
func UserPath() string {
	home := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(home) {
		if runtime.GOOS == "windows" {
			home = os.Getenv("APPDATA")
		} else {
			home = filepath.Join(os.Getenv("HOME"), ".config")
		}
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, userFolder, name)
}

// User reads the user's file; nil: there is none. One that another user can change is refused.
func User() (*File, error) {
	path := UserPath()
	if path == "" {
		return nil, nil
	}
	return read(path, trusted.ReadOwn)
}

// Projects reads the files of the projects that a folder is in, the outermost first.
func Projects(folder string) (files []*File, err error) {
	parent := filepath.Dir(folder)
	if parent != folder {
		if files, err = Projects(parent); err != nil {
			return nil, err
		}
	}
	file, err := read(filepath.Join(folder, projectFolder, name), trusted.ReadRegular)
	if file != nil {
		files = append(files, file)
	}
	return files, err
}

// read reads a file; nil: there is none.
func read(path string, content func(path string) ([]byte, error)) (*File, error) {
	text, err := content(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if _, err := os.Lstat(path); err != nil { // and no link that leads nowhere
			return nil, nil
		}
	}
	var all map[string]any
	if err == nil {
		all, err = stricttoml.Parse(string(text))
	}
	switch {
	case err != nil && strings.Contains(err.Error(), path):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{Path: path, Flags: map[string]any{}, Commands: map[string]map[string]any{}}
	for key, value := range all {
		if table, isTable := value.(map[string]any); isTable {
			f.Commands[key] = table
		} else {
			f.Flags[key] = value
		}
	}
	return f, nil
}

// Texts is a value as a command line has it: one text, or those of a list.
func Texts(value any) (texts []string, isList bool, err error) {
	switch value := value.(type) {
	case string:
		return []string{value}, false, nil
	case bool:
		return []string{strconv.FormatBool(value)}, false, nil
	case int64:
		return []string{strconv.FormatInt(value, 10)}, false, nil
	case []any:
		for _, item := range value {
			text, isText := item.(string)
			if !isText {
				return nil, true, errors.New(`want a list of texts, for example ["a", "b"]`)
			}
			texts = append(texts, text)
		}
		return texts, true, nil
	}
	return nil, false, errors.New("want a text, a number, true, false, or a list of texts")
}
