package setup

import (
	"context"
	"slices"
	"strings"
	"sync"

	"browser-coordinator/coordinator/terminal"
)

// File is a file of a host, and what it has of the coordinator. The names of its JSON are
// stable.
type File struct {
	Host    string   `json:"host"`
	Name    string   `json:"name"`
	Found   bool     `json:"found"` // the host, on this machine
	Scope   Scope    `json:"scope"`
	Path    string   `json:"file"`
	Exists  bool     `json:"exists"`
	Default bool     `json:"default"` // the file that `setup HOST` changes
	Entry   string   `json:"entry"`   // its name; empty: there is none
	Command string   `json:"command"`
	Args    []string `json:"args"`
	URL     string   `json:"url"` // in place of a command: what the host connects to
	Works   bool     `json:"works"`
	Error   string   `json:"error"`

	Details `json:"-"`
}

// Details are what only this program needs of a file.
type Details struct {
	Configures Host
	State      State
	Err        error
	Diagnosis  Diagnosis
	Untried    string // what only the host replaces, because of which the entry was not tried
	// Again: it is the user's file too, as some are in the home folder.
	Duplicate bool
}

// List describes each file of each host, at least one, and tries the entries.
func List(ctx context.Context, workspace string) (files []File) {
	for _, h := range hosts {
		found, own := h.Installed(), h.ScopesIn(workspace)
		for _, scope := range h.Scopes() {
			s, err := h.Inspect(scope, workspace)
			file := File{
				Host: h.ID, Name: h.Name, Found: found, Scope: scope, Path: s.File, Exists: s.Exists,
				Default: scope == h.Default, Entry: s.Name, Command: s.Command, Args: maskWords(s.Args),
				URL:     maskAddresses(s.URL),
				Details: Details{Configures: h, State: s, Err: err, Duplicate: !slices.Contains(own, scope)},
			}
			if err != nil {
				file.Error = strings.TrimPrefix(err.Error(), s.File+" is left as it is: ")
			}
			files = append(files, file)
		}
		if len(h.Scopes()) == 0 {
			files = append(files, File{Host: h.ID, Name: h.Name, Found: found, Args: []string{},
				Details: Details{Configures: h}})
		}
	}
	var running sync.WaitGroup
	for i := range files {
		if f := &files[i]; f.Entry != "" && f.Err == nil && !f.Duplicate {
			running.Go(func() {
				f.Diagnosis, f.Untried = f.Configures.Examine(ctx, f.Scope, f.State, workspace)
				f.Works = f.Diagnosis.Health == Works
			})
		}
	}
	running.Wait()
	return files
}

// Health is how well an entry works.
type Health int

const (
	Works    Health = iota
	Doubtful        // not as the user may expect
	Broken
)

var colours = map[Health]string{Works: terminal.Green, Doubtful: terminal.Yellow, Broken: terminal.Red}

// Diagnosis is what an entry does. Text is the predicate of a sentence, and Fix the next
// step; empty: nothing to do.
type Diagnosis struct {
	Health    Health
	Text, Fix string
}

// Advice is the next step as a sentence.
func (d Diagnosis) Advice() string {
	if strings.HasPrefix(d.Fix, "coordinator ") {
		return "Run `" + d.Fix + "`."
	}
	return strings.ToUpper(d.Fix[:1]) + d.Fix[1:] + "."
}

// Examine is Diagnose, and tries an entry that works by that.
func (h Host) Examine(ctx context.Context, scope Scope, s State, folder string) (d Diagnosis, untried string) {
	if d = h.Diagnose(scope, s); d.Health != Works {
		return d, ""
	}
	fault, untried := s.Try(ctx, folder)
	if fault != "" {
		d = Diagnosis{Broken, "does not work: " + fault, "correct " + s.File + " in an editor"}
	}
	return d, untried
}

// Diagnose examines the entry in a file that has one.
func (h Host) Diagnose(scope Scope, s State) Diagnosis {
	second := "coordinator setup " + h.ID + " --" + string(scope)
	switch {
	case s.URL != "" && !s.Disabled && !s.foreign():
		return Diagnosis{Works, "connects to " + maskAddresses(s.URL), ""}
	case s.URL != "" && !s.Disabled:
		return Diagnosis{Doubtful, "connects to " + maskAddresses(s.URL) + ", and has what is not from the coordinator: " +
			s.line(isForeign), "remove that from the entry"}
	case s.Command == "" && s.URL == "":
		return Diagnosis{Broken, "starts no program", second}
	case s.isUnpublished():
		return Diagnosis{Broken, "starts the npm package " + entryName + ", which nobody has published: whoever takes " +
			"its name is started", second}
	case s.Program == "" && s.URL == "":
		return Diagnosis{Broken, "starts " + quoteWord(s.Command) + ", and there is no such program", second}
	case s.Disabled && !s.foreign():
		return Diagnosis{Doubtful, "is turned off", "turn the server on in " + h.Name}
	case !s.Starts():
		return Diagnosis{Broken, "starts " + s.line(isAny) + ", which is not its MCP server", second}
	case s.foreign():
		return Diagnosis{Doubtful, "starts " + s.line(isAny) + ". This is not from the coordinator: " +
			s.line(isForeign), "to replace it, remove it first, with --remove"}
	}
	return Diagnosis{Works, "works", ""}
}

// Table has the rows of a list for people, the first with the titles, and the colour of
// each. Hosts without an entry that are not on this machine are missing.
func Table(files []File, skills []Skill) (rows [][]string, rowColours, missing []string) {
	add := func(colour string, row ...string) {
		rows, rowColours = append(rows, row), append(rowColours, colour)
	}
	add("", "HOST", "NAME", "ENTRY", "FILE")
	shown := map[string]bool{}
	for i, f := range files {
		switch d := f.Diagnosis; {
		case f.Duplicate:
		case f.Error != "":
			add(terminal.Red, f.Host, f.Name, f.Error, f.Path)
			shown[f.Host] = true
		case f.Entry != "":
			if d.Health == Broken {
				d.Text += ". " + d.Advice()
			}
			add(colours[d.Health], f.Host, f.Name, d.Text, f.Path)
			shown[f.Host] = true
		}
		none := "none"
		if f.Configures.Default == "" {
			none = "only the host itself knows"
		}
		switch isLast := i+1 == len(files) || files[i+1].Host != f.Host; {
		case !isLast || shown[f.Host]:
		case f.Found:
			add(terminal.Yellow, f.Host, f.Name, none, "")
		default:
			missing = append(missing, f.Host)
		}
	}
	for _, s := range skills {
		text := "skill: " + s.Text
		if s.Health == Broken {
			text += ". " + s.Advice()
		}
		add(colours[s.Health], s.Readers[0].ID, s.Names(), text, s.File)
	}
	return rows, rowColours, missing
}
