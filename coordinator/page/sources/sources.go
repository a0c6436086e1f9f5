// Package sources maps positions in the scripts that a page runs to positions in the
// workspace files that they were built from.
package sources

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/remote"
	"browser-coordinator/coordinator/sourcemap"
	"browser-coordinator/internal/fspath"
)

// Sources maps the positions in the scripts of one page.
type Sources struct {
	life    *lifecycle.Lifecycle
	network *history.Network
	folders []string // of the workspace
	log     *slog.Logger

	mu       sync.Mutex         // guards the fields that follow
	document int                // whose scripts these are, as Lifecycle.Documents
	scripts  map[string]*script // by address
}

// New returns the sources of a page's scripts in the workspace folders.
func New(life *lifecycle.Lifecycle, network *history.Network, folders []string, log *slog.Logger) *Sources {
	return &Sources{life: life, network: network, folders: folders, log: log, scripts: map[string]*script{}}
}

// script is what is known about one script of one document.
type script struct {
	once sync.Once
	m    *sourcemap.Map // nil: none
	file string         // the workspace file that the script is; empty: none
}

const (
	// maxScripts bounds the number of cached scripts.
	maxScripts = 500
	// maxMap bounds a source map, in bytes.
	maxMap = 64 << 20
	// mapTimeout bounds the wait for a source map.
	mapTimeout = 2 * time.Second
)

// inScript matches script positions in the text of a stack.
var inScript = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:https?|file)://[^\s()"']+?:\d+:\d+`)
})

// Locate looks positions up in the workspace, where source maps and file names lead to files there.
func (s *Sources) Locate(ctx context.Context, positions ...*remote.Position) {
	if len(s.folders) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mapTimeout)
	defer cancel()
	for _, p := range positions {
		if p.Place == "" && p.URL != "" && p.Line > 0 && ctx.Err() == nil {
			p.Place, _ = s.place(ctx, p.URL, p.Line, p.Column)
		}
	}
}

// LocateMessages is Locate for messages, and replaces the positions in the stacks in their texts.
func (s *Sources) LocateMessages(ctx context.Context, messages []history.Message) {
	if len(s.folders) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mapTimeout)
	defer cancel()
	for i, m := range messages {
		if ctx.Err() != nil {
			return
		}
		s.Locate(ctx, &messages[i].Position)
		messages[i].Text = inScript().ReplaceAllStringFunc(m.Text, func(location string) string {
			address, line, column := splitPosition(location)
			if place, ok := s.place(ctx, address, line, column); ok {
				return place
			}
			return location
		})
	}
}

// LocateRequests finds where in the workspace requests were made: by the innermost call outside of
// libraries.
func (s *Sources) LocateRequests(ctx context.Context, requests []history.Request) {
	if len(s.folders) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mapTimeout)
	defer cancel()
	for i := range requests {
		r := &requests[i]
		for n := 0; n < len(r.Calls) && r.Place == "" && ctx.Err() == nil; n++ {
			place, _ := s.place(ctx, r.Calls[n].URL, r.Calls[n].Line, r.Calls[n].Column)
			if !ofLibrary(place) {
				r.Place = place
			}
		}
	}
}

// ofLibrary reports whether a place is in a library that the workspace uses.
func ofLibrary(place string) bool { return strings.Contains(place, "node_modules/") }

// OfComponent finds where a component is used, given the stack of its creation. That is
// the first position outside of libraries, else the position of the component's own
// function in its script.
func (s *Sources) OfComponent(ctx context.Context, stack, name string) string {
	ctx, cancel := context.WithTimeout(ctx, mapTimeout)
	defer cancel()
	fallback := ""
	for call := range strings.Lines(stack) {
		location := inScript().FindString(call)
		if location == "" {
			continue
		}
		address, line, column := splitPosition(location)
		place, mapped := s.place(ctx, address, line, column)
		if mapped && !ofLibrary(place) {
			return place
		}
		if fallback == "" && strings.Contains(call, "at "+name+" ") {
			fallback = location
		}
	}
	return fallback
}

// splitPosition splits address:line:column.
func splitPosition(s string) (address string, line, column int) {
	i := strings.LastIndexByte(s, ':')
	j := strings.LastIndexByte(s[:i], ':')
	line, _ = strconv.Atoi(s[j+1 : i])
	column, _ = strconv.Atoi(s[i+1:])
	return s[:j], line, column
}

// place returns a position in the workspace as file:line:column. If the column is
// unknown (0), the whole line must map to one source line.
func (s *Sources) place(ctx context.Context, address string, line, column int) (string, bool) {
	found := s.script(ctx, address)
	if found.m != nil {
		return s.mapped(found.m, line, column)
	}
	if found.file == "" {
		return "", false
	}
	return fmt.Sprintf("%s:%d:%d", s.name(found.file), line, max(column, 1)), true
}

// mapped is place by a source map.
func (s *Sources) mapped(m *sourcemap.Map, line, column int) (string, bool) {
	position, ok := m.Find(line, max(column, 1))
	if !ok {
		return "", false
	}
	if end, _ := m.Find(line, math.MaxInt32); column == 0 &&
		(end.Line != position.Line || end.Source.URL != position.Source.URL) {
		return "", false
	}
	file, ok := sourcemap.File(s.folders, position.Source)
	if !ok {
		// A source outside of the workspace is still more helpful than a bundle.
		return fmt.Sprintf("%s:%d:%d", position.Source.URL, position.Line, position.Column), true
	}
	return fmt.Sprintf("%s:%d:%d", s.name(file), position.Line, max(position.Column, 1)), true
}

// LocateInline is Locate by a source map in a data URL, which a style sheet without an address of
// its own has.
func (s *Sources) LocateInline(ctx context.Context, p *remote.Position, reference string) {
	if len(s.folders) == 0 || !strings.HasPrefix(reference, "data:") {
		return
	}
	data, err := s.fetch(ctx, p.URL, reference)
	if err != nil {
		return
	}
	if m, err := sourcemap.Parse(data, p.URL); err == nil {
		p.Place, _ = s.mapped(m, p.Line, p.Column)
	}
}

// name is a file's name for the user: relative to the only workspace folder, else absolute.
func (s *Sources) name(file string) string {
	if len(s.folders) == 1 {
		if rel, ok := fspath.Within(s.folders[0], file); ok {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

// script returns what is known about a script. It reads the script once per document.
func (s *Sources) script(ctx context.Context, address string) *script {
	document := s.life.Documents()
	s.mu.Lock()
	if document != s.document || len(s.scripts) >= maxScripts {
		s.document = document
		clear(s.scripts)
	}
	found := s.scripts[address]
	if found == nil {
		found = &script{}
		s.scripts[address] = found
	}
	s.mu.Unlock()
	found.once.Do(func() {
		if err := s.read(ctx, address, found); err != nil {
			s.log.Debug("page: no source map", "script", address, "err", err)
			if ctx.Err() != nil { // the next call may have more time left
				s.mu.Lock()
				delete(s.scripts, address)
				s.mu.Unlock()
			}
		}
	})
	return found
}

func (s *Sources) read(ctx context.Context, address string, found *script) error {
	text, reference, err := s.text(ctx, address)
	if err != nil {
		return err
	}
	if named := sourcemap.Reference(text, address); named != "" {
		reference = named
	}
	if reference == "" {
		found.file, _ = sourcemap.File(s.folders, sourcemap.Source{URL: address, Content: &text})
		return nil
	}
	data, err := s.fetch(ctx, address, reference)
	if err != nil {
		return err
	}
	if strings.HasPrefix(reference, "data:") {
		reference = address // its sources are then relative to the script
	}
	found.m, err = sourcemap.Parse(data, reference)
	return err
}

// text returns a script's text from the page, and the URL of the source map in
// its response headers.
func (s *Sources) text(ctx context.Context, address string) (text, reference string, err error) {
	loaded, err := s.network.Load(ctx, address)
	for name, value := range loaded.Headers {
		if strings.EqualFold(name, "SourceMap") || strings.EqualFold(name, "X-SourceMap") {
			if base, err := url.Parse(address); err == nil {
				if ref, err := base.Parse(value); err == nil {
					reference = ref.String()
				}
			}
		}
	}
	if err != nil {
		return "", "", err
	}
	if loaded.Kept {
		return string(loaded.Body), reference, nil
	}
	reading, cancel := context.WithTimeout(ctx, mapTimeout/2)
	defer cancel()
	data, err := s.network.ResourceContent(reading, address)
	if err != nil || len(data) == 0 { // it is a worker's, or the page is paused
		data, err = s.fetch(ctx, address, address)
	}
	return string(data), reference, err
}

var errElsewhere = errors.New("it is neither in the page, nor in the workspace, nor at the script's own loopback " +
	"server")

// fetch reads a script or its source map: from a data URL, a file of the workspace, or the
// loopback server that served the script. A page must not make this process send
// requests to any other server.
func (s *Sources) fetch(ctx context.Context, script, address string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		head, body, _ := strings.Cut(rest, ",")
		if strings.HasSuffix(head, ";base64") {
			return base64.StdEncoding.DecodeString(body)
		}
		text, err := url.PathUnescape(body)
		return []byte(text), err
	}
	to, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if to.Scheme == "file" {
		file, ok := sourcemap.File(s.folders, sourcemap.Source{URL: address})
		if !ok {
			return nil, errElsewhere
		}
		return os.ReadFile(file)
	}
	from, err := url.Parse(script)
	if err != nil {
		return nil, err
	}
	if from.Scheme != to.Scheme || from.Host != to.Host || to.Scheme != "http" || !loopback(to.Hostname()) {
		return nil, errElsewhere
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // and no proxy of the environment
		CheckRedirect: func(*http.Request, []*http.Request) error { return errElsewhere },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxMap))
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
