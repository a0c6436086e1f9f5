package main

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

// recording is a file that is being written.
type recording struct {
	program  *program
	hash     string
	file     *os.File
	lines    *json.Encoder
	begun    bool // what describes the browser is written
	messages int
	lost     int
	failed   bool // to write
}

// record begins a file.
func (p *program) record(hash, name string) (*recording, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("record: %s is there already: name a file that is not", name)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("record: the folder of %s is not there: make it, or name a file elsewhere", name)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %s cannot be made (%w): name a file elsewhere", name, bare(err))
	}
	r := &recording{program: p, hash: hash, file: file, lines: json.NewEncoder(file)}
	r.lines.SetEscapeHTML(false)
	return r, nil
}

// begin writes what describes the browser, which is there when a client speaks.
func (r *recording) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addr, err := endpoint.Ask(ctx, r.hash) // which proves that it is not a stranger's
	if err != nil {
		return err
	}
	version, err := dial.Get(ctx, addr.ClientURL()+"/json/version", maxDiscovery, nil)
	if err != nil {
		return fmt.Errorf("record: ask the browser who it is: %w", err)
	}
	targets, err := dial.Get(ctx, addr.ClientURL()+"/json/list", maxDiscovery, nil)
	if err != nil {
		return fmt.Errorf("record: ask the browser for its targets: %w", err)
	}
	r.begun = true
	return r.write(cdplog.Head(withoutToken(version, addr), withoutToken(targets, addr)))
}

// withoutToken takes the secret out of what is kept.
func withoutToken(text json.RawMessage, addr endpoint.Addr) json.RawMessage {
	secret := strings.TrimPrefix(addr.TokenURL, addr.URL)
	return json.RawMessage(strings.ReplaceAll(string(text), secret, ""))
}

func (r *recording) add(ctx context.Context, l cdplog.Line) error {
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

func (r *recording) write(l cdplog.Line) error {
	err := r.lines.Encode(l)
	if err != nil {
		r.failed = true
	}
	return err
}

// end closes the file, and says in it and to the person why it ends too early, if it
// does: nil is an orderly end.
func (r *recording) end(why error) error {
	if why != nil && r.begun && !r.failed {
		r.write(cdplog.Line{Time: time.Now(), Cut: why.Error()})
	}
	name := r.file.Name()
	there := r.there()
	err := r.file.Close()
	r.failed = r.failed || err != nil
	switch {
	case !there:
		return errors.Join(err, fmt.Errorf("record: %s is gone: it, or its folder, was moved or removed while it was written", name))
	case r.messages == 0:
		r.program.notice("Nothing that a client said was recorded: %s is not kept.\n", name)
		return errors.Join(err, os.Remove(name))
	case r.lost > 0:
		r.program.notice("%d messages are in %s, and %d are missing, since they came too fast: it cannot be replayed.\n", r.messages, name, r.lost)
	case r.failed || why != nil:
		r.program.notice("%d messages are in %s, which is cut off; `coordinator replay %s` serves what there is.\n", r.messages, name, terminal.Word(name))
	default:
		r.program.notice("%d messages are in %s; `coordinator replay %s` serves them.\n", r.messages, name, terminal.Word(name))
	}
	return err
}

// there says whether the file is still where it was made.
func (r *recording) there() bool {
	written, err := r.file.Stat()
	if err != nil {
		return true // as far as is known
	}
	found, err := os.Stat(r.file.Name())
	return err == nil && os.SameFile(written, found)
}
