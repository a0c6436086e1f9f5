package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

func tokenOf(t *testing.T, dir, workspace string) string {
	t.Helper()
	out, err := command(t.Context(), t, dir, "endpoint", "--token", "--workspace", workspace).Output()
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(string(out))
	token := address[strings.LastIndex(address, "/")+1:]
	if len(token) != 64 {
		t.Fatalf("no token in %s", address)
	}
	return token
}

// The program of `run` gets the token in its environment. Every user can read a
// program's arguments, so they contain the token only if the user permits it.
func TestTokenIsNotInArguments(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	token := tokenOf(t, dir, shop)
	out, err := command(t.Context(), t, dir, "run", "--require-token", "--workspace", shop, "--", "sh", "-c", "echo started", "sh", "--cdp={cdp_endpoint}").CombinedOutput()
	if exitCode(err) != exitUsage || strings.Contains(string(out), "started") || strings.Contains(string(out), token) {
		t.Errorf("a placeholder in an argument: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name  string
		args  []string
		shown bool
	}{
		{"the environment", []string{"--", "sh", "-c", `echo "$MY_BROWSER"; read line`}, false},
		{"permitted", []string{"--allow-token-in-arguments", "--", "sh", "-c", `echo "$1"; read line`, "sh", "{cdp_endpoint}"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
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
				t.Errorf("the program was told %q, %v", line, err)
			}
			if found := showsToken(t, token); len(found) > 0 != c.shown {
				t.Errorf("command lines with the token: %q", found)
			}
			stdin.Close()
			cmd.Wait() // read ends with an error
		})
	}
}

// An added server also gets the token only in its environment.
func TestTokenOfAddedServer(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless", "--require-token")
	token := tokenOf(t, dir, shop)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	added := filepath.Join(dir, "added") // the test binary goes by its name
	if err := os.Symlink(exe, added); err != nil {
		t.Fatal(err)
	}
	refused := command(t.Context(), t, dir, "mcp", "--no-launch", "--require-token", "--workspace", shop, "--", added, "{cdp_endpoint}")
	if out, err := refused.CombinedOutput(); exitCode(err) != exitUsage || !strings.Contains(string(out), "secret token") || strings.Contains(string(out), token) {
		t.Errorf("a placeholder in an argument: %v\n%s", err, out)
	}
	session := host(t, dir, shop, "--no-launch", "--require-token", "--", added)
	toolNames(t, session) // starts it
	if text := mustTool(t, session, "page_title", nil); !strings.Contains(text, "pid") {
		t.Errorf("the added server does not reach the browser: %s", text)
	}
	if found := showsToken(t, token); len(found) > 0 {
		t.Errorf("command lines with the token: %q", found)
	}
}

func exitCode(err error) int {
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		return exited.ExitCode()
	}
	return 0
}
