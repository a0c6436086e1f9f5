//go:build unix

package vscodeipc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// TestMisbehavingWindows presents a client each fault of a peer.
func TestMisbehavingWindows(t *testing.T) {
	for name, test := range map[string]struct {
		sends string
		is    error // nil: some other error
	}{
		"garbage":           {"hello\n", errIncompatible},
		"http":              {"HTTP/1.1 400 Bad Request\r\n\r\n", errIncompatible},
		"neither":           {"{}\n", errIncompatible},
		"no id":             {`{"success":true,"payload":{}}` + "\n", errIncompatible},
		"success a string":  {`{"id":1,"success":"yes","payload":{}}` + "\n", errIncompatible},
		"failure unnamed":   {`{"id":1,"success":false}` + "\n", errIncompatible},
		"seq a string":      {`{"type":"state","seq":"1","payload":{}}` + "\n", errIncompatible},
		"empty hello":       {`{"id":1,"success":true,"payload":{}}` + "\n", errIncompatible},
		"hello of a string": {`{"id":1,"success":true,"payload":"hi"}` + "\n", errIncompatible},
		"other version": {strings.Replace(helloAnswer, `"version":2,"server"`, `"version":9,"server"`, 1),
			errIncompatible},
		"unsupported":  {`{"id":1,"success":false,"error":{"code":"unsupported_version","message":"no","data":{"supported":[3]}}}` + "\n", errIncompatible},
		"endless line": {strings.Repeat("x", 9<<20), errIncompatible},
		"hangs up":     {"", nil},
		"half a line":  {`{"id":1,`, nil},
		"bye":          {`{"type":"bye","payload":{"reason":"shutdown","message":"x"}}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			home(t)
			_, err := dial(t.Context(), fake(t, socketPath(t, "pid-1"), hangUp(test.sends)), DialOptions{})
			if err == nil || (test.is != nil) != errors.Is(err, errIncompatible) {
				t.Errorf("dial gives %v", err)
			}
		})
	}
	t.Run("tolerated", func(t *testing.T) {
		home(t)
		connect(t, fake(t, name(t, 0), script(`{"type":"weather","seq":4,"payload":{}}`+"\n"+
			`{"id":77,"success":true,"payload":{}}`+"\n\n\r\n"+helloAnswer)))
	})
}

// TestAnotherVersion: the user learns which side to update.
func TestAnotherVersion(t *testing.T) {
	for supported, want := range map[string]string{"[1]": "update the window (in an editor: its extension)",
		"[3,4]": "speaks version 4 of the window protocol and this program version 2; update this " +
			"program", "[]": "version 2"} {
		_, err := dialScript(t, `{"id":1,"success":false,"error":{"code":"unsupported_version","message":"no","data":{"supported":`+supported+`}}}`+"\n")
		if !errors.Is(err, errIncompatible) || !strings.Contains(err.Error(), want) {
			t.Errorf("a window of %s: %v", supported, err)
		}
	}
	for version, want := range map[int]string{1: "the request version 1; update the client",
		3: "the request version 3; update the window"} {
		if _, fault := decodeRequest(fmt.Appendf(nil, `{"id":1,"type":"ping","version":%d}`, version)); fault == nil || !strings.Contains(fault.Message, want) {
			t.Errorf("a request of version %d: %v", version, fault)
		}
	}
}

// TestWindowsReportNothingOfEachOther: no response of a window, not even to an invalid
// request, mentions another window beside it.
func TestWindowsReportNothingOfEachOther(t *testing.T) {
	const secret = "5ec7e7"
	folder := home(t)
	other := t.TempDir() + "/" + secret
	must.Do(t, os.Mkdir(other, 0o700))
	s := serve(t, ServerOptions{Workspace: folder, Folders: []string{folder},
		Commands: map[string]Handler{"echo": echo}})
	beside := serve(t, ServerOptions{Workspace: other, Folders: []string{other},
		Commands: map[string]Handler{"echo-" + secret: echo}})
	setState(t, beside, State{Browser: &Browser{URL: "ws://127.0.0.1:1/devtools/browser/" + secret,
		Product: "Chrome/1", Via: "launched"}})
	listen(t, connect(t, beside.Address()))

	conn := dialRaw(t, s.Address())
	for _, line := range []string{
		`{"id":1,"type":"hello","version":2,"payload":{"client":{"name":"x","version":""}}}`,
		`{"id":2,"type":"listen","version":2,"payload":{"events":["state"]}}`,
		`{"id":3,"type":"listen","version":2,"payload":{"events":["nothing"]}}`,
		`{"id":4,"type":"state","version":2}`,
		`{"id":5,"type":"call","version":2,"payload":{"command":"nothing"}}`,
		`{"id":6,"type":"nothing","version":2}`,
		`{"id":7,"type":"ping","version":99}`,
		`nothing`,
	} {
		conn.send("%s", line)
	}
	setState(t, s, numbered(2))
	setState(t, beside, numbered(3))
	conn.send(`{"id":"last","type":"ping","version":2}`)
	for {
		line := must.Get(conn.lines.ReadString('\n'))(t)
		if strings.Contains(line, secret) || strings.Contains(line, beside.hello.Session) ||
			strings.Contains(line, string(beside.Address())) {
			t.Errorf("it reports the other: %s", line)
		}
		if strings.Contains(line, `"id":"last"`) {
			return
		}
	}
}
