package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/doctor"
)

type patient struct {
	t      *testing.T
	dir    string // has all its files
	folder string // the workspace
	env    []string
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	dir, err := os.MkdirTemp("", "d") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &patient{t: t, dir: dir, folder: filepath.Join(dir, "shop")}
	p.env = []string{"DISPLAY=", "WAYLAND_DISPLAY=", "PATH=" + filepath.Dir(named(t, "coordinator")),
		"BROWSER_COORDINATOR_BROWSER=" + p.write("bin/browser", "#!/bin/sh\necho Chromium 156.0.7000.1\n", 0o700)}
	p.make("home", 0o700)
	p.make("shop", 0o755)
	return p
}

func (p *patient) path(name string) string { return filepath.Join(p.dir, name) }

func (p *patient) make(name string, mode os.FileMode) string {
	p.t.Helper()
	if err := errors.Join(os.MkdirAll(p.path(name), mode), os.Chmod(p.path(name), mode)); err != nil {
		p.t.Fatal(err)
	}
	return p.path(name)
}

func (p *patient) write(name, text string, mode os.FileMode) string {
	p.t.Helper()
	file := p.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), mode),
		os.Chmod(file, mode)); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// entry writes a host's file with an entry of the coordinator.
func (p *patient) entry(name, members string) {
	p.t.Helper()
	p.write(name, `{"mcpServers": {"browser-coordinator": {`+members+`}}}`, 0o600)
}

func (p *patient) program(name string) string {
	return p.write(name, "#!/bin/sh\n", 0o700)
}

func (p *patient) command(args ...string) *exec.Cmd {
	cmd := command(context.Background(), p.t, p.dir, args...)
	cmd.Env = append(cmd.Env, p.env...)
	cmd.Dir = p.folder
	return cmd
}

func (p *patient) window(version string, env []string, page ...string) {
	p.t.Helper()
	cmd := p.command()
	cmd.Args = append([]string{"vscodewindow", p.folder, version}, page...)
	cmd.Env = append(cmd.Env, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	window := startCommand(p.t, cmd)
	p.t.Cleanup(func() { // before startCommand's
		in.Close()
		cmd.Wait()
	})
	if window.first != "open" {
		p.t.Fatalf("the window printed %q", window.first)
	}
}

func (p *patient) serve() (port string) {
	p.t.Helper()
	if out, err := p.command("run", "--", "/bin/true").CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	out, err := p.command("endpoint").Output()
	if err != nil {
		p.t.Fatal(err)
	}
	return regexp.MustCompile(`[0-9]+\s*$`).FindString(strings.TrimSpace(string(out)))
}

func (p *patient) deadSocket() string { return p.deadSocketIn("data") }

func (p *patient) deadSocketIn(folder string) string {
	p.t.Helper()
	file := filepath.Join(p.make(folder+"/browser-coordinator-mcp", 0o700), "ipc-0123456789abcdef.sock")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: file, Net: "unix"})
	if err != nil {
		p.t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := errors.Join(ln.Close(), os.Chmod(file, 0o600)); err != nil {
		p.t.Fatal(err)
	}
	return file
}

func (p *patient) examine(args ...string) doctor.Report {
	p.t.Helper()
	cmd := p.command(append([]string{"doctor", "--json"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var report doctor.Report
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		p.t.Fatalf("%v, %v\n%s%s", err, jsonErr, out, &stderr)
	}
	if code := cmd.ProcessState.ExitCode(); code != min(report.Problems, 1) {
		p.t.Errorf("exit code %d with %d problems", code, report.Problems)
	}
	return report
}

func findings(report doctor.Report, id string) []doctor.Finding {
	for _, c := range report.Checks {
		if c.ID == id {
			return c.Findings
		}
	}
	return nil
}
