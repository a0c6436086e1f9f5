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
)

// Scope says for whom a file of a host counts.
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
	// Next is what the user does when the entry is written.
	Next string

	project []string // its file in a workspace; of several the first that exists
	user    []place  // its file of the user, likewise
	servers []string // the path of the table with the servers
	format  format
	// perFolder is the table in the user's file that has, by folder, tables of servers
	// that count only there; empty: there is none.
	perFolder string
	// list: the command of an entry is a list that has the arguments too.
	list bool
	// ownPath: the host does not have the PATH of the user's shell.
	ownPath bool

	programs []string // one of these on PATH, or
	traces   []place  // one of these files, shows that the host is installed
}

// Hosts returns the known hosts.
func Hosts() []Host { return hosts }

var hosts = []Host{
	{
		ID: "claude-code", Name: "Claude Code", Default: Project,
		Next:    "Start Claude Code in this folder; it asks once whether to use the server.",
		project: []string{".mcp.json"}, user: []place{{variable: "CLAUDE_CONFIG_DIR", file: ".claude.json"}},
		servers: []string{"mcpServers"}, format: jsonFormat{}, perFolder: "projects",
		programs: []string{"claude"}, traces: []place{{variable: "CLAUDE_CONFIG_DIR", file: ".claude.json"}},
	},
	{
		ID: "claude-desktop", Name: "Claude Desktop", Default: User,
		Next:    "Quit Claude Desktop and start it again. It works in no folder: name the window's folder to it.",
		user:    []place{{base: os.UserConfigDir, file: "Claude/claude_desktop_config.json"}},
		servers: []string{"mcpServers"}, format: jsonFormat{}, ownPath: true,
		traces: []place{{base: os.UserConfigDir, file: "Claude"}},
	},
	{
		ID: "vscode", Name: "VS Code", Default: Project,
		Next:    "A window with the Browser Coordinator extension offers the server to its own agents already; the file is for the others.",
		project: []string{".vscode/mcp.json"}, user: []place{{base: os.UserConfigDir, file: "Code/User/mcp.json"}},
		servers: []string{"servers"}, format: jsonFormat{},
		programs: []string{"code"}, traces: []place{{base: os.UserConfigDir, file: "Code/User"}},
	},
	{
		ID: "cursor", Name: "Cursor", Default: Project,
		Next:    "Turn the server on in Cursor's settings, under MCP.",
		project: []string{".cursor/mcp.json"}, user: []place{{file: ".cursor/mcp.json"}},
		servers: []string{"mcpServers"}, format: jsonFormat{},
		programs: []string{"cursor"}, traces: []place{{file: ".cursor"}},
	},
	{
		ID: "windsurf", Name: "Windsurf", Default: User,
		Next:    "Refresh the MCP servers in Windsurf.",
		user:    []place{{file: ".codeium/windsurf/mcp_config.json"}},
		servers: []string{"mcpServers"}, format: jsonFormat{},
		programs: []string{"windsurf"}, traces: []place{{file: ".codeium/windsurf"}},
	},
	{
		ID: "codex", Name: "Codex", Default: User,
		Next:    "Start Codex in this folder. It reads a project's file only in a project that you trust.",
		project: []string{".codex/config.toml"}, user: []place{{variable: "CODEX_HOME", below: ".codex", file: "config.toml"}},
		servers: []string{"mcp_servers"}, format: tomlFormat{},
		programs: []string{"codex"}, traces: []place{{variable: "CODEX_HOME", below: ".codex"}},
	},
	{
		ID: "gemini", Name: "Gemini CLI", Default: Project,
		Next:    "Start Gemini CLI in this folder; /mcp lists the server.",
		project: []string{".gemini/settings.json"}, user: []place{{file: ".gemini/settings.json"}},
		servers: []string{"mcpServers"}, format: jsonFormat{},
		programs: []string{"gemini"}, traces: []place{{file: ".gemini"}},
	},
	{
		ID: "zed", Name: "Zed", Default: Project,
		Next:    "Zed's settings list the server under AI, MCP Servers. Zed reads a project's file only in a project that you trust.",
		project: []string{".zed/settings.json"}, user: []place{{base: zedConfig, file: "settings.json"}},
		servers: []string{"context_servers"}, format: jsonFormat{},
		programs: []string{"zed", "zeditor"}, traces: []place{{base: zedConfig}},
	},
	{
		ID: "jetbrains", Name: "JetBrains AI Assistant",
		Next:     "Paste it in the IDE: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON. AI Assistant has no file for it.",
		servers:  []string{"mcpServers"},
		format:   jsonFormat{},
		programs: []string{"idea", "webstorm", "phpstorm", "pycharm", "goland", "rider", "rubymine", "clion", "rustrover"},
		traces:   []place{{base: os.UserConfigDir, file: "JetBrains"}},
	},
	{
		ID: "opencode", Name: "OpenCode", Default: Project,
		Next:    "Start OpenCode in this folder; `opencode mcp list` lists the server.",
		project: []string{"opencode.json", "opencode.jsonc"},
		user:    []place{{base: xdgConfig, file: "opencode/opencode.json"}, {base: xdgConfig, file: "opencode/opencode.jsonc"}},
		servers: []string{"mcp"}, format: jsonFormat{}, list: true,
		programs: []string{"opencode"}, traces: []place{{base: xdgConfig, file: "opencode"}},
	},
}

// place is a file or folder of the user.
type place struct {
	base     func() (string, error) // the folder that it is in; nil: the home directory
	variable string                 // names another folder, in place of base and below
	below    string
	file     string
}

func (p place) path() (string, error) {
	if p.variable != "" {
		if dir := os.Getenv(p.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(p.file)), nil
		}
	}
	base := p.base
	if base == nil {
		base = os.UserHomeDir
	}
	dir, err := base()
	if err != nil || !filepath.IsAbs(dir) { // a file of the user must not get elsewhere
		return "", errors.New("your home directory is not known: set HOME to its absolute path")
	}
	return filepath.Join(dir, filepath.FromSlash(p.below), filepath.FromSlash(p.file)), nil
}

// xdgConfig is the folder of programs that follow the XDG rule on every system.
func xdgConfig() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	return place{file: ".config"}.path()
}

func zedConfig() (string, error) {
	switch runtime.GOOS {
	case "windows":
		return place{base: os.UserConfigDir, file: "Zed"}.path()
	case "darwin":
		return place{file: ".config/zed"}.path()
	}
	return place{base: xdgConfig, file: "zed"}.path()
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
		for _, p := range h.user {
			file, err := p.path()
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

// Installed reports whether the host seems to be on this machine.
func (h Host) Installed() bool {
	for _, program := range h.programs {
		if _, err := exec.LookPath(program); err == nil {
			return true
		}
	}
	for _, trace := range h.traces {
		if file, err := trace.path(); err == nil && exists(file) {
			return true
		}
	}
	return false
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
