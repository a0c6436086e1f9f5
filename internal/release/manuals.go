package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// shells are those with a completion script, and the file that each expects.
var shells = map[string]string{
	"bash":       "completions/coordinator.bash",
	"zsh":        "completions/_coordinator",
	"fish":       "completions/coordinator.fish",
	"powershell": "completions/coordinator.ps1",
}

func (r *release) manualsDir() string { return filepath.Join(r.work, "manuals") }

// manuals writes the completion scripts and the man pages, from what the program prints.
func (r *release) manuals() error {
	for shell, file := range shells {
		script, err := r.prints("completion", shell)
		if err != nil {
			return err
		}
		if err := r.writeManual(file, script); err != nil {
			return err
		}
	}
	help, err := r.prints("help")
	if err != nil {
		return err
	}
	pages := map[string]string{"coordinator": help}
	for _, command := range regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`).FindAllStringSubmatch(help, -1) {
		if pages["coordinator-"+command[1]], err = r.prints("help", command[1]); err != nil {
			return err
		}
	}
	for name, text := range pages {
		if err := r.writeManual("man/man1/"+name+".1", manPage(name, r.version, text)); err != nil {
			return err
		}
	}
	return nil
}

// prints is what this system's program prints.
func (r *release) prints(args ...string) (string, error) {
	cmd := exec.Command(r.programOf(host), args...)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("coordinator %s: %w\n%s", strings.Join(args, " "), err, &failed)
	}
	return out.String(), nil
}

func (r *release) writeManual(name, text string) error {
	file := filepath.Join(r.manualsDir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// manPage turns a help text into a page for man(1): its paragraphs stay as they are.
func manPage(name, version, help string) string {
	summary, _, _ := strings.Cut(help, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"Browser Coordinator %s\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n",
		strings.ToUpper(roff(name)), version, roff(name), roff(strings.TrimSuffix(summary, ".")))
	for line := range strings.Lines(help) {
		line = strings.TrimSuffix(line, "\n")
		if title, isTitle := strings.CutSuffix(line, ":"); isTitle && title != "" && title[0] >= 'A' &&
			title[0] <= 'Z' && !strings.Contains(title, ".") {
			fmt.Fprintf(&b, ".fi\n.SH %s\n.nf\n", strings.ToUpper(roff(title)))
			continue
		}
		fmt.Fprintln(&b, roff(line))
	}
	return b.String() + ".fi\n"
}

// roff escapes a line for troff.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
