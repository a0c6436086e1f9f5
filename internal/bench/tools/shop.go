package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// shop is the page for all actions: 400 items with a link and a button each.
type shop struct {
	*http.Server
	url string
}

const items = 400

func openShop() (*shop, error) {
	var page strings.Builder
	page.WriteString(`<!doctype html><title>Shop</title><h1>Shop</h1><script>added = 0</script><ul>`)
	for i := range items {
		fmt.Fprintf(&page, `<li><a href="#item-%[1]d">Item %[1]d</a> <span>%[2]d.99 €</span> `+
			`<button onclick="added++; this.textContent = 'Added'">Add %[1]d</button></li>`, i, i%90)
	}
	page.WriteString("</ul>")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page.String())
	})
	s := &shop{url: "http://" + ln.Addr().String() + "/", Server: &http.Server{Handler: handler}}
	go s.Serve(ln) // ends with Close
	return s, nil
}
