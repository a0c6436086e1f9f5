package main

import (
	"encoding/json"
	"strings"
	"testing"

	"browser-coordinator/coordinator/child"
)

// In strict mode every command prints and forwards an address that admits clients,
// whichever coordinator serves the endpoint.
func TestAddressInStrictMode(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	strict := start(t, dir, "serve", "--workspace", shop, "--require-token")
	says := func(args ...string) string {
		t.Helper()
		out, err := command(t.Context(), t, dir, args...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	if other := start(t, dir, "serve", "--workspace", shop); other.first != strict.first {
		t.Errorf("who stands by prints %s, who serves %s", other.first, strict.first)
	}
	if got := says("endpoint", "--workspace", shop); got != strict.first {
		t.Errorf("`endpoint` prints %s, want %s", got, strict.first)
	}
	plain := strict.first[:strings.LastIndex(strict.first, "/")]
	if got := says("endpoint", "--workspace", shop, "--token=false"); got != plain {
		t.Errorf("`endpoint --token=false` prints %s, want %s", got, plain)
	}
	if got, want := says("endpoint", "--workspace", shop, "--format", "puppeteer"), "ws"+strings.TrimPrefix(strict.first, "http")+"/"; !strings.Contains(got, want) {
		t.Errorf("for Puppeteer it prints %s, want it to have %s", got, want)
	}
	var all endpointJSON
	if err := json.Unmarshal([]byte(says("endpoint", "--workspace", shop, "--json")), &all); err != nil || !all.TokenRequired || all.TokenURL != strict.first {
		t.Errorf("`endpoint --json`: %+v, %v", all, err)
	}
	if got := says("run", "--workspace", shop, "--", "sh", "-c", `echo "$`+child.EnvEndpoint+`"`); got != strict.first {
		t.Errorf("`run` passes on %s, want %s", got, strict.first)
	}
}
