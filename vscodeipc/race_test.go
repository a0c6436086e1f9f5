//go:build unix

package vscodeipc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnswersRaceCancels cancels many calls at about the time of their responses. Each
// id gets one response, whichever comes first, and is free afterwards. VSCODEIPC_ROUNDS
// sets the number of rounds.
func TestAnswersRaceCancels(t *testing.T) {
	const calls = 120 // with their cancels, fewer than may be in flight
	rounds := roundsOr(t, 40)
	const most = 2 * time.Millisecond
	s := serve(t, ServerOptions{Workspace: home(t), Commands: map[string]Handler{
		"race": func(ctx context.Context, c Call) (any, error) {
			select {
			case <-time.After(rand.N(most)):
				return c.Arg, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		"deaf": func(_ context.Context, c Call) (any, error) {
			time.Sleep(rand.N(most)) // it works without checking its context
			return c.Arg, nil
		},
	}})
	c := dialRaw(t, s.Address())
	outcomes := map[string]int{}
	for round := range rounds {
		c.SetDeadline(time.Now().Add(time.Minute))
		var lines strings.Builder
		for i := range calls {
			command := []string{"race", "deaf"}[i%2]
			fmt.Fprintf(&lines, `{"id":"call %d","type":"call","version":2,"payload":{"command":%q,"arg":%d}}`+"\n",
				i, command, i)
		}
		if _, err := c.Write([]byte(lines.String())); err != nil {
			t.Fatal(err)
		}
		lines.Reset()
		for _, i := range rand.Perm(calls) {
			fmt.Fprintf(&lines, `{"id":"cancel %d","type":"cancel","version":2,"payload":{"id":"call %d"}}`+"\n", i, i)
		}
		time.Sleep(rand.N(most)) // the race is when the cancels are sent
		if _, err := c.Write([]byte(lines.String())); err != nil {
			t.Fatal(err)
		}
		answered := map[string]string{}
		for range 2 * calls {
			m := c.receive()
			id, _ := m["id"].(string)
			if answered[id] != "" {
				t.Fatalf("round %d: %q is answered twice: %s, and then %v", round, id, answered[id], m)
			}
			answered[id] = outcomeOf(m)
			var i int
			if n, _ := fmt.Sscanf(id, "cancel %d", &i); n == 1 && answered[id] == "false" &&
				answered[fmt.Sprint("call ", i)] == "" {
				t.Fatalf("round %d: call %d is not in flight, and not answered either", round, i)
			}
		}
		for i := range calls {
			call, cancel := answered[fmt.Sprint("call ", i)], answered[fmt.Sprint("cancel ", i)]
			fits := call == fmt.Sprint(i) || call == codeCancelled && cancel == "true"
			if !fits || cancel != "true" && cancel != "false" {
				t.Fatalf("round %d: call %d gives %q, its cancel %q", round, i, call, cancel)
			}
			outcomes[map[bool]string{true: "cancelled", false: "answered"}[call == codeCancelled]]++
		}
	}
	c.send(`{"id":"last","type":"ping","version":2}`)
	if m := c.receive(); m["id"] != "last" {
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

// TestWindowThatDoesNotRead: a caller that gives up does not wait for the window, a line
// that is begun is sent whole, and the connection stays usable.
func TestWindowThatDoesNotRead(t *testing.T) {
	home(t)
	read := make(chan struct{})
	received := make(chan string, 500)
	c := connect(t, fake(t, name(t, 0), func(conn net.Conn, _ *bufio.Scanner) {
		lines := newLineReader(conn)
		for n := 0; ; n++ {
			line, err := lines.next()
			if err != nil {
				return
			}
			r, fault := decodeRequest(line)
			if fault != nil {
				t.Errorf("the line %.80q is not a request: %v", line, fault)
				return
			}
			received <- r.kind
			switch {
			case n == 0:
				io.WriteString(conn, helloAnswer)
				<-read
			case r.kind == "ping":
				conn.Write(encodeAnswer(r.id, noPayload, nil))
			}
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var work sync.WaitGroup
	for _, size := range append(slices.Repeat([]int{8 << 10}, 100), 4<<20) {
		work.Go(func() {
			if err := c.call(ctx, "wait", strings.Repeat("x", size), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call that is not read: %.200v", err)
			}
		})
	}
	work.Wait()
	close(read)
	if err := ping(c, t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	kinds := map[string]int{}
	for len(received) > 0 {
		kinds[<-received]++
	}
	if want := map[string]int{"hello": 1, "call": 101, "cancel": 101, "ping": 1}; !maps.Equal(kinds, want) {
		t.Errorf("the window received %v, want %v", kinds, want)
	}
}
