package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// played are tabs of a user.
type played struct{ handedOver []string }

func (p *played) Tabs(context.Context) ([]userchrome.Tab, error) {
	return []userchrome.Tab{
		{ID: "H", Title: "Handed over", Origin: "https://bank.example", HandedOver: true},
		{ID: "N", Title: "News\x1b[2J", Origin: "https://news.example"},
		{ID: "B", Title: "My bank", Origin: "https://bank.example"},
	}, nil
}

func (p *played) HandOver(_ context.Context, id string) error {
	if id == "N" {
		return errors.New("the tab has closed meanwhile")
	}
	p.handedOver = append(p.handedOver, id)
	return nil
}

var request = vscodeipc.TabRequestArg{
	Client: vscodeipc.ClientInfo{ID: "a", Name: "Agent", Version: "1"}, URL: "https://bank.example/account",
}

// The user chooses one of the tabs on the terminal, those of the wished site first, and no
// other answer hands one over.
func TestRequestTab(t *testing.T) {
	for typed, want := range map[string]string{
		"1":              `{"outcome":"handed-over","tab":"B"} <nil>`,
		"2":              `null the tab has closed meanwhile`,
		"n":              `{"outcome":"refused"} <nil>`,
		"y s 0 3 H -1 1": `{"outcome":"handed-over","tab":"B"} <nil>`,
		"":               `{"outcome":"timeout"} <nil>`,
	} {
		t.Run(typed, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := make(chan string, 10)
				for _, line := range strings.Fields(typed) {
					lines <- line
				}
				var shown strings.Builder
				q := askOn(NewTerminal(func() <-chan string { return lines }, &shown))
				tabs := &played{}
				q.tabs = tabs
				got, err := q.requestTab(t.Context(), request)
				if text := fmt.Sprint(string(must.Get(json.Marshal(got))(t)), " ", err); text != want {
					t.Errorf("%s", text)
				}
				const list = "\nAgent 1 wants to use a tab that you choose, if possible one of bank.example:\n" +
					"    1  My bank  https://bank.example\n    2  News\\x1b[2J  https://news.example\n"
				if !strings.HasPrefix(shown.String(), list) {
					t.Errorf("shown:\n%s", &shown)
				}
			})
		})
	}
}

// No mode answers it, a stop refuses it, and `coordinator show` answers it with a tab of the list.
func TestRequestTabInPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := askOn(nil)
		tabs := &played{}
		q.tabs = tabs
		ask := func() <-chan vscodeipc.TabRequestResult {
			done := make(chan vscodeipc.TabRequestResult, 1)
			go func() {
				got, _ := q.requestTab(t.Context(), request)
				result, _ := got.(vscodeipc.TabRequestResult)
				done <- result
			}()
			synctest.Wait()
			return done
		}
		_, err := q.requestTab(t.Context(), request)
		if fault := new(vscodeipc.Error); !errors.As(err, &fault) || fault.Code != vscodeipc.CodeRefused ||
			!strings.Contains(fault.Message, "`coordinator hand-over`") {
			t.Errorf("before anybody looks: %v", err)
		}
		for _, mode := range []vscodeipc.AccessMode{vscodeipc.AccessFull, vscodeipc.AccessView, vscodeipc.AccessAsk} {
			listed := func() []vscodeipc.PendingQuestion {
				return must.Get(q.list(t.Context(), vscodeipc.Call{}))(t).(vscodeipc.QuestionsResult).Questions
			}
			listed()
			done := ask()
			q.apply(vscodeipc.Access{Mode: mode})
			synctest.Wait()
			asked := listed()
			if len(asked) != 1 || fmt.Sprint(asked[0].Choices) != "[once refuse]" {
				t.Fatalf("in %s: %+v", mode, asked)
			}
			arg := vscodeipc.AnswerArg{Question: asked[0].ID, Choice: "once", Last: asked[0].Actions[0].Number}
			for _, other := range []string{"", "H", "unknown"} {
				arg.Tab = other
				if _, err := q.answer(t.Context(), arg); err == nil {
					t.Errorf("%q is a tab", other)
				}
			}
			arg.Tab = "B"
			must.Get(q.answer(t.Context(), arg))(t)
			if got := <-done; got.Tab != "B" {
				t.Errorf("in %s: %+v", mode, got)
			}
		}
		done := ask()
		q.apply(vscodeipc.Access{Mode: vscodeipc.AccessFull, Stopped: []string{"Agent"}})
		if got := <-done; got.Outcome != "refused" || len(tabs.handedOver) != 3 {
			t.Errorf("a stopped agent: %+v, %v", got, tabs.handedOver)
		}
	})
}
