package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"browser-coordinator/internal/toolstest"
)

// wide is more columns than any line needs.
const wide = 200

// onTerminal starts a command on a terminal of its own, and returns what it writes there.
func onTerminal(t *testing.T, dir string, args ...string) (*exec.Cmd, *printed) {
	t.Helper()
	cmd := command(context.Background(), t, dir, args...)
	display, _ := openTerminal(t, cmd, wide)
	return cmd, display
}

// openTerminal starts a command on a terminal, and returns its screen and its keyboard.
func openTerminal(t *testing.T, cmd *exec.Cmd, columns uint16) (display *printed, keys *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: columns}); err != nil {
		t.Fatal(err)
	}
	display = new(printed)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			display.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	return display, master
}

// In ask the window's terminal asks its user: for each action of an agent, and once for a CDP
// client that connects. What pages and clients call themselves cannot control the terminal.
func TestWindowAsksOnTerminal(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	cmd := command(context.Background(), t, dir, "window", "--headless", "--access", "ask", "--workspace", shop)
	display, keys := openTerminal(t, cmd, wide)
	display.await(t, "You are asked here, and in the page", "is ready; press Ctrl+C to end.")
	address := endpointIn(t, display.String())
	fmt.Fprint(keys, "y\ny") // answers no later question, nor does a line that is not complete yet
	agent := host(t, dir, shop)
	agent.Must("browser_tabs", args{"action": "list"}) // what view allows needs no question
	page := toolstest.ServeHTML(t, "<title>a\x1b[31mb</title><button>Order</button>")
	questions := 0
	// answer types a key at the next question, of which it returns the text.
	answer := func(key string, do func()) string {
		t.Helper()
		questions++
		done := make(chan struct{})
		go func() {
			defer close(done)
			do()
		}()
		display.awaitText(t, "question", func(text string) bool { return strings.Count(text, " wants to ") == questions })
		fmt.Fprint(keys, "y\ny") // meant for something else, so soon after the question has appeared
		display.awaitText(t, "prompt", func(text string) bool { return strings.Count(text, "Allow? ") == questions })
		text := display.String()
		fmt.Fprintln(keys, key)
		<-done
		return text[strings.LastIndex(text[:strings.LastIndex(text, "Allow? ")], " wants to "):]
	}
	answer("n", func() { agent.Refused("browser_navigate", args{"url": page}, "the user did not allow it") })
	answer("y", func() { agent.Must("browser_navigate", args{"url": page}) })
	text := answer("s", func() { agent.Must("browser_click", args{"target": "button"}) })
	session := "s (all on " + page + ", for this session)"
	for _, want := range []string{"browser_click", `button "Order"`, "in the page ", session} {
		if !strings.Contains(text, want) {
			t.Errorf("the question lacks %q: %q", want, text)
		}
	}
	agent.Must("browser_click", args{"target": "button"})                              // all is allowed on this site
	answer("y", func() { agent.Must("browser_navigate", args{"url": "about:blank"}) }) // which leaves it
	answer("n", func() { agent.Refused("browser_press_key", args{"key": "Tab"}, "the user did not allow it") })
	answer("v", func() {
		c := join(t, address, "Play\u202ewright/1.65.1")
		if _, err := c.call("Target.createTarget", openTab); err == nil {
			t.Error("a client that may only look has opened a tab")
		}
	})
	join(t, address, "Play\u202ewright/1.65.1").must("Browser.getVersion", "{}") // asked once
	another := fromAnotherProgram(t, address)
	answer("n", func() {
		if got := refusedClient(t, another, "chromedp/1"); !strings.HasPrefix(got, "403") {
			t.Errorf("a refused client gets %s", got)
		}
	})
	if strings.ContainsAny(display.String(), "\x1b\u202e") {
		t.Errorf("a control sequence reaches the terminal: %q", display)
	}
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// endpointIn is the address that a window has printed.
func endpointIn(t *testing.T, text string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "http://127.0.0.1:") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no address in %q", text)
	return ""
}

// On a narrow terminal no row is longer than the terminal, and what is cut is marked.
func TestNarrowTerminal(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	openWindow(t, dir, shop)
	host(t, dir, shop).Must("browser_navigate", args{"url": "data:text/html,x"})
	cmd := command(context.Background(), t, dir, "status", "--watch")
	display, _ := openTerminal(t, cmd, 40)
	display.await(t, "test-host 1")
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	screen, after, _ := strings.Cut(display.String(), "\x1b[?1049l")
	if !strings.Contains(screen, "…") {
		t.Errorf("nothing is marked as cut: %q", screen)
	}
	for _, row := range strings.Split(screen[strings.LastIndex(screen, "\x1b[H"):]+after, "\r\n") {
		row = strings.NewReplacer("\x1b[H", "", "\x1b[K", "", "\x1b[J", "", "\r", "", "\x1b[?7h", "", "\x1b[?25h",
			"").Replace(row)
		if strings.Contains(strings.TrimSpace(row), " ") && len([]rune(row)) > 40 {
			t.Errorf("a row of %d columns: %q", len([]rune(row)), row)
		}
	}
	cmd = command(context.Background(), t, dir, "probe")
	cmd.Env = append(cmd.Env, "TERM=dumb")
	display, _ = openTerminal(t, cmd, 40)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	display.await(t, "it responded")
	if strings.Contains(display.String(), "\x1b[") {
		t.Errorf("colours on a dumb terminal: %q", display)
	}
}
