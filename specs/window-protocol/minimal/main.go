// Command minimal is a window of the window protocol in one file, written from the
// protocol's text: see "A minimal window" in ../README.md. Linux and macOS.
//
//	minimal FOLDER    prints its address; each line of its input is a new state
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

type object = map[string]any

const maxLine = 8 << 20

type window struct {
	mu        sync.Mutex
	folder    string
	session   string
	seq       int
	state     object
	listening map[net.Conn]float64 // the version of each client that listens
	clients   map[net.Conn]bool
}

func main() {
	w := &window{
		folder: os.Args[1], session: rand.Text(), listening: map[net.Conn]float64{}, clients: map[net.Conn]bool{},
		state: object{"revision": 0, "debugSessions": []any{}, "browser": nil, "pages": []any{}, "access": object{"mode": "view", "stopped": []any{}}},
	}
	listener, address, err := bind(fmt.Sprintf("%016x", xxh3.HashString(w.folder)))
	if err != nil {
		log.Fatal(err)
	}
	release := unbind(address)
	fmt.Println(address)
	go w.accept(listener)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		w.change(lines.Bytes())
	}
	if err := release(); err != nil {
		log.Fatal(err)
	}
	w.mu.Lock()
	for client := range w.clients {
		send(client, object{"type": "bye", "payload": object{"reason": "shutdown", "message": "the window closes"}})
		client.Close()
	}
}

// bind takes an address by the steps of "Binding".
func bind(hash string) (net.Listener, string, error) {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(os.Getenv("HOME"), ".local/share")
	}
	dir := filepath.Join(data, "browser-coordinator-mcp")
	if len(dir)+1+27 > 103 {
		return nil, "", errors.New("the directory is too long for sockets")
	}
	os.MkdirAll(dir, 0o700)
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return nil, "", fmt.Errorf("%s is not a directory that only its owner may enter: %w", dir, err)
	}
	unlock, err := lock(dir)
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	folder := filepath.Join(dir, fmt.Sprintf(".bind-%d-%08x", os.Getpid(), xxh3.HashString(rand.Text())>>32))
	socket := filepath.Join(folder, "s")
	os.Mkdir(folder, 0o700)
	defer os.Remove(folder)
	defer os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, "", err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	os.Chmod(socket, 0o600)
	for _, suffix := range []string{"", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"} {
		address := filepath.Join(dir, "ipc-"+hash+suffix+".sock")
		if err = os.Link(socket, address); !errors.Is(err, fs.ErrExist) {
			return listener, address, err
		}
	}
	return nil, "", err
}

// lock takes the directory lock.
func lock(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, ".lock")
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(file, os.Getpid())
			return func() { os.Remove(path); file.Close() }, nil
		}
		if time.Since(began) > 2*time.Second {
			return nil, err
		}
	}
}

// unbind returns what removes the name, unless it is another window's by then.
func unbind(address string) (release func() error) {
	ours, _ := os.Lstat(address)
	return func() error {
		unlock, err := lock(filepath.Dir(address))
		if err != nil {
			return err
		}
		defer unlock()
		if now, err := os.Lstat(address); err == nil && os.SameFile(ours, now) && ours.ModTime().Equal(now.ModTime()) {
			return os.Remove(address)
		}
		return nil
	}
}

func (w *window) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		w.mu.Lock()
		w.clients[client] = true
		w.mu.Unlock()
		go w.serve(client)
	}
}

func (w *window) serve(client net.Conn) {
	lines := bufio.NewReaderSize(client, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		w.mu.Lock()
		if errors.Is(err, bufio.ErrBufferFull) {
			fail(client, nil, "too_large", object{})
			send(client, object{"type": "bye", "payload": object{"reason": "too_large", "message": "the line is too long"}})
		}
		if err != nil {
			delete(w.clients, client)
			delete(w.listening, client)
			client.Close()
			w.mu.Unlock()
			return
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			w.answer(client, line)
		}
		w.mu.Unlock()
	}
}

// change takes a state as it stands, and reports it.
func (w *window) change(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	revision := w.state["revision"].(int)
	w.state = object{}
	if err := json.Unmarshal(line, &w.state); err != nil {
		log.Fatal(err)
	}
	w.state["revision"] = revision + 1
	w.seq++
	for client, version := range w.listening {
		send(client, object{"type": "state", "seq": w.seq, "payload": w.stateIn(version)})
	}
}

// stateIn is the state in a version of the protocol.
func (w *window) stateIn(version float64) object {
	if version == 2 {
		return w.state
	}
	state := object{"revision": w.state["revision"], "debugSessions": w.state["debugSessions"], "browser": nil, "pages": []any{}}
	access, _ := w.state["access"].(object)
	if stopped, _ := access["stopped"].([]any); access["mode"] == "full" && len(stopped) == 0 {
		state["browser"], state["pages"] = w.state["browser"], w.state["pages"]
	}
	return state
}

func (w *window) answer(client net.Conn, line []byte) {
	var request object
	if !utf8.Valid(line) || json.Unmarshal(line, &request) != nil || request == nil || !isID(request["id"]) {
		fail(client, nil, "malformed", object{})
		return
	}
	id := request["id"]
	kind, _ := request["type"].(string)
	version, _ := request["version"].(float64)
	if kind == "" || version < 1 || version != math.Trunc(version) {
		fail(client, id, "malformed", object{})
		return
	}
	if version > 2 {
		fail(client, id, "unsupported_version", object{"supported": []int{2, 1}})
		return
	}
	payload, isObject := request["payload"].(object)
	if types := []string{"hello", "ping", "state", "listen", "unlisten", "call", "cancel"}; !slices.Contains(types, kind) {
		fail(client, id, "unknown_type", object{"types": types})
		return
	}
	if _, given := request["payload"]; !isObject && (given || kind != "ping" && kind != "state") {
		fail(client, id, "bad_payload", object{"path": "/payload"})
		return
	}
	switch kind {
	case "hello":
		versions, ok := payload["versions"].([]any)
		peer, isPeer := payload["client"].(object)
		if _, named := peer["name"].(string); !ok || !isPeer || !named {
			fail(client, id, "bad_payload", object{"path": "/payload"})
			return
		}
		version = 2
		if !slices.Contains(versions, any(2.0)) {
			version = 1
		}
		if !slices.Contains(versions, any(version)) {
			fail(client, id, "unsupported_version", object{"supported": []int{2, 1}})
			return
		}
		succeed(client, id, object{
			"version": version, "server": object{"name": "minimal", "version": "1", "kind": "minimal"}, "session": w.session, "pid": os.Getpid(),
			"workspace": w.folder, "folders": []string{w.folder}, "commands": []string{}, "events": []string{"state"},
			"seq": w.seq, "state": w.stateIn(version),
		})
	case "ping":
		succeed(client, id, object{})
	case "state":
		succeed(client, id, object{"session": w.session, "seq": w.seq, "state": w.stateIn(version)})
	case "listen", "unlisten":
		events, ok := payload["events"].([]any)
		if !ok || len(events) == 0 {
			fail(client, id, "bad_payload", object{"path": "/payload/events"})
			return
		}
		if slices.ContainsFunc(events, func(event any) bool { return event != "state" }) {
			fail(client, id, "unknown_event", object{"offered": []string{"state"}})
			return
		}
		if kind == "unlisten" {
			delete(w.listening, client)
			succeed(client, id, object{})
			return
		}
		succeed(client, id, object{"session": w.session, "seq": w.seq, "resumed": false, "state": w.stateIn(version)})
		w.listening[client] = version
	case "call":
		fail(client, id, "unknown_command", object{"offered": []string{}})
	case "cancel":
		succeed(client, id, object{"cancelled": false})
	}
}

func isID(id any) bool {
	switch id := id.(type) {
	case string:
		return id != "" && utf8.RuneCountInString(id) <= 64
	case float64:
		return id >= 0 && id < 1<<53 && id == math.Trunc(id)
	}
	return false
}

func succeed(client net.Conn, id any, payload object) {
	send(client, object{"id": id, "success": true, "payload": payload})
}

func fail(client net.Conn, id any, code string, data object) {
	send(client, object{"id": id, "success": false, "error": object{"code": code, "message": code, "data": data}})
}

// send writes one line, and hangs up on a client that does not read it.
func send(client net.Conn, message object) {
	line, err := json.Marshal(message)
	if err != nil {
		log.Fatal(err)
	}
	client.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := client.Write(append(line, '\n')); err != nil {
		client.Close()
	}
}
