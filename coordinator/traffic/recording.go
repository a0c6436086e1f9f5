package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/terminal"
)

// maxDiscovery bounds a discovery document, in bytes.
const maxDiscovery = 16 << 20

// Recording is a file that is being written.
type Recording struct {
	hash     string
	file     *os.File
	lines    *json.Encoder
	begun    bool // the first line is written
	messages int
	lost     int
	failed   bool // to write
}

// Create creates the file for a recording of a window's endpoint.
func Create(hash, name string) (*Recording, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("record: %s is there already: name a file that is not", name)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("record: the folder of %s is not there: make it, or name a file elsewhere", name)
	case err != nil:
		return nil, fmt.Errorf("record: %s cannot be made (%w): name a file elsewhere", name, errors.Unwrap(err))
	}
	r := &Recording{hash: hash, file: file, lines: json.NewEncoder(file)}
	r.lines.SetEscapeHTML(false)
	return r, nil
}

// begin writes the first line. When a client sends a message, there is a browser.
func (r *Recording) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addr, err := endpoint.Ask(ctx, r.hash) // which proves that a coordinator serves it
	if err != nil {
		return err
	}
	// The token is not recorded.
	get := func(path string) (json.RawMessage, error) {
		text, err := dial.Get(ctx, addr.ClientURL()+path, maxDiscovery, nil)
		if err != nil {
			return nil, fmt.Errorf("record: ask the browser for %s: %w", path, err)
		}
		secret := strings.TrimPrefix(addr.TokenURL, addr.URL)
		return json.RawMessage(strings.ReplaceAll(string(text), secret, "")), nil
	}
	version, err := get("/json/version")
	if err != nil {
		return err
	}
	targets, err := get("/json/list")
	if err != nil {
		return err
	}
	r.begun = true
	return r.write(cdplog.Line{Format: cdplog.Format, Version: cdplog.Version, Browser: version, Targets: targets})
}

// Add writes a line.
func (r *Recording) Add(ctx context.Context, l cdplog.Line) error {
	if !r.begun {
		if err := r.begin(ctx); err != nil {
			return err
		}
	}
	err := r.write(l)
	if err == nil && l.From != "" {
		r.messages++
	}
	r.lost += l.Lost
	return err
}

func (r *Recording) write(l cdplog.Line) error {
	err := r.lines.Encode(l)
	r.failed = r.failed || err != nil
	return err
}

// Close ends the file. If reason is not nil, the recording ends too early, and a last
// line has the reason. The summary is for the user.
func (r *Recording) Close(reason error) (summary string, err error) {
	if reason != nil && r.begun && !r.failed {
		r.write(cdplog.Line{Time: time.Now(), Cut: reason.Error()})
	}
	name, exists := r.file.Name(), r.exists()
	err = r.file.Close()
	switch {
	case !exists:
		return "", errors.Join(err, fmt.Errorf("record: %s is gone: it, or its folder, was moved or removed while it was written", name))
	case r.messages == 0:
		summary = fmt.Sprintf("No message of a client was recorded: %s is not kept.", name)
		err = errors.Join(err, os.Remove(name))
	case r.lost > 0:
		summary = fmt.Sprintf("%d messages are in %s, and %d are missing, since they came too fast: it cannot be replayed.", r.messages, name, r.lost)
	case r.failed || err != nil || reason != nil:
		summary = fmt.Sprintf("%d messages are in %s, which is cut off; `coordinator replay %s` serves what there is.", r.messages, name, terminal.Word(name))
	default:
		summary = fmt.Sprintf("%d messages are in %s; `coordinator replay %s` serves them.", r.messages, name, terminal.Word(name))
	}
	return summary, err
}

// exists reports whether the file is still where it was created.
func (r *Recording) exists() bool {
	written, err := r.file.Stat()
	if err != nil {
		return true // as far as is known
	}
	found, err := os.Stat(r.file.Name())
	return err == nil && os.SameFile(written, found)
}
