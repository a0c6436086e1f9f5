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
	hash     string
	file     *os.File
	lines    *json.Encoder
	begun    bool // what describes the browser is written
	messages int
}

// record begins a file.
func (p *program) record(hash, name string) (*recording, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("record: %s is there already: name a file that is not", name)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &recording{program: p, hash: hash, file: file, lines: json.NewEncoder(file)}
	r.lines.SetEscapeHTML(false)
	return r, nil
}

// begin writes what describes the browser, which is there when a client speaks.
func (r *recording) begin(ctx context.Context) error {
	addr, err := endpoint.Address(r.hash)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	version, err := ask(ctx, addr.TokenURL+"/json/version")
	if err != nil {
		return fmt.Errorf("record: ask the browser who it is: %w", err)
	}
	targets, err := ask(ctx, addr.TokenURL+"/json/list")
	if err != nil {
		return fmt.Errorf("record: ask the browser for its targets: %w", err)
	}
	r.begun = true
	return r.lines.Encode(cdplog.Head(withoutToken(version, addr), withoutToken(targets, addr)))
}

// withoutToken takes the secret out of what is kept.
func withoutToken(text json.RawMessage, addr endpoint.Addr) json.RawMessage {
	secret := strings.TrimPrefix(addr.TokenURL, addr.URL)
	return json.RawMessage(strings.ReplaceAll(string(text), secret, ""))
}

// ask gets a discovery document.
func ask(ctx context.Context, url string) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultTransport.RoundTrip(req) // whose errors do not have the address, and so not the token
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

func (r *recording) add(ctx context.Context, l cdplog.Line) error {
	if !r.begun {
		if err := r.begin(ctx); err != nil {
			return err
		}
	}
	if l.From != "" {
		r.messages++
	}
	return r.lines.Encode(l)
}

func (r *recording) end() error {
	err := r.file.Close()
	if !r.begun {
		fmt.Fprintf(r.program.err, "No client has said anything: %s is not kept.\n", r.file.Name())
		return errors.Join(err, os.Remove(r.file.Name()))
	}
	fmt.Fprintf(r.program.err, "%d messages are in %s; `coordinator replay %[2]s` serves them.\n", r.messages, r.file.Name())
	return err
}
