package tools_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/policy"
)

func TestMain(m *testing.M) { os.Exit(toolstest.Main(m)) }

type (
	args    = toolstest.Args
	options = agent.Options
)

// toolCall is one row of a test's table.
type toolCall struct {
	tool string
	args args
	want []string
}

func expectAll(t *testing.T, a *toolstest.Agent, calls []toolCall) {
	t.Helper()
	for _, c := range calls {
		a.Expect(c.tool, c.args, c.want...)
	}
}

func refuseAll(t *testing.T, a *toolstest.Agent, calls []toolCall) {
	t.Helper()
	for _, c := range calls {
		a.Refused(c.tool, c.args, c.want...)
	}
}

// openPage returns an agent with these sets of tools, in a page of its own window.
func openPage(t *testing.T, html string, caps ...string) *toolstest.Agent {
	t.Helper()
	a := toolstest.OpenWindow(t).Agent(caps...)
	a.Open(toolstest.ServeHTML(t, html))
	return a
}

// loadSecrets reads a file of secrets with this text.
func loadSecrets(t *testing.T, text string) *secrets.Set {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secrets.env")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := secrets.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// origins are the limits of --allowed-origins and --blocked-origins.
func origins(t *testing.T, allowed, blocked []string) *policy.Origins {
	t.Helper()
	o, err := policy.ParseOrigins(allowed, blocked)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// writeFiles writes text files.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for file, text := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tabURLs are the addresses of a browser's tabs.
func tabURLs(t *testing.T, browser string) (urls []string) {
	t.Helper()
	conn, err := cdp.Dial(t.Context(), browser, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	found, err := protocol.Call(t.Context(), conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range found.TargetInfos {
		if info.Type == "page" {
			urls = append(urls, info.URL)
		}
	}
	return urls
}
