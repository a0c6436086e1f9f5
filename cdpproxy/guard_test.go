package cdpproxy_test

import (
	"io"
	"net/http"
	"os"
	"testing"
)

// get asks the endpoint at addr; "Host" in headers replaces the host.
func get(t testing.TB, addr, path string, headers map[string]string) (int, string) {
	t.Helper()
	status, body, err := tryGet(addr, path, headers)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func tryGet(addr, path string, headers map[string]string) (int, string, error) {
	req, err := http.NewRequest("GET", "http://"+addr+path, nil)
	if err != nil {
		return 0, "", err
	}
	for name, value := range headers {
		if name == "Host" {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// connectAsChild is what this test binary does when it is started as another
// user: it asks the endpoint and says what it was told.
func connectAsChild(addr string) {
	_, body, err := tryGet(addr, "/json/version", nil)
	if err != nil {
		body = err.Error()
	}
	io.WriteString(os.Stdout, body)
}
