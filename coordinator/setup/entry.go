package setup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/internal/fspath"
)

// Entry is what a host starts.
type Entry struct {
	Command string
	Args    []string
	// Chosen: the user has chosen the arguments, so that they replace those of an entry.
	Explicit bool
}

// NewEntry is the entry that starts a command as an MCP server.
func NewEntry(command string) Entry { return Entry{Command: command, Args: []string{"mcp"}} }

// npxPackage is the npm package by which npx starts this version: a release sets it by -ldflags
// once the name at the registry is ours. Empty: there is none, and whoever took the name would be
// started.
var npxPackage string

// Self is the entry that starts this program: by its name if PATH finds it, so that the
// entry is good for others too.
func Self() (Entry, error) {
	program, err := os.Executable()
	if err != nil {
		return Entry{}, fmt.Errorf("the system does not report the path of this program: %w; name it with --command", err)
	}
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if found := onPath(name); found != "" && (SameFile(found, program) || launches(found, program)) {
		return NewEntry(name), nil
	}
	if npxPackage != "" && strings.Contains(filepath.ToSlash(program), "/node_modules/") { // npx may remove it
		return Entry{Command: "npx", Args: []string{"-y", npxPackage, "mcp"}}, nil
	}
	return NewEntry(program), nil
}

// onPath is the file of a program that a host finds by its name; empty: none. npm adds the folders
// of a project's programs to PATH, for what it runs itself only.
func onPath(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || strings.HasSuffix(filepath.ToSlash(filepath.Clean(dir)), "/node_modules/.bin") {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

// launches reports whether a file is the npm package's, which starts that program: as a link to its
// start.js or, on Windows, a script beside the folder with the packages.
func launches(file, program string) bool {
	if file == "" {
		return false
	}
	packages := []string{filepath.Join(filepath.Dir(file), "node_modules", entryName)}
	if target, err := filepath.EvalSymlinks(file); err == nil && filepath.Base(target) == "start.js" {
		packages = []string{filepath.Dir(target)}
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !fspath.Exists(filepath.Join(packages[0], "start.js")) {
		return false
	}
	// Node searches the folder of the package, and those around it.
	own := filepath.Dir(filepath.Dir(filepath.Dir(real))) // …/node_modules/SCOPE/SYSTEM/coordinator
	for dir := packages[0]; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if SameFile(own, filepath.Join(dir, "node_modules")) || filepath.Base(dir) == "node_modules" && SameFile(own, dir) {
			return true
		}
	}
	return false
}

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// entryFor is the entry in the host's own terms.
func (h Host) entryFor(e Entry) Entry {
	if file, err := exec.LookPath(e.Command); h.ownPath && err == nil && filepath.IsAbs(file) {
		e.Command = file
	}
	return e
}

// members are those of an entry.
func (h Host) members(e Entry) []member {
	command := cmp.Or(h.command, "command")
	if h.list {
		return append(slices.Clone(h.fields), member{command, append([]string{e.Command}, e.Args...)})
	}
	return append(slices.Clone(h.fields), member{command, e.Command}, member{"args", e.Args})
}

// Paste returns the entry alone, as a file of the host has it.
func (h Host) Paste(e Entry) string {
	path, members := append(slices.Clone(h.servers), entryName), h.members(h.entryFor(e))
	return h.format.set("", path, members)
}

// Paste returns the entry alone, as most hosts have it.
func Paste(e Entry) string {
	return jsonFormat{}.set("", []string{"mcpServers", entryName}, Host{}.members(e))
}

// WithArgs is the entry with other arguments.
func (e Entry) WithArgs(args []string) Entry {
	if isPackage(e.Command, e.Args) {
		args = append(slices.Clone(e.Args[:2]), args...)
	}
	return Entry{e.Command, args, true}
}

// repaired is the entry with the arguments of the one that it replaces, if that serves MCP
// too.
func repaired(s State, e Entry) Entry {
	if e.Explicit || !isOurs(s.Command, s.Args) || !servesMCP(s.Command, s.Args) {
		return e
	}
	args := s.Args
	if isPackage(s.Command, args) {
		args = withoutYes(args)[1:]
	}
	return e.WithArgs(args)
}

// Add returns the change that enters the coordinator into the host's file of that scope.
// An entry whose program can be started stays as it is, unless the user has chosen other
// arguments. Of another one, only the command changes.
func (h Host) Add(scope Scope, workspace string, e Entry) (*Change, error) {
	c, err := h.read(scope, workspace)
	if err != nil {
		return nil, err
	}
	change := c.change()
	s, e := c.state, h.entryFor(e)
	switch {
	case s.URL != "", s.Starts() && !c.folderOnly && (!e.Explicit || slices.Equal(s.Args, e.Args)):
		return change, nil
	case s.Starts() && c.folderOnly: // one for every folder is added beside it
		s, c.servers = State{}, h.servers
	}
	if servers, _ := c.table(c.servers); s.Name == "" && servers[entryName] != nil {
		return nil, unusable(s.File, "its entry %s connects to something else than this program: rename or remove it first",
			entryName)
	}
	path := append(slices.Clone(c.servers), cmp.Or(s.Name, entryName))
	change.entries = append(change.entries, path)
	text := c.text
	for _, m := range h.changes(s, e) {
		at := slices.Concat(path, m.path)
		c.put(at, m.value)
		text = h.format.set(text, at, m.value)
	}
	change.Note = strings.Join(h.notes(c, s, e), " ")
	if err := c.finish(change, text); err != nil {
		return nil, err
	}
	c.undoable(change)
	return change, nil
}

// edit is a value to put at a path below an entry.
type edit struct {
	path  []string
	value any
}

// changes are the edits that make an entry of a file start what e has: nothing else of it
// changes. s is what the file has.
func (h Host) changes(s State, e Entry) (all []edit) {
	if s.Name == "" {
		return []edit{{nil, h.members(e)}}
	}
	e = repaired(s, e)
	for _, m := range h.fields {
		if s.Command == "" && s.members[m.name] == nil {
			all = append(all, edit{[]string{m.name}, m.value})
		}
	}
	if h.list {
		return append(all, edit{[]string{"command"}, append([]string{e.Command}, e.Args...)})
	}
	if e.Command != s.Command {
		all = append(all, edit{[]string{cmp.Or(h.command, "command")}, e.Command})
	}
	if !slices.Equal(e.Args, s.Args) {
		all = append(all, edit{[]string{"args"}, e.Args})
	}
	return all
}

// notes are what the user should know of the change.
func (h Host) notes(c *configuration, s State, e Entry) (notes []string) {
	if c.scope == Project && filepath.IsAbs(e.Command) {
		notes = append(notes, "This path only works on this machine. Don't commit it.")
	}
	var foreign []string
	for _, p := range s.parts[min(1, len(s.parts)):] {
		if p.foreign {
			foreign = append(foreign, p.text)
		}
	}
	if len(foreign) > 0 {
		notes = append(notes, fmt.Sprintf("The entry keeps what it has besides its command: %s. Read it: it may start "+
			"something else.", strings.Join(foreign, ", ")))
	}
	for _, other := range h.ScopesIn(c.workspace) {
		if there, err := h.Inspect(other, c.workspace); err == nil && there.Works() && there.File != c.state.File {
			notes = append(notes, fmt.Sprintf("%s has an entry that works too: %s. One is enough.", there.File,
				there.Name))
		}
	}
	return notes
}

// Remove returns the change that removes each entry of the coordinator.
func (h Host) Remove(scope Scope, workspace string) (*Change, error) {
	c, err := h.read(scope, workspace)
	if err != nil {
		return nil, err
	}
	change := c.change()
	for has := c.state.Name != ""; c.state.Name != ""; {
		servers, err := c.table(c.servers)
		if err != nil {
			return nil, err
		}
		delete(servers, c.state.Name)
		path := append(slices.Clone(c.servers), c.state.Name)
		change.entries = append(change.entries, path)
		c.text = h.format.remove(c.text, path)
		if err := c.finish(change, c.text); err != nil {
			return nil, err
		}
		c.servers, c.state.Name = h.servers, ""
		if err := c.findEntry(workspace); err != nil {
			return nil, unusable(c.state.File, "%w", err)
		}
		if c.state.Name == "" && has {
			c.restore(change)
		}
	}
	return change, nil
}

// put puts a value into what the file is to contain.
func (c *configuration) put(path []string, value any) {
	table := c.tree
	for _, name := range path[:len(path)-1] {
		next, ok := table[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			table[name] = next
		}
		table = next
	}
	table[path[len(path)-1]] = plain(value)
}

// plain is a value as a parser returns it.
func plain(value any) any {
	switch v := value.(type) {
	case []string:
		all := make([]any, len(v))
		for i, text := range v {
			all[i] = text
		}
		return all
	case []member:
		table := map[string]any{}
		for _, m := range v {
			table[m.name] = plain(m.value)
		}
		return table
	}
	return value
}

// equal compares what two texts contain. Unlike reflect.DeepEqual it takes TOML's nan for
// itself.
func equal(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// finish checks the edited text: it must contain what the file is to contain, and nothing
// else may have changed. In TOML the table of servers ends with its last server.
func (c *configuration) finish(change *Change, text string) error {
	tree, err := c.host.format.parse(text)
	if err == nil && !equal(withoutEmpty(tree, c.servers[0]), withoutEmpty(c.tree, c.servers[0])) {
		err = errors.New("other contents would change")
	}
	if err != nil {
		return unusable(c.state.File, "its %s are written in a form that this program cannot edit. Edit the file "+
			"by hand; `coordinator setup %s --print` prints the entry", strings.Join(c.servers, "."), c.host.ID)
	}
	change.After = c.mark + text
	return nil
}

func withoutEmpty(tree map[string]any, name string) map[string]any {
	if table, ok := tree[name].(map[string]any); ok && len(table) == 0 {
		delete(tree, name)
	}
	return tree
}
