//go:build unix

package vscodeipc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// raceCommands return at about the time when their client cancels them. One also returns
// because of the cancel.
func raceCommands(most time.Duration) map[string]vscodeipc.Handler {
	return map[string]vscodeipc.Handler{
		"race": func(ctx context.Context, c vscodeipc.Call) (any, error) {
			select {
			case <-time.After(rand.N(most)):
				return c.Arg, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		"deaf": func(_ context.Context, c vscodeipc.Call) (any, error) {
			time.Sleep(rand.N(most)) // it works without checking its context
			return c.Arg, nil
		},
	}
}

// TestAnswersRaceCancels cancels many calls at about the time of their responses. Each
// id gets one response, whichever comes first, and is free afterwards. VSCODEIPC_ROUNDS
// sets the number of rounds.
func TestAnswersRaceCancels(t *testing.T) {
	const calls = 120 // with their cancels, fewer than may be in flight
	rounds := 40
	if text := os.Getenv("VSCODEIPC_ROUNDS"); text != "" {
		if _, err := fmt.Sscan(text, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, vscodeipc.ServerOptions{Workspace: home(t), Commands: raceCommands(2 * time.Millisecond)})
	c := dialRaw(t, s.Address())
	outcomes := map[string]int{}
	for round := range rounds {
		var lines strings.Builder
		for i := range calls {
			command := []string{"race", "deaf"}[i%2]
			fmt.Fprintf(&lines, `{"id":"call %d","type":"call","version":1,"payload":{"command":%q,"arg":%d}}`+"\n", i, command, i)
		}
		if _, err := c.Write([]byte(lines.String())); err != nil {
			t.Fatal(err)
		}
		lines.Reset()
		for _, i := range rand.Perm(calls) {
			fmt.Fprintf(&lines, `{"id":"cancel %d","type":"cancel","version":1,"payload":{"id":"call %d"}}`+"\n", i, i)
		}
		time.Sleep(rand.N(2 * time.Millisecond)) // the race is when the cancels are sent
		if _, err := c.Write([]byte(lines.String())); err != nil {
			t.Fatal(err)
		}
		answered := map[string]string{}
		for range 2 * calls {
			m := c.hear()
			id, _ := m["id"].(string)
			if answered[id] != "" {
				t.Fatalf("round %d: %q is answered twice: %s, and then %v", round, id, answered[id], m)
			}
			answered[id] = outcomeOf(m)
			var i int
			if n, _ := fmt.Sscanf(id, "cancel %d", &i); n == 1 && answered[id] == "false" && answered[fmt.Sprint("call ", i)] == "" {
				t.Fatalf("round %d: call %d is not in flight, and not answered either", round, i)
			}
		}
		for i := range calls {
			call, cancel := answered[fmt.Sprint("call ", i)], answered[fmt.Sprint("cancel ", i)]
			fits := call == fmt.Sprint(i) || call == vscodeipc.CodeCancelled && cancel == "true"
			if !fits || cancel != "true" && cancel != "false" {
				t.Fatalf("round %d: call %d gives %q, its cancel %q", round, i, call, cancel)
			}
			outcomes[map[bool]string{true: "cancelled", false: "answered"}[call == vscodeipc.CodeCancelled]]++
		}
	}
	c.say(`{"id":"last","type":"ping","version":1}`)
	if m := c.hear(); m["id"] != "last" {
		t.Errorf("after all answers came one more: %v", m)
	}
	if outcomes["cancelled"] == 0 || outcomes["answered"] == 0 {
		t.Errorf("there was no race: %v", outcomes)
	}
}

// outcomeOf is an error's code, a result, or whether a cancel found a call.
func outcomeOf(m map[string]any) string {
	if fault, ok := m["error"].(map[string]any); ok {
		return fmt.Sprint(fault["code"])
	}
	payload, _ := m["payload"].(map[string]any)
	if found, ok := payload["cancelled"]; ok {
		return fmt.Sprint(found)
	}
	return fmt.Sprint(payload["result"])
}

// TestWindowThatDoesNotRead: a request that cannot be written is cancelled, one that is
// partly written is finished, and the connection stays usable.
func TestWindowThatDoesNotRead(t *testing.T) {
	home(t)
	l, address := listenAs(t)
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			conn.Read(make([]byte, 1<<10)) // the hello
			conn.Write(answerHello(nil))
		}
		accepted <- conn
	}()
	c := dial(t, address)
	window := <-accepted
	defer window.Close()

	// Larger than the system's buffer: it is partly sent until the window reads.
	large := make(chan error, 1)
	largeCtx, giveUp := context.WithCancel(t.Context())
	go func() { large <- c.Call(largeCtx, "large", strings.Repeat("x", 4<<20), nil) }()
	begun := bufio.NewReader(window)
	if _, err := begun.Peek(1); err != nil {
		t.Fatal(err)
	}
	giveUp()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, "small", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("behind a line that is begun: %v", err)
	}
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for {
			line, err := begun.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	if line := <-lines; !json.Valid(line) || len(line) < 4<<20 {
		t.Errorf("the line that was begun has %d bytes: %.80q", len(line), line)
	}
	if err := <-large; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that was given up: %v", err)
	}
	if line := <-lines; !strings.Contains(string(line), `"cancel"`) {
		t.Errorf("then came %.80q", line)
	}

	// Small requests, until the buffer is full: an unsent one does not end the
	// connection.
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	const many = 200
	var work sync.WaitGroup
	for range many {
		work.Go(func() {
			if err := c.Call(ctx, "small", strings.Repeat("x", 8<<10), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call that could not be written: %.200v", err)
			}
		})
	}
	work.Wait()
	pinged := make(chan error, 1)
	go func() { pinged <- c.Ping(t.Context()) }()
	for line := range lines {
		var request struct {
			ID   int
			Type string
		}
		if err := json.Unmarshal(line, &request); err != nil {
			t.Fatalf("what came is no line: %.80q, %v", line, err)
		}
		if request.Type == "ping" {
			fmt.Fprintf(window, `{"id":%d,"success":true,"payload":{}}`+"\n", request.ID)
			break
		}
	}
	if err := <-pinged; err != nil {
		t.Errorf("afterwards: %v", err)
	}
	c.Close()
	for range lines {
	}
}

// TestCallersThatGiveUp cancel at about the time of their responses, with all other
// calls in flight on the same connection. Each gets its own response or its own
// context's error, and none ends the connection for the others.
func TestCallersThatGiveUp(t *testing.T) {
	const callers, each = 100, 30
	s := serve(t, vscodeipc.ServerOptions{Workspace: home(t), Commands: raceCommands(2 * time.Millisecond)})
	c := dial(t, s.Address())
	var work sync.WaitGroup
	for caller := range callers {
		work.Go(func() {
			for n := range each {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(4*time.Millisecond))
				mine, back := caller*each+n, -1
				err := c.Call(ctx, "race", mine, &back)
				cancel()
				var fault *vscodeipc.Error
				full := errors.As(err, &fault) && fault.Code == vscodeipc.CodeTooMany // cancelled calls that end in a moment count too
				if err == nil && back != mine || err != nil && !full && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("call %d gives %d, %v", mine, back, err)
					return
				}
			}
		})
	}
	work.Wait()
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
