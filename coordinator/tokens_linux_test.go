package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// showsToken lists the command lines on this machine that contain a token, as any user
// can.
func showsToken(t *testing.T, token string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no process is seen: %v", err)
	}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(token)) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// The program of `run` gets the token in its environment. Every user can read a
// program's arguments, so they contain the token only if the user permits it.
func TestTokenIsNotInArguments(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
	address := output(t, dir, "endpoint", "--token", "--workspace", shop)
	token := address[strings.LastIndex(address, "/")+1:]
	if len(token) != 64 {
		t.Fatalf("no token in %s", address)
	}
	cmd := command(t.Context(), t, dir, "run", "--require-token", "--workspace", shop, "--", "sh", "-c", "echo started",
		"sh", "--cdp={cdp_endpoint}")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), "secret token") ||
		strings.Contains(string(out), "started") || strings.Contains(string(out), token) {
		t.Errorf("%q: exit code %d\n%s", cmd.Args, cmd.ProcessState.ExitCode(), out)
	}
	for _, c := range []struct {
		args  []string
		shown bool
	}{
		{[]string{"--", "sh", "-c", `echo "$MY_BROWSER"; read line`}, false},
		{[]string{"--allow-token-in-arguments", "--", "sh", "-c", `echo "$1"; read line`, "sh", "{cdp_endpoint}"}, true},
	} {
		cmd := command(t.Context(), t, dir, append([]string{"run", "--require-token", "--workspace", shop}, c.args...)...)
		cmd.Env = append(cmd.Environ(), "MY_BROWSER={cdp_endpoint}")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil || !strings.Contains(line, token) {
			t.Errorf("the program gets %q, %v", line, err)
		}
		if found := showsToken(t, token); len(found) > 0 != c.shown {
			t.Errorf("%q: command lines with the token: %q", c.args, found)
		}
		stdin.Close()
		cmd.Wait() // read ends with an error
	}
}
