package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"browser-coordinator/internal/fspath"
)

// A project's file may be from anyone, and an entry has many ways to start something else
// than it seems: another command behind a flag, a version that is a path, a variable that
// loads a library. So an entry is vouched for only if every part of it is on a list of
// harmless ones. Another one is shown in full, with the parts that are not.

// flag is what is known of a flag of the coordinator's MCP server.
type flag struct {
	harmless bool // from anyone
	value    bool // it takes one
	file     bool // which is a file's name
}

// flags are those of `coordinator mcp`.
var flags = map[string]flag{
	"--allow-close":              {},
	"--allow-origin":             {value: true},
	"--allow-token-in-arguments": {},
	"--allowed-origins":          {value: true, harmless: true},
	"--attach":                   {value: true},
	"--blocked-origins":          {value: true, harmless: true},
	"--access":                   {value: true}, // full: in the user's own Chrome
	"--browser":                  {value: true, harmless: true},
	"--caps":                     {value: true, harmless: true},
	"--debugging-port":           {},
	"--executable":               {value: true, file: true},
	"--grid":                     {value: true},
	"--grid-capability":          {value: true, file: true},
	"--headed":                   {harmless: true},
	"--headless":                 {harmless: true},
	"--headers":                  {value: true, file: true},
	"--hold":                     {value: true, harmless: true},
	"--ignore-https-errors":      {},
	"--isolated":                 {harmless: true},
	"--launch":                   {harmless: true},
	"--no-launch":                {harmless: true},
	"--listen":                   {value: true},
	"--output-dir":               {value: true, file: true},
	"--profile":                  {value: true, file: true},
	"--proxy-server":             {value: true},
	"--require-token":            {harmless: true},
	"--secrets":                  {value: true, file: true},
	"--verbose":                  {harmless: true},
	"--viewport":                 {value: true, harmless: true},
	"--workspace":                {value: true, file: true},
	"-v":                         {harmless: true},
}

// KnownFlag reports whether a flag of `coordinator mcp` is known here, and takes a value.
func KnownFlag(name string) (known, value bool) {
	f, known := flags[name]
	return known, f.value
}

// EnvCaps is the variable of --caps.
const EnvCaps = "BROWSER_COORDINATOR_CAPS"

// harmlessVariables may be set by anyone.
var harmlessVariables = []string{EnvCaps, "LANG", "LC_ALL", "NO_COLOR", "TERM"}

// harmlessMembers of an entry, beside those that are examined, with their values; nil: any
// boolean.
var harmlessMembers = map[string][]any{
	"type":     {"stdio", "local"},
	"tools":    {[]any{"*"}}, // all of the server's
	"source":   {"custom"},
	"enabled":  nil,
	"disabled": nil,
}

// published is the npm package in a version of its own: no alias, path, address or other
// tag of the registry.
var published = regexp.MustCompile(`^` + entryName + `(@(latest|[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?))?$`)

// part is a word of an entry, as a user reads it: without secrets.
type part struct {
	text    string
	foreign bool // it is not on the lists
}

// examine finds the parts of an entry, in the order in which a shell would have them.
// doubtful are further files whose entries the host puts into this one.
func (s *State) examine(entry map[string]any, scope Scope, workspace string, doubtful []string) {
	x := examiner{scope: scope, workspace: workspace, connects: s.URL != ""}
	if x.connects {
		x.add(s.URL, !isListenerURL(s.URL))
	} else {
		x.command(s)
	}
	args := s.Args
	if x.npx {
		args = x.packageOf(args)
	}
	x.arguments(args)
	x.members(entry)
	for _, file := range doubtful {
		x.add("also in "+file, true)
	}
	s.parts = x.parts
}

type examiner struct {
	scope     Scope
	workspace string
	npx       bool // it starts the npm package
	pnpx      bool // by pnpx
	connects  bool // it starts nothing
	parts     []part
}

func (x *examiner) add(text string, foreign bool) {
	x.parts = append(x.parts, part{maskWord(text), foreign})
}

// command examines what is started.
func (x *examiner) command(s *State) {
	x.npx = isPackage(s.Command, s.Args)
	x.pnpx = programName(s.Command) == "pnpx"
	bare := !strings.ContainsAny(s.Command, `/\$`)
	own, onPath := isOwnProgram(s.Program), false
	if found, err := exec.LookPath("coordinator"); err == nil && filepath.IsAbs(found) {
		onPath = SameFile(found, s.Program) && !x.isIn(found) && !x.isIn(s.Program)
	}
	ours := (bare || filepath.IsAbs(s.Command)) && (own || onPath)
	if x.npx {
		ours = bare && s.Program != "" && !x.isIn(s.Program)
	}
	x.add(s.Command, !ours)
}

// packageOf examines the arguments of npx up to the package, and returns the rest.
func (x *examiner) packageOf(args []string) []string {
	for _, yes := range args[:len(args)-len(withoutYes(args))] {
		x.add(yes, false)
	}
	if args = withoutYes(args); len(args) == 0 || !published.MatchString(args[0]) {
		return args // which are examined as arguments, and no coordinator's
	}
	x.add(args[0], npxPackage == "" || x.hasPackage())
	return args[1:]
}

// hasPackage reports whether npx may start a package of the folder's instead: it prefers
// that to the registry's, and lets the folder choose the registry.
func (x *examiner) hasPackage() bool {
	settings := []string{".npmrc", "node_modules/.bin/" + entryName, "node_modules/" + entryName}
	if x.pnpx {
		settings = append(settings, "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs")
	}
	home, _ := os.UserHomeDir() // its .npmrc is the user's own
	for dir := x.workspace; dir != home && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, name := range settings {
			if fspath.Exists(filepath.Join(dir, filepath.FromSlash(name))) {
				return true
			}
		}
		text, err := readFile(filepath.Join(dir, "package.json"), Project)
		if missing := errors.Is(err, fs.ErrNotExist); !missing &&
			(err != nil || strings.Contains(text, entryName) || strings.Contains(text, "workspaces")) {
			return true
		}
	}
	return false
}

// arguments examines those of the coordinator.
func (x *examiner) arguments(args []string) {
	if len(args) > 0 && args[0] == "mcp" {
		x.add("mcp", false)
		args = args[1:]
	}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		f, known := flags[name]
		if !known { // and so the words behind it may be anything
			for _, arg := range args[i:] {
				x.add(arg, true)
			}
			return
		}
		harmless := f.harmless
		if f.value && !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if x.scope == User && (!f.file || filepath.IsAbs(value) || strings.HasPrefix(value, "$")) {
			harmless = true // the user's own choice
		}
		switch {
		case joined:
			x.add(args[i], !harmless)
		case f.value && i+1 < len(args):
			x.add(name, !harmless)
			x.add(value, !harmless)
			i++
		default:
			x.add(name, !harmless)
		}
	}
}

// members examines the environment of an entry, and the rest of it.
func (x *examiner) members(entry map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		value := entry[name]
		switch inner, isTable := value.(map[string]any); {
		case name == "command" && !isTable:
		case x.connects && slices.Contains(connectionMembers, name):
		case name == "args":
			_, isList := value.([]any)
			_, all := entry["command"].([]any)
			if !isList || all {
				x.member(name, value)
			}
		case (name == "env" || name == "environment") && isTable:
			x.environment(inner)
		default:
			x.member(name, value)
		}
	}
}

func (x *examiner) environment(variables map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		harmless := slices.Contains(harmlessVariables, name) || x.scope == User &&
			strings.HasPrefix(name, "BROWSER_COORDINATOR_")
		x.add(maskVariable(name, fmt.Sprint(variables[name])), !harmless)
	}
}

// member examines a member that is no part of the command. In the user's own file there
// may be any, for example a time limit.
func (x *examiner) member(name string, value any) {
	allowed, known := harmlessMembers[name]
	_, isBoolean := value.(bool)
	isHarmless := allowed == nil && isBoolean || slices.ContainsFunc(allowed,
		func(a any) bool { return equal(a, value) })
	if known && isHarmless || x.scope == User && name != "args" {
		return
	}
	text, _ := json.Marshal(value) // a parser's value has no errors
	if !isBoolean && !slices.Contains(shownMembers, name) {
		text = []byte(mask)
	}
	x.add(name+": "+maskText(string(text)), true)
}

func (x *examiner) isIn(file string) bool { return Contains(file, x.workspace) }

// Contains reports whether a file is in a workspace, whose author may have put it there. The
// home folder, and those above it, are the user's own.
func Contains(file, workspace string) bool {
	home, err := os.UserHomeDir()
	if err == nil && contains(home, workspace) {
		return false
	}
	return contains(file, workspace)
}

// contains reports whether a path is a folder or in it, by its text or by its links.
func contains(path, folder string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	realFolder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		realFolder = folder
	}
	_, byText := fspath.Within(folder, path)
	_, byLinks := fspath.Within(realFolder, real)
	_, byItsLink := fspath.Within(realFolder, path)
	return byText || byLinks || byItsLink
}

func isOwnProgram(file string) bool {
	executable, err := os.Executable()
	return err == nil && (SameFile(executable, file) || launches(file, executable))
}

// line is the entry for people.
func (s State) line(include func(part) bool) string {
	var words []string
	for _, p := range s.parts {
		if include(p) {
			words = append(words, quoteWord(p.text))
		}
	}
	return strings.Join(words, " ")
}

// quoteWord shows also what looks like another character, and where a word ends.
func quoteWord(word string) string {
	special := func(c rune) bool { return c <= ' ' || c > '~' && c != []rune(mask)[0] || c == '"' || c == '`' }
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return strconv.QuoteToASCII(word)
}

func isForeign(p part) bool   { return p.foreign }
func isAny(part) bool         { return true }
func (s State) foreign() bool { return slices.ContainsFunc(s.parts, isForeign) }
