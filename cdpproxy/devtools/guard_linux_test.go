package devtools

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
)

// childVariable makes the test binary a program of another user: it connects to
// that address and prints the response.
const childVariable = "DEVTOOLS_TEST_CONNECT"

func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		connectAsChild(url)
		return
	}
	os.Exit(m.Run())
}

func connectAsChild(url string) {
	res, err := http.Get("http" + strings.TrimPrefix(url[:strings.Index(url, "/devtools/")], "ws") + "/json/version")
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(res.Body)
	fmt.Printf("HTTP %d %s\n", res.StatusCode, body)
	_, res, err = websocket.Dial(context.Background(), url, nil)
	if res != nil {
		fmt.Println("WebSocket", res.StatusCode)
	} else {
		fmt.Println(err)
	}
}

// TestOtherUser: another user of the machine is refused, even with the secret.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to run a process as another user")
	}
	s := serve(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // of the test; only root may read it
		t.Fatal(err)
	}
	program := filepath.Join(dir, "client")
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	connect := func(uid uint32, url string) string {
		cmd := exec.Command(program)
		cmd.Dir = "/"
		cmd.Env = []string{childVariable + "=" + url}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	const other = 12345
	admitted := func(got string) bool {
		return strings.HasPrefix(got, "HTTP 200") && strings.Contains(got, "webSocketDebuggerUrl") && strings.Contains(got, "WebSocket 101")
	}
	if got := connect(0, s.URL()); !admitted(got) {
		t.Errorf("the same user gets %s", got)
	}
	if got := connect(other, s.URL()); !strings.HasPrefix(got, "HTTP 403") || !strings.Contains(got, "WebSocket 403") || strings.Contains(got, "webSocketDebuggerUrl") {
		t.Errorf("another user gets %s", got)
	}
}
