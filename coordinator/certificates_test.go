package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// serveTLS serves a page with a certificate of its own, whose script reads from another such server.
func serveTLS(t *testing.T) (url string) {
	start := func(handle http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(handle)
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // browsers refuse it
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	data := start(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "from the other server")
	})
	return start(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>Secure</title><button>Order</button><p id=data></p>
<script>fetch("%s").then(r => r.text()).then(t => data.textContent = t)</script>`, data.URL)
	}).URL
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	url := serveTLS(t)
	t.Run("not accepted", func(t *testing.T) {
		t.Parallel()
		agent := host(t, t.TempDir(), t.TempDir())
		agent.Refused("browser_navigate", args{"url": url}, "its certificate is not trusted", "--ignore-https-errors")
	})
	t.Run("accepted", func(t *testing.T) {
		t.Parallel()
		agent := host(t, t.TempDir(), t.TempDir(), "--ignore-https-errors")
		agent.Expect("browser_navigate", args{"url": url}, "Secure", `button "Order"`)
		agent.Expect("browser_wait_for", args{"text": "from the other server"}, "from the other server")
	})
	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		agent := host(t, t.TempDir(), t.TempDir(), "--ignore-https-errors=localhost,other.test")
		agent.Refused("browser_navigate", args{"url": url}, "--ignore-https-errors names other hosts")
		agent.Expect("browser_navigate", args{"url": strings.Replace(url, "127.0.0.1", "localhost", 1)}, "Secure")
	})
	t.Run("first page of a window", func(t *testing.T) {
		t.Parallel()
		dir, folder := t.TempDir(), toolstest.Folder(t, "shop")
		openWindow(t, dir, folder, "--headless", "--ignore-https-errors", "--url", url)
		host(t, dir, folder).Expect("browser_wait_for", args{"text": "from the other server"}, `button "Order"`)
	})
}
