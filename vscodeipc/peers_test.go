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

// TestMisbehavingWindows presents a client each fault of a peer. With a window of another
// version the user learns which side to update.
func TestMisbehavingWindows(t *testing.T) {
	speaks := func(versions string) string {
		return `{"id":1,"success":false,"error":{"code":"unsupported_version","message":"no",` +
			`"data":{"supported":` + versions + "}}}\n"
	}
	for name, test := range map[string]struct {
		sends string
		want  string // of an incompatible one; empty: it may be a compatible one
	}{
		"garbage":           {"hello\n", "it sent something that is not a JSON object"},
		"http":              {"HTTP/1.1 400 Bad Request\r\n\r\n", "not a JSON object"},
		"neither":           {"{}\n", "neither a response nor an event"},
		"no id":             {`{"success":true,"payload":{}}` + "\n", "without an id"},
		"success a string":  {`{"id":1,"success":"yes","payload":{}}` + "\n", "neither true nor false"},
		"failure unnamed":   {`{"id":1,"success":false}` + "\n", "a failure without an error"},
		"seq a string":      {`{"type":"state","seq":"1","payload":{}}` + "\n", "whose seq is no number"},
		"empty hello":       {`{"id":1,"success":true,"payload":{}}` + "\n", "must be there"},
		"hello of a string": {`{"id":1,"success":true,"payload":"hi"}` + "\n", "must be an object"},
		"other version": {strings.Replace(helloAnswer, `"version":2,"server"`, `"version":9,"server"`, 1),
			"version 9"},
		"older": {speaks("[1]"), "update the window (in an editor: its extension)"},
		"newer": {speaks("[3,4]"), "speaks version 4 of the window protocol and this program version 2; " +
			"update this program"},
		"of no version": {speaks("[]"), "version 2"},
		"endless line":  {strings.Repeat("x", 9<<20), "longer than"},
		"hangs up":      {"", ""},
		"half a line":   {`{"id":1,`, ""},
		"bye":           {`{"type":"bye","payload":{"reason":"shutdown","message":"x"}}` + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			home(t)
			_, err := dial(t.Context(), fake(t, socketPath(t, "pid-1"), hangUp(test.sends)), DialOptions{})
			if err == nil || (test.want != "") != errors.Is(err, errIncompatible) ||
				!strings.Contains(err.Error(), test.want) {
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

// TestRequestOfAnotherVersion: the client learns which side to update.
func TestRequestOfAnotherVersion(t *testing.T) {
	for version, want := range map[int]string{1: "update the client", 3: "update the window"} {
		_, fault := decodeRequest(fmt.Appendf(nil, `{"id":1,"type":"ping","version":%d}`, version))
		if fault == nil || !strings.Contains(fault.Message, fmt.Sprintf("the request version %d; %s", version, want)) {
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
