package cdpproxy_test

import (
	"net/url"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestAnotherUserAtTheBrowsersPort: another user takes the port of a browser that
// has ended and responds in its place. Nothing is sent to that process, in any way,
// and the client gets an error that explains it.
func TestAnotherUserAtTheBrowsersPort(t *testing.T) {
	start := asUser(t)
	c := cdptest.Launch(t)
	browser, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	cdptest.Kill(c)

	cmd := start(12345, impostorAt+browser.Host)
	leave, printed := talk(t, cmd)
	if line, err := printed.ReadString('\n'); line != "listening\n" {
		t.Fatalf("the other user prints %q, %v", line, err)
	}

	withPrefix := "ws://" + browser.Host + "/secret" + browser.Path
	for _, address := range []string{c.URL(), withPrefix} {
		_, addr := serve(t, newSource(address), &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold})
		for way, answer := range tryAll(t, addr, address) {
			if !strings.Contains(answer, "a program of user 12345 listens at "+browser.Host) {
				t.Errorf("%s: %s", way, answer)
			}
		}
	}
	leave.Close()
	if line, err := printed.ReadString('\n'); line != "\"\"\n" {
		t.Errorf("another user was sent %s, %v", line, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
