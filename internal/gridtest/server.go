package gridtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"browser-coordinator/coordinator/group"
)

// .ci/install-grid installs this version.
const version = "4.48.0"

// cacheFolder is found before a test sets another one.
var cacheFolder = func() string {
	home := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(home) {
		home = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	return filepath.Join(home, "browser-coordinator-dev")
}()

// findServer finds Java and Selenium's server.
func findServer() (java, jar string, err error) {
	const advice = "Install what a Selenium Grid needs: go tool task setup:grid"
	if java, err = exec.LookPath("java"); err != nil {
		return "", "", fmt.Errorf("no Java: %w. %s", err, advice)
	}
	if _, err = exec.LookPath("chromedriver"); err != nil {
		return "", "", fmt.Errorf("no ChromeDriver: %w. %s", err, advice)
	}
	jar = filepath.Join(cacheFolder, "selenium-server-"+version+".jar")
	if _, err = os.Stat(jar); err != nil {
		return "", "", fmt.Errorf("no Selenium server: %w. %s", err, advice)
	}
	return java, jar, nil
}

// server is the process of a hub or of a node, with the processes that it has started.
type server struct {
	name, url string
	mark      string // in the environment of its processes
	group     *group.Group
	lifeline  io.Closer // when it closes, also by the end of this program, all end
	done      chan struct{}
	err       error // once done
	killed    bool
}

// markVariable marks the processes of a server.
const markVariable = "BROWSER_COORDINATOR_GRIDTEST"

// start starts a server whose files are in a new folder.
func (g *Grid) start(name, url string, args []string) (*server, error) {
	dir, err := os.MkdirTemp(g.dir, "")
	if err != nil {
		return nil, err
	}
	logFile, err := os.OpenFile(filepath.Join(g.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	kind, _, _ := strings.Cut(name, "-")
	args = append([]string{
		"-Xmx128m", "-XX:+UseSerialGC", "-Djava.io.tmpdir=" + dir, "-jar", g.jar,
		kind, "--host", "127.0.0.1", "--publish-events", g.publish, "--subscribe-events", g.subscribe, "--tracing", "false",
	}, args...)
	// Whichever ends first, the server or its standard input, ends the group.
	const script = `("$@" </dev/null; kill -9 0) & read -r _; kill -9 0`
	cmd := exec.Command("sh", append([]string{"-c", script, name, g.java}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, logFile, logFile
	s := &server{name: name, url: url, mark: markVariable + "=" + dir, done: make(chan struct{})}
	cmd.Env = s.environment(dir)
	if s.lifeline, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.group, err = group.New(cmd); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		s.group.Close()
		return nil, err
	}
	go s.wait(cmd)
	if err := s.group.Started(); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

func (s *server) environment(dir string) []string {
	env := []string{s.mark, "SE_OFFLINE=true", "SE_AVOID_STATS=true"} // nothing leaves this machine
	for _, name := range []string{"HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		"XDG_RUNTIME_DIR"} {
		env = append(env, name+"="+dir)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name != "HOME" && name != "TMPDIR" && name != "DISPLAY" && !strings.HasPrefix(name, "XDG_") {
			env = append(env, v)
		}
	}
	return env
}

func (s *server) wait(cmd *exec.Cmd) {
	s.err = cmd.Wait()
	close(s.done)
}

func (s *server) runs() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// kill ends all processes of the server, and returns when none is left.
func (s *server) kill() {
	s.killed = true
	if s.runs() {
		s.group.Kill()
	}
	s.lifeline.Close()
	<-s.done
	// Chromium's crash handlers are not in the group: they would end soon, by themselves.
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		pids := marked(s.mark)
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		time.Sleep(5 * time.Millisecond) // they are not our children: nobody reports their end
	}
	s.group.Close()
}

// marked finds the processes that have the mark, on Linux.
func marked(mark string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || !bytes.Contains(env, []byte(mark+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
