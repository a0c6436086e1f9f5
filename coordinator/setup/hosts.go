// Package setup enters the coordinator into the configurations of MCP hosts: the programs
// that start MCP servers for an agent. It finds their files, reads what is entered there,
// and changes nothing else in them.
package setup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Scope is for whom a file of a host counts.
type Scope string

// The scopes.
const (
	Project Scope = "project" // a file in the workspace, for all who work there
	User    Scope = "user"    // a file of this user, for every workspace
)

// Host is a program that starts MCP servers.
type Host struct {
	ID   string // as on the command line
	Name string
	// Default is the scope of the file that is changed if the user selects none; empty
	// if the host has no file that other programs may write.
	Default Scope
	// inFolder is what the user does when the entry is written to a project's file, if that
	// is something else than next.
	next, inFolder string

	project []string // its file in a workspace; of several the first that exists
	further []string // files in a workspace that it reads besides
	user    []string // its file of the user, likewise, as expand takes it
	servers []string // the path of the table with the servers
	format  format
	// perFolder is the table in the user's file that has, by folder, tables of servers
	// that count only there; empty: there is none.
	perFolder string
	// comments, commas: its JSON may have comments, and trailing commas.
	comments, commas bool
	// list: the command of an entry is a list that has the arguments too.
	list bool
	// ownPath: the host does not have the PATH of the user's shell.
	ownPath bool

	programs []string // one of these on PATH, the folder of the user's file, or
	folder   string   // this one shows that the host is installed
}

// Next is what the user does when the entry is written to the file of that scope.
func (h Host) Next(scope Scope) string {
	if scope == Project && h.inFolder != "" {
		return h.inFolder
	}
	return h.next
}

// Hosts returns the known hosts.
func Hosts() []Host { return hosts }

var hosts = []Host{
	{
		ID: "claude-code", Name: "Claude Code", Default: Project, programs: []string{"claude"},
		next: "Start Claude Code; /mcp lists the server.", inFolder: "Start Claude Code in this folder; it asks once whether to use the server.",
		project: []string{".mcp.json"}, user: []string{"$CLAUDE_CONFIG_DIR/.claude.json|~/.claude.json"},
		servers: []string{"mcpServers"}, format: jsonFormat{}, perFolder: "projects",
	},
	{
		ID: "claude-desktop", Name: "Claude Desktop", Default: User,
		next: "Quit Claude Desktop and start it again. It works in no folder: name the window's folder to it.",
		user: []string{"CONFIG/Claude/claude_desktop_config.json"}, servers: []string{"mcpServers"}, format: jsonFormat{}, ownPath: true,
	},
	{
		ID: "vscode", Name: "VS Code", Default: Project, programs: []string{"code"},
		next:    "A window with the Browser Coordinator extension offers the server to its own agents already; the file is for the others.",
		project: []string{".vscode/mcp.json"}, user: []string{"CONFIG/Code/User/mcp.json"}, servers: []string{"servers"}, format: jsonFormat{}, comments: true, commas: true,
	},
	{
		ID: "cursor", Name: "Cursor", Default: Project, programs: []string{"cursor"},
		next:    "Turn the server on in Cursor's settings, under MCP.",
		project: []string{".cursor/mcp.json"}, user: []string{"~/.cursor/mcp.json"}, servers: []string{"mcpServers"}, format: jsonFormat{}, comments: true, commas: true,
	},
	{
		ID: "windsurf", Name: "Windsurf", Default: User, programs: []string{"windsurf"},
		next: "Refresh the MCP servers in Windsurf.",
		user: []string{"~/.codeium/windsurf/mcp_config.json"}, servers: []string{"mcpServers"}, format: jsonFormat{}, comments: true, commas: true,
	},
	{
		ID: "codex", Name: "Codex", Default: User, programs: []string{"codex"},
		next: "Start Codex; /mcp lists the server.", inFolder: "Start Codex in this folder. It reads a project's file only in a project that you trust.",
		project: []string{".codex/config.toml"}, user: []string{"$CODEX_HOME/config.toml|~/.codex/config.toml"}, servers: []string{"mcp_servers"}, format: tomlFormat{},
	},
	{
		ID: "gemini", Name: "Gemini CLI", Default: Project, programs: []string{"gemini"},
		next: "Start Gemini CLI; /mcp lists the server.", inFolder: "Start Gemini CLI in this folder; /mcp lists the server.",
		project: []string{".gemini/settings.json"}, user: []string{"~/.gemini/settings.json"}, servers: []string{"mcpServers"}, format: jsonFormat{}, comments: true,
	},
	{
		ID: "zed", Name: "Zed", Default: Project, programs: []string{"zed", "zeditor"},
		next: zedNext, inFolder: zedNext + " Zed reads a project's file only in a project that you trust.",
		project: []string{".zed/settings.json"}, user: []string{zedSettings()}, servers: []string{"context_servers"}, format: jsonFormat{}, comments: true, commas: true,
	},
	{
		ID: "jetbrains", Name: "JetBrains AI Assistant", folder: "CONFIG/JetBrains",
		programs: []string{"idea", "webstorm", "phpstorm", "pycharm", "goland", "rider", "rubymine", "clion", "rustrover"},
		next:     "Paste it in the IDE: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON. AI Assistant has no file for it.",
		servers:  []string{"mcpServers"}, format: jsonFormat{}, comments: true, commas: true,
	},
	{
		ID: "opencode", Name: "OpenCode", Default: Project, programs: []string{"opencode"},
		next: "Start OpenCode; `opencode mcp list` lists the server.", inFolder: "Start OpenCode in this folder; `opencode mcp list` lists the server.",
		project: []string{"opencode.json", "opencode.jsonc"}, further: []string{".opencode/opencode.json", ".opencode/opencode.jsonc"}, user: []string{inXDG("opencode/opencode.json"), inXDG("opencode/opencode.jsonc")},
		servers: []string{"mcp"}, format: jsonFormat{}, comments: true, commas: true, list: true,
	},
}

const zedNext = "Zed's settings list the server under AI, MCP Servers."

// inXDG is a file of a program that follows the XDG rule on every system.
func inXDG(file string) string { return "$XDG_CONFIG_HOME/" + file + "|~/.config/" + file }

func zedSettings() string {
	switch runtime.GOOS {
	case "windows":
		return "CONFIG/Zed/settings.json"
	case "darwin":
		return "~/.config/zed/settings.json"
	}
	return inXDG("zed/settings.json")
}

// expand returns a file or folder of the user. Of the paths between bars it takes the first
// that begins with the home folder (~), the one for configurations (CONFIG), or a variable
// that has an absolute path.
func expand(paths string) (string, error) {
	for path := range strings.SplitSeq(paths, "|") {
		var dir string
		root, rest, _ := strings.Cut(path, "/")
		switch root {
		case "~":
			dir, _ = os.UserHomeDir() // empty with an error
		case "CONFIG":
			dir, _ = os.UserConfigDir()
		default:
			dir = os.Getenv(root[1:])
		}
		if filepath.IsAbs(dir) { // a file of the user must not get elsewhere
			return filepath.Join(dir, filepath.FromSlash(rest)), nil
		}
	}
	return "", errors.New("your home directory is not known: set HOME to its absolute path")
}

// Scopes returns the scopes in which the host has a file.
func (h Host) Scopes() (scopes []Scope) {
	if len(h.project) > 0 {
		scopes = append(scopes, Project)
	}
	if len(h.user) > 0 {
		scopes = append(scopes, User)
	}
	return scopes
}

// ScopesIn returns those of Scopes with a file of their own in a workspace: in the home
// folder a project's file may be the user's.
func (h Host) ScopesIn(workspace string) []Scope {
	project, _ := h.file(Project, workspace)
	user, _ := h.file(User, workspace)
	if project != "" && (project == user || sameFile(project, user)) {
		return []Scope{User}
	}
	return h.Scopes()
}

// file is the host's file of that scope; empty if it has none.
func (h Host) file(scope Scope, workspace string) (string, error) {
	var files []string
	if scope == Project {
		for _, name := range h.project {
			files = append(files, filepath.Join(workspace, filepath.FromSlash(name)))
		}
	} else {
		for _, paths := range h.user {
			file, err := expand(paths)
			if err != nil {
				return "", err
			}
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	for _, file := range files {
		if exists(file) {
			return file, nil
		}
	}
	return files[0], nil
}

// merges reports whether the host puts the entries of one name in all its files together.
func (h Host) merges() bool { return len(h.further) > 0 }

// besides are the other files of a project that have an entry of that name, or cannot be
// read. A host that merges entries may start something else because of each, also than the
// user's file has.
func (h Host) besides(scope Scope, workspace, file, entry string) (others []string) {
	for _, name := range slices.Concat(h.project, h.further) {
		path := filepath.Join(workspace, filepath.FromSlash(name))
		if scope != Project && !h.merges() || path == file || !exists(path) {
			continue
		}
		c := &configuration{}
		text, err := readFile(path, Project)
		if err == nil {
			c.tree, err = h.format.parse(strings.TrimPrefix(text, byteOrderMark))
		}
		servers, noTable := c.table(h.servers)
		deeper, _ := servers["servers"].(map[string]any)
		if err != nil || noTable != nil || servers[entry] != nil || deeper[entry] != nil {
			others = append(others, name)
		}
	}
	return others
}

// Installed reports whether the host seems to be on this machine.
func (h Host) Installed() bool {
	for _, program := range h.programs {
		if _, err := exec.LookPath(program); err == nil {
			return true
		}
	}
	if len(h.user) == 0 {
		folder, err := expand(h.folder)
		return err == nil && exists(folder)
	}
	file, err := expand(h.user[0])
	folder := filepath.Dir(file)
	if home, _ := os.UserHomeDir(); folder == home { // that is there anyway
		return err == nil && exists(file)
	}
	return err == nil && exists(folder)
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
