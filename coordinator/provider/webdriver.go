package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/dial"
)

// maxResponse bounds a response of the grid, in bytes.
const maxResponse = 16 << 20

// webdriver sends requests to a grid (W3C WebDriver, and the grid's own paths).
type webdriver struct {
	Address
	base *url.URL
}

func newWebdriver(a Address) webdriver {
	base := *a.url
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/wd/hub") // as Selenium 3 has it
	base.RawPath = ""
	return webdriver{a, &base}
}

// unexpected is the error of a request whose response is an error (WebDriver section 6.6).
type unexpected struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`
	Message string `json:"message"`
}

func (e *unexpected) Error() string { return withText(e.Status, e.Message) }

// do sends a request and decodes the value of its response into value, unless that is
// nil. timeout bounds the whole exchange: a body may be endless.
func (w webdriver) do(ctx context.Context, method, path string, body, value any, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(encoded)
	}
	address := *w.base
	address.Path += path
	req, err := http.NewRequestWithContext(ctx, method, address.String(), sent)
	if err != nil {
		return fmt.Errorf("the address of the grid cannot be used")
	}
	req.Header = w.header.Clone()
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json; charset=utf-8") // the grid refuses others
	}
	options := w.options()
	options.ResponseTimeout = timeout
	res, err := dial.Client(options).Transport.RoundTrip(req)
	if err != nil {
		return w.failure(nil, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil {
		return w.failure(nil, err)
	}
	var response struct{ Value json.RawMessage }
	isValue := json.Unmarshal(text, &response) == nil && response.Value != nil
	switch {
	case res.StatusCode == http.StatusOK && isValue:
		if value == nil {
			return nil
		}
		if json.Unmarshal(response.Value, value) != nil {
			return w.noGrid()
		}
		return nil
	case res.StatusCode == http.StatusOK:
		return w.noGrid()
	case !isValue:
		return w.refused(res.StatusCode, string(text))
	}
	failed := &unexpected{Status: res.StatusCode}
	if err := json.Unmarshal(response.Value, failed); err != nil || failed.Code == "" {
		return w.refused(res.StatusCode, string(text))
	}
	failed.Message = w.excerpt(failed.Message)
	return failed
}

// noGrid is the error for a response that no grid sends.
func (w webdriver) noGrid() error {
	return fmt.Errorf("%s does not answer like a Selenium Grid", w.Place())
}
