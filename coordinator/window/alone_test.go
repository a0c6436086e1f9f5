package window

import (
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// One change of `coordinator show` may stop a client and take over. Who waits for either learns of it.
func TestChangesOfAlone(t *testing.T) {
	u := NewAlone(nil, "")
	_, changed := u.Access()
	_, taken := u.Takeover()
	change := vscodeipc.AccessChangeArg{Stop: "Agent", TakenOver: new(true)}
	must.Get(u.Call(t.Context(), vscodeipc.CommandAccessChange, call(t, change).Arg))(t)
	for what, notified := range map[string]<-chan struct{}{"stop": changed, "takeover": taken} {
		select {
		case <-notified:
		default:
			t.Errorf("nobody learns of the %s", what)
		}
	}
	state, changed := u.Access()
	if now, _ := u.Takeover(); !now.Now || state.Mode != policy.ModeFull || len(state.Stopped) != 1 {
		t.Errorf("%+v, %+v", state, now)
	}
	change = vscodeipc.AccessChangeArg{TakenOver: new(false)}
	must.Get(u.Call(t.Context(), vscodeipc.CommandAccessChange, call(t, change).Arg))(t)
	select {
	case <-changed:
		t.Error("giving back changes the access")
	default:
	}
}

// Of two answers to one question the first one counts, also while its client has not read it, and the second is
// an error.
func TestFirstAnswerCounts(t *testing.T) {
	q := questions{granted: map[grant]bool{}, access: vscodeipc.Access{Mode: vscodeipc.AccessAsk}}
	asked := &question{settled: make(chan struct{}), arg: vscodeipc.AskArg{Act: "browser_click"}}
	defer q.add(asked)()
	answer := func(choice string) error {
		_, err := q.answer(t.Context(), vscodeipc.AnswerArg{Question: asked.id, Choice: choice, Last: asked.number})
		return err
	}
	must.Do(t, answer(vscodeipc.ChoiceOnce))
	if err := answer(vscodeipc.ChoiceRefuse); err == nil || asked.result.Decision != "allow" {
		t.Errorf("the second answer: %v; the client gets %+v", err, asked.result)
	}
}
