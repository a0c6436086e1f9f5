package trusted

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAttacker is the program of another user in TestRaceForFolder: whenever a name in a shared folder is
// free, it takes the name with a folder of its own, or a link to one of the user's.
func TestAttacker(t *testing.T) {
	name, target := os.Getenv("ATTACKED"), os.Getenv("TARGET")
	if name == "" {
		t.Skip("it runs in a process of its own")
	}
	for os.Getppid() != 1 {
		// The name is free for about as long as the check and the making take.
		for range rand.IntN(200) {
			_ = os.Getppid()
		}
		if rand.IntN(4) == 0 {
			_ = os.Mkdir(name, 0o777)
		} else {
			_ = os.Symlink(target, name)
		}
		for range rand.IntN(200) {
			_ = os.Getppid()
		}
		_ = os.Remove(name)
	}
}

// TestRaceForFolder: another user who makes a missing folder, or a link in its place, in the moment between
// the check of what is above and the making, gets the user to make nothing in it.
func TestRaceForFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a program of another user")
	}
	base, err := os.MkdirTemp("/tmp", "race-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	shared, target, program := filepath.Join(base, "shared"), filepath.Join(base, "private"), filepath.Join(base, "attacker")
	text, err := os.ReadFile("/proc/self/exe")
	if err := errors.Join(err, os.Chmod(base, 0o755), os.Mkdir(shared, 0o777), os.Chmod(shared, 0o777|os.ModeSticky),
		os.Mkdir(target, 0o700), os.WriteFile(program, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(shared, "state")
	attacker := exec.CommandContext(t.Context(), program, "-test.run=TestAttacker")
	attacker.Dir, attacker.Env = "/", append(os.Environ(), "ATTACKED="+name, "TARGET="+target)
	attacker.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321},
		Pdeathsig: unix.SIGKILL}
	if err := attacker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = attacker.Process.Kill()
		_ = attacker.Wait()
	})
	made, refused := 0, 0
	for round := 0; round < 20000 && (made < 200 || refused < 200); round++ {
		err := MakeFolder(filepath.Join(name, "of", "browser"), PrivateFolder)
		if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
			t.Fatalf("round %d: %v was made through a link of another user, %v", round, entries, err)
		}
		if err != nil {
			refused++
			continue
		}
		made++
		for at := filepath.Join(name, "of", "browser"); at != shared; at = filepath.Dir(at) {
			if err := Folder(at, PrivateFolder); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d made, %d refused", made, refused)
	if made == 0 || refused == 0 {
		t.Error("there was no race")
	}
}
