package chrome

import "testing"

func TestProxyOfAnAddress(t *testing.T) {
	for _, name := range []string{"all_proxy", "http_proxy", "https_proxy", "no_proxy"} {
		t.Setenv(name, "")
	}
	for _, name := range []string{"ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
	}
	expect := func(b *Browser, want map[string]string) {
		t.Helper()
		for address, want := range want {
			if got := b.Proxy(address); got != want {
				t.Errorf("%s: %q, want %q", address, got, want)
			}
		}
	}
	expect(&Browser{}, map[string]string{"http://shop.test/": ""})
	expect(&Browser{proxy: "proxy.test:3128"}, map[string]string{
		"http://shop.test/": "the proxy proxy.test:3128 (--proxy-server)", "http://127.0.0.1:80/": "",
		"http://app.localhost/": "", "about:blank": "",
	})
	t.Setenv("HTTP_PROXY", "http://ada:secret@one.test:3128/")
	t.Setenv("https_proxy", "two.test:3129")
	t.Setenv("no_proxy", ".inner.test, other.test:8080")
	expect(&Browser{}, map[string]string{
		"http://shop.test/": "the proxy one.test:3128 (the variable HTTP_PROXY)", "http://a.inner.test/": "",
		"https://shop.test/": "the proxy two.test:3129 (the variable https_proxy)", "http://other.test/": "",
		"http://[::1]:80/": "",
	})
	t.Setenv("all_proxy", "three.test:1")
	expect(&Browser{}, map[string]string{"https://shop.test/": "the proxy three.test:1 (the variable all_proxy)"})
	t.Setenv("no_proxy", "*")
	expect(&Browser{}, map[string]string{"https://shop.test/": ""})
}
