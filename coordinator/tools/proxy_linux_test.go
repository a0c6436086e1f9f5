package tools_test

import (
	"net"
	"testing"

	"browser-coordinator/internal/must"
)

// A browser whose proxy does not answer: the error names the proxy and the variable that sets it.
func TestProxyThatDoesNotAnswer(t *testing.T) {
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close() // it accepts connections, and answers none
	gone := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.Do(t, gone.Close())
	t.Setenv("https_proxy", "http://ada:secret@"+gone.Addr().String())
	t.Setenv("HTTP_PROXY", "http://"+silent.Addr().String())
	agent, _ := alone(t, "")
	agent.Refused("browser_navigate", args{"url": "https://shop.test/"}, "its proxy cannot be reached: the proxy "+
		gone.Addr().String()+" (the variable https_proxy)")
	agent.Open("data:text/html,<a href='http://shop.test/'>Shop</a>")
	agent.Must("browser_click", args{"target": "a"})
	agent.Refused("browser_snapshot", nil, "neither that server nor the proxy "+silent.Addr().String()+
		" (the variable HTTP_PROXY) has answered")
}
