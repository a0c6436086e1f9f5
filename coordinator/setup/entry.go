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
)

// Entry is what a host starts.
type Entry struct {
	Command string
	Args    []string
}

// Of is the entry that starts a command as an MCP server.
func Of(command string) Entry { return Entry{command, []string{"mcp"}} }

// Self is the entry that starts this program: by its name if PATH finds it, so that the
// entry is good for others too.
func Self() (Entry, error) {
	program, err := os.Executable()
	if err != nil {
		return Entry{}, fmt.Errorf("find this program: %w", err)
	}
	if strings.Contains(filepath.ToSlash(program), "/node_modules/") { // npx may remove it at any time
		return Entry{"npx", []string{"-y", entryName, "mcp"}}, nil
	}
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if found, err := exec.LookPath(name); err == nil && filepath.IsAbs(found) && sameFile(found, program) {
		return Of(name), nil
	}
	return Of(program), nil
}

func sameFile(a, b string) bool {
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
	if h.list {
		return []member{{"type", "local"}, {"command", append([]string{e.Command}, e.Args...)}}
	}
	return []member{{"command", e.Command}, {"args", e.Args}}
}

// Paste returns the entry alone, as a file of the host has it.
func (h Host) Paste(e Entry) string {
	return h.format.set("", append(slices.Clone(h.servers), entryName), h.members(h.entryFor(e)))
}

// Paste returns the entry alone, as most hosts have it.
func Paste(e Entry) string {
	return jsonFormat{}.set("", []string{"mcpServers", entryName}, Host{}.members(e))
}

// withFlags is the entry with the flags that the user has added to the old one.
func withFlags(s State, e Entry) Entry {
	flags := s.Args
	if i := slices.Index(s.Args, "mcp"); i >= 0 {
		flags = s.Args[i+1:]
	}
	if len(flags) > 0 && strings.HasPrefix(flags[0], "-") && isOurs(s.Command, s.Args) {
		e.Args = slices.Concat(e.Args, flags)
	}
	return e
}

// Add returns the change that enters the coordinator into the host's file of that scope.
// An entry whose program can be started stays as it is; another one is replaced. In the user's file it keeps
// its flags. Those in a project's file may be from anyone, and can start any program.
func (h Host) Add(scope Scope, workspace string, e Entry) (*Change, error) {
	c, err := h.read(scope, workspace)
	if err != nil {
		return nil, err
	}
	change := c.change()
	s, e := c.state, h.entryFor(e)
	switch {
	case s.Starts() && !c.folderOnly:
		return change, nil
	case s.Starts(): // one for every folder is added beside it
		s.Name, c.servers = "", h.servers
	case scope == User:
		e = withFlags(s, e)
	}
	path := append(slices.Clone(c.servers), cmp.Or(s.Name, entryName))
	members := h.members(e)
	c.put(path, members)
	var notes []string
	if scope == Project && filepath.IsAbs(e.Command) {
		notes = append(notes, "This path only works on this machine. Don't commit it.")
	}
	for _, other := range h.ScopesIn(workspace) {
		if there, err := h.Inspect(other, workspace); err == nil && there.Works() {
			notes = append(notes, fmt.Sprintf("%s has an entry that works too: %s. One is enough.", there.File, there.Name))
		}
	}
	change.Note = strings.Join(notes, " ")
	return change, c.finish(change, h.format.set(c.text, path, members))
}

// Remove returns the change that removes the coordinator's entry.
func (h Host) Remove(scope Scope, workspace string) (*Change, error) {
	c, err := h.read(scope, workspace)
	if err != nil {
		return nil, err
	}
	change := c.change()
	if c.state.Name == "" {
		return change, nil
	}
	servers, err := c.table(c.servers)
	if err != nil {
		return nil, err
	}
	delete(servers, c.state.Name)
	path := append(slices.Clone(c.servers), c.state.Name)
	return change, c.finish(change, h.format.remove(c.text, path))
}

// put puts an entry into what the file is to contain.
func (c *configuration) put(path []string, members []member) {
	table := c.tree
	for _, name := range path[:len(path)-1] {
		next, ok := table[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			table[name] = next
		}
		table = next
	}
	entry := map[string]any{}
	for _, m := range members {
		entry[m.name] = plain(m.value)
	}
	table[path[len(path)-1]] = entry
}

// plain is a value as a parser returns it.
func plain(value any) any {
	list, ok := value.([]string)
	if !ok {
		return value
	}
	all := make([]any, len(list))
	for i, text := range list {
		all[i] = text
	}
	return all
}

// same compares what two texts contain. Unlike reflect.DeepEqual it takes TOML's nan for
// itself.
func same(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// finish checks the edited text: it must contain what the file is to contain, and nothing
// else may have changed. In TOML the table of servers ends with its last server.
func (c *configuration) finish(change *Change, text string) error {
	tree, err := c.host.format.parse(text)
	if err == nil && !same(withoutEmpty(tree, c.servers[0]), withoutEmpty(c.tree, c.servers[0])) {
		err = errors.New("other contents would change")
	}
	if err != nil {
		return unusable(c.state.File, "its %s are written in a form that cannot be edited line by line. Edit it by hand", strings.Join(c.servers, "."))
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
