package peer

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const other = 12345 // another user

// asOther runs f on a thread of another user. That user owns the sockets that f
// opens and accepts. The thread ends with f.
func asOther(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to open a socket as another user")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETFSUID, other, 0, 0); errno != 0 {
			done <- errno
			return
		}
		f()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// listen opens a listener of this user, or of another.
func listen(t *testing.T, foreign bool, address string) net.Listener {
	t.Helper()
	var ln net.Listener
	var err error
	open := func() { ln, err = net.Listen("tcp", address) }
	if foreign {
		asOther(t, open)
	} else {
		open()
	}
	if err != nil {
		t.Skipf("cannot listen at %s: %v", address, err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestCheckServer: the listener's user is known before it accepts, and the
// accepting user afterwards, at every address of a browser.
func TestCheckServer(t *testing.T) {
	for _, c := range []struct{ listens, dialed string }{
		{"127.0.0.1:0", "127.0.0.1"},
		{"[::1]:0", "::1"},
		{"0.0.0.0:0", "127.0.0.1"},
		{"[::]:0", "127.0.0.1"},
		{"[::]:0", "::1"},
	} {
		for _, foreign := range []bool{false, true} {
			name := c.listens + " by " + c.dialed + map[bool]string{true: ", another user"}[foreign]
			t.Run(name, func(t *testing.T) {
				ln := listen(t, foreign, c.listens)
				_, port, _ := net.SplitHostPort(ln.Addr().String())
				conn := connect(t, net.JoinHostPort(c.dialed, port))
				check := func(condition string) {
					t.Helper()
					err := CheckServer(conn)
					var failed *ForeignError
					switch {
					case !foreign && err != nil:
						t.Errorf("%s: %v", condition, err)
					case foreign && (!errors.As(err, &failed) || failed.UID != other || !strings.Contains(err.Error(),
						"a program of user 12345 listens at "+conn.RemoteAddr().String())):
						t.Errorf("%s: %v, want user %d", condition, err, other)
					}
				}
				check("before it accepts")
				var accepted net.Conn
				accept := func() { accepted, _ = ln.Accept() }
				if foreign {
					asOther(t, accept)
				} else {
					accept()
				}
				defer accepted.Close()
				check("once it has accepted")
				ln.Close()
				check("once it no longer listens")
				accepted.Close()
				var failed *ForeignError
				if err := CheckServer(conn); !errors.As(err, &failed) || failed.UID != -1 {
					t.Errorf("once it has closed: %v", err)
				}
			})
		}
	}
}

// TestAcceptedByAnother: the user who has the connection counts, not the one who
// listens.
func TestAcceptedByAnother(t *testing.T) {
	ln := listen(t, false, "127.0.0.1:0")
	conn := connect(t, ln.Addr().String())
	var accepted net.Conn
	asOther(t, func() { accepted, _ = ln.Accept() })
	defer accepted.Close()
	var failed *ForeignError
	if err := CheckServer(conn); !errors.As(err, &failed) || failed.UID != other {
		t.Error(err)
	}
}

// TestResetUnaccepted: a connection that is not accepted ends with its listener. It
// proves nothing when another user listens at the same address.
func TestResetUnaccepted(t *testing.T) {
	ln := listen(t, true, "127.0.0.1:0")
	conn := connect(t, ln.Addr().String())
	ln.Close()
	if err := CheckServer(conn); err == nil {
		t.Error("nobody listens, and the check passes")
	}
	own, err := net.Listen("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	CheckServer(conn)
	if n, err := conn.Write([]byte("secret")); err == nil {
		t.Errorf("%d bytes were sent to nobody", n)
	}
}

// TestTable: the system's table reports the same as sock_diag.
func TestTable(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
		ln := listen(t, true, address)
		remoteAddr := ln.Addr().(*net.TCPAddr).AddrPort()
		if remoteAddr.Addr().IsUnspecified() {
			remoteAddr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), remoteAddr.Port())
		}
		conn := connect(t, remoteAddr.String())
		local := conn.LocalAddr().(*net.TCPAddr).AddrPort()
		local = netip.AddrPortFrom(local.Addr().Unmap(), local.Port())
		same := func(condition string, remote netip.AddrPort, want byte) {
			t.Helper()
			asked, err1 := ask(remoteAddr, remote)
			looked, err2 := look(remoteAddr, remote)
			if err1 != nil || err2 != nil || asked.state != looked.state || asked.uid != looked.uid ||
				asked.inode != looked.inode || asked.state != want {
				t.Errorf("%s, %s: sock_diag %+v, %v; the table %+v, %v", address, condition, asked, err1, looked, err2)
			}
		}
		same("listening", netip.AddrPortFrom(unspecified(remoteAddr.Addr()), 0), tcpListen)
		same("waiting", local, tcpEstablished)
		accepted, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		same("accepted", local, tcpEstablished)
		accepted.Close()
		free := netip.AddrPortFrom(local.Addr(), 1)
		if _, err := look(remoteAddr, free); !errors.Is(err, errNoSocket) {
			t.Errorf("a connection that is not there: %v", err)
		}
	}
	if _, _, err := lookIn(strings.NewReader("sl\nnonsense\n"), netip.AddrPort{}, netip.AddrPort{}); err == nil {
		t.Error("a line that cannot be read")
	}
}
