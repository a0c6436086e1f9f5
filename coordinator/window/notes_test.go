package window

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// The notes to an agent are forgotten when it leaves, also by the window's clients.
func TestNotesToAgentThatLeaves(t *testing.T) {
	w := &Window{log: slog.New(slog.DiscardHandler), notes: newNotes()}
	w.clients = newClients(w.forgetNotes)
	w.server = serve(t, nil)
	connection, leave := context.WithCancel(t.Context())
	defer leave()
	agents := call(t, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{
		{ID: "a", Name: "Agent", Version: "1", Kind: "mcp", Since: 1},
		{ID: "b", Name: "Another", Version: "1", Kind: "mcp", Since: 1}}})
	agents.Connection = connection
	must.Get(w.clients.announce(t.Context(), agents))(t)
	waiting := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.state.Notes)
	}
	for _, id := range []string{"a", "b"} {
		must.Get(w.giveNote(t.Context(), vscodeipc.NoteGiveArg{Recipient: id}))(t)
	}
	if waiting() != 2 {
		t.Fatalf("notes for %d agents", waiting())
	}
	agents.Arg = call(t, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{
		{ID: "b", Name: "Another", Version: "1", Kind: "mcp", Since: 1}}}).Arg
	must.Get(w.clients.announce(t.Context(), agents))(t)
	if waiting() != 1 || w.notes.take("a") != nil {
		t.Errorf("notes for %d agents", waiting())
	}
	leave()
	must.Await(t, "the other agent's are forgotten", func() bool { return waiting() == 0 })
}

// An agent without a window gets only what is written to it, and nothing while it is stopped.
func TestNotesToAlone(t *testing.T) {
	client := vscodeipc.ClientInfo{ID: "a", Name: "Agent"}
	u := NewAlone(func() vscodeipc.ClientInfo { return client }, "")
	give := func(recipient string) error {
		_, err := u.Call(t.Context(), vscodeipc.CommandNoteGive, call(t, vscodeipc.NoteGiveArg{Recipient: recipient}).Arg)
		return err
	}
	change := func(arg vscodeipc.AccessChangeArg) {
		must.Get(u.Call(t.Context(), vscodeipc.CommandAccessChange, call(t, arg).Arg))(t)
	}
	if err := give("b"); err == nil || !strings.Contains(err.Error(), "the agent has left") {
		t.Errorf("a note to an unknown agent: %v", err)
	}
	change(vscodeipc.AccessChangeArg{Stop: "Agent"})
	if err := give("a"); err == nil || !strings.Contains(err.Error(), "the agent is stopped") {
		t.Errorf("a note to a stopped agent: %v", err)
	}
	if u.HasNotes(client) || len(u.notes.waiting) > 0 {
		t.Errorf("there are notes: %v", u.notes.waiting)
	}
	change(vscodeipc.AccessChangeArg{Resume: "Agent"})
	if err := give("a"); err != nil || !u.HasNotes(client) {
		t.Errorf("a note to the agent: %v", err)
	}
}

// A note is cut as the extension cuts it, but by characters rather than UTF-16 units.
func TestLimitNote(t *testing.T) {
	long := strings.Repeat("あ", 3_000)
	place := vscodeipc.Annotation{Element: long, Text: "  " + long,
		Page: vscodeipc.PageName{Title: long, URL: long}, Picture: make([]byte, 384*1024)}
	tooLarge := place
	tooLarge.Picture = make([]byte, 384*1024+1)
	note := vscodeipc.Note{Text: "\n" + long,
		Annotations: append([]vscodeipc.Annotation{tooLarge}, slices.Repeat([]vscodeipc.Annotation{place}, 10)...)}
	limitNote(&note)
	long = long[:2_000*len("あ")]
	short := long[:300*len("あ")]
	place.Element, place.Text, place.Page = short, long, vscodeipc.PageName{Title: short, URL: long}
	tooLarge = place
	tooLarge.Picture = nil
	want := vscodeipc.Note{Text: long,
		Annotations: append([]vscodeipc.Annotation{tooLarge}, slices.Repeat([]vscodeipc.Annotation{place}, 9)...)}
	if diff := cmp.Diff(want, note); diff != "" {
		t.Errorf("%.2000s", diff)
	}
	var empty vscodeipc.Note
	if limitNote(&empty); empty.Annotations == nil {
		t.Error("without places the agent's list is null")
	}
}
