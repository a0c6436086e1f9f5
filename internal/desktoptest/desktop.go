// Package desktoptest has a screen of its own for tests, with Xvfb, and the browser of a user
// who has switched remote debugging on there. The browser's question is answered by clicks.
//
//	screen := desktoptest.Start(t)
//	browser := screen.Browser(folder, true)
//	screen.Press(desktoptest.Allow, connected)
package desktoptest

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/must"
)

// The size of the screen, which the browser's window fills.
const width, height = 1000, 700

// timeout bounds every wait.
const timeout = time.Minute

// interval is between two looks at the screen, which reports no events.
const interval = 100 * time.Millisecond

// Screen is a screen without a monitor.
type Screen struct {
	t       testing.TB
	display string
}

// Start starts a screen, which ends with the test. Where a program for that is missing the
// test fails: `go tool task setup:desktop` installs them.
func Start(t testing.TB) *Screen {
	t.Helper()
	for _, program := range []string{"Xvfb", "xdotool", "import"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: run `go tool task setup:desktop`", err)
		}
	}
	read, write, err := os.Pipe()
	must.Do(t, err)
	defer read.Close()
	server := exec.Command("Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-screen", "0",
		fmt.Sprintf("%dx%dx24", width, height))
	server.ExtraFiles = []*os.File{write}
	must.Do(t, server.Start())
	write.Close()
	t.Cleanup(func() { end(server) })
	number, err := bufio.NewReader(read).ReadString('\n')
	must.Do(t, err)
	return &Screen{t, ":" + strings.TrimSpace(number)}
}

func end(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait() // it was killed
}

// Display is its name, for DISPLAY.
func (s *Screen) Display() string { return s.display }

// Pixels are what the screen shows, a byte for each part of a colour.
func (s *Screen) Pixels() []byte {
	s.t.Helper()
	return s.run("import", "-window", "root", "-depth", "8", "rgb:-")
}

// AwaitPixels returns when the screen shows these, and reports false if it does not.
func (s *Screen) AwaitPixels(want []byte) bool {
	s.t.Helper()
	for deadline := time.Now().Add(timeout / 12); !bytes.Equal(s.Pixels(), want); time.Sleep(interval) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// AwaitRest returns what the screen shows when it no longer changes.
func (s *Screen) AwaitRest() (pixels []byte) {
	s.t.Helper()
	s.Await("the screen does not come to rest", func() bool {
		before := pixels
		pixels = s.Pixels()
		return bytes.Equal(before, pixels)
	})
	return pixels
}

// Browser is a user's running browser.
type Browser struct {
	Folder string // of its profile
	cmd    *exec.Cmd
}

// Browser starts a browser with a profile folder. If debugging is on, it returns when programs
// can connect.
func (s *Screen) Browser(folder string, debugging bool, pages ...string) *Browser {
	s.t.Helper()
	installed := must.Get(chrome.Find(chrome.FindOptions{}))(s.t)
	must.Do(s.t, os.MkdirAll(folder, 0o700))
	state := filepath.Join(folder, "Local State")
	if _, err := os.Stat(state); err != nil && debugging {
		must.Do(s.t, os.WriteFile(state, []byte(`{"devtools":{"remote_debugging":{"user-enabled":true}}}`), 0o600))
	}
	file := filepath.Join(folder, "DevToolsActivePort")
	before, _ := os.ReadFile(file)
	args := []string{
		"--user-data-dir=" + folder, "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-quic", "--window-position=0,0",
		fmt.Sprintf("--window-size=%d,%d", width, height), "--hide-crash-restore-bubble", "--disable-gpu",
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	if len(pages) == 0 {
		pages = []string{"about:blank"}
	}
	b := &Browser{Folder: folder, cmd: exec.Command(installed, append(args, pages...)...)}
	b.cmd.Env = append(os.Environ(), "DISPLAY="+s.display, "HOME="+s.t.TempDir())
	group(b.cmd)
	must.Do(s.t, b.cmd.Start())
	s.t.Cleanup(b.End)
	s.Await("the browser does not start", func() bool {
		now, err := os.ReadFile(file)
		if !debugging {
			_, err = os.Readlink(filepath.Join(folder, "SingletonLock"))
		}
		return err == nil && (!debugging || !bytes.Equal(now, before))
	})
	return b
}

// End kills the browser and all its processes.
func (b *Browser) End() {
	killGroup(b.cmd)
	_ = b.cmd.Wait()
}

// Await returns when the condition holds, and fails with the description otherwise.
func (s *Screen) Await(description string, condition func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(timeout); !condition(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			s.t.Fatal(description)
		}
	}
}

// Button is one of the question's.
type Button int

const (
	Allow  Button = iota // on the right
	Cancel               // beside it
)

// face is the colour of both.
var face = color.RGBA{0xd3, 0xe3, 0xfd, 0xff}

// HasQuestion reports whether the browser asks its user now.
func (s *Screen) HasQuestion() bool {
	s.t.Helper()
	return len(s.buttons()) == 2
}

// AwaitQuestion returns when the browser asks its user.
func (s *Screen) AwaitQuestion() {
	s.t.Helper()
	s.Await("the browser does not ask its user", s.HasQuestion)
}

// Press presses a button of the question until done is closed: at first the browser ignores
// that.
func (s *Screen) Press(b Button, done <-chan struct{}) {
	s.t.Helper()
	s.Await("the browser does not take the answer", func() bool {
		select {
		case <-done:
			return true
		default:
		}
		if at := s.buttons(); len(at) == 2 {
			spot := at[1-b]
			// A button below the pointer has another colour, also in the next question.
			s.run("xdotool", "mousemove", fmt.Sprint(spot.X), fmt.Sprint(spot.Y), "click", "1", "mousemove", "1", "1")
		}
		return false
	})
}

// buttons are the middles of the question's two buttons, from left to right. While the browser
// asks, all of its window but the question is dark.
func (s *Screen) buttons() (middles []image.Point) {
	s.t.Helper()
	shot, err := png.Decode(bytes.NewReader(s.run("import", "-window", "root", "png:-")))
	must.Do(s.t, err)
	if r, _, _, _ := shot.At(width/2, height-20).RGBA(); r > 0xb000 {
		return nil
	}
	var found []image.Rectangle
	for y := range height {
		for x := range width {
			if color.RGBAModel.Convert(shot.At(x, y)) == face {
				found = grow(found, x, y)
			}
		}
	}
	for _, r := range found {
		if r.Dx() > 30 && r.Dy() > 15 {
			middles = append(middles, r.Min.Add(r.Max).Div(2))
		}
	}
	if len(middles) == 2 && middles[0].X > middles[1].X {
		middles[0], middles[1] = middles[1], middles[0]
	}
	return middles
}

// grow adds a point to the rectangle beside it, or to a new one.
func grow(all []image.Rectangle, x, y int) []image.Rectangle {
	const near = 4
	point := image.Rect(x, y, x+1, y+1)
	for i, r := range all {
		if r.Inset(-near).Overlaps(point) {
			all[i] = r.Union(point)
			return all
		}
	}
	return append(all, point)
}

func (s *Screen) run(program string, args ...string) []byte {
	s.t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "DISPLAY="+s.display)
	out, err := c.Output()
	if err != nil {
		s.t.Fatalf("%s: %v", program, err)
	}
	return out
}

// Photograph saves what the screen shows, for who writes a test.
func (s *Screen) Photograph(file string) {
	must.Do(s.t, os.WriteFile(file, s.run("import", "-window", "root", "png:-"), 0o600))
}
