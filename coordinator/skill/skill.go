// Package skill has the texts that teach an agent with a shell how to use the coordinator, in
// the form of https://agentskills.io: one to begin with, and pages about further subjects. What
// is installed for an agent only points to the command that prints them, so that the agent
// always reads those of the version that it runs.
package skill

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

//go:embed *.md
var texts embed.FS

// Name is that of the skill, and of the folder that has its file.
const Name = "browser-coordinator"

// File is the name of a skill's file.
const File = "SKILL.md"

// Page is a text about one subject.
type Page struct {
	Name  string // as on the command line
	Title string
	Text  string
}

// Main is the text to begin with, with its head.
func Main() string { return read(File) }

// Pages are the texts about further subjects, by name.
func Pages() (pages []Page) {
	names, _ := fs.Glob(texts, "*.md") // no error: the pattern is good
	for _, file := range names {
		if file == File {
			continue
		}
		text := read(file)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		pages = append(pages, Page{strings.TrimSuffix(file, ".md"), title, text})
	}
	return pages
}

func read(file string) string {
	text, _ := texts.ReadFile(file) // no error: it is embedded
	return string(text)
}

// head matches the head of a skill's file, up to the tools that it allows.
var head = regexp.MustCompile(`(?s)^---\n.*?\nallowed-tools: `)

// mark is in each installed file.
const mark = "<!-- Written by `coordinator setup --skill`, which may replace it. -->"

// allowed are the commands that an agent may run without a question of its host. The blank before
// each * is part of the prefix: `coordinator do` is also the beginning of `coordinator doctor`.
func allowed(command string) string {
	return fmt.Sprintf("Bash(%[1]s do *) Bash(%[1]s skill) Bash(%[1]s skill *) "+
		"Bash(%[1]s help) Bash(%[1]s help *)", command)
}

// Installed is the text of the file that is installed for agents. The coordinator is started as
// command says, which has one word or more.
func Installed(command string) string {
	text := head.FindString(Main()) + allowed(command) + "\n---\n\n" + mark + "\n\n" +
		"This command prints how to use the browser, for the version that is installed. Run it first:\n\n" +
		"    " + command + " skill\n"
	if command != "coordinator" {
		text += "\nWhere the text has `coordinator`, write `" + command + "`.\n"
	}
	return text
}

// instruction matches the command that an installed file has an agent run.
var instruction = regexp.MustCompile(`(?m)^    (.+) skill$`)

// CommandIn is the command with which an installed file starts the coordinator. isOurs reports
// whether the file was installed by this program or another version of it, and isCurrent
// whether it is as this version writes it.
func CommandIn(text string) (command string, isOurs, isCurrent bool) {
	if found := instruction.FindStringSubmatch(text); found != nil {
		command = found[1]
	}
	return command, strings.Contains(text, mark), text == Installed(command)
}
