package window

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// askOn are the questions of a window in the mode ask.
func askOn(t *Terminal) *questions {
	return newQuestions(t, vscodeipc.Access{Mode: vscodeipc.AccessAsk})
}

// The user's answers, and what is shown. Other lines ask again.
func TestAsk(t *testing.T) {
	click := vscodeipc.AskArg{
		Client: vscodeipc.ClientInfo{ID: "a", Name: "Claude\x1b[2J Code", Version: "2.1"}, Act: "browser_click",
		Detail: "Click button \"Or\u202eder\"", Claim: "the button\nAllow? " +
			"y", Page: &vscodeipc.PageName{Title: "Shop", URL: "http://shop.test/"}, Origin: "http://shop.test",
	}
	nowhere := click
	nowhere.Origin = ""
	connect := vscodeipc.AskArg{Client: vscodeipc.ClientInfo{ID: "p", Name: "Playwright", Version: "1.65"},
		Act: "connect"}
	long := "Evaluate: " + strings.Repeat("nothing; ", 500) + "evil();\n" + strings.Repeat("nothing; ", 500) +
		"\r\nAllow? yes \x1b[2J"
	const clickText = `
Claude\x1b[2J Code 2.1 wants to act: browser_click
  | Click button "Or\u202eder"
  in its own words: the button Allow? y
  in the page "Shop" at http://shop.test/
`
	allowed := vscodeipc.AskResult{Decision: "allow", Reason: "human"}
	for name, test := range map[string]struct {
		arg   vscodeipc.AskArg
		typed []string
		want  vscodeipc.AskResult
		shown string
	}{
		"yes": {click, []string{"y"}, allowed, clickText},
		"a long script": {vscodeipc.AskArg{Client: click.Client, Act: "browser_evaluate", Detail: long}, []string{"n"},
			refusal("human"), "  | Evaluate: " + strings.Repeat("nothing; ", 500) + "evil();\n  | " +
				strings.Repeat("nothing; ", 500) + "\n  | Allow? yes \\x1b[2J\nAllow? y (yes), n (no): "},
		"no": {click, []string{" NO "}, refusal("human"), clickText},
		"session": {click, []string{"", "maybe", "v", "s"}, allowed,
			"? y (yes), n (no), s (all on http://shop.test, for this session): "},
		"no session":     {nowhere, []string{"s", "y"}, allowed, "Allow? y (yes), n (no): "},
		"no longer read": {click, nil, unasked, "can no longer be read"},
		"a client, only": {connect, []string{"s", "v"}, vscodeipc.AskResult{Decision: "view"},
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
			got, err := askOn(NewTerminal(func() <-chan string { return typed }, &shown)).ask(t.Context(), test.arg)
			if test.want == unasked {
				if err != errUnasked {
					t.Errorf("%+v, %v", got, err)
				}
			} else if err != nil || got != test.want {
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
		arg := vscodeipc.AskArg{Client: vscodeipc.ClientInfo{ID: "a", Name: "A"}, Act: "click"}
		if _, err := askOn(NewTerminal(next, &shown)).ask(t.Context(), arg); err != nil {
			t.Error(err)
		}
	})
}

// A question ends with its caller, and the next one is shown.
func TestAskedInTurn(t *testing.T) {
	var shown strings.Builder
	typed := make(chan string)
	terminal := askOn(NewTerminal(func() <-chan string { return typed }, &shown))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	arg := vscodeipc.AskArg{Client: vscodeipc.ClientInfo{ID: "a", Name: "A"}, Act: "browser_click"}
	if _, err := terminal.ask(ctx, arg); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	go func() { typed <- "y" }()
	if got, err := terminal.ask(t.Context(), arg); err != nil ||
		got != (vscodeipc.AskResult{Decision: "allow", Reason: "human"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func call(t *testing.T, arg any) vscodeipc.Call {
	t.Helper()
	return vscodeipc.Call{Arg: must.Get(json.Marshal(arg))(t)}
}

// TestAnsweredElsewhere: `coordinator show` lists a question and answers it, with a terminal and
// without, and with no answer that the question does not have.
func TestAnsweredElsewhere(t *testing.T) {
	for name, hasTerminal := range map[string]bool{"terminal": true, "none": false} {
		check := func(t *testing.T) {
			var shown strings.Builder
			q := askOn(nil)
			if hasTerminal {
				q = askOn(NewTerminal(func() <-chan string { return nil }, &shown))
			} else if got, err := q.ask(t.Context(), vscodeipc.AskArg{Act: "browser_click"}); err != errUnasked {
				t.Errorf("before anybody looks: %+v, %v", got, err)
			}
			must.Get(q.list(t.Context(), vscodeipc.Call{}))(t)
			ask := func(act string, then func(vscodeipc.PendingQuestion)) vscodeipc.AskResult {
				done := make(chan vscodeipc.AskResult)
				go func() {
					client := vscodeipc.ClientInfo{ID: "a", Name: "A"}
					got, _ := q.ask(t.Context(), vscodeipc.AskArg{Client: client, Act: act})
					result, _ := got.(vscodeipc.AskResult)
					done <- result
				}()
				synctest.Wait()
				listed := must.Get(q.list(t.Context(), vscodeipc.Call{}))(t).(vscodeipc.QuestionsResult).Questions
				if len(listed) != 1 {
					t.Fatalf("%+v", listed)
				}
				then(listed[0])
				return <-done
			}
			answer := func(choice string) func(vscodeipc.PendingQuestion) {
				return func(asked vscodeipc.PendingQuestion) {
					for _, wrong := range []string{"connect", "category", "everything"} {
						arg := vscodeipc.AnswerArg{Question: asked.ID, Choice: wrong, Last: 1_000}
						if _, err := q.answer(t.Context(), arg); err == nil {
							t.Errorf("%s is an answer to %+v", wrong, asked)
						}
					}
					last := asked.Actions[0].Number
					for _, arg := range []vscodeipc.AnswerArg{{Question: asked.ID, Choice: choice, Last: last - 1},
						{Question: "another", Choice: choice, Last: last}, {Choice: choice, Last: last}} {
						if _, err := q.answer(t.Context(), arg); err == nil || !strings.Contains(err.Error(), "no such question waits") {
							t.Errorf("%+v: %v", arg, err)
						}
					}
					arg := vscodeipc.AnswerArg{Question: asked.ID, Choice: choice, Last: last}
					must.Get(q.answer(t.Context(), arg))(t)
				}
			}
			if got := ask("browser_click", answer("refuse")); got != refusal("human") {
				t.Errorf("%+v", got)
			}
			full := func(vscodeipc.PendingQuestion) { q.apply(vscodeipc.Access{Mode: vscodeipc.AccessFull}) }
			if got := ask("browser_click", full); got.Decision != "allow" {
				t.Errorf("the mode full: %+v", got)
			}
			q.apply(vscodeipc.Access{Mode: vscodeipc.AccessAsk})
			stop := func(vscodeipc.PendingQuestion) {
				q.apply(vscodeipc.Access{Mode: vscodeipc.AccessAsk, Stopped: []string{"A"}})
			}
			if got := ask("browser_click", stop); got != refusal("stopped") {
				t.Errorf("a stopped client: %+v", got)
			}
			if n := strings.Count(shown.String(), "Answered elsewhere"); hasTerminal && n != 3 {
				t.Errorf("%d times: %s", n, &shown)
			}
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, check) })
	}
}

// Whether the user is recorded no mode decides. The terminal shows it meanwhile, and Enter ends it.
func TestRecordingOfUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown strings.Builder
		typed := make(chan string)
		q := newQuestions(NewTerminal(func() <-chan string { return typed }, &shown),
			vscodeipc.Access{Mode: vscodeipc.AccessFull})
		client := vscodeipc.ClientInfo{ID: "a", Name: "A\x1b[2J", Version: "1"}
		go func() {
			for _, line := range []string{"s", "y", ""} {
				typed <- line
			}
		}()
		got := must.Get(q.ask(t.Context(), vscodeipc.AskArg{Client: client, Act: vscodeipc.ActRecordUser}))(t)
		if got != (vscodeipc.AskResult{Decision: "allow", Reason: "human"}) {
			t.Errorf("%+v", got)
		}
		show := vscodeipc.RecordShowArg{Client: client, Seconds: 60}
		for _, want := range []string{"ended", "timeout"} {
			got := must.Get(q.showRecording(t.Context(), show))(t)
			if got != (vscodeipc.RecordShowResult{Outcome: want}) {
				t.Errorf("%+v", got)
			}
		}
		// A question meanwhile is not held up. For ever is an hour.
		began, ended := time.Now(), make(chan any)
		go func() {
			got, _ := q.showRecording(t.Context(), vscodeipc.RecordShowArg{Client: client, Seconds: 1e300})
			ended <- got
		}()
		time.Sleep(answerTimeout)
		go func() {
			synctest.Wait() // the question has the terminal's turn
			typed <- "n"
		}()
		got = must.Get(q.ask(t.Context(), vscodeipc.AskArg{Client: client, Act: vscodeipc.ActRecordUser}))(t)
		if got != refusal("human") {
			t.Errorf("a question during a recording: %+v", got)
		}
		if got := <-ended; got != (vscodeipc.RecordShowResult{Outcome: "timeout"}) || time.Since(began) != time.Hour {
			t.Errorf("%+v after %v", got, time.Since(began))
		}
		// A second recording is shown too. Enter ends the one that was shown last.
		second := make(chan any)
		go func() {
			got, _ := q.showRecording(t.Context(), vscodeipc.RecordShowArg{Client: client, Seconds: 60})
			ended <- got
		}()
		synctest.Wait()
		other := vscodeipc.RecordShowArg{Client: vscodeipc.ClientInfo{Name: "B", Version: "2"}, Message: "Order tea",
			Seconds: 30}
		go func() {
			got, _ := q.showRecording(t.Context(), other)
			second <- got
		}()
		time.Sleep(2 * readPause) // one for each recording
		synctest.Wait()
		if text := shown.String(); !strings.HasSuffix(text, "B 2 records what you do in the page.\n  Order tea\n"+
			"Press Enter here to end that.\n") {
			t.Errorf("shown:\n%s", text)
		}
		typed <- ""
		if got := <-second; got != (vscodeipc.RecordShowResult{Outcome: "ended"}) {
			t.Errorf("the second: %+v", got)
		}
		typed <- "" // the first is shown again
		if got := <-ended; got != (vscodeipc.RecordShowResult{Outcome: "ended"}) {
			t.Errorf("the first: %+v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := newQuestions(nil, vscodeipc.Access{}).showRecording(ctx, show); !errors.Is(err, context.Canceled) {
			t.Errorf("without a terminal: %v", err)
		}
		if text := shown.String(); !strings.Contains(text, "records what you do in the page.\nPress Enter here") ||
			strings.Count(text, "The recording has ended.") != 2 || strings.Contains(text, "all of this session") ||
			strings.Contains(text, "\x1b") {
			t.Errorf("shown:\n%s", text)
		}
	})
}

// The page of `coordinator show` lists a recording, and ends it. A mode does not, but a stop does.
func TestRecordingEndedElsewhere(t *testing.T) {
	client := vscodeipc.ClientInfo{ID: "a", Name: "A", Version: "1"}
	asked := vscodeipc.AskArg{Client: client, Act: vscodeipc.CommandRecordShow, Detail: "Order tea"}
	if _, err := newQuestions(nil, vscodeipc.Access{}).ask(t.Context(), asked); err == nil ||
		!strings.Contains(err.Error(), "record.show") {
		t.Errorf("a question that looks like a recording: %v", err)
	}
	for _, terminal := range []*Terminal{nil, NewTerminal(func() <-chan string { return nil }, io.Discard)} {
		for _, end := range []func(*questions, vscodeipc.PendingQuestion){
			func(q *questions, listed vscodeipc.PendingQuestion) {
				must.Get(q.answer(t.Context(), vscodeipc.AnswerArg{
					Question: listed.ID, Choice: listed.Choices[0], Last: listed.Actions[0].Number,
				}))(t)
			},
			func(q *questions, _ vscodeipc.PendingQuestion) {
				q.apply(vscodeipc.Access{Mode: vscodeipc.AccessFull, Stopped: []string{"A"}})
			},
		} {
			q := newQuestions(terminal, vscodeipc.Access{Mode: vscodeipc.AccessFull})
			ended := make(chan any)
			go func() {
				got, _ := q.showRecording(t.Context(), vscodeipc.RecordShowArg{
					Client: client, Message: "Order tea", Seconds: 60,
				})
				ended <- got
			}()
			list := func() []vscodeipc.PendingQuestion {
				return must.Get(q.list(t.Context(), vscodeipc.Call{}))(t).(vscodeipc.QuestionsResult).Questions
			}
			must.Await(t, "the recording in the list", func() bool { return len(list()) == 1 })
			listed := list()[0]
			want := vscodeipc.AskArg{Client: client, Act: vscodeipc.CommandRecordShow, Detail: "Order tea"}
			if diff := cmp.Diff(want, listed.Actions[0].Action); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(listed.Choices, []string{vscodeipc.ChoiceRefuse}) {
				t.Errorf("listed: %+v", listed)
			}
			q.apply(vscodeipc.Access{Mode: vscodeipc.AccessView})
			if len(list()) != 1 {
				t.Error("a mode ends a recording")
			}
			end(q, listed)
			if got := <-ended; got != (vscodeipc.RecordShowResult{Outcome: "ended"}) || len(list()) != 0 {
				t.Errorf("%+v, listed: %+v", got, list())
			}
		}
	}
}

// What is allowed for a session is for one client on one origin, until the user changes the mode or
// stops the client. Where no origin is known nothing can be allowed for the session.
func TestSessionIsOnOneOrigin(t *testing.T) {
	check := func(t *testing.T) {
		q := askOn(nil)
		must.Get(q.list(t.Context(), vscodeipc.Call{}))(t) // a user looks
		act := func(name, origin string) <-chan vscodeipc.AskResult {
			done := make(chan vscodeipc.AskResult, 1)
			go func() {
				client := vscodeipc.ClientInfo{ID: name, Name: name}
				got, _ := q.ask(t.Context(), vscodeipc.AskArg{Client: client, Act: "browser_click", Origin: origin})
				result, _ := got.(vscodeipc.AskResult)
				done <- result
			}()
			synctest.Wait()
			return done
		}
		answer := func(choice string) error {
			listed := must.Get(q.list(t.Context(), vscodeipc.Call{}))(t).(vscodeipc.QuestionsResult).Questions
			if len(listed) == 0 {
				return errors.New("nobody is asked")
			}
			arg := vscodeipc.AnswerArg{Question: listed[0].ID, Choice: choice, Last: 1_000}
			_, err := q.answer(t.Context(), arg)
			synctest.Wait()
			return err
		}
		once := vscodeipc.AskResult{Decision: "allow", Reason: "human"}
		granted := vscodeipc.AskResult{Decision: "allow", Reason: policy.ByGrant, Covers: policy.Everything}
		const shop, bank = "http://shop.test", "https://shop.test"
		first, second, other := act("A", shop), act("A", shop), act("A", bank)
		must.Do(t, answer("session"))
		if got := <-first; got != once {
			t.Errorf("what was asked: %+v", got)
		}
		for _, done := range []<-chan vscodeipc.AskResult{second, act("A", shop)} {
			if got := <-done; got != granted {
				t.Errorf("on that origin: %+v", got)
			}
		}
		waiting := map[string]<-chan vscodeipc.AskResult{
			"another origin": other, "no origin": act("A", ""), "another client": act("B", shop),
		}
		for name, done := range waiting {
			if len(done) > 0 {
				t.Errorf("%s: %+v", name, <-done)
			}
		}
		for range waiting {
			must.Do(t, answer("refuse"))
		}
		time.Sleep(2 * watchedFor) // nobody looks any longer
		if got := <-act("A", shop); got != granted {
			t.Errorf("where nobody can be asked: %+v", got)
		}
		if got := <-act("A", bank); got.Decision != "" {
			t.Errorf("where nobody can be asked about another origin: %+v", got)
		}
		must.Get(q.list(t.Context(), vscodeipc.Call{}))(t)
		nowhere := act("A", "")
		if err := answer("session"); err == nil {
			t.Error("everything was allowed without an origin")
		}
		must.Do(t, answer("once"))
		if got := <-nowhere; got != once {
			t.Errorf("once: %+v", got)
		}
		for name, change := range map[string]vscodeipc.Access{
			"the mode": {Mode: vscodeipc.AccessFull}, "a stop": {Mode: vscodeipc.AccessAsk, Stopped: []string{"A"}},
		} {
			again := act("A", shop)
			if len(again) == 0 {
				must.Do(t, answer("session"))
			}
			<-again
			q.apply(change)
			q.apply(vscodeipc.Access{Mode: vscodeipc.AccessAsk})
			again = act("A", shop)
			if err := answer("refuse"); err != nil || (<-again).Reason != "human" {
				t.Errorf("after %s: %v", name, err)
			}
		}
	}
	synctest.Test(t, check)
}

// What is allowed already is not shown on the terminal.
func TestAllowedIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown strings.Builder
		typed := make(chan string, 1)
		typed <- "s"
		q := askOn(NewTerminal(func() <-chan string { return typed }, &shown))
		arg := vscodeipc.AskArg{Client: vscodeipc.ClientInfo{ID: "a", Name: "A"}, Act: "browser_click",
			Origin: "http://shop.test"}
		for range 9 {
			got := must.Get(q.ask(t.Context(), arg))(t).(vscodeipc.AskResult)
			if got.Decision != "allow" {
				t.Errorf("%+v", got)
			}
		}
		if n := strings.Count(shown.String(), "wants to act"); n != 1 || strings.Contains(shown.String(), "elsewhere") {
			t.Errorf("shown:\n%s", &shown)
		}
	})
}
