package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/coordinator/skill"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/fspath"
)

// CommandLine is what a shell runs to start the entry's program, without MCP.
func (e Entry) CommandLine() string {
	words := []string{terminal.Word(e.Command)}
	if isPackage(e.Command, e.Args) {
		words = append(words, e.Args[:2]...)
	}
	return strings.Join(words, " ")
}

// SkillScopes returns the scopes in which the host reads skills.
func (h Host) SkillScopes() []Scope {
	if h.skills == "" {
		return nil
	}
	return []Scope{Project, User}
}

// skillFile is the file of the skill in that scope.
func (h Host) skillFile(scope Scope, workspace string) (string, error) {
	folder := filepath.Join(workspace, filepath.FromSlash(h.skills))
	if scope == User {
		var err error
		if folder, err = expand(h.userSkills); err != nil {
			return "", err
		}
	}
	return filepath.Join(folder, skill.Name, skill.File), nil
}

// SkillAdvice is what the user does with the printed text of the skill's file.
func (h Host) SkillAdvice(scope Scope, workspace string) string {
	file, err := h.skillFile(scope, workspace)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("Save it as %s. %s", file, h.SkillNext())
}

// SkillNext is what the user does when the skill is installed.
func (h Host) SkillNext() string { return "A new session of " + h.Name + " finds the skill." }

// AddSkill returns the change that installs the skill for the host.
func (h Host) AddSkill(scope Scope, workspace string, e Entry) (*Change, error) {
	change, err := h.readSkill(scope, workspace)
	if err != nil {
		return nil, err
	}
	line := e.CommandLine()
	if change.After = skill.Installed(line); ownLines(change.Before) == change.After {
		change.After = change.Before
	}
	change.Note = h.alsoReadBy(change.File, scope, workspace)
	if scope == Project && filepath.IsAbs(e.Command) {
		change.Note = strings.TrimSpace("This path only works on this machine. Don't commit it. " + change.Note)
	}
	return change, nil
}

// RemoveSkill returns the change that removes the skill's file.
func (h Host) RemoveSkill(scope Scope, workspace string) (*Change, error) {
	change, err := h.readSkill(scope, workspace)
	if err != nil {
		return nil, err
	}
	change.Removes, change.folders = true, []string{filepath.Dir(change.File)}
	change.Note = h.alsoReadBy(change.File, scope, workspace)
	return change, nil
}

// readSkill returns a change of the skill's file without its result. A file of somebody else
// is refused, and a project's that a link takes out of the project.
func (h Host) readSkill(scope Scope, workspace string) (*Change, error) {
	file, err := h.skillFile(scope, workspace)
	if err != nil {
		return nil, err
	}
	if scope == Project {
		if err := staysWithin(file, workspace); err != nil {
			return nil, err
		}
	}
	change := &Change{Host: h, Scope: scope, File: file, Exists: true, ofSkill: true}
	change.Before, err = readFile(file, scope)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		change.Exists = false
	case err != nil:
		return nil, err
	default:
		if _, isOurs, _ := skill.CommandIn(ownLines(change.Before)); !isOurs {
			return nil, unusable(file, "it was not written by `coordinator setup`; move it away first")
		}
	}
	return change, nil
}

// staysWithin refuses a file that a link on the way, which may come with a repository, takes out
// of the workspace.
func staysWithin(file, workspace string) error {
	real, err := filepath.EvalSymlinks(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for path := file; len(path) > len(workspace); path = filepath.Dir(path) {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // it is not there
		}
		if _, ok := fspath.Within(real, target); !ok {
			return unusable(file, "%s leads to %s, out of the project; remove the link, or use --user", path, target)
		}
		return nil
	}
	return nil
}

// ownLines is a text with the line ends of this program.
func ownLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// alsoReadBy is a sentence about the other hosts that read the file.
func (h Host) alsoReadBy(file string, scope Scope, workspace string) string {
	var others []string
	for _, other := range hosts {
		if other.skills == "" || other.ID == h.ID {
			continue
		}
		if path, err := other.skillFile(scope, workspace); err == nil && path == file {
			others = append(others, other.Name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "It is also read by " + strings.Join(others, ", ") + "."
}

// Skill is an installed skill.
type Skill struct {
	Readers []Host // that read the file
	Scope   Scope
	File    string
	Diagnosis
}

// Skills describes the files of the skill that there are.
func Skills(workspace string) (found []Skill) {
	for _, h := range hosts {
		for _, scope := range h.SkillScopes() {
			file, err := h.skillFile(scope, workspace)
			if err != nil || !fspath.Exists(file) {
				continue
			}
			if i := slices.IndexFunc(found, func(s Skill) bool { return s.File == file }); i >= 0 {
				found[i].Readers = append(found[i].Readers, h)
				continue
			}
			found = append(found, Skill{[]Host{h}, scope, file, h.diagnoseSkill(file, scope, workspace)})
		}
	}
	return found
}

// Names are those of the hosts that read the file.
func (s Skill) Names() string {
	var names []string
	for _, h := range s.Readers {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

func (h Host) diagnoseSkill(file string, scope Scope, workspace string) Diagnosis {
	fix := fmt.Sprintf("coordinator setup %s --skill --%s", h.ID, scope)
	diagnosis := func(health Health, text, fix string) Diagnosis { return Diagnosis{health, text, fix} }
	text, err := readFile(file, scope)
	if err != nil {
		return diagnosis(Broken, strings.TrimPrefix(err.Error(), file+" is left as it is: "), "correct it")
	}
	line, isOurs, isCurrent := skill.CommandIn(ownLines(text))
	if !isOurs {
		return diagnosis(Doubtful, "was not written by this program", "read it; to replace it, move it away first")
	}
	if !isCurrent {
		return diagnosis(Doubtful, "is not as this version writes it", fix)
	}
	var s State
	command, args := wordsOf(line)
	s.read(map[string]any{"command": command, "args": append(args, "mcp")}, scope, workspace, nil)
	switch {
	case s.Program == "":
		return diagnosis(Broken, "runs "+line+", and there is no such program", fix)
	case !s.Works():
		return diagnosis(Doubtful, "runs "+line+", which is not this program", fix)
	}
	return diagnosis(Works, "works", "")
}

// wordsOf splits a line of CommandLine into the command and the arguments, as a parser returns
// them.
func wordsOf(line string) (command string, args []any) {
	if quote := line[:min(1, len(line))]; quote == "'" || quote == `"` {
		inner, rest, _ := strings.Cut(line[1:], quote+" ")
		command, line = strings.TrimSuffix(inner, quote), rest
	} else {
		command, line, _ = strings.Cut(line, " ")
	}
	for _, word := range strings.Fields(line) {
		args = append(args, word)
	}
	return command, args
}
