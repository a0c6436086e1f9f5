package main

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"testing"
)

// Where another program has the port, the command reports that the address will change.
// Then the address does change.
func TestEndpointOfAnotherProgram(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	ask := func() (address, said string) {
		t.Helper()
		cmd := command(t.Context(), t, dir, "endpoint", "--workspace", workspace)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		return strings.TrimSpace(string(out)), stderr.String()
	}
	first, said := ask()
	if !strings.Contains(said, "Nothing serves this address now: run `coordinator serve") {
		t.Errorf("with a free port: %q", said)
	}
	u, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := net.Listen("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	same, said := ask()
	if same != first || !strings.Contains(said, "Another program listens on port "+u.Port()+", so the address will change when a coordinator serves it. Run `coordinator serve") {
		t.Errorf("with another program on the port: %s, %q", same, said)
	}
	serving := start(t, dir, "serve", "--workspace", workspace)
	if now, said := ask(); now == first || now != serving.first || said != "" {
		t.Errorf("served at %s: %s, %q", serving.first, now, said)
	}
}
