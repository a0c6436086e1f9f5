package address_test

import (
	"fmt"

	"browser-coordinator/coordinator/page/address"
)

// A local server is addressed without TLS, and a path belongs to the page that is shown.
func ExampleNormalize() {
	const current = "https://shop.example/cart?page=2"
	for _, written := range []string{"localhost:3000", "shop.example/cart", "/login", " data:text/html,Hi "} {
		url, err := address.Normalize(written, current)
		fmt.Println(url, err)
	}
	_, err := address.Normalize("javascript:alert(1)", current)
	fmt.Println(err)
	// Output:
	// http://localhost:3000 <nil>
	// https://shop.example/cart <nil>
	// https://shop.example/login <nil>
	// data:text/html,Hi <nil>
	// navigate: javascript: is a script, not an address: evaluate it instead
}

// All pages of a site are at the same place, and each other page is at its own.
func ExamplePlace() {
	for _, shown := range []string{"http://localhost:3000/cart?page=2#top", "https://ada@shop.example:443/",
		"file:///home/ada/a.html#top", "data:text/html,Hi", "blob:http://localhost:3000/1"} {
		fmt.Printf("%q %q\n", address.Origin(shown), address.Place(shown))
	}
	// Output:
	// "http://localhost:3000" "http://localhost:3000"
	// "https://shop.example" "https://shop.example"
	// "" "file:///home/ada/a.html"
	// "" "data:text/html,Hi"
	// "" "blob:http://localhost:3000/1"
}

// A browser opens the same file for all of these addresses.
func ExampleOfFile() {
	for _, opened := range []string{"file:///home/ada/a.html#top", "View-Source:FILE:///home/ada/a.html",
		"/home/ada/a.html"} {
		fmt.Printf("%q\n", address.OfFile(opened))
	}
	// Output:
	// "file:///home/ada/a.html"
	// "file:///home/ada/a.html"
	// ""
}

func ExampleHint() {
	fmt.Println(address.Hint("net::ERR_CONNECTION_REFUSED"))
	// Output: nothing listens there; is the server running, and on that port?
}
