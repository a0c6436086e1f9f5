package window

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// questions are those that wait for the user, who answers them on the terminal or by
// `coordinator show`.
type questions struct {
	terminal *Terminal // nil: there is none
	tabs     Tabs      // of the user's own browser; nil: it is another one

	mu      sync.Mutex // guards the fields that follow
	access  vscodeipc.Access
	granted map[grant]bool
	waiting []*question // the oldest first
	counted int
	listed  time.Time // when the last time was that `coordinator show` asked for them
}

// watchedFor is how long after that a user may still look: the page asks each second.
const watchedFor = 5 * time.Second

// question is whether a client may run an action.
type question struct {
	id      string
	number  int
	arg     vscodeipc.AskArg
	tabs    []userchrome.Tab // of which the user chooses one; nil: it is no tab.request
	once    sync.Once
	settled chan struct{} // closed when result and tab are set
	result  vscodeipc.AskResult
	tab     string      // that the user has chosen
	timer   *time.Timer // refuses it
}

// grant is what the user allows a client for its session, until it leaves, or they change the mode or
// stop it: everything in pages of an origin.
type grant struct {
	client vscodeipc.ClientInfo
	origin string
}

// abandoned is the result of a question whose client no longer waits.
var abandoned vscodeipc.AskResult

// unasked is the result where nobody can be asked: clients do what they may in the mode view.
var unasked = refusal("unasked")

// errUnasked is what a client gets then.
var errUnasked = &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "no terminal asks, and the page of " +
	"`coordinator show` is not open. The user can open it with `coordinator show`; until then only reading is allowed"}

func newQuestions(t *Terminal, access vscodeipc.Access) *questions {
	return &questions{terminal: t, access: access, granted: map[grant]bool{}}
}

func (q *questions) commands() map[string]vscodeipc.Handler {
	all := map[string]vscodeipc.Handler{
		vscodeipc.CommandPermissionAsk:    handler(q.ask),
		vscodeipc.CommandPermissionList:   q.list,
		vscodeipc.CommandPermissionAnswer: handler(q.answer),
		vscodeipc.CommandRecordShow:       handler(q.showRecording),
	}
	if q.tabs != nil {
		all[vscodeipc.CommandTabRequest] = handler(q.requestTab)
	}
	return all
}

func (q *question) settle(result vscodeipc.AskResult) { q.settleWith(result, "") }

// settleWith sets the result, and the tab that the user has chosen, unless there is a result.
func (q *question) settleWith(result vscodeipc.AskResult, tab string) (isFirst bool) {
	q.once.Do(func() {
		q.result, q.tab, isFirst = result, tab, true
		close(q.settled)
	})
	return isFirst
}

func (q *questions) ask(ctx context.Context, arg vscodeipc.AskArg) (any, error) {
	if showsRecording(arg) { // it would be shown as one, to which the user has agreed
		return nil, badPayload(errors.New("/payload/arg/act must not be record.show"))
	}
	return q.askUser(ctx, arg)
}

func (q *questions) askUser(ctx context.Context, arg vscodeipc.AskArg) (result vscodeipc.AskResult, err error) {
	each := &question{arg: arg}
	q.await(ctx, each)
	switch each.result {
	case abandoned:
		return result, ctx.Err()
	case unasked:
		return result, errUnasked
	}
	return each.result, nil
}

// await returns when the question is settled.
func (q *questions) await(ctx context.Context, each *question) {
	each.settled = make(chan struct{})
	each.timer = time.AfterFunc(answerTimeout, func() { each.settle(refusal("timeout")) })
	defer each.timer.Stop()
	if q.terminal != nil {
		each.timer.Stop() // until its turn
	}
	defer q.add(each)()
	if q.terminal == nil && !q.watched() {
		each.settle(unasked) // unless it is allowed already
		return
	}
	var shown sync.WaitGroup
	defer shown.Wait()
	if q.terminal != nil {
		choose := func(choice string) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.choose(each, choice, "")
		}
		shown.Go(func() {
			if isRead := q.terminal.ask(each, choose); !isRead && !q.watched() {
				each.settle(unasked)
			}
		})
	}
	select {
	case <-each.settled:
	case <-ctx.Done():
		each.settle(abandoned)
	}
}

// watched reports whether a user may see the questions in `coordinator show`.
func (q *questions) watched() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return time.Since(q.listed) <= watchedFor
}

// add lists a question until remove is called.
func (q *questions) add(each *question) (remove func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counted++
	each.id, each.number = rand.Text(), q.counted
	q.waiting = append(q.waiting, each)
	q.decide()
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.waiting = slices.DeleteFunc(q.waiting, func(other *question) bool { return other == each })
	}
}

// apply answers what the user no longer wants to be asked.
func (q *questions) apply(access vscodeipc.Access) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.granted, func(g grant, _ bool) bool {
		return access.Mode != q.access.Mode || slices.Contains(access.Stopped, g.client.Name)
	})
	q.access = access
	q.decide()
}

// keepOnly ends what the user has allowed other clients than these, by id: they have left.
func (q *questions) keepOnly(here map[string]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.granted, func(g grant, _ bool) bool { return !here[g.client.ID] })
}

// choose settles a question as the user has answered it. q.mu is held.
func (q *questions) choose(each *question, choice, tab string) (isFirst bool) {
	isFirst = each.settleWith(results[choice], tab)
	if isFirst && choice == vscodeipc.ChoiceSession {
		q.granted[grant{each.arg.Client, each.arg.Origin}] = true
		q.decide()
	}
	return isFirst
}

// decide settles the questions that the mode, the stopped clients and what is granted answer. q.mu
// is held.
func (q *questions) decide() {
	for _, each := range q.waiting {
		switch {
		case slices.Contains(q.access.Stopped, each.arg.Client.Name):
			each.settle(refusal("stopped"))
		case isAskedAlways(each.arg):
		case q.access.Mode == vscodeipc.AccessFull:
			each.settle(vscodeipc.AskResult{Decision: "allow", Reason: policy.ByMode})
		case q.access.Mode != vscodeipc.AccessAsk:
			each.settle(refusal("mode"))
		case q.granted[grant{each.arg.Client, each.arg.Origin}]:
			each.settle(vscodeipc.AskResult{Decision: "allow", Reason: policy.ByGrant, Covers: policy.Everything})
		}
	}
}

// list returns the questions.
func (q *questions) list(context.Context, vscodeipc.Call) (any, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.listed = time.Now()
	result := vscodeipc.QuestionsResult{Questions: []vscodeipc.PendingQuestion{}}
	for _, each := range q.waiting {
		result.Questions = append(result.Questions, vscodeipc.PendingQuestion{
			ID: each.id, Client: each.arg.Client, Choices: choicesOf(each.arg),
			Actions: []vscodeipc.PendingAction{{Number: each.number, Action: each.arg}},
		})
	}
	return result, nil
}

// answer settles a question as the user has answered it by `coordinator show`.
func (q *questions) answer(_ context.Context, arg vscodeipc.AnswerArg) (any, error) {
	if _, ok := results[arg.Choice]; !ok {
		return nil, badPayload(fmt.Errorf("no choice %q", arg.Choice))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	late := &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "no such question waits: it was answered already, " +
		"or its client no longer waits. This answer has allowed and refused nothing"}
	at := slices.IndexFunc(q.waiting, func(each *question) bool { return each.id == arg.Question })
	if at < 0 || arg.Last < q.waiting[at].number {
		return nil, late
	}
	asked := q.waiting[at]
	if !slices.Contains(choicesOf(asked.arg), arg.Choice) {
		return nil, badPayload(fmt.Errorf("%q is no answer to this question", arg.Choice))
	}
	if requestsTab(asked.arg) && results[arg.Choice].Decision == "allow" && !asked.has(arg.Tab) {
		return nil, badPayload(errors.New("choose one of the tabs"))
	}
	if !q.choose(asked, arg.Choice, arg.Tab) { // another answer came first
		return nil, late
	}
	return struct{}{}, nil
}

// choicesOf are the user's answers to a question.
func choicesOf(arg vscodeipc.AskArg) []string {
	switch {
	case showsRecording(arg):
		return []string{vscodeipc.ChoiceRefuse}
	case isAskedAlways(arg):
		return []string{vscodeipc.ChoiceOnce, vscodeipc.ChoiceRefuse}
	case joins(arg):
		return []string{vscodeipc.ChoiceConnect, vscodeipc.ChoiceView, vscodeipc.ChoiceRefuse}
	}
	if arg.Origin == "" {
		return []string{vscodeipc.ChoiceOnce, vscodeipc.ChoiceRefuse}
	}
	return []string{vscodeipc.ChoiceOnce, vscodeipc.ChoiceSession, vscodeipc.ChoiceRefuse}
}

// isAskedAlways reports whether no mode and no earlier answer decides.
func isAskedAlways(arg vscodeipc.AskArg) bool {
	return requestsTab(arg) || arg.Act == vscodeipc.ActRecordUser || showsRecording(arg)
}

// showsRecording reports whether it is a recording under way, which the user can only end.
func showsRecording(arg vscodeipc.AskArg) bool { return arg.Act == vscodeipc.CommandRecordShow }

// showRecording shows that a client records what the user does, who can end that on the terminal, and in
// `coordinator show`.
func (q *questions) showRecording(ctx context.Context, arg vscodeipc.RecordShowArg) (any, error) {
	limit := time.Duration(min(arg.Seconds, longestShown.Seconds()) * float64(time.Second))
	var shown sync.WaitGroup
	defer shown.Wait()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeIsUp)
	defer cancel()
	each := &question{settled: make(chan struct{}), arg: vscodeipc.AskArg{
		Client: arg.Client, Act: vscodeipc.CommandRecordShow, Detail: arg.Message,
	}}
	defer q.add(each)()
	if q.terminal != nil {
		shown.Go(func() {
			if q.terminal.showRecording(ctx, each) {
				each.settle(refusal("human"))
			}
		})
	}
	select {
	case <-each.settled:
		return vscodeipc.RecordShowResult{Outcome: "ended"}, nil
	case <-ctx.Done():
	}
	if context.Cause(ctx) == errTimeIsUp {
		return vscodeipc.RecordShowResult{Outcome: "timeout"}, nil
	}
	return nil, ctx.Err()
}

// longestShown is how long a recording is shown at most, as in VS Code.
const longestShown = time.Hour

var errTimeIsUp = errors.New("the time is up")

// results are what a client gets for the user's choice.
var results = map[string]vscodeipc.AskResult{
	vscodeipc.ChoiceOnce:    {Decision: "allow", Reason: "human"},
	vscodeipc.ChoiceSession: {Decision: "allow", Reason: "human"},
	vscodeipc.ChoiceConnect: {Decision: "allow", Reason: "human"},
	vscodeipc.ChoiceView:    {Decision: "view"},
	vscodeipc.ChoiceRefuse:  refusal("human"),
}
