package endpoint_test

import (
	"errors"
	"os"
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
)

// The owner reports its state to coordinators of the same user.
func TestReadStatus(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if _, err := endpoint.ReadStatus(t.Context(), hash); !errors.Is(err, endpoint.ErrNotServed) {
		t.Errorf("not served: %v", err)
	}
	options := options("it", func() {})
	options.About = func() cdpproxy.About { return cdpproxy.About{Program: "coordinator test", Access: "view"} }
	e, err := endpoint.Serve(t.Context(), hash, none{}, options)
	if err != nil {
		t.Fatal(err)
	}
	got, err := endpoint.ReadStatus(t.Context(), hash)
	if err != nil || got.PID != os.Getpid() || got.Program != "coordinator test" || got.Access != "view" || got.Browser != "" || got.Clients == nil {
		t.Errorf("%+v, %v", got, err)
	}
	e.Close()
	if _, err := endpoint.ReadStatus(t.Context(), hash); !errors.Is(err, endpoint.ErrNotServed) {
		t.Errorf("no longer served: %v", err)
	}
}
