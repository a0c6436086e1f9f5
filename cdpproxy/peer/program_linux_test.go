package peer

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDialer is a process of [TestProgram]: it dials, and stays until its input ends.
func TestDialer(t *testing.T) {
	address := os.Getenv("PEER_TEST_DIAL")
	if address == "" {
		t.Skip("TestProgram runs it")
	}
	connect(t, address)
	io.Copy(io.Discard, os.Stdin)
}

// TestProgram: processes of one executable in the same session are one program, also if it
// was built again, in another folder.
func TestProgram(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ln := listen(t, false, "127.0.0.1:0")
	of := func(executable string, session bool) string {
		t.Helper()
		cmd := exec.Command(executable, "-test.run=^TestDialer$")
		cmd.Env = append(os.Environ(), "PEER_TEST_DIAL="+ln.Addr().String())
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer in.Close()
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return Program(conn)
	}
	connect(t, ln.Addr().String())
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ownName := Program(conn)
	name := filepath.Base(executable) + " in session "
	if !strings.HasPrefix(ownName, name) {
		t.Errorf("this process is %q", ownName)
	}
	elsewhere := filepath.Join(t.TempDir(), filepath.Base(executable))
	built, err := os.ReadFile(executable)
	if err == nil {
		err = os.WriteFile(elsewhere, built, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, executable := range []string{executable, elsewhere} {
		if child := of(executable, false); child != ownName {
			t.Errorf("%s in the same session is %q, this one %q", executable, child, ownName)
		}
	}
	if child := of(executable, true); !strings.HasPrefix(child, name) || child == ownName {
		t.Errorf("a process in another session is %q, this one %q", child, ownName)
	}
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	if program := Program(server); program != "" {
		t.Errorf("a pipe's is %q", program)
	}
}
