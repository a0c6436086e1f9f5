package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/skill"
	"browser-coordinator/internal/fspath"
)

func skillFile(t *testing.T, h Host, scope Scope, workspace string) string {
	t.Helper()
	file, err := h.skillFile(scope, workspace)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSkill: the skill is installed for each host that reads skills, and removed again without
// a trace in what was there before.
func TestSkill(t *testing.T) {
	workspace := home(t, "coordinator", "npx")
	for _, h := range Hosts() {
		for _, scope := range h.SkillScopes() {
			file := skillFile(t, h, scope, workspace)
			others := filepath.Join(filepath.Dir(filepath.Dir(file)), "other")
			write(t, filepath.Join(others, "SKILL.md"), "theirs")
			for _, e := range []Entry{NewEntry("coordinator"), {Command: "npx", Args: []string{"-y", entryName, "mcp"}},
				NewEntry(filepath.Join(os.Getenv("PATH"), "coordinator"))} {
				change, err := h.AddSkill(scope, workspace, e)
				if err != nil || !change.Changed() || !strings.Contains(change.Diff(), "+    "+e.CommandLine()+" skill\n") {
					t.Fatalf("%s, %s: %+v, %v", h.ID, scope, change, err)
				}
				if err := change.Write(); err != nil {
					t.Fatal(err)
				}
				if second, err := h.AddSkill(scope, workspace, e); err != nil || second.Changed() {
					t.Errorf("%s: it is written again: %v\n%s", h.ID, err, second.Diff())
				}
				found := Skills(workspace)
				if len(found) != 1 || found[0].File != file || found[0].Health != Works ||
					!slices.ContainsFunc(found[0].Readers, func(of Host) bool { return of.ID == h.ID }) {
					t.Errorf("%s, %s: found %+v", h.ID, e.CommandLine(), found)
				}
			}
			removal, err := h.RemoveSkill(scope, workspace)
			if err != nil || !removal.Changed() {
				t.Fatalf("%s: %+v, %v", h.ID, removal, err)
			}
			if err := removal.Write(); err != nil {
				t.Fatal(err)
			}
			if fspath.Exists(filepath.Dir(file)) || !fspath.Exists(others) {
				t.Errorf("%s: the folder %s is there, or that of others is not", h.ID, filepath.Dir(file))
			}
			if removal, err := h.RemoveSkill(scope, workspace); err != nil || removal.Changed() {
				t.Errorf("%s: it is removed again: %v", h.ID, err)
			}
		}
	}
}

// TestForeignSkill: a file that another program has written stays, and so do other files of
// the folder.
func TestForeignSkill(t *testing.T) {
	workspace := home(t)
	h := hostOf(t, "claude-code")
	file := skillFile(t, h, Project, workspace)
	write(t, file, "---\nname: browser-coordinator\n---\nmine\n")
	want := file + " is left as it is: it was not written by `coordinator setup`; move it away first"
	if _, err := h.AddSkill(Project, workspace, ours); err == nil || err.Error() != want {
		t.Errorf("added: %v", err)
	}
	if _, err := h.RemoveSkill(Project, workspace); err == nil || err.Error() != want {
		t.Errorf("removed: %v", err)
	}
	write(t, file, skill.Installed("coordinator"))
	write(t, filepath.Join(filepath.Dir(file), "notes.md"), "mine")
	removal, err := h.RemoveSkill(Project, workspace)
	if err != nil {
		t.Fatal(err)
	}
	if err := removal.Write(); err != nil || fspath.Exists(file) ||
		!fspath.Exists(filepath.Join(filepath.Dir(file), "notes.md")) {
		t.Errorf("removed beside another file: %v", err)
	}
}

// TestSkillOutOfTheProject: a repository's link takes the skill nowhere else.
func TestSkillOutOfTheProject(t *testing.T) {
	h := hostOf(t, "claude-code")
	for _, link := range []string{".claude", ".claude/skills", ".claude/skills/browser-coordinator",
		".claude/skills/browser-coordinator/SKILL.md"} {
		workspace, out := home(t), t.TempDir()
		path, target := filepath.Join(workspace, filepath.FromSlash(link)), filepath.Join(out, filepath.Base(link))
		if filepath.Ext(link) == ".md" {
			write(t, target, skill.Installed("coordinator"))
		} else if err := os.Mkdir(target, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Skip("no symbolic links:", err)
		}
		want := "out of the project; remove the link, or use --user"
		if _, err := h.AddSkill(Project, workspace, ours); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is a link: added: %v", link, err)
		}
		if _, err := h.RemoveSkill(Project, workspace); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is a link: removed: %v", link, err)
		}
	}
	workspace := home(t)
	if err := os.MkdirAll(filepath.Join(workspace, "shared"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("shared", filepath.Join(workspace, ".claude")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.AddSkill(Project, workspace, ours); err != nil {
		t.Errorf("a link within the project: %v", err)
	}
}

// TestSkillsDiagnosis: a repository may have a skill that runs something else.
func TestSkillsDiagnosis(t *testing.T) {
	workspace := home(t, "coordinator", "sh")
	h := hostOf(t, "claude-code")
	file := skillFile(t, h, Project, workspace)
	write(t, filepath.Join(workspace, "coordinator"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(workspace, "coordinator"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, want string
		health     Health
	}{
		{skill.Installed("coordinator"), "works", Works},
		{strings.ReplaceAll(skill.Installed("coordinator"), "\n", "\r\n"), "works", Works},
		{skill.Installed("/gone/coordinator"), "runs /gone/coordinator, and there is no such program", Broken},
		{skill.Installed("'/gone/my coordinator'"), "there is no such program", Broken},
		{skill.Installed("sh evil.sh"), "runs sh evil.sh, which is not this program", Doubtful},
		{skill.Installed("./coordinator"), "runs ./coordinator, which is not this program", Doubtful},
		{skill.Installed("coordinator run -- evil;"), "which is not this program", Doubtful},
		{skill.Installed("coordinator; evil;"), "there is no such program", Broken},
		{skill.Installed("coordinator") + "More.\n", "is not as this version writes it", Doubtful},
		{"mine", "was not written by this program", Doubtful},
	} {
		write(t, file, c.text)
		found := Skills(workspace)
		if len(found) != 1 || found[0].Health != c.health || !strings.Contains(found[0].Text, c.want) {
			t.Errorf("%q: %+v", c.want, found)
		}
	}
}
