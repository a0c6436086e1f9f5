package page

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"browser-coordinator/coordinator/page/input"
)

// A real React form: React reverts changes without events.
func TestReactControlledFields(t *testing.T) {
	bundle, err := os.ReadFile("testdata/react/bundle.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bundle.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bundle)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><meta charset=utf-8><div id=root></div><div id=form></div><script src=/bundle.js></script>`)
		}
	}))
	ctx := t.Context()
	for _, step := range []struct {
		field, want string
		do          func() (Change, error)
	}{
		{"text", `"new ü"`, func() (Change, error) {
			return p.Act(ctx, p.Input().Type("[name=text]", "new ü", input.TypeOptions{}))
		}},
		{"text", `"new ü!"`, func() (Change, error) {
			return p.Act(ctx, p.Input().Type("[name=text]", "!", input.TypeOptions{Slowly: true}))
		}},
		{"text", `""`, func() (Change, error) { return p.Act(ctx, p.Input().Type("[name=text]", "", input.TypeOptions{})) }},
		{"area", `"two\nlines"`, func() (Change, error) {
			return p.Act(ctx, p.Input().Type("[name=area]", "two\nlines", input.TypeOptions{}))
		}},
		{"number", `"42"`, func() (Change, error) { return p.Act(ctx, p.Input().Type("[name=number]", "42", input.TypeOptions{})) }},
		{"date", `"2026-11-21"`, func() (Change, error) {
			return p.Act(ctx, p.Input().Type("[name=date]", "2026-11-21", input.TypeOptions{}))
		}},
		{"range", `"7"`, func() (Change, error) {
			return p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "[name=range]", Type: "slider", Value: "7"}}))
		}},
		{"colour", `"b"`, func() (Change, error) { return p.Act(ctx, p.Input().SelectOption("[name=colour]", "Blue")) }},
		{"agreed", `true`, func() (Change, error) {
			return p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "[name=agreed]", Type: "checkbox", Value: "true"}}))
		}},
		{"size", `"l"`, func() (Change, error) {
			return p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "[value=l]", Type: "radio", Value: "true"}}))
		}},
	} {
		if _, err := step.do(); err != nil {
			t.Errorf("%s: %v", step.field, err)
		}
		shown := "JSON.stringify(JSON.parse(document.querySelector('output').textContent)." + step.field + ")"
		if got := eval(t, p, "JSON.parse("+shown+")"); got != step.want {
			t.Errorf("%s: React's state is %s, want %s", step.field, got, step.want)
		}
		if got := eval(t, p, "((e) => e.type === 'checkbox' || e.type === 'radio' ? '' : e.value)(document.querySelector('[name="+step.field+"]'))"); got != `""` && got != step.want {
			t.Errorf("%s: the field shows %s", step.field, got)
		}
	}
	// A form enables this button after input.
	if _, err := p.Act(ctx, p.Input().Type("[aria-label='New thing']", "Buy milk", input.TypeOptions{Submit: true})); err != nil {
		t.Error(err)
	}
	if _, err := p.WaitFor(ctx, WaitOptions{Text: "2 things to do"}); err != nil {
		t.Error(err)
	}
	text := outline(t, p)
	if _, err := p.Act(ctx, p.Input().Click(ref(t, text, `"Done: Buy milk"`), input.ClickOptions{})); err != nil {
		t.Error(err)
	}
	if _, err := p.WaitFor(ctx, WaitOptions{Text: "1 things to do"}); err != nil {
		t.Error(err)
	}
}
