package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// The test binary becomes the coordinator when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(withRuntimeDirs{m}, map[string]func(){"coordinator": testedMain, "added": addedMain, "helper": helperMain, "cdpprogram": cdpMain})
}

// withRuntimeDirs gives the tests private directories for sockets whose own directory
// has too long a path, and removes them at the end.
type withRuntimeDirs struct{ *testing.M }

// runtimeRoot contains the directories of withRuntimeDirs.
var runtimeRoot string

func (m withRuntimeDirs) Run() int {
	var err error
	if runtimeRoot, err = os.MkdirTemp("", "r"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(runtimeRoot)
	return m.M.Run()
}

// runtimeDir is the directory for the programs whose files are in dir.
func runtimeDir(dir string) string {
	own := filepath.Join(runtimeRoot, vscodeipc.Hash(dir)[:8])
	os.Mkdir(own, 0o700) // it may be there already
	return own
}

// testedMain is main, with a shorter timeout where a test sets one.
func testedMain() {
	if timeout, err := time.ParseDuration(os.Getenv("TEST_WINDOW_TIMEOUT")); err == nil {
		windowTimeout = timeout
	}
	main()
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
	cmd.Env = append(os.Environ(), privateDirs(dir)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func privateDirs(dir string) []string {
	return []string{
		"XDG_DATA_HOME=" + filepath.Join(dir, "data"),
		"XDG_RUNTIME_DIR=" + runtimeDir(dir),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + os.TempDir(),
		registry.EnvWorkspace + "=",
		"GORACE=atexit_sleep_ms=0", // else every process under the race detector takes a second to end
	}
}

// Each behaviour of the command line is one script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			for _, v := range privateDirs(env.WorkDir) {
				name, value, _ := strings.Cut(v, "=")
				env.Setenv(name, value)
			}
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"deadsocket": deadSocket,
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
