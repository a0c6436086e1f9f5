package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"browser-coordinator/internal/fspath"
)

// entryName is the name under which the coordinator is entered.
const entryName = "browser-coordinator"

// State is what a file of a host has of the coordinator.
type State struct {
	File    string // empty: the host has no file of this scope
	Exists  bool
	Name    string // of the coordinator's entry; empty: it has none
	Command string // that the entry starts, with Args
	Args    []string
	Env     []string // of the entry, each NAME=VALUE
	// URL is what the host connects to in place of starting a program; empty: it starts one.
	URL string
	// Headers are those of the requests, as the file has them.
	Headers  map[string]string
	Disabled bool // it is turned off in the file
	// Program is the file of Command; empty: it is not found, or cannot be executed. A
	// command with a variable of the host, like ${workspaceFolder}, stands for itself.
	Program string

	members map[string]any // of the entry
	parts   []part
}

// Starts reports whether there is an entry whose program can be started. If that is the
// coordinator, it must be its MCP server. One that connects to a coordinator starts none.
func (s State) Starts() bool {
	return s.URL != "" || s.Program != "" && !s.isUnpublished() &&
		(!isOurs(s.Command, s.Args) || servesMCP(s.Command, s.Args))
}

// Summary is what the entry does, as the predicate of a sentence: without its arguments.
func (s State) Summary() string {
	if s.URL != "" {
		return "connects to " + maskAddresses(s.URL)
	}
	return "starts " + cmp.Or(s.Command, "no program")
}

// isUnpublished reports whether the entry starts the npm package, and none is published: whoever
// takes its name at the registry would be started.
func (s State) isUnpublished() bool {
	return npxPackage == "" && isPackage(s.Command, s.Args) && published.MatchString(withoutYes(s.Args)[0])
}

// Works reports whether the entry starts the coordinator's MCP server, and nothing else.
func (s State) Works() bool { return s.Starts() && !s.foreign() }

// Inspect reads the host's file of that scope; workspace is the folder of a project's
// file. The error says why the file cannot be used; the state has the file's name then
// too.
func (h Host) Inspect(scope Scope, workspace string) (State, error) {
	c, err := h.read(scope, workspace)
	if c == nil {
		return State{}, err
	}
	return c.state, err
}

// configuration is a file of a host as it was read.
type configuration struct {
	host  Host
	scope Scope
	// workspace is the folder of a project's file.
	workspace string
	state     State
	text      string         // without the byte order mark
	mark      string         // the byte order mark, if there is one
	tree      map[string]any // what text contains
	servers   []string       // the path of the table with the servers
	// folderOnly: the entry is one that counts in the workspace only, in the user's file.
	folderOnly bool
}

// byteOrderMark is what some programs on Windows put before a text.
const byteOrderMark = "\ufeff"

func (h Host) read(scope Scope, workspace string) (*configuration, error) {
	c := &configuration{host: h, scope: scope, workspace: workspace, servers: h.servers}
	if h.Default == "" {
		return c, nil
	}
	file, err := h.file(scope, workspace)
	if err != nil || file == "" {
		return c, err
	}
	c.state.File = file
	text, err := readFile(file, scope)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return c, err
	default:
		c.state.Exists = true
	}
	if !utf8.ValidString(text) {
		return c, unusable(file, "it is not UTF-8; save it in that encoding")
	}
	if c.text = strings.TrimPrefix(text, byteOrderMark); c.text != text {
		c.mark = byteOrderMark
	}
	if c.tree, err = h.format.parse(c.text); err != nil {
		return c, unusable(file, "%w", err)
	}
	if has := h.unsupported(c.text); has != "" {
		return c, unusable(file, "it has %s, which %s may not read; remove them", has, h.Name)
	}
	if err := c.findEntry(workspace); err != nil {
		return c, unusable(file, "%w", err)
	}
	return c, nil
}

// unusable is the error for a file that stays as it is.
func unusable(file, reason string, args ...any) error {
	return fmt.Errorf("%s is left as it is: %w", file, fmt.Errorf(reason, args...))
}

// Cause is an error of the system without the operation and the path.
func Cause(err error) error {
	if of, isPath := errors.AsType[*fs.PathError](err); isPath {
		return of.Err
	}
	return err
}

// sizeLimit bounds a file. A project's file may be from anyone, and the parser needs a
// stack as deep as the values are nested.
func sizeLimit(scope Scope) int64 {
	if scope == Project {
		return 256 << 10
	}
	return 256 << 20
}

// readFile reads a regular file.
func readFile(file string, scope Scope) (string, error) {
	info, err := os.Stat(file)
	switch isMissing := errors.Is(err, fs.ErrNotExist); {
	case isMissing && fspath.Exists(file):
		return "", unusable(file, "it is a link to a file that does not exist; remove the link, or make that file")
	case isMissing:
		return "", err
	case errors.Is(err, syscall.ELOOP):
		return "", unusable(file, "its links lead in a circle; remove it")
	case err != nil:
		return "", unusable(file, "it cannot be read: %w", Cause(err))
	}
	if !info.Mode().IsRegular() {
		return "", unusable(file, "it is not a regular file; move it away")
	}
	f, err := os.Open(file)
	if err != nil {
		return "", unusable(file, "it cannot be read: %w", Cause(err))
	}
	defer f.Close()
	limit := sizeLimit(scope)
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = unusable(file, "it is larger than %d KB, the most that is read of such a file", limit>>10)
	}
	return string(text), err
}

// findEntry looks for the coordinator's entry among the servers.
func (c *configuration) findEntry(workspace string) error {
	servers, err := c.openServers()
	if err != nil {
		return err
	}
	name := ownName(servers, c.scope, workspace)
	if name == "" && c.host.perFolder != "" && c.scope == User {
		path := append([]string{c.host.perFolder, workspace}, c.host.servers...)
		of, _ := c.table(path) // none with an error
		if name = ownName(of, c.scope, workspace); name != "" {
			c.servers, servers, c.folderOnly = path, of, true
		}
	}
	if name == "" {
		return nil
	}
	entry, ok := servers[name].(map[string]any)
	if !ok {
		return fmt.Errorf("its %s.%s must be a server, with a command", strings.Join(c.servers, "."), name)
	}
	s := &c.state
	s.Name = name
	s.read(entry, c.scope, workspace, c.host.doubtfulFiles(workspace, s.File, name))
	return nil
}

// read reads an entry. doubtful are further files whose entries the host puts into this one.
func (s *State) read(entry map[string]any, scope Scope, workspace string, doubtful []string) {
	s.members = entry
	s.Command, s.Args = readEntry(entry)
	s.URL, s.Headers = readURL(entry)
	for _, variables := range []any{entry["env"], entry["environment"], entry["envs"]} {
		table, _ := variables.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(table)) {
			s.Env = append(s.Env, fmt.Sprintf("%s=%v", name, table[name]))
		}
	}
	s.Disabled = entry["enabled"] == false || entry["disabled"] == true
	s.Program = find(s.Command, scope, workspace)
	s.examine(entry, scope, workspace, doubtful)
}

// openServers is the table of servers. OpenCode 2 has its servers one level deeper, and
// accepts those of version 1.
func (c *configuration) openServers() (map[string]any, error) {
	servers, err := c.table(c.servers)
	if deeper, ok := servers["servers"].(map[string]any); ok && c.host.list && deeper["type"] == nil {
		c.servers = append(slices.Clone(c.servers), "servers")
		servers = deeper
	}
	return servers, err
}

// table is the table at that path; nil if there is none yet.
func (c *configuration) table(path []string) (map[string]any, error) {
	table := c.tree
	for i, name := range path {
		value, ok := table[name]
		if !ok {
			return nil, nil
		}
		if table, ok = value.(map[string]any); !ok {
			return nil, fmt.Errorf("its %s must contain the servers by their names", strings.Join(path[:i+1], "."))
		}
	}
	return table, nil
}

// ownName is the name of the coordinator's entry among servers; empty: there is none. One that
// connects to something else is not the coordinator's.
func ownName(servers map[string]any, scope Scope, workspace string) string {
	if entry, ok := servers[entryName]; ok && !connectsElsewhere(entry) {
		return entryName
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		entry, _ := servers[name].(map[string]any) // nil: none
		command, args := readEntry(entry)
		if url, _ := readURL(entry); isCertainlyOurs(command, args, scope, workspace) || isListener(url) {
			return name
		}
	}
	return ""
}

// readEntry is the command and the arguments of an entry, in each form that a host has.
func readEntry(entry map[string]any) (command string, args []string) {
	switch c := entry["command"].(type) {
	case string:
		return c, texts(entry["args"])
	case []any: // OpenCode
		if all := texts(c); len(all) > 0 {
			return all[0], all[1:]
		}
	}
	command, _ = entry["cmd"].(string) // Goose
	return command, texts(entry["args"])
}

func texts(list any) (texts []string) {
	all, _ := list.([]any)
	for _, item := range all {
		text, _ := item.(string)
		texts = append(texts, text)
	}
	return texts
}

// isCertainlyOurs reports whether a command starts this program, a program of the npm
// package's name, that package, or an MCP server with the coordinator's name and arguments.
// There are other programs with the name coordinator.
func isCertainlyOurs(command string, args []string, scope Scope, workspace string) bool {
	switch words := withoutYes(args); {
	case programName(command) == entryName, isOwnProgram(find(command, scope, workspace)):
		return true
	case isPackage(command, args):
		return isPackage(command, words[:min(1, len(words))])
	}
	return programName(command) == "coordinator" && len(args) > 0 && args[0] == "mcp" &&
		!slices.ContainsFunc(args, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			known, _ := KnownFlag(name)
			return strings.HasPrefix(name, "-") && !known
		})
}

// isOurs reports whether a command may start the coordinator, also by npx.
func isOurs(command string, args []string) bool {
	name := programName(command)
	return name == "coordinator" || name == entryName || isPackage(command, args)
}

// isPackage reports whether a command starts the npm package.
func isPackage(command string, args []string) bool {
	switch programName(command) {
	case "npx", "npx.cmd", "bunx", "pnpx":
		return slices.ContainsFunc(args, func(arg string) bool {
			return arg == entryName || strings.HasPrefix(arg, entryName+"@")
		})
	}
	return false
}

// withoutYes are the arguments of npx without its flag that asks nothing.
func withoutYes(args []string) []string {
	for len(args) > 0 && (args[0] == "-y" || args[0] == "--yes") {
		args = args[1:]
	}
	return args
}

// servesMCP reports whether the coordinator's arguments are those of its MCP server, which
// is the default: mcp, a flag, or none.
func servesMCP(command string, args []string) bool {
	if args = withoutYes(args); isPackage(command, args) {
		args = args[min(1, len(args)):]
	}
	return len(args) == 0 || args[0] == "mcp" || strings.HasPrefix(args[0], "-") &&
		!slices.Contains([]string{"-h", "--help", "--version"}, args[0])
}

func programName(command string) string {
	return strings.TrimSuffix(filepath.Base(strings.ReplaceAll(command, `\`, "/")), ".exe")
}

// find returns the file that a command starts.
func find(command string, scope Scope, workspace string) string {
	if strings.Contains(command, "$") {
		return command
	}
	if scope == Project && strings.ContainsAny(command, `/\`) && !filepath.IsAbs(command) {
		command = filepath.Join(workspace, command)
	}
	file, err := exec.LookPath(command)
	if err != nil || !filepath.IsAbs(file) {
		return ""
	}
	return file
}
