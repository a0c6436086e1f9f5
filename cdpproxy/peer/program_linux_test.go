package peer

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
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

// TestProgram: processes of one executable in the same session are one program.
func TestProgram(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ln := listen(t, false, "127.0.0.1:0")
	of := func(session bool) string {
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
	own := Program(conn)
	if !strings.HasPrefix(own, fmt.Sprintf("%s in session ", executable)) {
		t.Errorf("this process is %q", own)
	}
	if child := of(false); child != own {
		t.Errorf("a process in the same session is %q, this one %q", child, own)
	}
	if child := of(true); !strings.HasPrefix(child, executable) || child == own {
		t.Errorf("a process in another session is %q, this one %q", child, own)
	}
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	if program := Program(server); program != "" {
		t.Errorf("a pipe's is %q", program)
	}
}
