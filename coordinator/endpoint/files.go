package endpoint

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/fspath"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
)

// files is what one window's endpoint keeps on disk: endpoint-HASH.json (its state),
// endpoint-HASH.lock, and endpoint-HASH.sock while it is served.
type files struct {
	dir  string
	hash string
	id   uint64
	record
}

// record outlives the endpoint. What is missing or damaged has its zero value.
type record struct {
	Port      int    `json:"port"`
	Token     string `json:"token"`
	Workspace string `json:"workspace,omitempty"` // for List
}

// filesOf are the files of the window with this hash (16 hex digits), which need not
// exist.
func filesOf(hash string) (*files, error) {
	if !isHash(hash) {
		return nil, fmt.Errorf("%q is not a window's hash (16 hex digits in lower case)", hash)
	}
	id, _ := strconv.ParseUint(hash, 16, 64)
	f := &files{dir: statedir.Path(), hash: hash, id: id}
	err := checkState()
	if err == nil {
		f.record, err = readRecord(f.path("json"))
	}
	return f, err
}

func isHash(text string) bool { return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == "" }

// checkState refuses the folder for state if another user could have put files there.
// It may not exist.
func checkState() error {
	err := trusted.FolderAndParents(statedir.Path(), trusted.PrivateFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// openFiles is filesOf, and completes the state.
func openFiles(hash string) (*files, error) {
	f, err := filesOf(hash)
	if err != nil {
		return nil, err
	}
	if _, err := statedir.Make(); err != nil {
		return nil, err
	}
	return f, f.complete(0)
}

func (f *files) path(kind string) string {
	return filepath.Join(f.dir, "endpoint-"+f.hash+"."+kind)
}

// readRecord reads a file of a window's record. It has no error for one that is missing or
// damaged, as a disk failure may leave it.
func readRecord(path string) (s record, err error) {
	text, err := trusted.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if json.Unmarshal(text, &s) != nil {
		return record{}, nil
	}
	if s.Port < FirstPort || s.Port >= FirstPort+Ports {
		s.Port = 0
	}
	if raw, err := hex.DecodeString(s.Token); err != nil || len(raw) != 32 {
		s.Token = ""
	}
	return s, nil
}

// complete reads the state again. It fills in a missing token, and another port if none is
// remembered or that one is taken by another program.
func (f *files) complete(occupied int) (err error) {
	isComplete := func(s record) bool { return s.Token != "" && s.Port != 0 && s.Port != occupied }
	if f.record, err = readRecord(f.path("json")); err != nil || isComplete(f.record) {
		return err
	}
	return f.change(func(s *record) (err error) {
		if s.Token == "" {
			var secret [32]byte
			rand.Read(secret[:])
			s.Token = hex.EncodeToString(secret[:])
		}
		if !isComplete(*s) {
			s.Port, err = f.choose(occupied)
		}
		return err
	})
}

// change edits the state. One process at a time does that, for all windows: so no two
// choose the same port.
func (f *files) change(edit func(*record) error) error {
	unlock, err := f.lockChoice()
	if err != nil {
		return fmt.Errorf("change what is kept for the endpoint: %w", err)
	}
	defer unlock()
	if f.record, err = readRecord(f.path("json")); err != nil {
		return err
	}
	if err := edit(&f.record); err != nil {
		return err
	}
	text, err := json.Marshal(f.record)
	if err != nil {
		return err
	}
	return fspath.WriteDurably(f.path("json"), bytes.NewReader(text))
}

// lockChoice admits one process at a time.
func (f *files) lockChoice() (unlock func() error, err error) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	lock := flock.New(filepath.Join(f.dir, "endpoint-ports.lock"), flock.SetPermissions(0o600))
	_, err = trusted.Lock(lock, func() (bool, error) { return lock.TryLockContext(ctx, 5*time.Millisecond) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("another coordinator has held the lock %s for %v: it may be suspended. Run "+
			"`coordinator doctor`", lock.Path(), limit)
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return lock.Close, nil
}

// choose returns the first port of the window's sequence that no other window remembers,
// no program listens on, and is not taken.
func (f *files) choose(occupied int) (int, error) {
	claimed, err := f.claimed()
	if err != nil {
		return 0, err
	}
	for n := range Ports {
		if port := candidate(f.id, n); port != occupied && !claimed[port] && isFree(port) {
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
			other, _ := readRecord(path) // doctor reports one that cannot be read
			ports[other.Port] = true
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
