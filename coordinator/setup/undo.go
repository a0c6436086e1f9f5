package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"browser-coordinator/internal/fspath"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
)

// undo is how a file gets to be again as it was before the coordinator's entry came. It is kept in the
// folder for state, for each file: a text does not show what of it was there before. Without it, or
// after other changes of the file, the entry alone is removed.
type undo struct {
	File string `json:"file"`
	// After and Before are the sums of the texts with the entry and without it.
	After  string `json:"after"`
	Before string `json:"before"`
	// From Start the text with the entry has Length bytes in place of Removed.
	Start   int    `json:"start"`
	Length  int    `json:"length"`
	Removed []byte `json:"removed"`
	// Absent: there was no file. Folders are those that were made for it, the innermost first.
	Absent  bool     `json:"absent"`
	Folders []string `json:"folders"`
	// Known is how many tables of the path to the servers there were.
	Known int `json:"known"`
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// newUndo is how a text with the entry becomes the one before.
func newUndo(file, before, after string) undo {
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return undo{File: file, After: sum(after), Before: sum(before), Start: start, Length: len(after) - end - start,
		Removed: []byte(before[start : len(before)-end])}
}

// apply returns the text before the entry came; ok: the text is the one with the entry, unchanged.
func (u *undo) apply(text string) (before string, ok bool) {
	if u == nil || u.After != sum(text) || u.Start < 0 || u.Length < 0 || u.Start+u.Length > len(text) {
		return "", false
	}
	before = text[:u.Start] + string(u.Removed) + text[u.Start+u.Length:]
	return before, sum(before) == u.Before
}

func undoFile(file string) string {
	return filepath.Join(statedir.Path(), fmt.Sprintf("setup-%016x.json", xxh3.HashString(file)))
}

// readUndo returns what is known of a file; nil: nothing.
func readUndo(file string) *undo {
	text, err := trusted.ReadOwn(undoFile(file))
	u := new(undo)
	if err != nil || json.Unmarshal(text, u) != nil || u.File != file {
		return nil
	}
	return u
}

// remember keeps how a change of an entry is undone, and forgets it when the entry is removed.
// Without a folder for state the removal of the entry is less exact.
func (c *Change) remember(made []string) {
	file := undoFile(c.File)
	if c.undo == nil {
		_ = os.Remove(file)
		return
	}
	c.undo.Folders = append(c.undo.Folders, made...)
	text, err := json.Marshal(c.undo)
	if err != nil {
		return
	}
	if _, err := statedir.Make(); err != nil {
		return
	}
	temporary := file + ".new"
	_ = os.Remove(temporary)
	if writeNew(temporary, string(text), 0o600, nil) == nil {
		_ = os.Rename(temporary, file)
	}
}

// missingFolders are those that have to be made for a file, the innermost first.
func missingFolders(dir string) (missing []string) {
	for ; !fspath.Exists(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		missing = append(missing, dir)
	}
	return missing
}

// undoable sets how an addition is undone. c has the file as it was before.
func (c *configuration) undoable(change *Change) {
	if before := readUndo(change.File); c.state.Name != "" { // a further change of the entry
		if original, ok := before.apply(change.Before); ok {
			u := newUndo(change.File, original, change.After)
			u.Absent, u.Folders, u.Known = before.Absent, before.Folders, before.Known
			change.undo = &u
		}
		return
	}
	u := newUndo(change.File, change.Before, change.After)
	tree, err := c.host.format.parse(c.text)
	for err == nil && u.Known < len(c.servers) {
		next, ok := tree[c.servers[u.Known]].(map[string]any)
		if !ok {
			break
		}
		tree, u.Known = next, u.Known+1
	}
	u.Absent = !change.Exists
	change.undo = &u
}

// restore makes a removal the exact reverse of the addition, if the file is as that left it. Otherwise
// it removes the tables that were made for the entry and are empty now.
func (c *configuration) restore(change *Change) {
	u := readUndo(change.File)
	if u == nil {
		return
	}
	if before, ok := u.apply(change.Before); ok {
		change.After, change.Removes, change.folders = before, u.Absent, u.Folders
		return
	}
	text, isMarked := strings.CutPrefix(change.After, byteOrderMark)
	for n := len(c.servers); n > max(u.Known, 0); n-- {
		table, err := c.table(c.servers[:n])
		if err != nil || len(table) > 0 {
			return
		}
		parent, err := c.table(c.servers[:n-1])
		if err != nil {
			return
		}
		delete(parent, c.servers[n-1])
		shorter := c.host.format.remove(text, slices.Clone(c.servers[:n]))
		tree, err := c.host.format.parse(shorter)
		if err != nil || !equal(tree, c.tree) {
			return
		}
		text = shorter
		if change.After = text; isMarked {
			change.After = byteOrderMark + text
		}
	}
	if u.Absent && (strings.Trim(text, space) == "" || strings.Join(strings.Fields(text), "") == "{}") {
		change.After, change.Removes, change.folders = "", true, u.Folders
	}
}
