//go:build unix

package vscodeipc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/vscodeipc"
)

// numbered returns a state that contains n.
func numbered(n int) vscodeipc.State {
	return vscodeipc.State{DebugSessions: []vscodeipc.DebugSession{{ID: fmt.Sprint(n), Type: "pwa-chrome"}}}
}

func setState(t testing.TB, s *vscodeipc.Server, state vscodeipc.State) {
	t.Helper()
	if err := s.SetState(state); err != nil {
		t.Fatal(err)
	}
}

func stateOf(t testing.TB, e vscodeipc.Event) vscodeipc.State {
	t.Helper()
	var s vscodeipc.State
	if err := json.Unmarshal(e.Payload, &s); err != nil {
		t.Fatalf("event %+v: %v", e, err)
	}
	return s
}

// TestEventAndCheckHasNoGap subscribes clients while the state changes continuously.
// Each gets every change after its snapshot, once and in order.
func TestEventAndCheckHasNoGap(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	const changes, clients = 400, 20
	var work sync.WaitGroup
	for range clients {
		c := dial(t, s.Address())
		work.Go(func() {
			first, events, err := c.Listen(t.Context(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if first.State.Revision != first.Seq {
				t.Errorf("the snapshot of event %d has revision %d", first.Seq, first.State.Revision)
			}
			for seq := first.Seq + 1; seq <= changes; seq++ {
				e, ok := <-events
				if !ok {
					t.Errorf("the connection ended before event %d: %v", seq, c.Err())
					return
				}
				if e.Seq != seq {
					t.Errorf("event %d came where %d was due", e.Seq, seq)
					return
				}
			}
		})
	}
	work.Go(func() {
		for n := 1; n <= changes; n++ {
			if err := s.SetState(numbered(n)); err != nil {
				t.Error(err)
			}
		}
	})
	work.Wait()
}

func TestResume(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	for n := 1; n <= 10; n++ {
		setState(t, s, numbered(n))
	}
	listen := func(seq int64, session string) (vscodeipc.ListenAnswer, <-chan vscodeipc.Event) {
		t.Helper()
		answer, events, err := dial(t, s.Address()).Listen(t.Context(), &vscodeipc.Resume{Session: session, Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		return answer, events
	}
	answer, events := listen(7, s.Session())
	if !answer.Resumed || answer.State != nil || answer.Seq != 10 {
		t.Errorf("after event 7: %+v", answer)
	}
	for seq := int64(8); seq <= 10; seq++ {
		if e := <-events; e.Seq != seq || stateOf(t, e).Revision != seq {
			t.Errorf("where %d was due came %d with revision %d", seq, e.Seq, stateOf(t, e).Revision)
		}
	}
	setState(t, s, numbered(11))
	if e := <-events; e.Seq != 11 {
		t.Errorf("after the replay came event %d", e.Seq)
	}
	if answer, _ := listen(11, s.Session()); !answer.Resumed {
		t.Errorf("with nothing missed: %+v", answer)
	}
	for name, r := range map[string]vscodeipc.Resume{
		"other session": {Session: "other", Seq: 10},
		"from ahead":    {Session: s.Session(), Seq: 12},
	} {
		if answer, _ := listen(r.Seq, r.Session); answer.Resumed || answer.State == nil || answer.State.Revision != 11 {
			t.Errorf("%s: %+v", name, answer)
		}
	}
	for n := 12; n <= 267; n++ { // the window keeps the last 256 events: 12 to 267
		setState(t, s, numbered(n))
	}
	if answer, _ := listen(11, s.Session()); !answer.Resumed {
		t.Errorf("256 missed: %+v", answer)
	}
	if answer, _ := listen(10, s.Session()); answer.Resumed || answer.State.Revision != 267 {
		t.Errorf("257 missed: %+v", answer)
	}
}

func TestLargeEventsAreKeptWithinBounds(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Events: []string{"big"}})
	for range 6 {
		if err := s.Emit("big", strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	answer, _, err := dial(t, s.Address()).Listen(t.Context(), &vscodeipc.Resume{Session: s.Session(), Seq: 0}, "big")
	if err != nil || answer.Resumed {
		t.Errorf("6 MiB of events were kept: %+v, %v", answer, err)
	}
}

func TestOnlyChangesAreTold(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Events: []string{"note"}})
	c := dial(t, s.Address())
	_, events, err := c.Listen(t.Context(), nil, "state", "note")
	if err != nil {
		t.Fatal(err)
	}
	setState(t, s, vscodeipc.State{Revision: 9}) // empty like the first: no change
	setState(t, s, numbered(1))
	setState(t, s, numbered(1))
	if err := s.Emit("note", map[string]int{"n": 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Emit("bye", nil); err == nil {
		t.Error("an event that is not offered was sent")
	}
	if e := <-events; e.Type != "state" || e.Seq != 1 || stateOf(t, e).Revision != 1 {
		t.Errorf("first came %+v", e)
	}
	if e := <-events; e.Type != "note" || e.Seq != 2 {
		t.Errorf("then came %+v", e)
	}
	if err := c.Unlisten(t.Context(), "state"); err != nil {
		t.Fatal(err)
	}
	setState(t, s, numbered(2))
	if err := s.Emit("note", nil); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.Type != "note" || e.Seq != 4 {
		t.Errorf("after unlisten came %+v", e)
	}
	if a, err := c.State(t.Context()); err != nil || a.Seq != 4 || a.State.Revision != 2 {
		t.Errorf("State gives %+v, %v", a, err)
	}
}

// TestReaderThatNeverReads: the window disconnects it with a reason, and it delays no
// other client.
func TestReaderThatNeverReads(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Events: []string{"big"}})
	stuck := dialRaw(t, s.Address())
	stuck.say(`{"id":1,"type":"listen","version":1,"payload":{"events":["big"]}}`)
	if m := stuck.hear(); m["success"] != true {
		t.Fatalf("listen gives %v", m)
	}
	_, events, err := dial(t, s.Address()).Listen(t.Context(), nil, "big")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	reads := func(n int64) {
		t.Helper()
		if e := <-events; e.Seq != n {
			t.Fatalf("the reader that reads gets event %d for %d", e.Seq, n)
		}
	}
	const tooMany = 17 // a little over 1 MiB each
	for n := int64(1); n <= tooMany; n++ {
		if err := s.Emit("big", text); err != nil {
			t.Fatal(err)
		}
		if n < tooMany {
			reads(n)
		}
	}
	// Read at once: the window waits only a second for its last line to be sent.
	all, err := io.ReadAll(stuck.lines)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(all, []byte("\n"))
	if last := lines[len(lines)-2]; !bytes.Contains(last, []byte(`"type":"bye","payload":{"reason":"slow_reader"`)) {
		t.Errorf("the last line is %.80q", last)
	}
	for n, line := range lines[:len(lines)-1] { // the first was sent in part before
		if !json.Valid(line) {
			t.Errorf("line %d is cut short: %.80q", n, line)
		}
	}
	reads(tooMany)
}

func TestProgramThatLeavesEventsUnread(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	c := dial(t, s.Address())
	if _, _, err := c.Listen(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		setState(t, s, numbered(n))
	}
	<-c.Done()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "unread") {
		t.Errorf("it ended with %v", err)
	}
}

func TestTwoHundredClients(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	const clients, changes = 200, 20
	var work sync.WaitGroup
	for range clients {
		c := dial(t, s.Address())
		_, events, err := c.Listen(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		work.Go(func() {
			for seq := int64(1); seq <= changes; seq++ {
				if e := <-events; e.Seq != seq {
					t.Errorf("event %d came where %d was due: %v", e.Seq, seq, c.Err())
					return
				}
			}
		})
	}
	for n := 1; n <= changes; n++ {
		setState(t, s, numbered(n))
	}
	work.Wait()
}

func TestStateTooLargeIsRefused(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	state := numbered(1)
	state.DebugSessions[0].Name = strings.Repeat("x", 7<<20)
	if err := s.SetState(state); err == nil {
		t.Error("a state over the limit was taken")
	}
	if got := s.State(); got.Revision != 0 {
		t.Errorf("the state is at revision %d", got.Revision)
	}
	// Every state that SetState accepts can be sent in every kind of message.
	state.DebugSessions[0].Name = strings.Repeat("x", 7<<20-500)
	setState(t, s, state)
	c := dial(t, s.Address())
	if got := c.Hello().State.Revision; got != 1 {
		t.Errorf("the hello tells of revision %d", got)
	}
	if listen, _, err := c.Listen(t.Context(), nil); err != nil || listen.State.Revision != 1 {
		t.Errorf("listen gives %v", err)
	}
}
