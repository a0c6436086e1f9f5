package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"browser-coordinator/coordinator/cdplog"
	"browser-coordinator/coordinator/endpoint"
)

// recording is a file that is being written.
type recording struct {
	program  *program
	file     *os.File
	lines    *json.Encoder
	messages int
}

// record begins a file with what describes the browser.
func (p *program) record(ctx context.Context, hash, name string) (*recording, error) {
	addr, err := endpoint.Address(hash)
	if err != nil {
		return nil, err
	}
	version, err := ask(ctx, addr.TokenURL+"/json/version")
	if err != nil {
		return nil, fmt.Errorf("record: ask the browser who it is: %w", err)
	}
	targets, err := ask(ctx, addr.TokenURL+"/json/list")
	if err != nil {
		return nil, fmt.Errorf("record: ask the browser for its targets: %w", err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("record: %s is there already: name a file that is not", name)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &recording{program: p, file: file, lines: json.NewEncoder(file)}
	r.lines.SetEscapeHTML(false)
	if err := r.lines.Encode(cdplog.Head(withoutToken(version, addr), withoutToken(targets, addr))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// withoutToken takes the secret out of what is kept.
func withoutToken(text json.RawMessage, addr endpoint.Addr) json.RawMessage {
	secret := strings.TrimPrefix(addr.TokenURL, addr.URL)
	return json.RawMessage(strings.ReplaceAll(string(text), secret, ""))
}

// ask gets a discovery document.
func ask(ctx context.Context, url string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, strings.TrimSpace(string(text)))
	}
	return text, err
}

func (r *recording) add(l cdplog.Line) error {
	if l.From != "" {
		r.messages++
	}
	return r.lines.Encode(l)
}

func (r *recording) end() error {
	err := r.file.Close()
	fmt.Fprintf(r.program.err, "%d messages are in %s; `coordinator replay %[2]s` serves them.\n", r.messages, r.file.Name())
	return err
}
