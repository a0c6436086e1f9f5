package cdpproxy_test

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/policy"
)

// only is a source with one browser that never changes.
type only struct{ browser *cdpproxy.Browser }

func (o only) Browser() (*cdpproxy.Browser, <-chan struct{}) { return o.browser, nil }

// lookers is a rule that lets every client connect and look.
type lookers struct{}

func (lookers) Join(context.Context, *cdpproxy.Client) error { return nil }
func (lookers) Register(*cdpproxy.Client, func(string))      {}
func (lookers) Observe(*cdpproxy.Client, *browser.Message)   {}
func (lookers) Unregister(*cdpproxy.Client)                  {}

func (lookers) Judge(_ *cdpproxy.Client, m *browser.Message) cdpproxy.Decision {
	d := policy.DecideCommand(policy.Permission{Mode: policy.ModeView}, m.Method, m.Params)
	if d.Denied != nil {
		return cdpproxy.Decision{Reason: d.Denied.Reason}
	}
	return cdpproxy.Decision{Outcome: d.Outcome}
}

// A browser gets one stable address, at which clients may only look.
func Example() {
	ctx := context.Background()
	installed, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	launched, err := chrome.Launch(ctx, chrome.Options{Executable: installed, Headless: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer launched.Close(ctx)

	shop := &cdpproxy.Browser{Generation: 1, Name: "shop", URL: launched.URL()}
	proxy := cdpproxy.New(only{shop}, &cdpproxy.Options{Token: "secret", Rule: lookers{}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go proxy.Serve(ln)
	defer proxy.Shutdown(ctx)

	for _, request := range []string{"GET /json/version", "PUT /json/new"} {
		var method, path string
		fmt.Sscan(request, &method, &path)
		r, _ := http.NewRequest(method, "http://"+ln.Addr().String()+"/secret"+path, nil)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		res.Body.Close()
		fmt.Println(request, res.StatusCode)
	}
	// Output:
	// GET /json/version 200
	// PUT /json/new 403
}
