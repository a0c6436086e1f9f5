package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/gridtest"
)

// client opens and ends sessions of a real grid.
type client struct{ url string }

// do sends a request, and decodes the value of the response.
func (c client) do(ctx context.Context, method, path string, body, value any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return json.Unmarshal(answer, &struct{ Value any }{value})
}

func (c client) open(ctx context.Context) (string, error) {
	var s struct{ SessionID string }
	err := c.do(ctx, http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": gridtest.Capabilities()}}, &s)
	return s.SessionID, err
}

func (c client) end(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/session/"+id, nil, nil)
}

// play makes the requests at their times, and returns how long each waited for its
// session, in the order of the requests.
func (c client) play(t *testing.T, requests []request) []time.Duration {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	waits := make([]time.Duration, len(requests))
	var done sync.WaitGroup
	start := time.Now()
	for i, r := range requests {
		done.Go(func() {
			time.Sleep(time.Until(start.Add(r.at))) // when the request is made is the case's input
			before := time.Now()
			id, err := c.open(ctx)
			waits[i] = time.Since(before)
			if err != nil {
				t.Errorf("request %d: %v", i, err)
				return
			}
			time.Sleep(r.length) // and so is the session's length
			if err := c.end(ctx, id); err != nil {
				t.Errorf("the end of session %d: %v", i, err)
			}
		})
	}
	done.Wait()
	return waits
}

// TestRealGrid: in a real grid the requests of a small case wait as long as in the
// simulation.
func TestRealGrid(t *testing.T) {
	const s = time.Second
	g := gridtest.Start(t, gridtest.Options{Nodes: 2})
	c := client{g.URL()}
	c.play(t, []request{{length: s}, {length: s}}) // the first session of each node takes longer
	create := slices.Max(c.play(t, []request{{}, {at: 3 * s}}))
	t.Logf("a session is created in %v", create)

	requests := []request{
		{at: 0, length: 24 * s},
		{at: 2 * s, length: 8 * s},
		{at: 4 * s, length: 18 * s}, // waits for the second
		{at: 6 * s, length: 4 * s},  // waits for the first
		{at: 8 * s, length: 4 * s},  // waits for the fourth or the third
	}
	a := plain(2)
	a.hub.create = create
	simulated := simulate(a, 1, fixed(requests...)).sessions
	// A session also needs some time to end, which the simulation leaves out, and a busy
	// machine creates some more slowly.
	tolerance := 2500*time.Millisecond + 2*create
	// On a machine that is busy elsewhere the grid may serve two requests in the other order.
	const tries = 3
	for n := 1; ; n++ {
		apart := false
		for i, real := range c.play(t, requests) {
			at := slices.IndexFunc(simulated, func(s session) bool { return s.requested == requests[i].at })
			want := wait(simulated[at])
			t.Logf("requested at %v: simulated wait %v, real %v", requests[i].at, want, real)
			apart = apart || (real-want).Abs() > tolerance
		}
		if !apart {
			return
		}
		if n == tries {
			t.Fatalf("real and simulated waits are more than %v apart, %d times", tolerance, tries)
		}
	}
}
