package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/fetch"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

func TestFetch(t *testing.T) {
	const limit = 4 << 20 // of a body
	closed := httptest.NewServer(nil)
	closed.Close()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("X-Kind", "test")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"method":%q,"cookie":%q,"accept":%q,"body":%q,"ä":1}`, r.Method, r.Header.Get("Cookie"),
				r.Header.Get("X-Mine"), body)
		case "/moved":
			http.Redirect(w, r, "/api", http.StatusSeeOther)
		case "/large":
			w.Write(make([]byte, limit+10))
		case "/silent":
			<-r.Context().Done()
		case "/strict":
			w.Header().Set("Content-Security-Policy", "connect-src 'none'")
		default:
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "42", HttpOnly: true})
		}
	}))
	ctx := t.Context()
	got, err := p.Fetcher().Fetch(ctx, fetch.Request{URL: "/api", Method: "put",
		Headers: map[string]string{"X-Mine": "yes"}, Body: "words ü"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != 418 || got.MIMEType != "application/json" || got.Headers["x-kind"] != "test" ||
		string(got.Body) != `{"method":"PUT","cookie":"session=42","accept":"yes","body":"words ü","ä":1}` {
		t.Errorf("%+v %s", got, got.Body)
	}
	if got, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: url + "/moved"}); err != nil || got.URL != url+"/api" ||
		!strings.Contains(string(got.Body), `"GET"`) {
		t.Errorf("a redirect: %+v %v", got, err)
	}
	if got, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: "/large"}); err != nil || !got.Truncated ||
		len(got.Body) != limit {
		t.Errorf("a large body: %d bytes, truncated %v, %v", len(got.Body), got.Truncated, err)
	}
	for address, want := range map[string]string{
		closed.URL: "nothing listens there",
		strings.Replace(url, "127.0.0.1", "localhost", 1) + "/api": "CORS",
	} {
		if _, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: address}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if _, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: "/silent", Timeout: 300 * time.Millisecond}); err == nil ||
		!strings.Contains(err.Error(), "timed out after 300ms fetching /silent") {
		t.Errorf("no answer: %v", err)
	}
	for _, place := range []string{strings.Replace(url, "127.0.0.1", "localhost", 1), "about:blank"} {
		if _, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: "/api", Place: place}); err == nil ||
			!strings.Contains(err.Error(), "fetching /api: the page has gone to another site") {
			t.Errorf("allowed in %s: %v", place, err)
		}
	}
	for _, address := range []string{url + "/?a#b", "about:blank#b", "data:text/html,<title>ä b</title>#c"} {
		pagetest.Navigate(t, p, address)
		if _, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: url + "/api", Place: p.Place()}); err != nil &&
			!strings.Contains(err.Error(), "CORS") {
			t.Errorf("allowed in %s: %v", p.Place(), err)
		}
	}
	pagetest.Navigate(t, p, url+"/strict")
	if _, err = p.Fetcher().Fetch(ctx, fetch.Request{URL: "/api"}); err == nil ||
		!strings.Contains(err.Error(), "content security policy forbids it (connect-src)") {
		t.Errorf("a strict policy: %v", err)
	}
}
