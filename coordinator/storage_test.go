package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// site identifies the visitor by the cookies that it receives, and sets some.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret", Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 3600})
			http.SetCookie(w, &http.Cookie{Name: "theme", Value: "dark", Path: "/shop"})
			io.WriteString(w, `<!doctype html><title>In</title><script>localStorage.cart = JSON.stringify(["tea"]); localStorage.length2 = ""</script>`)
		default:
			cookie, err := r.Cookie("session")
			if err != nil {
				cookie = &http.Cookie{Value: "nobody"}
			}
			fmt.Fprintf(w, `<!doctype html><title>%s</title>`, cookie.Value)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestCookiesAndStorage(t *testing.T) {
	server := site(t)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "storage")

	if _, err := tool(t, agent, "browser_localstorage_list", nil); err == nil || !strings.Contains(err.Error(), "about:blank") {
		t.Errorf("a document without storage: %v", err)
	}
	if _, err := tool(t, agent, "browser_cookie_set", map[string]any{"name": "a", "value": "b"}); err == nil || !strings.Contains(err.Error(), "domain") {
		t.Errorf("a cookie without a host: %v", err)
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/login"})
	list := mustTool(t, agent, "browser_cookie_list", nil)
	if !strings.Contains(list, "session=s3cret (127.0.0.1/)") || !strings.Contains(list, "theme=dark (127.0.0.1/shop)") {
		t.Errorf("cookies:\n%s", list)
	}
	if list := mustTool(t, agent, "browser_cookie_list", map[string]any{"path": "/shop"}); strings.Contains(list, "session") {
		t.Errorf("cookies of /shop:\n%s", list)
	}
	whole := mustTool(t, agent, "browser_cookie_get", map[string]any{"name": "session"})
	for _, want := range []string{"session=s3cret", "SameSite Strict", "HttpOnly", "until 20"} {
		if !strings.Contains(whole, want) {
			t.Errorf("the cookie has no %q:\n%s", want, whole)
		}
	}
	mustTool(t, agent, "browser_cookie_set", map[string]any{"name": "session", "value": "Ada", "sameSite": "Lax"})
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/"}); !strings.Contains(text, "Page: Ada") {
		t.Errorf("the server saw another cookie: %s", text)
	}
	if text := mustTool(t, agent, "browser_cookie_delete", map[string]any{"name": "session"}); strings.Count(text, "Deleted") != 1 {
		t.Errorf("delete: %s", text)
	}
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/"}); !strings.Contains(text, "Page: nobody") {
		t.Errorf("the cookie is still sent: %s", text)
	}
	mustTool(t, agent, "browser_cookie_clear", nil)
	if list := mustTool(t, agent, "browser_cookie_list", nil); list != "There are none." {
		t.Errorf("after clear:\n%s", list)
	}

	for _, area := range []string{"local", "session"} {
		name := "browser_" + area + "storage_"
		mustTool(t, agent, name+"clear", nil)
		mustTool(t, agent, name+"set", map[string]any{"key": "length", "value": "ten"})
		mustTool(t, agent, name+"set", map[string]any{"key": "long", "value": strings.Repeat("x", 1000)})
		if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => " + area + "Storage.getItem('length')"}); got != `"ten"` {
			t.Errorf("the page has %s", got)
		}
		list := mustTool(t, agent, name+"list", nil)
		if !strings.Contains(list, "length=ten") || !strings.Contains(list, "(1000 characters)") || len(list) > 400 {
			t.Errorf("%s:\n%s", area, list)
		}
		if got := mustTool(t, agent, name+"get", map[string]any{"key": "long"}); got != "long="+strings.Repeat("x", 1000) {
			t.Errorf("%s: %s", area, got)
		}
		mustTool(t, agent, name+"delete", map[string]any{"key": "long"})
		if list := mustTool(t, agent, name+"list", nil); list != "length=ten" {
			t.Errorf("%s after delete:\n%s", area, list)
		}
	}
}

// A saved state restores in another browser, for all sites that the page has shown.
func TestStorageStateTravels(t *testing.T) {
	first, second := site(t), site(t)
	dir, shop := t.TempDir(), folder(t, "shop")
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "storage")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": first.URL + "/login"})
	mustTool(t, agent, "browser_navigate", map[string]any{"url": second.URL + "/login"})
	mustTool(t, agent, "browser_localstorage_set", map[string]any{"key": "cart", "value": "second"})
	saved := mustTool(t, agent, "browser_storage_state", map[string]any{"filename": "auth/state.json"})
	if !strings.Contains(saved, "2 cookies and the local storage of 2 origins") {
		t.Errorf("%s", saved)
	}
	if got := titles(t, window.first); len(got) != 1 {
		t.Errorf("the page that visits origins is still there: %q", got)
	}
	file := savedIn(shop, "auth/state.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	checkStorageState(t, file)
	window.stop(t)

	start(t, dir, "window", "--workspace", shop, "--headless")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": first.URL + "/"})
	mustTool(t, agent, "browser_localstorage_set", map[string]any{"key": "old", "value": "must go"})
	restored := mustTool(t, agent, "browser_set_storage_state", map[string]any{"filename": "auth/state.json"})
	if !strings.Contains(restored, "Restored 2 cookies") {
		t.Errorf("%s", restored)
	}
	for _, s := range []struct{ url, cart string }{{first.URL, `cart=["tea"]`}, {second.URL, "cart=second"}} {
		if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": s.url + "/"}); !strings.Contains(text, "Page: s3cret") {
			t.Errorf("not logged in again: %s", text)
		}
		if list := mustTool(t, agent, "browser_localstorage_list", nil); !strings.Contains(list, s.cart) || !strings.Contains(list, "length2=") || strings.Contains(list, "must go") {
			t.Errorf("local storage of %s:\n%s", s.url, list)
		}
	}
	if text := mustTool(t, agent, "browser_cookie_get", map[string]any{"name": "session"}); !strings.Contains(text, "HttpOnly") || !strings.Contains(text, "Strict") || !strings.Contains(text, "until") {
		t.Errorf("the cookie has lost something: %s", text)
	}
	for name, want := range map[string]string{"/etc/passwd": "out of bounds", "nowhere.json": "no such file", "src": "directory"} {
		if _, err := tool(t, agent, "browser_set_storage_state", map[string]any{"filename": name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkStorageState checks for the members and types that Playwright checks (its
// protocol's NetworkCookie and NameValue).
func checkStorageState(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Cookies []map[string]any
		Origins []map[string]any
	}
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	for _, c := range state.Cookies {
		for name, kind := range map[string]string{"name": "string", "value": "string", "domain": "string", "path": "string", "expires": "float64", "httpOnly": "bool", "secure": "bool", "sameSite": "string"} {
			if got := fmt.Sprintf("%T", c[name]); got != kind {
				t.Errorf("the cookie's %s is a %s, not a %s: %v", name, got, kind, c)
			}
			delete(c, name)
		}
		if len(c) > 0 {
			t.Errorf("a cookie has more members: %v", c)
		}
	}
	for _, o := range state.Origins {
		items, ok := o["localStorage"].([]any)
		if _, named := o["origin"].(string); !named || !ok || len(o) != 2 || len(items) == 0 {
			t.Errorf("origin %v", o)
		}
		for _, item := range items {
			item := item.(map[string]any)
			if _, ok := item["name"].(string); !ok || len(item) != 2 || item["value"] == nil {
				t.Errorf("item %v", item)
			}
		}
	}
}
