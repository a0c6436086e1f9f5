package endpoint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"browser-coordinator/coordinator/endpoint"
)

func TestAddress(t *testing.T) {
	dir := state(t)
	addr, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	if addr.Served {
		t.Error("Address reports Served, but no coordinator serves it")
	}
	if addr.Port < endpoint.FirstPort || addr.Port >= endpoint.FirstPort+endpoint.Ports ||
		addr.URL != "http://127.0.0.1:"+strconv.Itoa(addr.Port) {
		t.Errorf("address %+v", addr)
	}
	e := serve(t, hash, "A", newTurns())
	if !e.Owner() || e.URL() != addr.URL {
		t.Errorf("served at %s (owner %v), want %s", e.URL(), e.Owner(), addr.URL)
	}
	again, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Served || again.TokenURL != addr.TokenURL || again.Port != addr.Port {
		t.Errorf("while served: %+v, want as before: %+v", again, addr)
	}
	if got := who(t, addr.TokenURL); !strings.Contains(got, "this is A") {
		t.Errorf("with token: %s", got)
	}
	for name, want := range map[string]os.FileMode{
		"": 0o700, "endpoint-" + hash + ".json": 0o600, "endpoint-" + hash + ".lock": 0o600, "endpoint-" + hash +
			".sock": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
	for _, bad := range []string{"", "123", "0123456789ABCDEF", "../../../../x", "0123456789abcdeg"} {
		if _, err := endpoint.Address(bad); err == nil {
			t.Errorf("hash %q accepted", bad)
		}
	}
}

// TestLogMakesNothing: the log of an endpoint that was never served fails, and leaves no files.
func TestLogMakesNothing(t *testing.T) {
	dir := state(t)
	if _, err := endpoint.Log(t.Context(), hash, 0); !errors.Is(err, endpoint.ErrNotServed) {
		t.Errorf("the log ends with %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a folder for state: %v", err)
	}
}

// TestTakenPort: another program listens on the window's port.
func TestTakenPort(t *testing.T) {
	state(t)
	before, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	another, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(before.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	e := serve(t, hash, "A", newTurns())
	if e.URL() == before.URL || !e.Owner() {
		t.Fatalf("serves %s, owner %v", e.URL(), e.Owner())
	}
	if got := who(t, e.URL()); !strings.Contains(got, "this is A") {
		t.Errorf("on the new port: %s", got)
	}
	another.Close()
	after, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	if after.URL != e.URL() {
		t.Errorf("remembered %s, want %s", after.URL, e.URL())
	}
}

// TestCollision: two windows whose hashes give the same port.
func TestCollision(t *testing.T) {
	state(t)
	// Both have the same first port and the same step. Each run uses other ports: tests of
	// another checkout may run at the same time.
	const step = 1233
	low := rand.Uint64N(1 << 31)
	first := (step<<32 + low) % endpoint.Ports
	one, two := fmt.Sprintf("%016x", step<<32+low), fmt.Sprintf("%016x", step<<32+low+endpoint.Ports)
	a, err := endpoint.Address(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := endpoint.Address(two)
	if err != nil {
		t.Fatal(err)
	}
	if want := endpoint.FirstPort + int(first); a.Port != want {
		t.Errorf("one has port %d, want the first of its sequence, %d", a.Port, want)
	}
	if want := endpoint.FirstPort + int((first+step)%endpoint.Ports); b.Port != want {
		t.Errorf("two has port %d, want the second of its sequence, %d", b.Port, want)
	}
	if a.TokenURL[strings.LastIndexByte(a.TokenURL, '/'):] == b.TokenURL[strings.LastIndexByte(b.TokenURL, '/'):] {
		t.Error("both windows have the same token")
	}
	serve(t, one, "one", newTurns())
	serve(t, two, "two", newTurns())
	if got := who(t, a.URL); !strings.Contains(got, "this is one") {
		t.Errorf("one: %s", got)
	}
	if got := who(t, b.URL); !strings.Contains(got, "this is two") {
		t.Errorf("two: %s", got)
	}
}

// TestTornFiles: whatever a disk leaves of the stored state, the window keeps its port
// and has a token: the old one, if that was not damaged.
func TestTornFiles(t *testing.T) {
	dir := state(t)
	hash := fmt.Sprintf("%016x", rand.Uint64())
	before, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "endpoint-"+hash+".json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	port, token := strconv.Itoa(before.Port), before.TokenURL[strings.LastIndexByte(before.TokenURL, '/')+1:]
	for torn, same := range map[string]bool{
		string(whole): true, `{"port":80,"token":"` + token + `"}`: true, `{"token":"` + token + `"}`: true,
		"": false, "\n": false, "{": false, `{"port":`: false, "null": false, "\x00\x00\x00\x00": false,
		`{"port":` + port + `}`: false, `{"port":` + port + `,"token":"` + token[30:] + `"}`: false,
		`{"port":` + port + `,"token":"` + strings.Repeat("x", 64) + `"}`: false,
	} {
		if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		after, err := endpoint.Address(hash)
		if err != nil || after.Port != before.Port || len(after.TokenURL) != len(before.TokenURL) ||
			(after.TokenURL == before.TokenURL) != same {
			t.Errorf("with %q: %+v, %v; before: %+v", torn, after, err, before)
		}
	}
	e := serve(t, hash, "A", newTurns())
	if got := who(t, e.Address().TokenURL); !strings.Contains(got, "this is A") {
		t.Errorf("with the last token: %s", got)
	}
	if remaining, _ := filepath.Glob(filepath.Join(dir, ".endpoint-*")); len(remaining) > 0 {
		t.Errorf("left behind: %v", remaining)
	}
}
