package endpoint_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"browser-coordinator/coordinator/endpoint"
)

// TestFilesDeleted: whichever file of an owner is deleted, the window keeps its address
// while that owner serves it, also if the rule would choose another port by now. The next
// owner serves the same address.
func TestFilesDeleted(t *testing.T) {
	dir := state(t)
	first, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	another, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first.Port))
	if err != nil {
		t.Fatal(err)
	}
	serving := newTurns()
	owner := serve(t, hash, "owner", serving)
	serving.await(t)
	url := owner.URL()
	if url == first.URL {
		t.Fatalf("served at the port of another program, %s", url)
	}
	another.Close()
	var others []*endpoint.Endpoint
	for _, gone := range [][]string{{"json"}, {"lock"}, {"json", "lock"}} {
		for _, kind := range gone {
			if err := os.Remove(filepath.Join(dir, "endpoint-"+hash+"."+kind)); err != nil {
				t.Fatal(err)
			}
		}
		if addr, err := endpoint.Ask(t.Context(), hash); err != nil || addr.URL != url || !addr.Served {
			t.Errorf("without %v: %+v, %v; want %s, served", gone, addr, err, url)
		}
		other := serve(t, hash, "other", serving)
		if other.URL() != url || other.Owner() {
			t.Errorf("without %v another coordinator has %s, owner %v; want to stand by for %s", gone, other.URL(), other.Owner(), url)
		}
		others = append(others, other)
	}
	if got := who(t, url); !strings.Contains(got, "this is owner") {
		t.Errorf("before: %s", got)
	}
	owner.Close()
	serving.await(t)
	if got := who(t, url); !strings.Contains(got, "this is other") {
		t.Errorf("after the end of the owner: %s", got)
	}
	for _, other := range others {
		if other.URL() != url {
			t.Errorf("the address has become %s, it was %s", other.URL(), url)
		}
	}
}
