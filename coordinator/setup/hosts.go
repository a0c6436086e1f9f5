// Package setup enters the coordinator into the configurations of MCP hosts: the programs
// that start MCP servers for an agent. It finds their files, reads what is entered there,
// and changes nothing else in them.
package setup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"browser-coordinator/internal/fspath"
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
	// if this program edits no file of the host.
	Default Scope
	// next is what the user does when the entry is written, and inFolder the same for a
	// project's file, if that is something else.
	next, inFolder string

	project []string // its files in a workspace
	user    []string // its files of the user, as expand takes them
	servers []string // the path of the table with the servers
	format  format
	// perFolder is the table in the user's file that has, by folder, tables of servers
	// that count only there; empty: there is none.
	perFolder string
	// comments, commas: its JSON may have comments, and trailing commas.
	comments, commas bool
	fields           []member // of a new entry, before its command
	// skills are the folders of skills in a workspace, and of the user, as expand takes it;
	// empty: it reads none.
	skills, userSkills string
	command            string // the field with the command; empty: command
	list               bool   // that field is a list which has the arguments too
	merges             bool   // the entries of one name in all its files make one
	ownPath            bool   // it does not have the PATH of the user's shell

	former   string   // its ID when the program had another name
	programs []string // one of these on PATH, the folder of a file of the user, or
	folder   string   // this one shows that the host is installed
}

// Next is what the user does when the entry is written to the file of that scope.
func (h Host) Next(scope Scope) string {
	if scope == Project && h.inFolder != "" {
		return h.inFolder
	}
	return h.next
}

// PasteAdvice is what the user does with an entry to paste.
func (h Host) PasteAdvice(scope Scope, workspace string) string {
	if h.Default == "" {
		scope = User
	}
	file, err := h.file(scope, workspace)
	if err != nil || file == "" {
		return h.Next(scope)
	}
	return fmt.Sprintf("Paste it into %s. If the file has `%s` already, add only what is below it. %s",
		file, strings.Join(h.servers, "."), h.Next(scope))
}

// Hosts returns the known hosts.
func Hosts() []Host { return hosts }

// Find returns the host with that ID, or that had it.
func Find(id string) (Host, bool) {
	i := slices.IndexFunc(hosts, func(h Host) bool { return id != "" && (h.ID == id || h.former == id) })
	if i < 0 {
		return Host{}, false
	}
	return hosts[i], true
}

var (
	mcpServers = []string{"mcpServers"}
	stdio      = member{"type", "stdio"}
)

const (
	zedNext  = "Zed's settings list the server under AI, MCP Servers."
	noFolder = " It works in no folder: name the window's folder to it."
)

var hosts = []Host{
	{
		ID: "claude-code", Name: "Claude Code", Default: Project, programs: []string{"claude"},
		next:     "Start Claude Code; /mcp lists the server.",
		inFolder: "Start Claude Code in this folder; it asks once whether to use the server.",
		project:  []string{".mcp.json"}, user: []string{"$CLAUDE_CONFIG_DIR/.claude.json|~/.claude.json"},
		servers: mcpServers, format: jsonFormat{}, perFolder: "projects",
		skills: ".claude/skills", userSkills: "$CLAUDE_CONFIG_DIR/skills|~/.claude/skills",
	},
	{
		ID: "claude-desktop", Name: "Claude Desktop", Default: User, ownPath: true,
		next: "Quit Claude Desktop and start it again." + noFolder,
		user: []string{"CONFIG/Claude/claude_desktop_config.json"}, servers: mcpServers, format: jsonFormat{},
	},
	{
		ID: "vscode", Name: "VS Code", Default: Project, programs: []string{"code"}, fields: []member{stdio},
		next: "A window with the Browser Coordinator extension offers the server to its own agents already; " +
			"the file is for the others.",
		project: []string{".vscode/mcp.json"}, user: []string{"CONFIG/Code/User/mcp.json"},
		servers: []string{"servers"}, format: jsonFormat{}, comments: true, commas: true,
		skills: ".github/skills", userSkills: "~/.copilot/skills",
	},
	{
		ID: "cursor", Name: "Cursor", Default: Project, programs: []string{"cursor"},
		next:    "Turn the server on in Cursor's settings, under MCP.",
		project: []string{".cursor/mcp.json"}, user: []string{"~/.cursor/mcp.json"},
		servers: mcpServers, format: jsonFormat{}, comments: true, commas: true,
		skills: ".cursor/skills", userSkills: "~/.cursor/skills",
	},
	{
		ID: "devin", Name: "Devin Desktop", Default: User, programs: []string{"devin", "windsurf"}, former: "windsurf",
		next:    "The MCP section of Devin Desktop's agent panel lists the server.",
		project: []string{".devin/mcp_config.json"},
		user:    []string{inConfig("devin/mcp_config.json"), "~/.codeium/windsurf/mcp_config.json"}, // until June 2026
		servers: mcpServers, format: jsonFormat{},
		skills: ".windsurf/skills", userSkills: "~/.codeium/windsurf/skills",
	},
	{
		ID: "codex", Name: "Codex", Default: User, programs: []string{"codex"},
		next:     "Start Codex; /mcp lists the server.",
		inFolder: "Start Codex in this folder. It reads a project's file only in a project that you trust.",
		project:  []string{".codex/config.toml"}, user: []string{"$CODEX_HOME/config.toml|~/.codex/config.toml"},
		servers: []string{"mcp_servers"}, format: tomlFormat{},
		skills: ".agents/skills", userSkills: "~/.agents/skills",
	},
	{
		ID: "gemini", Name: "Gemini CLI", Default: Project, programs: []string{"gemini"},
		next:     "Start Gemini CLI; /mcp lists the server.",
		inFolder: "Start Gemini CLI in this folder; /mcp lists the server.",
		project:  []string{".gemini/settings.json"},
		user:     []string{"$GEMINI_CLI_HOME/.gemini/settings.json|~/.gemini/settings.json"},
		servers:  mcpServers, format: jsonFormat{}, comments: true,
		skills: ".gemini/skills", userSkills: "$GEMINI_CLI_HOME/.gemini/skills|~/.gemini/skills",
	},
	{
		ID: "antigravity", Name: "Antigravity", Default: Project, programs: []string{"agy", "antigravity"},
		next:    "Start Antigravity again; in its CLI, /mcp lists the server.",
		project: []string{".agents/mcp_config.json"}, user: []string{"~/.gemini/config/mcp_config.json"},
		servers: mcpServers, format: jsonFormat{},
		skills: ".agents/skills", userSkills: "~/.gemini/config/skills",
	},
	{
		ID: "copilot", Name: "Copilot CLI", Default: User, programs: []string{"copilot"},
		fields:  []member{{"type", "local"}, {"tools", []string{"*"}}},
		next:    "Start Copilot CLI; /mcp show lists the server.",
		project: []string{".github/mcp.json"},
		user:    []string{"$COPILOT_HOME/mcp-config.json|~/.copilot/mcp-config.json"},
		servers: mcpServers, format: jsonFormat{},
		skills: ".github/skills", userSkills: "$COPILOT_HOME/skills|~/.copilot/skills",
	},
	{
		ID: "cline", Name: "Cline", Default: User, programs: []string{"cline"},
		next: "Cline lists the server under MCP Servers.",
		user: []string{"$CLINE_MCP_SETTINGS_PATH|$CLINE_DATA_DIR/settings/cline_mcp_settings.json|" +
			"$CLINE_DIR/data/settings/cline_mcp_settings.json|~/.cline/data/settings/cline_mcp_settings.json"},
		servers: mcpServers, format: jsonFormat{},
		skills: ".cline/skills", userSkills: "~/.cline/skills",
	},
	{
		ID: "cline-vscode", Name: "Cline in VS Code", Default: User,
		next:    "Cline's panel in VS Code lists the server under MCP Servers.",
		user:    []string{"CONFIG/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		servers: mcpServers, format: jsonFormat{},
	},
	{
		ID: "kiro", Name: "Kiro", Default: Project, programs: []string{"kiro", "kiro-cli"},
		next:    "Kiro's panel lists the server under MCP Servers.",
		project: []string{".kiro/settings/mcp.json"},
		user:    []string{"$KIRO_HOME/settings/mcp.json|~/.kiro/settings/mcp.json"},
		servers: mcpServers, format: jsonFormat{},
		skills: ".kiro/skills", userSkills: "$KIRO_HOME/skills|~/.kiro/skills",
	},
	{
		ID: "amp", Name: "Amp", Default: User, programs: []string{"amp"},
		next:     "Start Amp; `amp mcp doctor` lists the server.",
		inFolder: "Run `amp mcp approve " + entryName + "`: Amp starts a server of a project's file only then.",
		project:  []string{".amp/settings.json", ".amp/settings.jsonc"},
		user:     []string{"~/.config/amp/settings.json", "~/.config/amp/settings.jsonc", "CONFIG/amp/settings.json"},
		servers:  []string{"amp.mcpServers"}, format: jsonFormat{}, comments: true,
		skills: ".agents/skills", userSkills: "~/.config/agents/skills",
	},
	{
		ID: "zed", Name: "Zed", Default: Project, programs: []string{"zed", "zeditor"},
		next: zedNext, inFolder: zedNext + " Zed reads a project's file only in a project that you trust.",
		project: []string{".zed/settings.json"}, user: []string{zedSettings()},
		servers: []string{"context_servers"}, format: jsonFormat{}, comments: true, commas: true,
		skills: ".agents/skills", userSkills: "~/.agents/skills",
	},
	{
		ID: "warp", Name: "Warp", Default: Project, programs: []string{"warp-terminal"},
		next: "Warp's settings list the server under Agents, MCP servers.",
		inFolder: "Start the server in Warp's settings, under Agents, MCP servers: Warp starts none of a project by " +
			"itself.",
		project: []string{".warp/.mcp.json"}, user: []string{"~/.warp/.mcp.json"},
		servers: mcpServers, format: jsonFormat{},
		skills: ".agents/skills", userSkills: "~/.agents/skills",
	},
	{
		ID: "junie", Name: "Junie", Default: Project, programs: []string{"junie"},
		next:    "Junie's settings list the server under MCP Settings.",
		project: []string{".junie/mcp/mcp.json"}, user: []string{"~/.junie/mcp/mcp.json"},
		servers: mcpServers, format: jsonFormat{},
		skills: ".junie/skills", userSkills: "~/.junie/skills",
	},
	{
		ID: "jetbrains", Name: "JetBrains AI Assistant", folder: "CONFIG/JetBrains",
		programs: []string{"idea", "webstorm", "phpstorm", "pycharm", "goland", "rider", "rubymine", "clion",
			"rustrover"},
		next: "Paste it in the IDE: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON. " +
			"AI Assistant has no file for it.",
		servers: mcpServers, format: jsonFormat{},
	},
	{
		ID: "lm-studio", Name: "LM Studio", Default: User, ownPath: true,
		next: "LM Studio lists the server under Program, Integrations." + noFolder,
		user: []string{"~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"}, servers: mcpServers,
		format: jsonFormat{},
	},
	{
		ID: "goose", Name: "Goose", Default: User, programs: []string{"goose"}, format: yamlFormat{},
		next: "Start Goose again; it lists the server under Extensions.",
		user: []string{"$GOOSE_PATH_ROOT/config/config.yaml|" + gooseConfiguration()}, servers: []string{"extensions"},
		fields: []member{stdio, {"name", entryName}, {"enabled", true}}, command: "cmd",
		skills: ".agents/skills", userSkills: "~/.agents/skills",
	},
	{
		ID: "opencode", Name: "OpenCode", Default: Project, programs: []string{"opencode"},
		next:     "Start OpenCode; `opencode mcp list` lists the server.",
		inFolder: "Start OpenCode in this folder; `opencode mcp list` lists the server.",
		project:  []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"},
		user:     []string{inXDG("opencode/opencode.json"), inXDG("opencode/opencode.jsonc")},
		servers:  []string{"mcp"}, format: jsonFormat{}, comments: true, commas: true, merges: true,
		fields: []member{{"type", "local"}}, list: true,
		skills: ".opencode/skills", userSkills: inXDG("opencode/skills"),
	},
}

// inXDG is a file of a program that follows the XDG rule on every system.
func inXDG(file string) string { return "$XDG_CONFIG_HOME/" + file + "|~/.config/" + file }

// inConfig is a file of a program that does so except on Windows.
func inConfig(file string) string {
	if runtime.GOOS == "windows" {
		return "CONFIG/" + file
	}
	return inXDG(file)
}

func gooseConfiguration() string {
	if runtime.GOOS == "windows" {
		return "CONFIG/Block/goose/config/config.yaml"
	}
	return inXDG("goose/config.yaml")
}

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

// Scopes returns the scopes in which the host has a file that this program edits.
func (h Host) Scopes() (scopes []Scope) {
	if h.Default == "" {
		return nil
	}
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
	if project != "" && (project == user || SameFile(project, user)) {
		return []Scope{User}
	}
	return h.Scopes()
}

// file is the host's file of that scope; empty if it has none. Of several it is the first
// with an entry, else the first that exists.
func (h Host) file(scope Scope, workspace string) (string, error) {
	files, err := h.files(scope, workspace)
	if len(files) == 0 || err != nil {
		return "", err
	}
	present := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !fspath.Exists(file) })
	if len(present) > 1 {
		for _, file := range present {
			servers, err := h.serversIn(file, scope)
			if err == nil && ownName(servers, scope, workspace) != "" {
				return file, nil
			}
		}
	}
	return append(present, files...)[0], nil
}

// files are those of the host of that scope, whether they exist or not.
func (h Host) files(scope Scope, workspace string) (files []string, err error) {
	if scope == Project {
		for _, name := range h.project {
			files = append(files, filepath.Join(workspace, filepath.FromSlash(name)))
		}
		return files, nil
	}
	for _, paths := range h.user {
		file, err := expand(paths)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// serversIn are the servers that a file has.
func (h Host) serversIn(file string, scope Scope) (map[string]any, error) {
	c, err := h.parse(file, scope)
	if err != nil {
		return nil, err
	}
	return c.openServers()
}

// parse reads a file without looking for the coordinator's entry.
func (h Host) parse(file string, scope Scope) (*configuration, error) {
	text, err := readFile(file, scope)
	if err != nil {
		return nil, err
	}
	c := &configuration{host: h, scope: scope, servers: h.servers, state: State{File: file}}
	c.tree, err = h.format.parse(strings.TrimPrefix(text, byteOrderMark))
	return c, err
}

// doubtfulFiles are the other files of a project that cannot be read, or have an entry of
// that name which does not work by itself. A host that merges entries may start something
// else because of each, also than the user's file has.
func (h Host) doubtfulFiles(workspace, file, entry string) (doubtful []string) {
	if !h.merges {
		return nil
	}
	for _, name := range h.project {
		path := filepath.Join(workspace, filepath.FromSlash(name))
		if path == file || !fspath.Exists(path) {
			continue
		}
		servers, err := h.serversIn(path, Project)
		if err == nil && servers[entry] == nil {
			continue
		}
		table, _ := servers[entry].(map[string]any)
		var s State
		if s.read(table, Project, workspace, nil); !s.Works() || s.Disabled {
			doubtful = append(doubtful, name)
		}
	}
	return doubtful
}

// Installed reports whether the host seems to be on this machine.
func (h Host) Installed() bool {
	for _, program := range h.programs {
		if _, err := exec.LookPath(program); err == nil {
			return true
		}
	}
	if h.folder != "" {
		folder, err := expand(h.folder)
		return err == nil && fspath.Exists(folder)
	}
	home, _ := os.UserHomeDir()
	return slices.ContainsFunc(h.user, func(paths string) bool {
		file, err := expand(paths)
		if folder := filepath.Dir(file); folder != home { // which exists anyway
			file = folder
		}
		return err == nil && fspath.Exists(file)
	})
}
