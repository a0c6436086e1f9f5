package storage_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// A storage operation for one site never runs in another site that the page navigates to.
func TestStorageOfAPageThatMoves(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "here")
	}))
	next := strings.Replace(url, "127.0.0.1", "localhost", 1)
	navigate := func(to string) {
		t.Helper()
		pagetest.Navigate(t, p, to)
	}
	navigate(next)
	if err := p.Storage().SetItem(t.Context(), storage.Local, "kept", "of the next site"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for name, act := range map[string]func() error{
			"set":   func() error { return p.Storage().SetItem(t.Context(), storage.Local, "token", "of the first site") },
			"clear": func() error { return p.Storage().ClearItems(t.Context(), storage.Local) },
		} {
			navigate(url)
			// The page navigates when the script ends, before the operation that is queued after it.
			leave := fmt.Sprintf("location.href = %q; for (const end = Date.now() + 200; Date.now() < end;);", next)
			if _, err := p.Session().Start(t.Context(), "Runtime.evaluate", map[string]any{"expression": leave}); err != nil {
				t.Fatal(err)
			}
			err := act() // in time, or refused
			navigate(next)
			items, listErr := p.Storage().Items(t.Context(), storage.Local)
			if listErr != nil || len(items) != 1 || items[0].Name != "kept" {
				t.Fatalf("%s, which returned %v: the next site's storage holds %v, %v", name, err, items, listErr)
			}
		}
	}
}
