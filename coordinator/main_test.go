package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// sharedDir makes the windows that the tests serve themselves known to the coordinators
// whose files are in toolstest.Dir.
type sharedDir struct{ *testing.M }

func (m sharedDir) Run() int { return toolstest.Main(m.M) }

// The test binary becomes the coordinator when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(sharedDir{m}, programs)
}

// programs are what the test binary can be, by name.
var programs = map[string]func(){
	"coordinator": main, "cdpprogram": cdpMain, "forwarder": forwarderMain, "signalled": signalledMain,
	"waiting": waitingMain, "otherversion": otherVersionMain, "vscodewindow": windowMain,
}

// named is a symbolic link to the test binary: it becomes the program of that name.
func named(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// command is the coordinator with all its files in dir.
func command(ctx context.Context, t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args = append([]string{"coordinator"}, args...)
	cmd.Env = append(os.Environ(), environment(dir)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// environment is that of the programs whose files are in dir.
func environment(dir string) []string {
	env := []string{
		"TMPDIR=" + os.TempDir(),
		registry.EnvWorkspace + "=",
		"GORACE=atexit_sleep_ms=0", // else every process under the race detector takes a second to end
	}
	of := toolstest.Env(dir)
	if dir != toolstest.Dir { // its path may be too long for sockets
		of["XDG_RUNTIME_DIR"] = filepath.Join(toolstest.Dir, vscodeipc.Hash(dir)[:8])
		os.Mkdir(of["XDG_RUNTIME_DIR"], 0o700) // it may be there already
	}
	for name, value := range of {
		env = append(env, name+"="+value)
	}
	return env
}

// Each behaviour of the command line is one script.
func TestScripts(t *testing.T) {
	t.Parallel()
	pages := servePages(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, append(environment(env.WorkDir), "PAGE="+pages)...)
			env.Defer(func() { endSessions(env) })
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"deadsocket": deadSocket, "until": until,
		},
	})
}

// deadSocket FILE leaves a socket without a listener, as a killed window does, in a
// directory like a window's.
func deadSocket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: deadsocket FILE")
	}
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: file, Net: "unix"})
	ts.Check(err)
	ln.SetUnlinkOnClose(false)
	ts.Check(ln.Close())
	ts.Check(os.Chmod(file, 0o600))
}

// until PATTERN COMMAND... repeats a command until its output matches, or with ! no longer does.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND...")
	}
	pattern := regexp.MustCompile(args[0])
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		_ = ts.Exec(args[1], args[2:]...) // which may fail until then
		if pattern.MatchString(ts.ReadFile("stdout")) != neg {
			return
		}
	}
	ts.Fatalf("%q: %s", args[1:], ts.ReadFile("stdout"))
}
