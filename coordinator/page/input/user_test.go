package input_test

import (
	"context"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// userPage has something for each kind of input. It does all that a page can to look like its user.
const userPage = `<!doctype html>
<button id=button>Press</button><input id=field><div id=box style="width:200px;height:200px"></div>
<iframe id=inner srcdoc="<input aria-label=Within>"></iframe><script>
setInterval(() => {
  for (const e of [new KeyboardEvent("keydown", { key: "a" }), new PointerEvent("pointerdown"),
    new MouseEvent("mousemove", { movementX: 9 })]) dispatchEvent(e);
  button.click();
}, 5);
</script>`

func rests(t *testing.T, p *page.Page) bool {
	t.Helper()
	return p.Input().UserRest(t.Context()) == 0
}

// Neither the agent's own input nor what a page does counts as the user's.
func TestOwnInputIsNotTheUsers(t *testing.T) {
	t.Parallel()
	b := pagetest.ConnectWith(t, &page.Options{User: page.UserPresent})
	p, _ := pagetest.ServeIn(t, b, pagetest.HTML(userPage))
	within := pagetest.Ref(t, pagetest.Snapshot(t, p), `textbox "Within"`)
	if !rests(t, p) {
		t.Error("the user does something in a page that nobody uses")
	}
	in := p.Input()
	for name, action := range map[string]input.Action{
		"click":  in.Click("#button", input.ClickOptions{Double: true, Modifiers: []string{"Shift"}}),
		"hover":  in.Hover("#box", input.HoverOptions{}),
		"type":   in.Type("#field", "some text", input.TypeOptions{Slowly: true}),
		"press":  in.PressKey("Control+ArrowLeft"),
		"drag":   in.Drag("#button", "#box"),
		"within": in.Type(within, "x", input.TypeOptions{Slowly: true}),
	} {
		pagetest.Act(t, p, action)
		if !rests(t, p) {
			t.Errorf("%s counts as the user's", name)
		}
	}
	// An action that sends nothing ends nothing: what was pressed before is still the user's.
	pagetest.Act(t, p, input.Action{Operation: "doing nothing", Do: func(ctx context.Context, _ *input.Outcome) error {
		return p.Session().Call(ctx, "Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": "Shift"}, nil)
	}})
	if rests(t, p) {
		t.Error("an action without input hides the user's")
	}
	// Input that no action has sent is somebody else's.
	for name, events := range map[string]struct {
		method string
		params []map[string]any
	}{
		"a key": {"Input.dispatchKeyEvent", []map[string]any{{"type": "rawKeyDown", "key": "Shift"}}},
		"a button": {"Input.dispatchMouseEvent",
			[]map[string]any{{"type": "mousePressed", "x": 5, "y": 5, "button": "left"}}},
		"moves": {"Input.dispatchMouseEvent", moves(12)},
	} {
		pagetest.Act(t, p, in.Click("#button", input.ClickOptions{}))
		for _, params := range events.params {
			if err := p.Session().Call(t.Context(), events.method, params, nil); err != nil {
				t.Fatal(err)
			}
		}
		if rests(t, p) {
			t.Errorf("%s is not noticed", name)
		}
	}
}

func moves(count int) (events []map[string]any) {
	for n := range count {
		events = append(events, map[string]any{"type": "mouseMoved", "x": 10 + 3*n, "y": 120})
	}
	return events
}
