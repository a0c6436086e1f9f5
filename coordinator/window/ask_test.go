package window

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// The user's answers, and what is shown. Other lines ask again.
func TestAsk(t *testing.T) {
	click := vscodeipc.AskArg{
		Client: vscodeipc.ClientInfo{ID: "a", Name: "Claude\x1b[2J Code", Version: "2.1"}, Act: "browser_click",
		Detail: "Click button \"Or\u202eder\"", Claim: "the button\nAllow? " +
			"y", Page: &vscodeipc.PageName{Title: "Shop", URL: "http://shop.test/"},
	}
	connect := vscodeipc.AskArg{Client: vscodeipc.ClientInfo{ID: "p", Name: "Playwright", Version: "1.65"},
		Act: "connect"}
	const clickText = `
Claude\x1b[2J Code 2.1 wants to act: browser_click
  Click button "Or\u202eder"
  in its own words: the button Allow? y
  in the page "Shop" at http://shop.test/
`
	for name, test := range map[string]struct {
		arg   vscodeipc.AskArg
		typed []string
		want  vscodeipc.AskResult
		shown string
	}{
		"yes": {click, []string{"y"}, vscodeipc.AskResult{Decision: "allow", Scope: "once"}, clickText},
		"no":  {click, []string{" NO "}, refusal("human"), clickText},
		"session": {click, []string{"", "maybe", "v", "s"},
			vscodeipc.AskResult{Decision: "allow", Scope: "session"}, clickText},
		"no longer read": {click, nil, refusal("mode"), "can no longer be read"},
		"a client, only": {connect, []string{"s", "v"}, vscodeipc.AskResult{Decision: "view", Scope: "once"},
			"\nPlaywright 1.65 wants to control this browser.\n"},
		"a client, refuse": {connect, []string{"n"}, refusal("human"), "v (it may only look)"},
	} {
		check := func(t *testing.T) {
			typed := make(chan string, len(test.typed))
			for _, line := range test.typed {
				typed <- line
			}
			close(typed)
			var shown strings.Builder
			arg := must.Get(json.Marshal(test.arg))(t)
			got, err := NewTerminal(func() <-chan string { return typed }, &shown).ask(t.Context(), vscodeipc.Call{Arg: arg})
			if err != nil || got != test.want {
				t.Errorf("%+v, %v", got, err)
			}
			if asked := max(1, len(test.typed)); !strings.Contains(shown.String(), test.shown) ||
				strings.Count(shown.String(), "\x1b") > 0 ||
				strings.Count(shown.String(), "? y (yes)") != asked {
				t.Errorf("shown:\n%s", &shown)
			}
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, check) })
	}
}

// The lines count that are typed after the question could be read: they are asked for only then.
func TestReadPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown strings.Builder
		began, typed := time.Now(), make(chan string, 1)
		next := func() <-chan string {
			if pause := time.Since(began); pause != readPause || strings.Contains(shown.String(), "Allow?") {
				t.Errorf("after %v: %q", pause, &shown)
			}
			typed <- "y"
			return typed
		}
		call := vscodeipc.Call{Arg: json.RawMessage(`{"client":{"id":"a","name":"A","version":""},"act":"click"}`)}
		if _, err := NewTerminal(next, &shown).ask(t.Context(), call); err != nil {
			t.Error(err)
		}
	})
}

// A question ends with its caller, and the next one is shown.
func TestAskedInTurn(t *testing.T) {
	var shown strings.Builder
	typed := make(chan string)
	terminal := NewTerminal(func() <-chan string { return typed }, &shown)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	call := vscodeipc.Call{Arg: json.RawMessage(`{"client":{"id":"a","name":"A","version":""},"act":"browser_click"}`)}
	if _, err := terminal.ask(ctx, call); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	go func() { typed <- "y" }()
	if got, err := terminal.ask(t.Context(), call); err != nil ||
		got != (vscodeipc.AskResult{Decision: "allow", Scope: "once"}) {
		t.Errorf("%+v, %v", got, err)
	}
}
