package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// notesOf are the notes that begin an answer.
func notesOf(a *Agent, ctx context.Context) string {
	out := a.NewAnswer()
	a.takeNotes(ctx, out)
	var text strings.Builder
	for _, passage := range out.Result(false).Passages {
		text.WriteString(passage.Text)
	}
	return text.String()
}

// The notes of an answer that nobody reads are in the next one, before those that the user has written since.
func TestNotesOfCancelledCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	roots := func(context.Context) []string { cancel(); return nil } // the first note asks for them
	a := New(&Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}, Host{Roots: roots})
	for _, text := range []string{"First.", "Second."} {
		arg := must.Get(json.Marshal(vscodeipc.NoteGiveArg{Recipient: a.Info().ID, Note: vscodeipc.Note{Text: text,
			Annotations: []vscodeipc.Annotation{{Page: vscodeipc.PageName{URL: "file:///etc/passwd"}}}}}))(t)
		must.Get(a.alone.Call(t.Context(), vscodeipc.CommandNoteGive, arg))(t)
	}
	if text := notesOf(a, ctx); strings.Contains(text, "Second.") {
		t.Errorf("the cancelled call has taken %s", text)
	}
	first, second, _ := strings.Cut(notesOf(a, t.Context()), "Second.")
	if !strings.Contains(first, "First.") || strings.Contains(second, "First.") {
		t.Errorf("the next answer has %q, then %q", first, second)
	}
	if text := notesOf(a, t.Context()); text != "" {
		t.Errorf("once more: %s", text)
	}
}

// A note that a window is giving when the call is cancelled is not lost.
func TestNoteOfWindowAndCancelledCall(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, t.TempDir())
	}
	folder := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan *vscodeipc.Note, 1)
	waiting <- &vscodeipc.Note{Text: "Look.", Annotations: []vscodeipc.Annotation{}}
	close(waiting)
	take := func(context.Context, vscodeipc.Call) (any, error) {
		cancel()
		return vscodeipc.NoteTakeResult{Note: <-waiting}, nil
	}
	served := must.Get(vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder},
		Server:   vscodeipc.ServerInfo{Name: "test", Kind: "terminal"},
		Commands: map[string]vscodeipc.Handler{vscodeipc.CommandNoteTake: take}}))(t)
	defer served.Close(context.Background())
	windows := registry.Open(t.Context(), registry.Options{Client: vscodeipc.Peer{Name: "test"}})
	defer windows.Close()
	a := New(&Options{Dir: folder, Windows: windows, Logger: slog.New(slog.DiscardHandler)}, Host{})
	must.Do(t, served.SetState(vscodeipc.State{Notes: []string{a.Info().ID}}))
	a.presence.window = windows.Source(folder)
	must.Await(t, "the window is known", func() bool { return a.presence.window.HasNotes(a.Info()) })
	notesOf(a, ctx)
	if ctx.Err() == nil {
		t.Fatal("the call was not cancelled")
	}
	if text := notesOf(a, t.Context()); !strings.Contains(text, "Look.") {
		t.Errorf("the next answer has %q", text)
	}
}
