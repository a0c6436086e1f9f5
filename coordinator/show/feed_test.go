package show

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// TestWindowThatHangs: a window that does not respond delays nothing that the page shows of the others,
// and keeps what is known of it.
func TestWindowThatHangs(t *testing.T) {
	s := start(t)
	openWindow(t, "ws://127.0.0.1:1/")
	known := &terminalWindow{}
	known.ask("known", "Click")
	hangs, hang := context.WithCancel(t.Context())
	folder := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	waits := func(ctx context.Context, _ vscodeipc.Call) (any, error) {
		select {
		case <-hangs.Done():
			<-ctx.Done()
		default:
		}
		return vscodeipc.QuestionsResult{Questions: known.questions}, nil
	}
	window := must.Get(vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Server: vscodeipc.ServerInfo{Name: "test", Kind: "hangs"},
		Commands: map[string]vscodeipc.Handler{
			vscodeipc.CommandPermissionList: waits,
			vscodeipc.CommandClientList: func(ctx context.Context, c vscodeipc.Call) (any, error) {
				_, err := waits(ctx, c)
				return vscodeipc.ListResult{
					Clients: []vscodeipc.ConnectedClient{{ID: "b", Name: "Known agent", Kind: "mcp", Since: 1}},
					Last:    []vscodeipc.Activity{},
				}, err
			},
		},
	}))(t)
	defer window.Close(context.Background())
	other := openWindow(t, "ws://127.0.0.1:2/")

	feed := httptest.NewServer(http.HandlerFunc(s.feed))
	defer feed.Close()
	response := must.Get(feed.Client().Get(feed.URL))(t)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	await := func(what string, is func(line string) bool) {
		t.Helper()
		for lines.Scan() {
			if is(lines.Text()) {
				return
			}
		}
		t.Fatalf("%s: %v", what, lines.Err())
	}
	await("all windows", func(line string) bool {
		return strings.Contains(line, "Known agent") && strings.Contains(line, `"id":"known"`)
	})
	hang()
	for _, id := range []string{"first", "second", "third"} {
		start := time.Now()
		other.ask(id, "Click")
		await("the question "+id, func(line string) bool {
			if line == "" {
				return false
			}
			if !strings.Contains(line, "Known agent") || !strings.Contains(line, `"id":"known"`) {
				t.Errorf("the window that hangs is shown as %s", line)
			}
			return strings.Contains(line, `"id":"`+id+`"`)
		})
		if took := time.Since(start); took > 4*time.Second { // the window's deadline is 5 s
			t.Errorf("the question %s is shown after %v", id, took)
		}
	}
}
