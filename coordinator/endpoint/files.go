package endpoint

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"

	"browser-coordinator/internal/trusted"
)

// files is what one window's endpoint keeps on disk: endpoint-HASH.json (the port),
// endpoint-HASH.token, endpoint-HASH.lock, and endpoint-HASH.sock while it is served.
type files struct {
	dir   string
	hash  string
	id    uint64
	token string
}

// filesOf are the files of the window with this hash (16 hex digits), which need not be
// there. Without them the token is empty.
func filesOf(hash string) (*files, error) {
	id, err := strconv.ParseUint(hash, 16, 64)
	if err != nil || len(hash) != 16 || strings.ToLower(hash) != hash {
		return nil, fmt.Errorf("%q is not a window's hash (16 hex digits in lower case)", hash)
	}
	f := &files{dir: StatePath(), hash: hash, id: id}
	if err := checkState(); err != nil {
		return f, err
	}
	f.token, err = f.readToken()
	return f, err
}

// checkState refuses the folder of StateDir if another user could have put files there.
// It may not exist.
func checkState() error {
	err := trusted.FolderAndParents(StatePath(), trusted.PrivateFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// openFiles is filesOf, and makes the token if there is none.
func openFiles(hash string) (*files, error) {
	f, err := filesOf(hash)
	if f == nil || f.token != "" {
		return f, err
	}
	if _, err := StateDir(); err != nil {
		return nil, err
	}
	f.token, err = f.ensureToken()
	return f, err
}

// StateDir is the folder for state that outlives a program. It makes the folder if there
// is none, and refuses one that another user may enter or replace.
func StateDir() (string, error) {
	if err := CheckStateHome(); err != nil {
		return "", err
	}
	dir := StatePath()
	// The tokens in it give access to browsers to every process that knows them.
	if err := trusted.MakeFolder(dir); err != nil {
		return "", &StateDirError{dir, err}
	}
	return dir, nil
}

// StateDirError reports that there is no folder for state that outlives a program.
type StateDirError struct {
	Dir string
	Err error
}

func (e *StateDirError) Error() string {
	if errors.Is(e.Err, trusted.ErrForeign) {
		return e.Err.Error()
	}
	return fmt.Sprintf("cannot make the folder %s: %v", e.Dir, e.Err)
}

func (e *StateDirError) Unwrap() error { return e.Err }

// CheckStateHome returns an error if the environment does not say where state is kept. The
// xdg package takes the root of the file system then, where no other program finds it.
func CheckStateHome() error {
	if filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
		return nil
	}
	if home, err := os.UserHomeDir(); err != nil || !filepath.IsAbs(home) {
		return errors.New("find the folder for state: neither XDG_STATE_HOME nor HOME is an absolute path; set one of them")
	}
	return nil
}

// StatePath is the path of StateDir, which may not exist.
func StatePath() string { return filepath.Join(stateHome(), "browser-coordinator-mcp") }

// stateHome is the current XDG_STATE_HOME; the xdg package keeps the value from the start
// of the program.
func stateHome() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return xdg.StateHome
}

func (f *files) path(kind string) string {
	return filepath.Join(f.dir, "endpoint-"+f.hash+"."+kind)
}

// ensureToken reads the window's token, and makes one if there is none: no file, or a
// file without a token, which a disk failure may leave.
func (f *files) ensureToken() (string, error) {
	if token, err := f.readToken(); token != "" || err != nil {
		return token, err
	}
	unlock, err := f.lockChoice()
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	defer unlock()
	if token, err := f.readToken(); token != "" || err != nil {
		return token, err // made meanwhile
	}
	var secret [32]byte
	rand.Read(secret[:])
	token := hex.EncodeToString(secret[:])
	return token, f.write("token", token)
}

// readToken returns "" where there is none.
func (f *files) readToken() (string, error) {
	b, err := trusted.ReadFile(f.path("token"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != 32 {
		return "", nil
	}
	return token, nil
}

// lockChoice admits one process at a time to the choice of a port, for all windows: so no
// two choose the same.
func (f *files) lockChoice() (unlock func() error, err error) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	lock := flock.New(filepath.Join(f.dir, "endpoint-ports.lock"), flock.SetPermissions(0o600))
	_, err = trusted.Lock(lock.Path(), func() (bool, error) { return lock.TryLockContext(ctx, 5*time.Millisecond) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("another coordinator has held the lock %s for %v: it may be stopped. See: coordinator doctor", lock.Path(), limit)
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return lock.Close, nil
}

// write puts a line into the window's file of that kind, with mode 0600. The file is
// written completely or not at all, also after a power cut.
func (f *files) write(kind, line string) error {
	temp, err := os.CreateTemp(f.dir, ".endpoint-"+f.hash+"."+kind+".*")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(line + "\n")
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.path(kind))
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// readPort returns the port that is remembered in a state file, 0 if none is.
func readPort(path string) int {
	b, err := trusted.ReadFile(path)
	if err != nil {
		return 0
	}
	var s struct{ Port int }
	if json.Unmarshal(b, &s) != nil || s.Port < FirstPort || s.Port >= FirstPort+Ports {
		return 0
	}
	return s.Port
}

// port returns the remembered port, unless that is taken, a port of another program.
// Otherwise it chooses the first port of the window's sequence that no other window
// remembers and no program listens on, and remembers it.
func (f *files) port(taken int) (int, error) {
	if port := readPort(f.path("json")); port != 0 && port != taken {
		return port, nil
	}
	unlock, err := f.lockChoice()
	if err != nil {
		return 0, fmt.Errorf("choose a port: %w", err)
	}
	defer unlock()
	if port := readPort(f.path("json")); port != 0 && port != taken {
		return port, nil // chosen meanwhile
	}
	port, err := f.choose(taken)
	if err != nil {
		return 0, err
	}
	return port, f.write("json", fmt.Sprintf(`{"port":%d}`, port))
}

// choose returns the first port of the window's sequence that no other window remembers,
// no program listens on, and is not taken.
func (f *files) choose(taken int) (int, error) {
	claimed, err := f.claimed()
	if err != nil {
		return 0, err
	}
	for n := range Ports {
		if port := candidate(f.id, n); port != taken && !claimed[port] && isFree(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("every port from %d to %d is taken", FirstPort, FirstPort+Ports-1)
}

// claimed has the ports that other windows remember, served or not.
func (f *files) claimed() (map[int]bool, error) {
	paths, err := filepath.Glob(filepath.Join(f.dir, "endpoint-*.json"))
	if err != nil {
		return nil, err
	}
	ports := make(map[int]bool)
	for _, path := range paths {
		if path != f.path("json") {
			ports[readPort(path)] = true
		}
	}
	return ports, nil
}

func isFree(port int) bool {
	lns, err := listen(port)
	if err != nil {
		return false
	}
	for _, ln := range lns {
		ln.Close()
	}
	return true
}
