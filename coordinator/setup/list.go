package setup

import (
	"slices"
	"strings"

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
	Works   bool     `json:"works"`
	Error   string   `json:"error"`

	host  Host
	state State
}

// List describes each file of each host; at least one.
func List(workspace string) (files []File) {
	for _, h := range hosts {
		found := h.Installed()
		for _, scope := range h.Scopes() {
			s, err := h.Inspect(scope, workspace)
			file := File{
				Host: h.ID, Name: h.Name, Found: found, Scope: scope, Path: s.File, Exists: s.Exists,
				Default: scope == h.Default, Entry: s.Name, Command: s.Command, Args: append([]string{}, s.Args...), Works: s.Works(),
				host: h, state: s,
			}
			if err != nil {
				file.Error = strings.TrimPrefix(err.Error(), s.File+" is left as it is: ")
			}
			files = append(files, file)
		}
		if len(h.Scopes()) == 0 {
			files = append(files, File{Host: h.ID, Name: h.Name, Found: found, Args: []string{}, host: h})
		}
	}
	return files
}

// Table has the rows of a list for people, the first with the titles, and the colour of
// each. Hosts without an entry that are not on this machine are missing.
func Table(files []File, workspace string) (rows [][]string, colours, missing []string) {
	rows, colours = [][]string{{"HOST", "NAME", "ENTRY", "FILE"}}, []string{""}
	shown := map[string]bool{}
	for i, f := range files {
		if (f.Entry != "" || f.Error != "") && slices.Contains(f.host.ScopesIn(workspace), f.Scope) {
			text, colour := f.verdict()
			rows, colours = append(rows, []string{f.Host, f.Name, text, f.Path}), append(colours, colour)
			shown[f.Host] = true
		}
		if shown[f.Host] || i+1 < len(files) && files[i+1].Host == f.Host {
			continue
		}
		text := "none"
		if f.host.Default == "" {
			text = "only the host itself knows"
		}
		if f.Found {
			rows, colours = append(rows, []string{f.Host, f.Name, text, ""}), append(colours, terminal.Yellow)
		} else {
			missing = append(missing, f.Host)
		}
	}
	return rows, colours, missing
}

// verdict is what a file with an entry, or with an error, does.
func (f File) verdict() (text, colour string) {
	switch {
	case f.Error != "":
		return f.Error, terminal.Red
	case f.Works && f.state.Off:
		return "turned off", terminal.Yellow
	case f.state.IsCoordinator() && len(f.state.Settings) > 0:
		return "works, and sets " + strings.Join(f.state.Settings, ", "), terminal.Yellow
	case f.state.IsCoordinator():
		return "works", terminal.Green
	case f.Works:
		return "starts " + f.Command + ", which may be another program", terminal.Yellow
	case f.Command == "":
		return "it starts no program", terminal.Yellow
	}
	return f.Command + " is not found: run `coordinator setup " + f.Host + " --" + string(f.Scope) + "`", terminal.Red
}
