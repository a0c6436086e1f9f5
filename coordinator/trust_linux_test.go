package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// asOther runs a shell's command as another user of the machine.
func asOther(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "umask 0; "+script)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// planted is a token that another user knows.
var planted = strings.Repeat("0f", 32)

// TestPlantedByAnotherUser: another user makes a folder or a file before the coordinator
// does, where the environment or a flag names a shared folder. The coordinator refuses it,
// with a command only for what is the user's own, and works when that is run, or what is not
// the user's is gone. Nothing of the other user is believed.
func TestPlantedByAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	const state, data = "shared/browser-coordinator-mcp", "data/browser-coordinator-mcp"
	const tokens = `echo '{"port":21000,"token":"TOKEN"}' >`
	ask, list := []string{"run", "--", "/bin/sh", "-c", "echo $BROWSER_COORDINATOR_CDP_ENDPOINT"}, []string{"probe"}
	headers := func(file string) []string {
		return []string{"run", "--grid", "http://127.0.0.1:1", "--headers", file, "--", "/bin/true"}
	}
	for _, c := range []struct {
		name  string
		own   string // what the user's own shell does first, in the folder of the test
		other string // what the other user's does, likewise. TOKEN and HASH stand for these
		args  []string
		fixes []string // parts of the errors, in their order. DIR is the folder; empty: the file is gone
	}{
		{
			"the folder of state", "",
			"mkdir -m 777 " + state + "; " + tokens + state + "/endpoint-HASH.json",
			ask, []string{"refuse DIR/" + state + ": it belongs to uid"},
		},
		{
			"the folder of state, of no more rights", "",
			"mkdir -m 755 " + state + "; " + tokens + state + "/endpoint-HASH.json",
			ask, []string{"refuse DIR/" + state + ": it belongs to uid"},
		},
		{
			"a link in its place", "",
			"mkdir -m 777 shared/theirs; " + tokens + "shared/theirs/endpoint-HASH.json; " +
				"ln -s DIR/shared/theirs " + state,
			ask, []string{"refuse DIR/" + state + ": it is a symbolic link"},
		},
		{
			"a token in a folder that was open", "mkdir -m 777 " + state,
			tokens + state + "/endpoint-HASH.json",
			ask, []string{"chmod 700 DIR/" + state, "refuse DIR/" + state + "/endpoint-HASH.json: it belongs to uid"},
		},
		{
			"a link to a token there", "mkdir -m 777 " + state,
			tokens + "shared/theirs; ln -s DIR/shared/theirs " + state + "/endpoint-HASH.json",
			ask, []string{"chmod 700 DIR/" + state, "refuse DIR/" + state + "/endpoint-HASH.json: it is a "},
		},
		{
			"a named pipe for a token there", "mkdir -m 777 " + state,
			"mkfifo " + state + "/endpoint-HASH.json",
			ask, []string{"chmod 700 DIR/" + state, "refuse DIR/" + state + "/endpoint-HASH.json: it is a "},
		},
		{
			"a named pipe for a lock there", "mkdir -m 777 " + state,
			"mkfifo " + state + "/endpoint-ports.lock",
			ask, []string{"chmod 700 DIR/" + state, "refuse DIR/" + state + "/endpoint-ports.lock: it is a "},
		},
		{
			"a lock there that never ends", "mkdir -m 777 " + state,
			"touch " + state + "/endpoint-HASH.lock",
			ask, []string{"chmod 700 DIR/" + state, "refuse DIR/" + state + "/endpoint-HASH.lock: it belongs to uid"},
		},
		{
			"the folder above that of state", "rmdir shared",
			"mkdir -m 777 shared",
			ask, []string{"refuse DIR/shared: it belongs to uid"},
		},
		{
			"a link above it", "rmdir shared",
			"mkdir -m 777 theirs; ln -s DIR/theirs shared",
			ask, []string{"refuse DIR/shared: it is a link of uid"},
		},
		{
			"the folder of sockets", "mkdir -m 777 data",
			"mkdir -m 777 " + data,
			list, []string{"refuse DIR/" + data + ": it belongs to uid"},
		},
		{
			"the folder of sockets, open", "mkdir -p -m 777 " + data + "; chmod 777 " + data,
			"",
			list, []string{"chmod 700 DIR/" + data},
		},
		{
			"a file of headers", "",
			"echo Authorization: theirs >shared/headers; chmod 600 shared/headers",
			headers("DIR/shared/headers"), []string{"refuse DIR/shared/headers: it belongs to uid", ""},
		},
		{
			"a folder with a file of headers", "",
			"mkdir -m 777 shared/theirs; echo Authorization: theirs >shared/theirs/headers",
			headers("DIR/shared/theirs/headers"),
			[]string{"refuse DIR/shared/theirs: it belongs to uid", ""},
		},
		{
			"a link to a file of headers", "",
			"echo Authorization: theirs >shared/theirs; ln -s DIR/shared/theirs shared/headers",
			headers("DIR/shared/headers"), []string{"refuse DIR/shared/headers: it is a symbolic link", ""},
		},
		{
			"a profile", "",
			"mkdir -m 777 shared/profile",
			[]string{"window", "--headless", "--profile", "DIR/shared/profile"},
			[]string{"refuse DIR/shared/profile: it belongs to uid"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "t")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			folder := toolstest.Folder(t, "shop")
			in := func(text string) string {
				return strings.NewReplacer("DIR", dir, "HASH", vscodeipc.Hash(folder), "TOKEN", planted).Replace(text)
			}
			own := exec.Command("/bin/sh", "-c", in("umask 0; chmod 1777 . && mkdir -m 1777 shared;"+c.own))
			own.Dir = dir
			if out, err := own.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			asOther(t, "cd "+dir+"; "+in(c.other))
			run := func() (string, error) {
				cmd := command(t.Context(), t, dir, strings.Split(in(strings.Join(c.args, "\x00")), "\x00")...)
				cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+dir+"/shared")
				if cmd.Dir = folder; c.args[0] != "run" {
					cmd.Dir = dir
				}
				out, err := endOf(t, cmd)
				if strings.Contains(out, planted) {
					t.Errorf("the planted token is believed:\n%s", out)
				}
				return out, err
			}
			for _, fix := range c.fixes {
				out, err := run()
				if fix == "" { // the user's own file is missing now
					if !strings.Contains(out, "no such file") {
						t.Errorf("it does not miss the file: %v\n%s", err, out)
					}
					return
				}
				if err == nil || !strings.Contains(out, in(fix)) {
					t.Fatalf("it does not name %q: %v\n%s", in(fix), err, out)
				}
				apply(t, out)
			}
			if c.args[0] == "window" {
				return // it would run until it is interrupted
			}
			if out, err := run(); err != nil {
				t.Errorf("it does not work after %q: %v\n%s", c.fixes, err, out)
			}
		})
	}
}

// endOf runs a command that must end by itself.
func endOf(t *testing.T, cmd *exec.Cmd) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hangs := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !hangs.Stop() {
		t.Fatalf("it hangs:\n%s", &out)
	}
	return out.String(), err
}

// apply runs the command that an error names. Without one it removes what is refused, as its owner
// would.
func apply(t *testing.T, out string) {
	t.Helper()
	fix := regexp.MustCompile(`; run: (.*)`).FindStringSubmatch(out)
	refused := regexp.MustCompile(`refuse (\S+): it `).FindStringSubmatch(out)
	if refused == nil {
		t.Fatalf("nothing is refused in\n%s", out)
	}
	info := must.Get(os.Lstat(refused[1]))(t)
	if own := info.Sys().(*syscall.Stat_t).Uid == uint32(os.Getuid()); own != (fix != nil) {
		t.Errorf("it is the user's own: %v, and the advice is\n%s", own, out)
	}
	if fix == nil {
		must.Do(t, os.RemoveAll(refused[1]))
		return
	}
	cmd := strings.TrimSuffix(strings.TrimSpace(fix[1]), ".")
	if text, err := exec.Command("/bin/sh", "-c", cmd).CombinedOutput(); err != nil {
		t.Fatal(errors.Join(err, errors.New(cmd+": "+string(text))))
	}
}
