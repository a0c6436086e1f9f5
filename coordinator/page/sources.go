package page

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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
	"browser-coordinator/coordinator/sourcemap"
)

// sources maps positions in the scripts that a browser runs to positions in the
// workspace files that they were built from.
type sources struct {
	folders []string

	mu      sync.Mutex // guards scripts
	scripts map[string]*script
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
	// mapPatience bounds the wait for a source map.
	mapPatience = 2 * time.Second
	// contentPatience bounds the wait for a script's text from the page.
	contentPatience = 300 * time.Millisecond
	// locatePatience bounds the time that mapping positions adds to an action.
	locatePatience = 500 * time.Millisecond
)

// inScript matches script positions in the text of a stack.
var inScript = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:https?|file)://[^\s()"']+?:\d+:\d+`) })

// Locate replaces the positions in messages, and in the stacks in their texts, by
// positions in workspace files, where source maps and file names lead to them.
func (p *Page) Locate(ctx context.Context, messages []history.Message) []history.Message {
	if len(p.browser.sources.folders) == 0 {
		return messages
	}
	ctx, cancel := context.WithTimeout(ctx, mapPatience)
	defer cancel()
	for i, m := range messages {
		if ctx.Err() != nil {
			return messages
		}
		if m.URL != "" && m.Line > 0 {
			messages[i].Place, _ = p.locate(ctx, m.URL, m.Line, m.Column)
		}
		messages[i].Text = inScript().ReplaceAllStringFunc(m.Text, func(at string) string {
			address, line, column := splitPlace(at)
			if place, ok := p.locate(ctx, address, line, column); ok {
				return place
			}
			return at
		})
	}
	return messages
}

// locatePause finds the position in the workspace where script is paused. It has a
// timeout of its own, because the call that the pause ended has no time left.
func (p *Page) locatePause(at Paused) Paused {
	if len(p.browser.sources.folders) == 0 || at.URL == "" || at.Place != "" {
		return at
	}
	ctx, cancel := context.WithTimeout(context.Background(), mapPatience)
	defer cancel()
	at.Place, _ = p.locate(ctx, at.URL, at.Line, at.Column)
	return at
}

// splitPlace splits address:line:column.
func splitPlace(s string) (address string, line, column int) {
	i := strings.LastIndexByte(s, ':')
	j := strings.LastIndexByte(s[:i], ':')
	line, _ = strconv.Atoi(s[j+1 : i])
	column, _ = strconv.Atoi(s[i+1:])
	return s[:j], line, column
}

// locate returns a position in the workspace as file:line:column. If the column is
// unknown (0), the whole line must map to one source line.
func (p *Page) locate(ctx context.Context, address string, line, column int) (string, bool) {
	all := p.browser.sources
	s := all.script(ctx, p, address)
	file := s.file
	if s.m != nil {
		at, ok := s.m.Find(line, max(column, 1))
		if !ok {
			return "", false
		}
		if end, _ := s.m.Find(line, math.MaxInt32); column == 0 && (end.Line != at.Line || end.Source.URL != at.Source.URL) {
			return "", false
		}
		file, ok = sourcemap.File(all.folders, at.Source)
		if !ok {
			// A source outside of the workspace is still more helpful than a bundle.
			return fmt.Sprintf("%s:%d:%d", at.Source.URL, at.Line, at.Column), true
		}
		line, column = at.Line, at.Column
	}
	if file == "" {
		return "", false
	}
	return fmt.Sprintf("%s:%d:%d", all.name(file), line, max(column, 1)), true
}

// name is a file's name for the user: relative to the only workspace folder, else absolute.
func (s *sources) name(file string) string {
	if len(s.folders) == 1 {
		for _, dir := range s.folders {
			if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel)
			}
		}
	}
	return file
}

// script returns what is known about a script. It reads the script once per document.
func (s *sources) script(ctx context.Context, p *Page, address string) *script {
	p.mu.Lock()
	key := fmt.Sprintf("%s %d %s", p.id, p.commits, address)
	p.mu.Unlock()
	s.mu.Lock()
	found := s.scripts[key]
	if found == nil {
		if len(s.scripts) >= maxScripts {
			clear(s.scripts)
		}
		found = &script{}
		s.scripts[key] = found
	}
	s.mu.Unlock()
	found.once.Do(func() {
		if err := s.read(ctx, p, address, found); err != nil {
			p.browser.log.Debug("page: no source map", "script", address, "err", err)
			if ctx.Err() != nil { // the next call may have more time left
				s.mu.Lock()
				delete(s.scripts, key)
				s.mu.Unlock()
			}
		}
	})
	return found
}

func (s *sources) read(ctx context.Context, p *Page, address string, found *script) error {
	text, reference, err := p.scriptText(ctx, address)
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

// scriptText returns a script's text from the page, and the URL of the source map in
// its response headers.
func (p *Page) scriptText(ctx context.Context, address string) (text, reference string, err error) {
	loaded, err := p.history.Network.Load(ctx, address)
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
	// The page does not have the text of a worker's script. Such a script has a recorded
	// request or is a blob. The page returns no text during its first pause.
	if !loaded.Seen && !strings.HasPrefix(address, "blob:") {
		bounded, cancel := context.WithTimeout(ctx, contentPatience)
		defer cancel()
		if content, err := p.history.Network.ResourceContent(bounded, address); err == nil {
			return string(content), reference, nil
		}
	}
	data, err := p.browser.sources.fetch(ctx, address, address)
	return string(data), reference, err
}

var errElsewhere = errors.New("it is neither in the page, nor in the workspace, nor at the script's own loopback server")

// fetch reads a script or its source map: from a data URL, a file of the workspace, or the
// loopback server that served the script. A page must not make this process send
// requests to any other server.
func (s *sources) fetch(ctx context.Context, script, address string) ([]byte, error) {
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
