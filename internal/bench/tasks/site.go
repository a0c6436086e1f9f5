package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed pages
var pages embed.FS

// site is the application of one task, at two addresses of different sites. Its state is
// what decides whether the task is done.
type site struct {
	sync.Mutex  // held by every handler, and by the check
	mux         *http.ServeMux
	server      http.Server
	self, other string
}

func openSite() (*site, error) {
	s := &site{mux: http.NewServeMux()}
	s.server.Handler = s.mux
	for _, address := range []*string{&s.self, &s.other} {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			s.server.Close()
			return nil, err
		}
		*address = "http://" + ln.Addr().String()
		go s.server.Serve(ln) // ends with Close
	}
	s.other = strings.Replace(s.other, "127.0.0.1", "localhost", 1)
	s.page("/style.css", "style.css")
	return s, nil
}

func (s *site) close() { s.server.Close() }

// page serves a file of pages; pairs are the names in it and what replaces them.
func (s *site) page(pattern, file string, pairs ...string) {
	if pattern == "/" {
		pattern = "/{$}"
	}
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { s.write(w, file, pairs...) })
}

func (s *site) write(w http.ResponseWriter, file string, pairs ...string) {
	text, err := pages.ReadFile("pages/" + file)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(file)))
	strings.NewReplacer(append(pairs, "{{self}}", s.self, "{{other}}", s.other)...).WriteString(w, string(text))
}

// api answers requests with a JSON body, which may be empty, with JSON. An answer that is
// an error has the status 422.
func (s *site) api(pattern string, answer func(r *http.Request, body map[string]any) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if r.Body != nil && !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			_ = json.NewDecoder(r.Body).Decode(&body) // an empty one leaves it nil
		}
		s.Lock()
		value, err := answer(r, body)
		s.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
		_ = json.NewEncoder(w).Encode(value)
	})
}

// code is a number that only the application knows, so that it can only be read there.
func code(prefix string) string { return fmt.Sprintf("%s-%05d", prefix, rand.IntN(100_000)) }
