package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/vscodeipc"
)

// shipped is the coordinator as released: the race detector would multiply its memory.
func shipped(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "shipped")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// serveShipped runs `coordinator serve` for the workspace, and returns its
// process and the endpoint's address.
func serveShipped(t *testing.T, dir, workspace string) (*os.Process, string) {
	t.Helper()
	cmd := exec.Command(shipped(t, dir), "serve", "--workspace", workspace)
	cmd.Env = append(os.Environ(), privateDirs(dir)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer timer.Stop()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("serve ended before it was ready: %v", err)
	}
	return cmd.Process, strings.TrimPrefix(strings.TrimSpace(line), "http://")
}

// windowOf serves a window whose browser is at url.
func windowOf(t *testing.T, dir, workspace, url string) *vscodeipc.Server {
	t.Helper()
	s := bareWindow(t, dir, workspace)
	if err := s.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: url, Via: "launched"}, Access: vscodeipc.Access{Mode: vscodeipc.AccessFull},
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func realBrowser(t *testing.T) *chrome.Browser {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := chrome.Launch(t.Context(), chrome.Options{Executable: found.Path, Headless: true, Args: []string{"--disable-gpu"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

// kilobytes reads a value of the process's status.
func kilobytes(t *testing.T, p *os.Process, name string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), name+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMemoryWhileLargeReplyPasses: the coordinator relays 50 MB from a real browser
// without holding them in memory.
func TestMemoryWhileLargeReplyPasses(t *testing.T) {
	const size, most = 50_000_000, 16_000 // bytes, kB
	dir, shop := t.TempDir(), folder(t, "shop")
	windowOf(t, dir, shop, realBrowser(t).URL())
	process, addr := serveShipped(t, dir, shop)

	request, err := http.NewRequest(http.MethodPut, "http://"+addr+"/json/new?about:blank", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var tab struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(res.Body).Decode(&tab); err != nil {
		t.Fatal(err)
	}
	page, _, err := websocket.Dial(t.Context(), tab.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer page.CloseNow()
	page.SetReadLimit(-1)
	// The coordinator buffers what a busy client does not read, so a busy machine gets
	// more than one try.
	grown := 0
	for try := 0; try == 0 || try < 4 && grown > most; try++ {
		grown = memoryOfReply(t, process, page, size)
		t.Logf("%d kB more while %d bytes passed", grown, size)
	}
	if grown > most {
		t.Errorf("%d kB more while %d bytes passed, want at the most %d", grown, size, most)
	}
}

// memoryOfReply is by how many kilobytes a process grew while it relayed a reply.
func memoryOfReply(t *testing.T, process *os.Process, page *websocket.Conn, size int) int {
	t.Helper()
	// Reset VmHWM, which otherwise is the maximum since the start.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", process.Pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	before := kilobytes(t, process, "VmRSS")
	if err := page.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":1,"method":"Runtime.evaluate","params":{"expression":"'0123456789'.repeat(%d)"}}`, size/10)); err != nil {
		t.Fatal(err)
	}
	_, r, err := page.Reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, r); err != nil || n < int64(size) {
		t.Fatalf("a reply of %d bytes: %v", n, err)
	}
	return kilobytes(t, process, "VmHWM") - before
}

// TestOwnerKilledUnderLoad: the coordinator that serves the address is killed while
// clients use it. Each client's connection ends. Another coordinator serves the same
// browser at the same address within a second. No client gets a wrong response.
func TestOwnerKilledUnderLoad(t *testing.T) {
	const clients = 20
	dir, shop := t.TempDir(), folder(t, "shop")
	windowOf(t, dir, shop, realBrowser(t).URL())
	owner, addr := serveShipped(t, dir, shop)
	if _, second := serveShipped(t, dir, shop); second != addr {
		t.Fatalf("the coordinator that stands by says %s, not %s", second, addr)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var killed atomic.Int64 // ns since the epoch, once it is
	var busy, moved sync.WaitGroup
	busy.Add(clients)
	for client := range clients {
		moved.Go(func() {
			began := sync.OnceFunc(busy.Done)
			defer began()
			if err := useUntilClosed(ctx, addr, client, began); killed.Load() == 0 {
				t.Errorf("client %d ended before the coordinator: %v", client, err)
				return
			}
			if took := time.Since(time.Unix(0, killed.Load())); took > time.Second {
				t.Errorf("client %d was told after %v", client, took)
			}
			for {
				c, _, err := websocket.Dial(ctx, "ws://"+addr+"/devtools/browser/x", nil)
				if err == nil {
					err = versionOf(ctx, c, client)
					c.CloseNow()
				}
				if err == nil {
					break
				}
				if ctx.Err() != nil || time.Since(time.Unix(0, killed.Load())) > 5*time.Second {
					t.Errorf("client %d is served by nobody: %v", client, err)
					return
				}
				runtime.Gosched() // no process has the port for a moment
			}
			if took := time.Since(time.Unix(0, killed.Load())); took > time.Second {
				t.Errorf("client %d was served again after %v, want at the most 1 s", client, took)
			}
		})
	}
	busy.Wait()
	killed.Store(time.Now().UnixNano())
	if err := owner.Kill(); err != nil {
		t.Fatal(err)
	}
	moved.Wait()
}

// useUntilClosed requests the version repeatedly until the connection ends.
func useUntilClosed(ctx context.Context, addr string, id int, began func()) error {
	c, _, err := websocket.Dial(ctx, "ws://"+addr+"/devtools/browser/x", nil)
	if err != nil {
		return err
	}
	defer c.CloseNow()
	for n := 0; ; n++ {
		if err := versionOf(ctx, c, id*1_000_000+n); err != nil {
			return err
		}
		if n == 20 {
			began()
		}
	}
}

// versionOf requests a browser's version, and checks that the response is for this
// request.
func versionOf(ctx context.Context, c *websocket.Conn, id int) error {
	if err := c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":"Browser.getVersion"}`, id)); err != nil {
		return err
	}
	_, answer, err := c.Read(ctx)
	if err == nil && !strings.HasPrefix(string(answer), fmt.Sprintf(`{"id":%d,"result":{"protocolVersion"`, id)) {
		return fmt.Errorf("the answer to %d: %.100s", id, answer)
	}
	return err
}
